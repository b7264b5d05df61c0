//go:build !tetralith_wasm && (linux || darwin) && (amd64 || arm64)

package vdf_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/vdf"
)

func TestTimeLocks(t *testing.T) {
	ctx := t.Context()
	for _, content := range [][]byte{nil, []byte("for later"), make([]byte, 200_000)} {
		sealed, err := vdf.Seal(content, 3000, 512)
		if err != nil {
			t.Fatal(err)
		}
		if iterations, err := vdf.SealedIterations(sealed); err != nil || iterations != 3000 {
			t.Error(iterations, err)
		}
		opened, err := vdf.Open(ctx, sealed, "", nil)
		if err != nil || !bytes.Equal(opened, content) {
			t.Error(len(opened), err)
		}
		for _, bad := range [][]byte{nil, sealed[:5], sealed[:len(sealed)-1], append(sealed[:len(sealed):len(sealed)], 0)} {
			if opened, err := vdf.Open(ctx, bad, "", nil); opened != nil || err == nil {
				t.Error("opened:", len(bad))
			}
		}
		sealed[len(sealed)-1] ^= 1
		if _, err := vdf.Open(ctx, sealed, "", nil); !errors.Is(err, tetralith.ErrNotValid) {
			t.Error("an altered byte:", err)
		}
	}
	for _, bits := range []int{-1, 3, 9000, 1 << 40} {
		if _, err := vdf.Seal(nil, 1, bits); !errors.Is(err, tetralith.ErrMalformed) {
			t.Error(bits, err)
		}
	}
	sealed, err := vdf.Seal([]byte("m"), 1<<40, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if _, err := vdf.Open(ended, sealed, "", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestCheckpoints(t *testing.T) {
	modulus := rsa2048(t)
	const iterations = 400_000
	checkpoint := filepath.Join(t.TempDir(), "run")
	x, err := modulus.HashToElement([]byte("seed"), iterations)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var stopped uint64
	_, err = modulus.ComputeResumable(ctx, x, iterations, checkpoint, func(done, _ uint64) {
		stopped = done
		cancel()
	})
	if !errors.Is(err, context.Canceled) || stopped == 0 {
		t.Fatal(stopped, err)
	}
	if _, err := os.Stat(checkpoint); err != nil {
		t.Fatal(err)
	}
	first := uint64(0)
	y, err := modulus.ComputeResumable(t.Context(), x, iterations, checkpoint, func(done, _ uint64) {
		if first == 0 {
			first = done
		}
	})
	if err != nil || first <= stopped {
		t.Fatalf("went on from %d, stopped at %d: %v", first, stopped, err)
	}
	if expected, err := modulus.Compute(t.Context(), x, iterations, nil); err != nil || !bytes.Equal(y, expected) {
		t.Error("another result:", err)
	}
	if _, err := modulus.ComputeResumable(t.Context(), x, iterations+1, checkpoint, nil); err == nil {
		t.Error("a checkpoint of another run is taken")
	}
	if err := vdf.Forget(checkpoint); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(checkpoint); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	y, proof, err := modulus.ProveResumable(t.Context(), x, 5000, checkpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := modulus.Verify(x, 5000, y, proof); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "a\x00b"} {
		if _, err := modulus.ComputeResumable(t.Context(), x, 1, name, nil); !errors.Is(err, tetralith.ErrMalformed) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := modulus.ComputeResumable(t.Context(), x, 1, "/no/such/folder/c", nil); !errors.Is(err, tetralith.ErrEnvironment) {
		t.Error(err)
	}
}
