// Package vrf verifies and makes proofs of verifiable random functions: RFC 9381, and the drafts that
// Cardano and Algorand run.
//
// Errors are of type [tetralith.Error]. All functions may be called from many goroutines at once.
package vrf

import (
	"context"
	"fmt"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/internal/abi"
)

// Suite is a VRF with its curve, hash functions and encodings.
type Suite int

// The suites.
const (
	Draft03Cardano     Suite = 0 // ECVRF-ED25519-SHA512-Elligator2 of draft 3, as Cardano verifies it
	Draft03Algorand    Suite = 1 // the same, as Algorand verifies it
	Draft13BatchCompat Suite = 2 // draft 13 with batch-compatible proofs
	Edwards25519TAI    Suite = 3 // ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381
	Edwards25519ELL2   Suite = 4 // ECVRF-EDWARDS25519-SHA512-ELL2 of RFC 9381
	P256TAI            Suite = 5 // ECVRF-P256-SHA256-TAI of RFC 9381
	P256SSWU           Suite = 6 // ECVRF-P256-SHA256-SSWU of RFC 9381
	Secp256k1TAI       Suite = 7 // ECVRF-SECP256K1-SHA256-TAI
)

var names = [...]string{
	"draft03-cardano", "draft03-algorand", "draft13-batchcompat", "rfc9381-edwards25519-sha512-tai",
	"rfc9381-edwards25519-sha512-ell2", "rfc9381-p256-sha256-tai", "rfc9381-p256-sha256-sswu",
	"secp256k1-sha256-tai",
}

// String returns the suite's name, as the command spells it.
func (s Suite) String() string {
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("Suite(%d)", int(s))
	}
	return names[s]
}

// ParseSuite returns the suite with a name.
func ParseSuite(name string) (Suite, error) {
	for i, known := range names {
		if known == name {
			return Suite(i), nil
		}
	}
	return 0, malformed("usage.arguments", fmt.Sprintf("no suite is called %q", name))
}

func (s Suite) sizes() (publicKey, proof, output int, err error) {
	var sizes [3]uint64
	err = vrfSizes.Call(abi.Int(s), abi.OutSize(&sizes[0]), abi.OutSize(&sizes[1]), abi.OutSize(&sizes[2]))
	return int(sizes[0]), int(sizes[1]), int(sizes[2]), err
}

// Sizes returns the lengths in bytes of the suite's public keys, proofs and outputs.
func (s Suite) Sizes() (publicKey, proof, output int, err error) { return s.sizes() }

// Verify verifies a proof for the input alpha and returns its output.
//
// The error is [tetralith.ErrNotValid] if the proof is not valid, and [tetralith.ErrMalformed] if it or the
// key is malformed. Variable time: all is public. RFC 9381 §5.3.
func Verify(suite Suite, publicKey, alpha, proof []byte) ([]byte, error) {
	_, _, size, err := suite.sizes()
	if err != nil {
		return nil, err
	}
	output := make([]byte, size)
	err = vrfVerify.Call(abi.Int(suite), abi.In(publicKey), abi.Len(publicKey), abi.In(alpha), abi.Len(alpha),
		abi.In(proof), abi.Len(proof), abi.Out(output), abi.Len(output))
	if err != nil {
		return nil, err
	}
	return output, nil
}

// Columns are the rows of many proofs, each column in one piece of memory.
type Columns struct {
	// PublicKeys and Proofs have a value for each row, each as long as the suite says.
	PublicKeys, Proofs []byte
	// Alphas has the inputs one after the other.
	Alphas []byte
	// Offsets has one entry more than there are rows: the input of row i is
	// Alphas[Offsets[i]:Offsets[i+1]].
	Offsets []uint64
}

// Append adds a row.
func (c *Columns) Append(publicKey, alpha, proof []byte) {
	if len(c.Offsets) == 0 {
		c.Offsets = append(c.Offsets, uint64(len(c.Alphas)))
	}
	c.PublicKeys = append(c.PublicKeys, publicKey...)
	c.Alphas = append(c.Alphas, alpha...)
	c.Offsets = append(c.Offsets, uint64(len(c.Alphas)))
	c.Proofs = append(c.Proofs, proof...)
}

// Len returns the number of rows.
func (c *Columns) Len() int { return max(len(c.Offsets)-1, 0) }

// Results has the verdict of each row.
type Results struct {
	// Valid says which rows are valid.
	Valid []bool
	// Outputs has the output of each row one after the other, zeros where the row is not valid.
	Outputs []byte
}

// VerifyMany verifies columns of proofs on all cores. Each verdict is that of [Verify] alone; a malformed row
// is not valid. It ends soon after ctx does, with the context's error.
func VerifyMany(ctx context.Context, suite Suite, columns *Columns) (*Results, error) {
	keySize, proofSize, outputSize, err := suite.sizes()
	if err != nil {
		return nil, err
	}
	rows := columns.Len()
	if err := columns.check(rows, keySize, proofSize); err != nil {
		return nil, err
	}
	results := &Results{Valid: make([]bool, rows), Outputs: make([]byte, rows*outputSize)}
	verdicts := make([]byte, min(rows, chunk))
	for from := 0; from < rows; from += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+chunk, rows)
		count := to - from
		err := vrfVerifyMany.Call(abi.Int(suite), abi.Int(count), abi.In(columns.PublicKeys[from*keySize:to*keySize]),
			abi.In(columns.Alphas), abi.Len(columns.Alphas), abi.Numbers(columns.Offsets[from:to+1]),
			abi.In(columns.Proofs[from*proofSize:to*proofSize]), abi.Out(verdicts[:count]),
			abi.Out(results.Outputs[from*outputSize:to*outputSize]))
		if err != nil {
			return nil, err
		}
		for i, verdict := range verdicts[:count] {
			results.Valid[from+i] = verdict == abi.OK
		}
	}
	return results, nil
}

func (c *Columns) check(rows, keySize, proofSize int) error {
	if len(c.PublicKeys) != rows*keySize {
		message := fmt.Sprintf("public keys of %d rows have %d bytes, expected %d", rows, len(c.PublicKeys), rows*keySize)
		return malformed("input.length", message)
	}
	if len(c.Proofs) != rows*proofSize {
		message := fmt.Sprintf("proofs of %d rows have %d bytes, expected %d", rows, len(c.Proofs), rows*proofSize)
		return malformed("input.length", message)
	}
	for i := range rows {
		if c.Offsets[i] > c.Offsets[i+1] || c.Offsets[i+1] > uint64(len(c.Alphas)) {
			message := fmt.Sprintf("the input of row %d is bytes %d to %d of %d", i, c.Offsets[i], c.Offsets[i+1], len(c.Alphas))
			return malformed("input.malformed", message)
		}
	}
	return nil
}

func malformed(code, message string) error {
	return &tetralith.Error{Kind: tetralith.ErrMalformed, Code: code, Message: message}
}

// chunk is how many rows a call verifies between two looks at the context: some milliseconds on one core.
const chunk = 4096

var (
	vrfSizes      = abi.Function("vrf_sizes")
	vrfVerify     = abi.Function("vrf_verify")
	vrfVerifyMany = abi.Function("vrf_verify_many")
	vrfPublicKey  = abi.Function("vrf_public_key")
	vrfProve      = abi.Function("vrf_prove")
)
