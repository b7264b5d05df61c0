// Package xmss signs and verifies XMSS and XMSS^MT: every parameter set of RFC 8391 and SP 800-208, and QRL's.
//
// Nothing signs without a durable state: [CreateKey] makes a key file with its state beside it, and a [Signer]
// commits an index to the disk before it uses it.
//
// Errors are of type [tetralith.Error]. All functions may be called from many goroutines at once.
package xmss

import (
	"context"
	"fmt"
	"runtime"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/internal/abi"
)

// PublicKey is the root of a key's tree and its public seed.
type PublicKey struct {
	handle        abi.Handle
	signatureSize int
}

// Scheme is XMSS or XMSS^MT, which number their parameter sets independently.
type Scheme int

// The schemes.
const (
	SingleTree Scheme = 0 // XMSS
	MultiTree  Scheme = 1 // XMSS^MT
)

// The other formats of the C interface.
const (
	formatPEM = 2
	formatDER = 3
	formatQRL = 4
)

// ParsePublicKey reads a SubjectPublicKeyInfo (RFC 9802) or a certificate in DER.
func ParsePublicKey(der []byte) (*PublicKey, error) { return newPublicKey(formatDER, der) }

// ParsePublicKeyPEM reads a SubjectPublicKeyInfo (RFC 9802) or a certificate in PEM.
func ParsePublicKeyPEM(text []byte) (*PublicKey, error) { return newPublicKey(formatPEM, text) }

// ParseRawPublicKey reads OID ‖ root ‖ SEED. RFC 8391 §4.1.7 and §4.2.2.
func ParseRawPublicKey(scheme Scheme, key []byte) (*PublicKey, error) {
	if scheme != SingleTree && scheme != MultiTree {
		return nil, malformed("usage.arguments", fmt.Sprintf("no scheme has the number %d", int(scheme)))
	}
	return newPublicKey(int(scheme), key)
}

// ParseQRLPublicKey reads QRL's 67 bytes: descriptor, root, SEED.
func ParseQRLPublicKey(key []byte) (*PublicKey, error) { return newPublicKey(formatQRL, key) }

func newPublicKey(format int, bytes []byte) (*PublicKey, error) {
	var handle abi.Handle
	if err := publicKeyNew.Call(abi.Int(format), abi.In(bytes), abi.Len(bytes), abi.OutHandle(&handle)); err != nil {
		return nil, err
	}
	return fromHandle(handle), nil
}

func fromHandle(handle abi.Handle) *PublicKey {
	key := &PublicKey{handle: handle, signatureSize: int(signatureSize.Get(abi.The(handle)))}
	runtime.AddCleanup(key, func(handle abi.Handle) { publicKeyFree.Get(abi.The(handle)) }, handle)
	return key
}

// Marshal encodes the key as a SubjectPublicKeyInfo in DER. RFC 9802. QRL's keys have [PublicKey.MarshalQRL] only.
func (k *PublicKey) Marshal() ([]byte, error) { return k.bytes(formatDER) }

// MarshalPEM encodes the key as a SubjectPublicKeyInfo in PEM. RFC 9802.
func (k *PublicKey) MarshalPEM() ([]byte, error) { return k.bytes(formatPEM) }

// MarshalRaw encodes the key as OID ‖ root ‖ SEED. RFC 8391 §4.1.7 and §4.2.2.
func (k *PublicKey) MarshalRaw(scheme Scheme) ([]byte, error) { return k.bytes(int(scheme)) }

// MarshalQRL encodes QRL's 67 bytes.
func (k *PublicKey) MarshalQRL() ([]byte, error) { return k.bytes(formatQRL) }

func (k *PublicKey) bytes(format int) ([]byte, error) {
	defer runtime.KeepAlive(k)
	var made abi.Owned
	if err := publicKeyBytes.Call(abi.The(k.handle), abi.Int(format), abi.OutBytes(&made), abi.OutLen(&made)); err != nil {
		return nil, err
	}
	return made.Take(k.handle)
}

// SignatureSize returns the length of the key's signatures in bytes.
func (k *PublicKey) SignatureSize() int { return k.signatureSize }

// Verify verifies a signature.
//
// The error is [tetralith.ErrNotValid] if the signature is not valid for this message and key, and
// [tetralith.ErrMalformed] if it has the wrong length or an index beyond the last leaf. Variable time: all is
// public. RFC 8391 §4.1.10 and §4.2.5.
func (k *PublicKey) Verify(message, signature []byte) error {
	defer runtime.KeepAlive(k)
	return verify.Call(abi.The(k.handle), abi.In(message), abi.Len(message), abi.In(signature), abi.Len(signature))
}

// Columns are messages and their signatures, each column in one piece of memory.
type Columns struct {
	// Messages has the messages one after the other.
	Messages []byte
	// Offsets has one entry more than there are rows: message i is Messages[Offsets[i]:Offsets[i+1]].
	Offsets []uint64
	// Signatures has a signature for each row, each as long as the key says.
	Signatures []byte
}

// Append adds a row.
func (c *Columns) Append(message, signature []byte) {
	if len(c.Offsets) == 0 {
		c.Offsets = append(c.Offsets, uint64(len(c.Messages)))
	}
	c.Messages = append(c.Messages, message...)
	c.Offsets = append(c.Offsets, uint64(len(c.Messages)))
	c.Signatures = append(c.Signatures, signature...)
}

// Len returns the number of rows.
func (c *Columns) Len() int { return max(len(c.Offsets)-1, 0) }

// VerifyMany verifies columns of signatures of this key on all cores and says which are valid. Each verdict
// is that of [PublicKey.Verify] alone; a malformed signature is not valid. It ends soon after ctx does, with
// the context's error.
func (k *PublicKey) VerifyMany(ctx context.Context, columns *Columns) ([]bool, error) {
	defer runtime.KeepAlive(k)
	rows, size := columns.Len(), k.signatureSize
	if err := columns.check(rows, size); err != nil {
		return nil, err
	}
	valid, verdicts := make([]bool, rows), make([]byte, min(rows, chunk))
	for from := 0; from < rows; from += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+chunk, rows)
		err := verifyMany.Call(abi.The(k.handle), abi.Int(to-from), abi.In(columns.Messages), abi.Len(columns.Messages),
			abi.Numbers(columns.Offsets[from:to+1]), abi.In(columns.Signatures[from*size:to*size]),
			abi.Out(verdicts[:to-from]))
		if err != nil {
			return nil, err
		}
		for i, verdict := range verdicts[:to-from] {
			valid[from+i] = verdict == abi.OK
		}
	}
	return valid, nil
}

func (c *Columns) check(rows, size int) error {
	if len(c.Signatures) != rows*size {
		message := fmt.Sprintf("signatures of %d rows have %d bytes, expected %d", rows, len(c.Signatures), rows*size)
		return malformed("input.length", message)
	}
	for i := range rows {
		if c.Offsets[i] > c.Offsets[i+1] || c.Offsets[i+1] > uint64(len(c.Messages)) {
			message := fmt.Sprintf("message %d is bytes %d to %d of %d", i, c.Offsets[i], c.Offsets[i+1], len(c.Messages))
			return malformed("input.malformed", message)
		}
	}
	return nil
}

func malformed(code, message string) error {
	return &tetralith.Error{Kind: tetralith.ErrMalformed, Code: code, Message: message}
}

// chunk is how many rows a call verifies between two looks at the context: some ten milliseconds on one core.
const chunk = 1024

var (
	publicKeyNew   = abi.Function("xmss_public_key_new")
	publicKeyBytes = abi.Function("xmss_public_key_bytes")
	publicKeyFree  = abi.Function("xmss_public_key_free")
	signatureSize  = abi.Function("xmss_signature_size")
	verify         = abi.Function("xmss_verify")
	verifyMany     = abi.Function("xmss_verify_many")
)
