//go:build !tetralith_wasm && (linux || darwin) && (amd64 || arm64)

package tss_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/tss"
)

func run() (id tss.RunID) {
	rand.Read(id[:])
	return id
}

// keygen makes a key of 2 of 3.
func keygen(t *testing.T, scheme tss.Scheme) map[int][]byte {
	t.Helper()
	id, sessions := run(), map[int]*tss.Session{}
	for me := 1; me <= 3; me++ {
		session, err := tss.Keygen(scheme, id, me, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		sessions[me] = session
	}
	shares, err := tss.Exchange(sessions)
	if err != nil {
		t.Fatal(err)
	}
	return shares
}

func sign(t *testing.T, scheme tss.Scheme, shares map[int][]byte, message []byte, signers ...int) []byte {
	t.Helper()
	id, sessions := run(), map[int]*tss.Session{}
	for _, me := range signers {
		session, err := tss.Sign(scheme, id, shares[me], signers, message)
		if err != nil {
			t.Fatal(err)
		}
		sessions[me] = session
	}
	signatures, err := tss.Exchange(sessions)
	if err != nil {
		t.Fatal(err)
	}
	return signatures[signers[0]]
}

func TestDKLs23(t *testing.T) {
	shares := keygen(t, tss.DKLs23)
	digest := sha256.Sum256([]byte("a payment"))
	info, err := tss.Info(tss.DKLs23, shares[2])
	if err != nil || info.Me != 2 || info.T != 2 || info.N != 3 {
		t.Fatal(info, err)
	}
	id, sessions := run(), map[int]*tss.Session{}
	for me, share := range shares {
		session, err := tss.Refresh(id, share)
		if err != nil {
			t.Fatal(err)
		}
		sessions[me] = session
	}
	if shares, err = tss.Exchange(sessions); err != nil {
		t.Fatal(err)
	}
	signature := sign(t, tss.DKLs23, shares, digest[:], 1, 3)
	if err := tss.Verify(info.GroupKey, digest[:], signature); err != nil {
		t.Error(err)
	}
	other := sha256.Sum256(nil)
	if err := tss.Verify(info.GroupKey, other[:], signature); !errors.Is(err, tetralith.ErrNotValid) {
		t.Error(err)
	}
	for _, bad := range [][]byte{nil, signature[:64], append(signature[:65:65], 0)} {
		if err := tss.Verify(info.GroupKey, digest[:], bad); !errors.Is(err, tetralith.ErrMalformed) {
			t.Error(len(bad), err)
		}
	}
}

func TestFROST(t *testing.T) {
	shares := keygen(t, tss.FROSTEd25519)
	message := []byte("any length")
	info, err := tss.Info(tss.FROSTEd25519, shares[1])
	if err != nil {
		t.Fatal(err)
	}
	if !ed25519.Verify(info.GroupKey, message, sign(t, tss.FROSTEd25519, shares, message, 2, 3)) {
		t.Error("crypto/ed25519 refuses the signature")
	}
}

func TestBadInput(t *testing.T) {
	shares := keygen(t, tss.FROSTEd25519)
	for name, bad := range map[string]func() error{
		"no such scheme": func() error { _, err := tss.Keygen(9, run(), 1, 2, 3); return err },
		"party 0":        func() error { _, err := tss.Keygen(tss.DKLs23, run(), 0, 2, 3); return err },
		"party 4 of 3":   func() error { _, err := tss.Keygen(tss.DKLs23, run(), 4, 2, 3); return err },
		"party 257":      func() error { _, err := tss.Keygen(tss.DKLs23, run(), 257, 2, 3); return err },
		"4 of 3":         func() error { _, err := tss.Keygen(tss.DKLs23, run(), 1, 4, 3); return err },
		"no share":       func() error { _, err := tss.Sign(tss.FROSTEd25519, run(), nil, []int{1, 2}, nil); return err },
		"a cut share":    func() error { _, err := tss.Sign(tss.FROSTEd25519, run(), shares[1][1:], []int{1, 2}, nil); return err },
		"no signers":     func() error { _, err := tss.Sign(tss.FROSTEd25519, run(), shares[1], nil, nil); return err },
		"too few":        func() error { _, err := tss.Sign(tss.FROSTEd25519, run(), shares[1], []int{1}, nil); return err },
		"one twice":      func() error { _, err := tss.Sign(tss.FROSTEd25519, run(), shares[1], []int{1, 1}, nil); return err },
		"not a digest":   func() error { _, err := tss.Sign(tss.DKLs23, run(), shares[1], []int{1, 2}, nil); return err },
		"FROST's share":  func() error { _, err := tss.Refresh(run(), shares[1]); return err },
		"no info":        func() error { _, err := tss.Info(tss.DKLs23, nil); return err },
	} {
		if err := bad(); !errors.Is(err, tetralith.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	session, err := tss.Keygen(tss.DKLs23, run(), 1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range [][]byte{nil, {0}, make([]byte, 1000), make([]byte, 5_000_000)} {
		if err := session.Receive(2, message); !errors.Is(err, tetralith.ErrMalformed) {
			t.Error(len(message), err)
		}
	}
	if err := session.Receive(-1, nil); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
	if result, err := session.Result(); result != nil || err != nil {
		t.Error(result, err)
	}
	if waiting, err := session.WaitingFor(); err != nil || !slices.Equal(waiting, []int{2, 3}) {
		t.Error(waiting, err)
	}
	_, err = tss.Exchange(map[int]*tss.Session{1: session})
	if !errors.Is(err, tetralith.ErrPeer) {
		t.Error("a party alone:", err)
	}
}

func ExampleExchange() {
	id, sessions := run(), map[int]*tss.Session{}
	for me := 1; me <= 3; me++ {
		session, err := tss.Keygen(tss.FROSTEd25519, id, me, 2, 3)
		if errors.Is(err, tetralith.ErrEnvironment) {
			fmt.Println("true") // WebAssembly has no threshold signatures
			return
		} else if err != nil {
			panic(err)
		}
		sessions[me] = session
	}
	shares, err := tss.Exchange(sessions)
	if err != nil {
		panic(err)
	}
	id, sessions = run(), map[int]*tss.Session{}
	for _, me := range []int{1, 3} {
		if sessions[me], err = tss.Sign(tss.FROSTEd25519, id, shares[me], []int{1, 3}, []byte("a payment")); err != nil {
			panic(err)
		}
	}
	signatures, err := tss.Exchange(sessions)
	if err != nil {
		panic(err)
	}
	info, err := tss.Info(tss.FROSTEd25519, shares[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(ed25519.Verify(info.GroupKey, []byte("a payment"), signatures[1]))
	// Output: true
}
