// Package xmss has the names of the package AidosKuneen/xmss, over Tetralith. Programs keep their source and
// change an import path:
//
//	import xmss "tetralith.example/tetralith/compat/aidos"
//
// The same seeds give the same public keys, signatures, JSON and msgpack, at every leaf. XMSS has heights 1
// to 20, XMSS^MT heights 20, 40 and 60 with trees up to height 20.
//
// # The state
//
// That package keeps the next index in memory and in JSON only: a program that starts again from its seed, or
// from an old copy of its JSON, signs two messages with one index, and then anybody can forge its signatures.
// This package signs only after it has recorded the index and the message's digest in a file, and synced it.
// An index that has signed signs the same message again, which gives the same signature, and refuses
// every other message.
//
// The files lie in the folder that the environment variable TETRALITH_AIDOS_STATE names, or else in
// tetralith/aidos below $XDG_STATE_HOME or ~/.local/state (on macOS, ~/Library/Application Support). All
// programs of a user therefore share them. A key that is first seen at leaf L refuses all indices below L.
//
// What the record cannot protect against: a folder that is lost, or restored from a backup; a seed or JSON
// that is copied to another machine or used by another user; other software that signs with the same
// seed. New programs should use a signer whose key and state are one.
//
// # Differences
//
// [Merkle.Sign] and [NewMerkle] have no error result and panic where they refuse, with a *tetralith.Error;
// [Merkle.TrySign] and [OpenMerkle] return it. Verification refuses trailing bytes, which that package
// accepts. Its types NH, Stack and PrivKey, parts of its JSON, are not here. XMSS^MT of other shapes
// than those above is refused.
package xmss

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"tetralith.example/tetralith"
)

// PublicKey is the public key of XMSS.
type PublicKey struct {
	Height byte
	Root   []byte
	Seed   []byte
}

// Serialize returns height ‖ root ‖ SEED.
func (p *PublicKey) Serialize() []byte {
	key := make([]byte, 65)
	key[0] = p.Height
	copy(key[1:33], p.Root)
	copy(key[33:], p.Seed)
	return key
}

// DeserializePK reads height ‖ root ‖ SEED.
func DeserializePK(key []byte) (*PublicKey, error) {
	if len(key) != 65 {
		return nil, malformed("input.length", fmt.Sprintf("a public key has 65 bytes, not %d", len(key)))
	}
	return &PublicKey{Height: key[0], Root: key[1:33], Seed: key[33:65]}, nil
}

// Verify says whether a signature is valid for a message and a serialized public key. Malformed input is not
// valid.
func Verify(bsig, msg, bpk []byte) bool {
	return len(bpk) == 65 && verify(int(bpk[0]), 0, bpk[1:], msg, bsig) == nil
}

// IndexFromSig returns the index in a signature of XMSS.
func IndexFromSig(bsig []byte) (uint32, error) {
	if len(bsig) < 4 {
		return 0, malformed("input.length", "a signature has at least 4 bytes")
	}
	return binary.BigEndian.Uint32(bsig), nil
}

// Merkle is a secret key of XMSS with its next index. Like the one it replaces it may be used by one goroutine
// at a time.
type Merkle struct {
	// Leaf is the next index.
	Leaf uint32
	// Height is that of the tree: the key has 2^Height indices.
	Height uint32
	key    *key
}

// NewMerkle makes a key of a height and a secret seed. It panics with a *tetralith.Error where
// [OpenMerkle] returns one.
func NewMerkle(h byte, seed []byte) *Merkle { return must(OpenMerkle(h, seed)) }

// OpenMerkle makes a key of a height from 1 to 20 and a secret seed. The next index is 0: after a restart,
// unmarshal the JSON of the key, or call [Merkle.SetLeafNo].
func OpenMerkle(h byte, seed []byte) (*Merkle, error) {
	if h < 1 || h > 20 {
		return nil, malformed("usage.arguments", fmt.Sprintf("height %d is not 1 to 20", h))
	}
	key := &key{height: int(h), seeds: derive(seed)}
	if err := key.build(); err != nil {
		return nil, err
	}
	return &Merkle{Height: uint32(h), key: key}, nil
}

// derive returns the three seeds: wots, message, public.
func derive(seed []byte) []byte {
	var seeds []byte
	for number := range 3 {
		mac := hmac.New(sha256.New, seed)
		mac.Write([]byte{byte(number + 1)})
		seeds = mac.Sum(seeds)
	}
	return seeds
}

// PublicKey returns height ‖ root ‖ SEED.
func (m *Merkle) PublicKey() []byte {
	return append([]byte{byte(m.Height)}, m.key.public()...)
}

// Sign signs with the next index. It panics with a *tetralith.Error where [Merkle.TrySign] returns one, except
// that it returns nil once the key is exhausted: the package that it replaces then returns signatures that
// do not verify.
func (m *Merkle) Sign(msg []byte) []byte { return signed(m.TrySign(msg)) }

// TrySign signs with the next index, after that index is recorded.
//
// The error is [tetralith.ErrState] if the key is exhausted, or the index has signed another message. Then call
// [Merkle.SetLeafNo] with a higher index. It is [tetralith.ErrEnvironment] if the record cannot be written.
func (m *Merkle) TrySign(msg []byte) ([]byte, error) {
	if m.key == nil {
		return nil, errNoKey
	}
	signature, err := m.key.sign(uint64(m.Leaf), 1<<m.Height, msg)
	if err == nil {
		m.Leaf++
	}
	return signature, err
}

// LeafNo returns the next index.
func (m *Merkle) LeafNo() uint64 { return uint64(m.Leaf) }

// SetLeafNo skips indices up to n, which must not be below the next one.
func (m *Merkle) SetLeafNo(n uint64) error {
	if n < uint64(m.Leaf) || n > 1<<m.Height {
		message := fmt.Sprintf("leaf %d is not between the next, %d, and the end, %d", n, m.Leaf, uint64(1)<<m.Height)
		return &tetralith.Error{Kind: tetralith.ErrState, Code: "state.index", Message: message}
	}
	m.Leaf = uint32(n)
	return nil
}

// Traverse skips an index.
func (m *Merkle) Traverse() {
	if uint64(m.Leaf) < 1<<m.Height {
		m.Leaf++
	}
}

var errNoKey = malformed("usage.arguments", "the key is empty: make it with NewMerkle or NewPrivKeyMT, or unmarshal it")

func malformed(code, message string) error {
	return &tetralith.Error{Kind: tetralith.ErrMalformed, Code: code, Message: message}
}

func signed(signature []byte, err error) []byte {
	var failure *tetralith.Error
	if errors.As(err, &failure) && failure.Code == exhausted {
		return nil
	}
	return must(signature, err)
}

const exhausted = "state.exhausted"

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// key is a tree, computed when it is first needed, with the record of its indices.
type key struct {
	sync.Mutex
	height, layers int
	// seeds are SK_SEED, SK_PRF and SEED.
	seeds  []byte
	root   []byte
	handle *handle
	record *record
}

// public is root ‖ SEED.
func (k *key) public() []byte {
	if k == nil {
		panic(errNoKey)
	}
	return append(append([]byte(nil), k.root...), k.seeds[64:]...)
}

// build computes the tree, and compares the root with the one that is known.
func (k *key) build() error {
	if k.handle != nil {
		return nil
	}
	handle, root, err := newHandle(k.height, k.layers, k.seeds)
	if err != nil {
		return err
	}
	if k.root != nil && !hmac.Equal(k.root, root) {
		return malformed("input.malformed", "the key's root is not that of its seeds")
	}
	k.handle, k.root = handle, root
	return nil
}

// sign records an index and its message, and then signs.
func (k *key) sign(index, limit uint64, msg []byte) ([]byte, error) {
	k.Lock()
	defer k.Unlock()
	if index >= limit {
		message := fmt.Sprintf("all %d indices of the key are used", limit)
		return nil, &tetralith.Error{Kind: tetralith.ErrState, Code: exhausted, Message: message, Hint: "make a new key"}
	}
	if err := k.build(); err != nil {
		return nil, err
	}
	if k.record == nil {
		id := append([]byte{byte(k.height), byte(k.layers)}, k.public()...)
		record, err := openRecord(id, index)
		if err != nil {
			return nil, err
		}
		k.record = record
	}
	// Keyed by SK_PRF: the signature depends on it, and the record tells nobody the message.
	digest := hmac.New(sha256.New, k.seeds[32:64])
	digest.Write(msg)
	if err := k.record.commit(index, [sha256.Size]byte(digest.Sum(nil))); err != nil {
		return nil, err
	}
	return k.handle.sign(index, msg)
}

// errEnvironment says which file failed.
func errEnvironment(err error) error {
	var failure *tetralith.Error
	if errors.As(err, &failure) {
		return err
	}
	return &tetralith.Error{Kind: tetralith.ErrEnvironment, Code: "io.file", Message: "the record of used indices: " + err.Error(),
		Hint: "set TETRALITH_AIDOS_STATE to a folder on a local disk that this user can write"}
}
