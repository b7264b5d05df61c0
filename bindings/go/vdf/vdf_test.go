package vdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/internal/vectors"
	"tetralith.example/tetralith/vdf"
)

func rsa2048(t testing.TB) *vdf.Modulus {
	t.Helper()
	modulus, err := vdf.RSA2048()
	if err != nil {
		t.Fatal(err)
	}
	return modulus
}

// proves says whether this backend can compute; one of WebAssembly must say that it cannot.
func proves(t *testing.T, modulus *vdf.Modulus) bool {
	t.Helper()
	_, err := modulus.Compute(t.Context(), []byte{2}, 1, nil)
	var failure *tetralith.Error
	if errors.As(err, &failure) {
		if failure.Kind != tetralith.ErrEnvironment || failure.Code != "backend.unsupported" || failure.Hint == "" {
			t.Error(err)
		}
		_, _, err = modulus.Prove(t.Context(), []byte{2}, 1, nil)
		if !errors.Is(err, tetralith.ErrEnvironment) {
			t.Error(err)
		}
		return false
	}
	return true
}

func TestKnownAnswers(t *testing.T) {
	modulus := rsa2048(t)
	var seeds struct {
		Cases []struct{ Modulus, Iterations, Seed_hex, X string }
	}
	vectors.JSON(t, "vdf/seeds.json", &seeds)
	for _, c := range seeds.Cases {
		if c.Modulus == "rsa2048" {
			var iterations uint64
			fmt.Sscan(c.Iterations, &iterations)
			x, err := modulus.HashToElement(vectors.Hex(t, c.Seed_hex), iterations)
			if err != nil || !bytes.Equal(x, vectors.Hex(t, c.X)) {
				t.Errorf("seed %s: %x %v", c.Seed_hex, x, err)
			}
		}
	}
	var proofs map[string]string
	vectors.JSON(t, "vdf/proofs.json", &proofs)
	for system, proof := range proofs {
		if err := modulus.Verify([]byte("frozen"), 1000, nil, vectors.Hex(t, proof)); err != nil {
			t.Error(system, err)
		}
	}
	if !proves(t, modulus) {
		return
	}
	var squaring struct {
		X     string
		Cases []struct {
			T int
			Y string
		}
	}
	vectors.JSON(t, "vdf/rsa2048_squaring.json", &squaring)
	for _, c := range squaring.Cases {
		if c.T <= 14 {
			y, err := modulus.Compute(t.Context(), vectors.Hex(t, squaring.X), 1<<c.T, nil)
			if err != nil || !bytes.Equal(y, vectors.Hex(t, c.Y)) {
				t.Errorf("T = 2^%d: %v", c.T, err)
			}
		}
	}
}

func TestModuli(t *testing.T) {
	for name, n := range map[string][]byte{
		"nil": nil, "zero": {0}, "one": {1}, "even": bytes.Repeat([]byte{2}, 32), "small": {0xff, 0xff, 0xff},
		"large": bytes.Repeat([]byte{0xff}, 1025),
	} {
		if _, err := vdf.NewModulus(n); !errors.Is(err, tetralith.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n := new(big.Int).Lsh(big.NewInt(1), 127)
	n.Add(n, big.NewInt(45))
	modulus, err := vdf.NewModulus(n.Bytes())
	if err != nil || modulus.Width() != 16 {
		t.Fatal(modulus.Width(), err)
	}
	if !proves(t, modulus) {
		return
	}
	y, err := modulus.Compute(t.Context(), []byte{2}, 100, nil)
	expected := new(big.Int).Exp(big.NewInt(2), new(big.Int).Lsh(big.NewInt(1), 100), n)
	if err != nil || new(big.Int).SetBytes(y).Cmp(expected) != 0 {
		t.Errorf("%x %v, expected %x", y, err, expected)
	}
}

func ExampleModulus_Prove() {
	modulus, err := vdf.RSA2048()
	if err != nil {
		panic(err)
	}
	const iterations = 10_000
	x, err := modulus.HashToElement([]byte("a public seed"), iterations)
	if err != nil {
		panic(err)
	}
	y, proof, err := modulus.Prove(context.Background(), x, iterations, nil)
	if errors.Is(err, tetralith.ErrEnvironment) {
		return // WebAssembly only verifies
	} else if err != nil {
		panic(err)
	}
	if err := modulus.Verify(x, iterations, y, proof); err != nil {
		panic(err)
	}
}
