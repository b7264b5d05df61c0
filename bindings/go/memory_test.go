//go:build linux

package tetralith_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"tetralith.example/tetralith/vrf"
	"tetralith.example/tetralith/xmss"
)

// resident returns the memory of this process in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// Calls that succeed, calls that fail and handles that are dropped leave nothing behind. TETRALITH_SLOW=1 makes it 10^6.
func TestMemory(t *testing.T) {
	calls := 20_000
	if os.Getenv("TETRALITH_SLOW") == "1" {
		calls = 1_000_000
	}
	qrl := make([]byte, 67)
	qrl[0], qrl[1] = 1, 5
	work := func(calls int) {
		for i := range calls {
			switch i % 4 {
			case 0:
				if _, err := xmss.ParseQRLPublicKey(qrl); err != nil {
					t.Fatal(err)
				}
			case 1:
				if _, err := xmss.ParsePublicKey(qrl); err == nil {
					t.Fatal("a key of QRL's is no DER")
				}
			case 2:
				if _, err := vrf.Verify(vrf.P256TAI, nil, qrl, qrl); err == nil {
					t.Fatal("no key is valid")
				}
			case 3:
				if _, _, _, err := vrf.P256TAI.Sizes(); err != nil {
					t.Fatal(err)
				}
			}
			if i%10_000 == 0 {
				runtime.GC()
			}
		}
	}
	work(10_000)
	runtime.GC()
	before := resident(t)
	work(calls)
	runtime.GC()
	if grown := resident(t) - before; grown > 8<<20 {
		t.Errorf("%d calls left %d bytes", calls, grown)
	}
}
