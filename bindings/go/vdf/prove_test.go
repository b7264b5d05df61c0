//go:build !tetralith_wasm && (linux || darwin) && (amd64 || arm64)

package vdf_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/vdf"
)

func TestProofs(t *testing.T) {
	modulus := rsa2048(t)
	x, err := modulus.HashToElement([]byte("input"), 3000)
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []vdf.System{vdf.Wesolowski, vdf.NWesolowski, vdf.Pietrzak} {
		y, proof, err := modulus.Prove(t.Context(), x, 3000, &vdf.ProveOptions{System: system, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range [][]byte{y, nil} {
			if err := modulus.Verify(x, 3000, y, proof); err != nil {
				t.Error(system, err)
			}
		}
		var failure *tetralith.Error
		for what, err := range map[string]error{
			"another input":  modulus.Verify([]byte{3}, 3000, nil, proof),
			"another number": modulus.Verify(x, 3001, nil, proof),
		} {
			if !errors.As(err, &failure) || failure.Kind != tetralith.ErrNotValid || failure.Code != "verification.other_statement" {
				t.Error(system, what, err)
			}
		}
		for _, cut := range [][]byte{nil, {}, proof[:1], proof[:len(proof)-1], append(proof[:len(proof):len(proof)], 0)} {
			if err := modulus.Verify(x, 3000, y, cut); !errors.Is(err, tetralith.ErrMalformed) {
				t.Error(system, len(cut), err)
			}
		}
		proof[len(proof)-1] ^= 1
		if err := modulus.Verify(x, 3000, y, proof); err == nil {
			t.Error(system, "a spoiled proof is valid")
		}
	}
	if _, _, err := modulus.Prove(t.Context(), x, 3000, &vdf.ProveOptions{System: 9}); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
}

func TestCancellationAndProgress(t *testing.T) {
	modulus := rsa2048(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var calls int
	began := time.Now()
	_, err := modulus.Compute(ctx, []byte{2}, 1<<40, func(done, total uint64) {
		calls++
		if total != 1<<40 || done > total {
			t.Error(done, total)
		}
	})
	if !errors.Is(err, context.DeadlineExceeded) || calls == 0 || time.Since(began) > 20*time.Second {
		t.Error(err, calls, time.Since(began))
	}
	_, _, err = modulus.Prove(ctx, []byte{2}, 1<<40, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			if _, err := modulus.Compute(ctx, []byte{2}, 1<<40, nil); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
