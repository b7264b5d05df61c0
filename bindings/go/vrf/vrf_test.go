package vrf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/internal/vectors"
	"tetralith.example/tetralith/vrf"
)

type answer struct {
	suite                                vrf.Suite
	secret, public, alpha, proof, output []byte
}

// answers are the known answers of six suites.
func answers(t testing.TB) []answer {
	var all []answer
	for suite, prefix := range map[vrf.Suite]string{vrf.Draft03Cardano: "ver03_generated_", vrf.Draft13BatchCompat: "ver13_generated_"} {
		for _, number := range []string{"1", "2", "3"} {
			f := vectors.Fields(t, "vrf/praos/vrf_"+prefix+number, ": ")
			all = append(all, answer{suite, vectors.Hex(t, f["sk"])[:32], vectors.Hex(t, f["pk"]), vectors.Hex(t, f["alpha"]),
				vectors.Hex(t, f["pi"]), vectors.Hex(t, f["beta"])})
		}
	}
	var rfc struct {
		Vectors []struct{ Suite, SK, PK, Alpha, Pi, Beta string }
	}
	vectors.JSON(t, "vrf/rfc9381/ecvrf_vectors.json", &rfc)
	for _, v := range rfc.Vectors {
		suite, err := vrf.ParseSuite(strings.ToLower(strings.Replace(v.Suite, "ECVRF-", "rfc9381-", 1)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, answer{suite, vectors.Hex(t, v.SK), vectors.Hex(t, v.PK), vectors.Hex(t, v.Alpha), vectors.Hex(t, v.Pi),
			vectors.Hex(t, v.Beta)})
	}
	return all
}

func TestKnownAnswers(t *testing.T) {
	suites := map[vrf.Suite]bool{}
	for _, a := range answers(t) {
		suites[a.suite] = true
		key, err := vrf.NewSecretKey(a.suite, a.secret)
		if err != nil {
			t.Fatal(a.suite, err)
		}
		if !bytes.Equal(key.PublicKey(), a.public) {
			t.Errorf("%v: public key %x, expected %x", a.suite, key.PublicKey(), a.public)
		}
		if proof, err := key.Prove(a.alpha); err != nil || !bytes.Equal(proof, a.proof) {
			t.Errorf("%v: proof %x %v, expected %x", a.suite, proof, err, a.proof)
		}
		if output, err := vrf.Verify(a.suite, a.public, a.alpha, a.proof); err != nil || !bytes.Equal(output, a.output) {
			t.Errorf("%v: output %x %v, expected %x", a.suite, output, err, a.output)
		}
	}
	if len(suites) != 6 {
		t.Errorf("answers of %d suites, expected 6", len(suites))
	}
}

// fails checks an error's kind and code.
func fails(t *testing.T, what string, err, kind error, code string) {
	t.Helper()
	var failure *tetralith.Error
	if !errors.As(err, &failure) || !errors.Is(err, kind) || failure.Code != code {
		t.Errorf("%s: %v (%+v), expected %v with the code %s", what, err, failure, kind, code)
	}
}

func TestBadInput(t *testing.T) {
	for _, a := range answers(t) {
		_, err := vrf.Verify(a.suite, a.public, append([]byte("!"), a.alpha...), a.proof)
		fails(t, "other input", err, tetralith.ErrNotValid, "verification.failed")
		for _, proof := range [][]byte{nil, {}, a.proof[:len(a.proof)-1], append(a.proof[:len(a.proof):len(a.proof)], 0)} {
			_, err := vrf.Verify(a.suite, a.public, a.alpha, proof)
			fails(t, "proof's length", err, tetralith.ErrMalformed, "input.length")
		}
		for _, public := range [][]byte{nil, a.public[1:]} {
			if _, err := vrf.Verify(a.suite, public, a.alpha, a.proof); !errors.Is(err, tetralith.ErrMalformed) {
				t.Error("key's length", err)
			}
		}
		for _, secret := range [][]byte{nil, make([]byte, 31), make([]byte, 33)} {
			if _, err := vrf.NewSecretKey(a.suite, secret); !errors.Is(err, tetralith.ErrMalformed) {
				t.Error("secret's length", err)
			}
		}
	}
	for _, suite := range []vrf.Suite{-1, 8, 1 << 40} {
		if _, err := vrf.Verify(suite, nil, nil, nil); !errors.Is(err, tetralith.ErrMalformed) {
			t.Error(suite, err)
		}
	}
	if _, err := vrf.ParseSuite("md5"); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
}

func TestEveryByteOfAProofCounts(t *testing.T) {
	a := answers(t)[0]
	for at := range a.proof {
		bad := append([]byte(nil), a.proof...)
		bad[at] ^= 1
		_, err := vrf.Verify(a.suite, a.public, a.alpha, bad)
		if !errors.Is(err, tetralith.ErrNotValid) && !errors.Is(err, tetralith.ErrMalformed) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// many has rows of one key, of which row bad is spoiled.
func many(t testing.TB, rows, bad int) *vrf.Columns {
	key, err := vrf.NewSecretKey(vrf.Draft03Cardano, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	columns := &vrf.Columns{}
	for i := range rows {
		alpha := fmt.Appendf(nil, "slot %d", i%64)
		proof, err := key.Prove(alpha)
		if err != nil {
			t.Fatal(err)
		}
		if i == bad {
			alpha[0] = 'S'
		}
		columns.Append(key.PublicKey(), alpha, proof)
	}
	return columns
}

func TestColumns(t *testing.T) {
	const rows, bad = 200, 120
	columns := many(t, rows, bad)
	results, err := vrf.VerifyMany(t.Context(), vrf.Draft03Cardano, columns)
	if err != nil {
		t.Fatal(err)
	}
	for i, valid := range results.Valid {
		output, err := vrf.Verify(vrf.Draft03Cardano, columns.PublicKeys[32*i:32*i+32],
			columns.Alphas[columns.Offsets[i]:columns.Offsets[i+1]], columns.Proofs[80*i:80*i+80])
		if valid != (err == nil) || valid != (i != bad) {
			t.Errorf("row %d: %v, alone %v", i, valid, err)
		}
		if output == nil {
			output = make([]byte, 64)
		}
		if !bytes.Equal(output, results.Outputs[64*i:64*i+64]) {
			t.Errorf("row %d has another output", i)
		}
	}
	if results, err := vrf.VerifyMany(t.Context(), vrf.Draft03Cardano, &vrf.Columns{}); err != nil || len(results.Valid) != 0 {
		t.Error("no rows:", results, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := vrf.VerifyMany(ended, vrf.Draft03Cardano, columns); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestBadColumns(t *testing.T) {
	for name, spoil := range map[string]func(*vrf.Columns){
		"a key too short":    func(c *vrf.Columns) { c.PublicKeys = c.PublicKeys[1:] },
		"no keys":            func(c *vrf.Columns) { c.PublicKeys = nil },
		"a proof too long":   func(c *vrf.Columns) { c.Proofs = append(c.Proofs, 0) },
		"an offset too high": func(c *vrf.Columns) { c.Offsets[3] = 1 << 60 },
		"an offset too low":  func(c *vrf.Columns) { c.Offsets[2] = 0 },
		"inputs cut":         func(c *vrf.Columns) { c.Alphas = c.Alphas[:1] },
		"no inputs":          func(c *vrf.Columns) { c.Alphas = nil },
		"an offset missing":  func(c *vrf.Columns) { c.Offsets = c.Offsets[:3] },
	} {
		columns := many(t, 3, -1)
		spoil(columns)
		if _, err := vrf.VerifyMany(t.Context(), vrf.Draft03Cardano, columns); !errors.Is(err, tetralith.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSecretKeysAreNotPrinted(t *testing.T) {
	secret := bytes.Repeat([]byte{0xa7}, 32)
	key, err := vrf.NewSecretKey(vrf.Draft03Cardano, secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if text := fmt.Sprintf(verb, key); text != "SecretKey" {
			t.Errorf("%s prints %s", verb, text)
		}
	}
	secret[0] = 0 // the key has a copy
	if _, err := key.Prove(nil); err != nil {
		t.Error(err)
	}
	key.Wipe()
	if _, err := key.Prove(nil); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error("a wiped key proves:", err)
	}
}

// Each goroutine makes calls that fail for a reason of its own, and must get that reason.
func TestManyGoroutines(t *testing.T) {
	a := answers(t)[0]
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for range 50 {
				if _, err := vrf.Verify(a.suite, a.public, a.alpha, a.proof); err != nil {
					t.Error(err)
				}
				_, err := vrf.Verify(a.suite, a.public, a.alpha, make([]byte, worker))
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d", worker)) {
					t.Errorf("a proof of %d bytes: %v", worker, err)
				}
				runtime.Gosched()
			}
		})
	}
	group.Wait()
}

func TestGeneratedKeys(t *testing.T) {
	for _, suite := range []vrf.Suite{vrf.Edwards25519TAI, vrf.P256TAI, vrf.Secp256k1TAI} {
		key, err := vrf.GenerateKey(suite)
		if err != nil {
			t.Fatal(err)
		}
		other, err := vrf.GenerateKey(suite)
		if err != nil || bytes.Equal(key.PublicKey(), other.PublicKey()) {
			t.Fatal("two equal keys", err)
		}
		proof, err := key.Prove([]byte("m"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := vrf.Verify(suite, key.PublicKey(), []byte("m"), proof); err != nil {
			t.Error(err)
		}
	}
	if _, err := vrf.GenerateKey(99); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
}

func ExampleVerify() {
	secret := []byte("0123456789abcdef0123456789abcdef")
	key, err := vrf.NewSecretKey(vrf.Draft03Cardano, secret)
	if err != nil {
		panic(err)
	}
	proof, err := key.Prove([]byte("slot 12"))
	if err != nil {
		panic(err)
	}
	output, err := vrf.Verify(vrf.Draft03Cardano, key.PublicKey(), []byte("slot 12"), proof)
	switch {
	case errors.Is(err, tetralith.ErrNotValid):
		fmt.Println("somebody lies")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(len(output), "random bytes")
	}
	_, err = vrf.Verify(vrf.Draft03Cardano, key.PublicKey(), []byte("slot 13"), proof)
	fmt.Println(errors.Is(err, tetralith.ErrNotValid))
	// Output:
	// 64 random bytes
	// true
}

func ExampleVerifyMany() {
	key, err := vrf.GenerateKey(vrf.Edwards25519ELL2)
	if err != nil {
		panic(err)
	}
	var columns vrf.Columns
	for _, input := range []string{"a", "b", "c"} {
		proof, err := key.Prove([]byte(input))
		if err != nil {
			panic(err)
		}
		if input == "b" {
			input = "B"
		}
		columns.Append(key.PublicKey(), []byte(input), proof)
	}
	results, err := vrf.VerifyMany(context.Background(), vrf.Edwards25519ELL2, &columns)
	if err != nil {
		panic(err)
	}
	fmt.Println(results.Valid)
	// Output: [true false true]
}
