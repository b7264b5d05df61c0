package vrf

import (
	"crypto/rand"
	"errors"
	"fmt"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/internal/abi"
)

// SecretKey makes proofs. It prints as "SecretKey", never its bytes.
type SecretKey struct {
	suite     Suite
	secret    []byte
	publicKey []byte
}

// NewSecretKey takes the 32 bytes of a secret key: a seed on edwards25519, a big-endian scalar on the other
// curves. It copies them.
func NewSecretKey(suite Suite, secret []byte) (*SecretKey, error) {
	size, _, _, err := suite.sizes()
	if err != nil {
		return nil, err
	}
	key := &SecretKey{suite: suite, secret: append([]byte(nil), secret...), publicKey: make([]byte, size)}
	err = vrfPublicKey.Call(abi.Int(suite), abi.In(key.secret), abi.Len(key.secret), abi.Out(key.publicKey), abi.Len(key.publicKey))
	if err != nil {
		key.Wipe()
		return nil, err
	}
	return key, nil
}

// GenerateKey draws a secret key from the system's randomness.
func GenerateKey(suite Suite) (*SecretKey, error) {
	secret := make([]byte, 32)
	defer clear(secret)
	for {
		rand.Read(secret) // never fails
		key, err := NewSecretKey(suite, secret)
		// One of 2^32 draws is no scalar of P-256.
		var failure *tetralith.Error
		if errors.As(err, &failure) && failure.Kind == tetralith.ErrMalformed && failure.Code != "usage.arguments" {
			continue
		}
		return key, err
	}
}

// Suite returns the suite.
func (k *SecretKey) Suite() Suite { return k.suite }

// PublicKey returns the public key.
func (k *SecretKey) PublicKey() []byte { return append([]byte(nil), k.publicKey...) }

// Prove makes the proof for the input alpha. Constant time in the key. RFC 9381 §5.1.
func (k *SecretKey) Prove(alpha []byte) ([]byte, error) {
	_, size, _, err := k.suite.sizes()
	if err != nil {
		return nil, err
	}
	proof := make([]byte, size)
	err = vrfProve.Call(abi.Int(k.suite), abi.In(k.secret), abi.Len(k.secret), abi.In(alpha), abi.Len(alpha), abi.Out(proof), abi.Len(proof))
	if err != nil {
		return nil, err
	}
	return proof, nil
}

// Wipe overwrites the secret. The key makes no proofs afterwards. Copies that the garbage collector's
// runtime or the system's swap may have are not covered.
func (k *SecretKey) Wipe() {
	clear(k.secret)
	k.secret = nil
}

// Format prints the type's name only, whatever the verb.
func (k *SecretKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, "SecretKey") }
