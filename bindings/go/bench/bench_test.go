// Package bench measures the module beside what Go programs use without it, in one run:
//
//	make bench-go
//
// AidosKuneen/xmss is not among the peers: the packages that it needs are no longer published.
package bench

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"math/big"
	"testing"

	peer "github.com/bwesterb/go-xmssmt"
	"tetralith.example/tetralith"
	aidos "tetralith.example/tetralith/compat/aidos"
	"tetralith.example/tetralith/internal/vectors"
	"tetralith.example/tetralith/vdf"
	"tetralith.example/tetralith/vrf"
	"tetralith.example/tetralith/xmss"
)

func ok(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkXMSSVerify(b *testing.B) {
	f := vectors.Fields(b, "xmss/liboqs/XMSS-SHA2_10_256.rsp", " = ")
	pk, message, signature := vectors.Hex(b, f["pk"]), vectors.Hex(b, f["msg"]), vectors.Hex(b, f["sm"])
	key, err := xmss.ParseRawPublicKey(xmss.SingleTree, pk)
	ok(b, err)
	b.Run("tetralith", func(b *testing.B) {
		b.Log(tetralith.Backend())
		for b.Loop() {
			ok(b, key.Verify(message, signature))
		}
	})
	b.Run("tetralith-of-many", func(b *testing.B) {
		var columns xmss.Columns
		for range 256 {
			columns.Append(message, signature)
		}
		for b.Loop() {
			_, err := key.VerifyMany(b.Context(), &columns)
			ok(b, err)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256), "ns/signature")
	})
	b.Run("go-xmssmt", func(b *testing.B) {
		// Its encodings are its own, so that it verifies a signature that it made.
		sk, theirs := derive(b)
		sig, failed := sk.Sign(message)
		if failed != nil {
			b.Fatal(failed)
		}
		for b.Loop() {
			if valid, err := theirs.Verify(sig, message); !valid {
				b.Fatal(err)
			}
		}
	})
}

// derive makes a key of go-xmssmt.
func derive(b *testing.B) (*peer.PrivateKey, *peer.PublicKey) {
	seed := bytes.Repeat([]byte{7}, 32)
	sk, pk, err := peer.NewContextFromName("XMSS-SHA2_10_256").Derive(b.TempDir()+"/key", seed, seed, seed)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sk.Close() })
	return sk, pk
}

func BenchmarkXMSSKeygen10(b *testing.B) {
	seed := bytes.Repeat([]byte{7}, 32)
	b.Run("tetralith", func(b *testing.B) {
		for b.Loop() {
			aidos.NewMerkle(10, seed)
		}
	})
	b.Run("go-xmssmt", func(b *testing.B) {
		for b.Loop() {
			derive(b)
		}
	})
}

func BenchmarkVRFVerify(b *testing.B) {
	key, err := vrf.GenerateKey(vrf.Draft03Cardano)
	ok(b, err)
	message := []byte("slot 12")
	proof, err := key.Prove(message)
	ok(b, err)
	b.Run("tetralith", func(b *testing.B) {
		for b.Loop() {
			_, err := vrf.Verify(vrf.Draft03Cardano, key.PublicKey(), message, proof)
			ok(b, err)
		}
	})
	b.Run("tetralith-of-many", func(b *testing.B) {
		var columns vrf.Columns
		for range 2048 {
			columns.Append(key.PublicKey(), message, proof)
		}
		for b.Loop() {
			_, err := vrf.VerifyMany(b.Context(), vrf.Draft03Cardano, &columns)
			ok(b, err)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2048), "ns/proof")
	})
	// Half of a VRF verification's curve arithmetic, as a yardstick: the standard library has no VRF.
	b.Run("crypto-ed25519-verify", func(b *testing.B) {
		secret := ed25519.NewKeyFromSeed(make([]byte, 32))
		public, signature := secret.Public().(ed25519.PublicKey), ed25519.Sign(secret, message)
		for b.Loop() {
			if !ed25519.Verify(public, message, signature) {
				b.Fatal("not valid")
			}
		}
	})
}

func BenchmarkVDFSquaring(b *testing.B) {
	modulus, err := vdf.RSA2048()
	ok(b, err)
	const iterations = 20_000
	x, err := modulus.HashToElement([]byte("seed"), iterations)
	ok(b, err)
	b.Run("tetralith", func(b *testing.B) {
		for b.Loop() {
			_, err := modulus.Compute(b.Context(), x, iterations, nil)
			ok(b, err)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*iterations), "ns/squaring")
	})
	b.Run("math-big", func(b *testing.B) {
		seed := sha256.Sum256([]byte("any odd number of 2048 bits takes as long"))
		n := new(big.Int).SetBytes(bytes.Repeat(seed[:], 8))
		n.SetBit(n, 0, 1).SetBit(n, 2047, 1)
		y := new(big.Int).SetBytes(x)
		for b.Loop() {
			for range iterations {
				y.Mod(y.Mul(y, y), n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*iterations), "ns/squaring")
	})
}
