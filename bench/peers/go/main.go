// Measures go-xmssmt: key generation, signing, verification, each in nanoseconds a call, as JSON.
//
// usage: peers SET SK_SEED SK_PRF PUB_SEED MESSAGE SECONDS [ROOT||PUB_SEED SIGNATURE]
//
// All but SET and SECONDS are hex. The optional public key and signature are another's, which must
// verify. One goroutine thread; sequence numbers are borrowed ahead, so that no signature waits for
// the disk.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	xmss "github.com/bwesterb/go-xmssmt"
)

type result struct {
	Public    string    `json:"public"`
	Signature string    `json:"signature"`
	Keygen    []float64 `json:"keygen"`
	Sign      []float64 `json:"sign"`
	Verify    []float64 `json:"verify"`
}

func check(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func unhex(text string) []byte {
	bytes, err := hex.DecodeString(text)
	check("hex", err)
	return bytes
}

// measure calls at least `least` times and at most `most` times, after one call that is not counted.
func measure(seconds float64, least, most int, call func()) []float64 {
	first := time.Now()
	call()
	if took := time.Since(first); took > 4*time.Second {
		return []float64{float64(took.Nanoseconds())}
	}
	var times []float64
	for start := time.Now(); len(times) < most &&
		(len(times) < least || time.Since(start).Seconds() < seconds); {
		clock := time.Now()
		call()
		times = append(times, float64(time.Since(clock).Nanoseconds()))
	}
	return times
}

func main() {
	if len(os.Args) != 7 && len(os.Args) != 9 {
		fmt.Fprintln(os.Stderr, "usage: peers SET SK_SEED SK_PRF PUB_SEED MESSAGE SECONDS [PUBLIC SIGNATURE]")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	context := xmss.NewContextFromName(os.Args[1])
	if context == nil {
		fmt.Fprintln(os.Stderr, "unknown parameter set")
		os.Exit(3)
	}
	context.Threads = 1
	skSeed, skPrf, pubSeed := unhex(os.Args[2]), unhex(os.Args[3]), unhex(os.Args[4])
	message := unhex(os.Args[5])
	seconds, err := strconv.ParseFloat(os.Args[6], 64)
	check("seconds", err)
	folder, err := os.MkdirTemp("", "peers")
	check("temporary folder", err)
	defer os.RemoveAll(folder)

	var out result
	made := 0
	derive := func() (*xmss.PrivateKey, *xmss.PublicKey) {
		made++
		path := filepath.Join(folder, strconv.Itoa(made))
		private, public, err := context.Derive(path, pubSeed, skSeed, skPrf)
		if err != nil {
			check("derive", err)
		}
		return private, public
	}
	out.Keygen = measure(seconds, 3, 1001, func() {
		private, _ := derive()
		private.Close()
	})
	private, public := derive()
	defer private.Close()
	encoded, err := public.MarshalBinary()
	check("public key", err)
	out.Public = hex.EncodeToString(encoded[4:])
	if borrowed := private.BorrowExactly(1020); borrowed != nil {
		check("borrow", borrowed)
	}
	sign := func() *xmss.Signature {
		signature, err := private.Sign(message)
		if err != nil {
			check("sign", err)
		}
		return signature
	}
	signature := sign()
	encoded, err = signature.MarshalBinary()
	check("signature", err)
	// The library puts the identifier of the parameter set in front of the standard's signature.
	out.Signature = hex.EncodeToString(encoded[4:])
	if len(os.Args) == 9 {
		oid := encoded[:4]
		theirs := new(xmss.PublicKey)
		check("their key", theirs.UnmarshalBinary(append(bytes.Clone(oid), unhex(os.Args[7])...)))
		their := new(xmss.Signature)
		check("their signature", their.UnmarshalBinary(append(bytes.Clone(oid), unhex(os.Args[8])...)))
		if ok, err := theirs.Verify(their, message); !ok {
			check("verify theirs", fmt.Errorf("refused: %v", err))
		}
	}
	if ok, _ := public.Verify(signature, binary.BigEndian.AppendUint32(nil, 1)); ok {
		check("verify", fmt.Errorf("another message was accepted"))
	}
	out.Sign = measure(seconds, 5, 1001, func() { sign() })
	out.Verify = measure(seconds, 5, 1001, func() {
		if ok, err := public.Verify(signature, message); !ok {
			check("verify", fmt.Errorf("refused: %v", err))
		}
	})
	check("print", json.NewEncoder(os.Stdout).Encode(out))
}
