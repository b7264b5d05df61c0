package xmss_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/internal/vectors"
	"tetralith.example/tetralith/xmss"
)

// answer returns the key, message and signature of a set.
func answer(t testing.TB, file string) (key *xmss.PublicKey, message, signature []byte) {
	t.Helper()
	fields := vectors.Fields(t, "xmss/liboqs/"+file, " = ")
	scheme := xmss.SingleTree
	if strings.HasPrefix(file, "XMSSMT") {
		scheme = xmss.MultiTree
	}
	key, err := xmss.ParseRawPublicKey(scheme, vectors.Hex(t, fields["pk"]))
	if err != nil {
		t.Fatal(file, err)
	}
	return key, vectors.Hex(t, fields["msg"]), vectors.Hex(t, fields["sm"])
}

func TestKnownAnswers(t *testing.T) {
	files, err := os.ReadDir(vectors.Path(t, "xmss/liboqs"))
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		key, message, signature := answer(t, filepath.Base(file.Name()))
		if err := key.Verify(message, signature); err != nil {
			t.Error(file.Name(), err)
		}
		if key.SignatureSize() != len(signature) {
			t.Error(file.Name(), key.SignatureSize(), len(signature))
		}
		signature[len(signature)-1] ^= 1
		if err := key.Verify(message, signature); !errors.Is(err, tetralith.ErrNotValid) {
			t.Error(file.Name(), err)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, name := range []string{"xmss_bouncycastle_sha256_10_root.pem", "xmss_isara_root.pem"} {
		text := []byte(vectors.Text(t, "xmss/botan/"+name))
		key, err := xmss.ParsePublicKeyPEM(text)
		if err != nil || key.SignatureSize() != 2500 {
			t.Error(name, err)
		}
		block, _ := pem.Decode(text)
		if _, err := xmss.ParsePublicKey(block.Bytes); err != nil {
			t.Error(name, err)
		}
		if _, err := xmss.ParsePublicKey(block.Bytes[:len(block.Bytes)-1]); !errors.Is(err, tetralith.ErrMalformed) {
			t.Error(name, err)
		}
	}
	qrl := make([]byte, 67)
	qrl[0], qrl[1] = 1, 5
	if _, err := xmss.ParseQRLPublicKey(qrl); err != nil {
		t.Error(err)
	}
}

func TestBadInput(t *testing.T) {
	key, message, signature := answer(t, "XMSS-SHA2_10_256.rsp")
	for name, bad := range map[string][]byte{
		"nil": nil, "empty": {}, "one byte": {1}, "cut": signature[:len(signature)-1],
		"longer": append(signature[:len(signature):len(signature)], 0),
	} {
		var failure *tetralith.Error
		err := key.Verify(message, bad)
		if !errors.As(err, &failure) || failure.Kind != tetralith.ErrMalformed || failure.Code != "input.length" {
			t.Errorf("%s: %v", name, err)
		}
	}
	beyond := append([]byte{0xff, 0xff, 0xff, 0xff}, signature[4:]...)
	if err := key.Verify(message, beyond); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error("an index beyond the last leaf:", err)
	}
	if err := key.Verify(nil, signature); !errors.Is(err, tetralith.ErrNotValid) {
		t.Error("no message:", err)
	}
	pk := vectors.Hex(t, vectors.Fields(t, "xmss/liboqs/XMSS-SHA2_10_256.rsp", " = ")["pk"])
	for name, bad := range map[string][]byte{
		"nil": nil, "empty": {}, "half an identifier": pk[:2], "an identifier only": pk[:4], "cut": pk[:67],
		"longer": append(pk[:68:68], 0), "unknown": append([]byte{0, 0, 0, 99}, pk[4:]...),
	} {
		for _, parse := range []func([]byte) (*xmss.PublicKey, error){
			func(b []byte) (*xmss.PublicKey, error) { return xmss.ParseRawPublicKey(xmss.SingleTree, b) },
			xmss.ParsePublicKey, xmss.ParsePublicKeyPEM, xmss.ParseQRLPublicKey,
		} {
			if key, err := parse(bad); key != nil || !errors.Is(err, tetralith.ErrMalformed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := xmss.ParseRawPublicKey(2, pk); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error("a PEM as a scheme:", err)
	}
}

func TestColumns(t *testing.T) {
	key, message, signature := answer(t, "XMSS-SHA2_10_256.rsp")
	var columns xmss.Columns
	for i := range 50 {
		if i == 31 {
			columns.Append([]byte("another"), signature)
			continue
		}
		columns.Append(message, signature)
	}
	valid, err := key.VerifyMany(t.Context(), &columns)
	if err != nil || len(valid) != 50 {
		t.Fatal(len(valid), err)
	}
	for i, valid := range valid {
		if valid != (i != 31) {
			t.Error(i, valid)
		}
	}
	if valid, err := key.VerifyMany(t.Context(), &xmss.Columns{}); err != nil || len(valid) != 0 {
		t.Error(valid, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := key.VerifyMany(ended, &columns); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*xmss.Columns){
		"cut":           func(c *xmss.Columns) { c.Signatures = c.Signatures[1:] },
		"nil":           func(c *xmss.Columns) { c.Signatures = nil },
		"offset":        func(c *xmss.Columns) { c.Offsets = append([]uint64{9, 3}, c.Offsets[2:]...) },
		"short message": func(c *xmss.Columns) { c.Messages = nil },
	} {
		bad := columns
		spoil(&bad)
		if _, err := key.VerifyMany(t.Context(), &bad); !errors.Is(err, tetralith.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Keys are made and collected while others verify.
func TestManyGoroutines(t *testing.T) {
	fields := vectors.Fields(t, "xmss/liboqs/XMSS-SHA2_10_256.rsp", " = ")
	pk, message, signature := vectors.Hex(t, fields["pk"]), vectors.Hex(t, fields["msg"]), vectors.Hex(t, fields["sm"])
	shared, err := xmss.ParseRawPublicKey(xmss.SingleTree, pk)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 20 {
				key, err := xmss.ParseRawPublicKey(xmss.SingleTree, pk)
				if err != nil {
					t.Error(err)
				}
				for _, key := range []*xmss.PublicKey{key, shared} {
					if err := key.Verify(message, signature); err != nil {
						t.Error(err)
					}
				}
				runtime.GC()
			}
		})
	}
	group.Wait()
}

func ExamplePublicKey_Verify() {
	key, err := xmss.ParseQRLPublicKey(append([]byte{1, 5, 0}, make([]byte, 64)...))
	if err != nil {
		panic(err)
	}
	signature := make([]byte, key.SignatureSize())
	err = key.Verify([]byte("a block"), signature)
	fmt.Println(errors.Is(err, tetralith.ErrNotValid), err)
	// Output: true tetralith: the signature does not verify
}
