package xmss

import "fmt"

// PrivKeyMT is a secret key of XMSS^MT with its next index. It may be used by one goroutine at a time.
type PrivKeyMT struct {
	index uint64
	h, d  uint32
	// trees are where each layer stands; nil until the layer signs.
	trees []*position
	key   *key
}

type position struct {
	tree uint64
	leaf uint32
}

func checkShape(h, d uint32) error {
	if h == 0 || h%20 != 0 || h > 60 || d == 0 || d > 15 || h%d != 0 || h/d > 20 {
		return malformed("usage.arguments", fmt.Sprintf("no XMSS^MT key has height %d and %d layers: 20, 40 or 60 in up to 15 trees of height up to 20", h, d))
	}
	return nil
}

// NewPrivKeyMT makes a key of height h with d layers from a secret seed. The next index is 0: after a restart,
// unmarshal the JSON of the key.
func NewPrivKeyMT(seed []byte, h, d uint32) (*PrivKeyMT, error) {
	if err := checkShape(h, d); err != nil {
		return nil, err
	}
	made := &key{height: int(h), layers: int(d), seeds: derive(seed)}
	if err := made.build(); err != nil {
		return nil, err
	}
	key := &PrivKeyMT{h: h, d: d, trees: make([]*position, d), key: made}
	key.trees[d-1] = &position{}
	return key, nil
}

// LeafNo returns the next index.
func (p *PrivKeyMT) LeafNo() uint64 { return p.index }

// SetLeafNo sets the next index, which must not be above the present one, as in the package that this replaces.
// What the indices from there on have signed is recorded: they sign the same messages only.
func (p *PrivKeyMT) SetLeafNo(n uint64) error {
	if p.index < n {
		return malformed("usage.arguments", fmt.Sprintf("leaf %d is above the next, %d", n, p.index))
	}
	p.index = n
	return nil
}

// PublicKey returns shape ‖ root ‖ SEED.
func (p *PrivKeyMT) PublicKey() []byte {
	return append([]byte{byte(p.h/20)<<4 | byte(p.d)}, p.key.public()...)
}

// Sign signs with the next index. It panics with a *tetralith.Error where [PrivKeyMT.TrySign] returns one, except
// that it returns nil once the key is exhausted.
func (p *PrivKeyMT) Sign(msg []byte) []byte { return signed(p.TrySign(msg)) }

// TrySign signs with the next index, after that index is recorded. The errors are those of [Merkle.TrySign].
func (p *PrivKeyMT) TrySign(msg []byte) ([]byte, error) {
	if p.key == nil {
		return nil, errNoKey
	}
	signature, err := p.key.sign(p.index, 1<<p.h, msg)
	if err != nil {
		return nil, err
	}
	tree, height := p.index, p.h/p.d
	for layer, at := range p.trees {
		leaf := uint32(tree & (1<<height - 1))
		tree >>= height
		if at == nil || at.tree != tree {
			p.trees[layer] = &position{tree: tree, leaf: leaf}
		} else {
			at.leaf = max(at.leaf, leaf)
		}
	}
	p.index++
	return signature, nil
}

// PublicKeyMT is the public key of XMSS^MT.
type PublicKeyMT struct {
	H    uint32
	D    uint32
	Root []byte
	Seed []byte
}

// PublickeyMTHeader returns the first byte of a public key.
func PublickeyMTHeader(h, d uint32) (byte, error) {
	if h == 0 || d == 0 || h%20 != 0 || h%d != 0 || h/20 > 15 || d > 15 {
		return 0, malformed("usage.arguments", fmt.Sprintf("no XMSS^MT key has height %d and %d layers", h, d))
	}
	return byte(h/20)<<4 | byte(d), nil
}

// Serialize returns shape ‖ root ‖ SEED.
func (p *PublicKeyMT) Serialize() ([]byte, error) {
	header, err := PublickeyMTHeader(p.H, p.D)
	if err != nil {
		return nil, err
	}
	key := make([]byte, 65)
	key[0] = header
	copy(key[1:33], p.Root)
	copy(key[33:], p.Seed)
	return key, nil
}

// DeserializeMT reads shape ‖ root ‖ SEED.
func DeserializeMT(key []byte) (*PublicKeyMT, error) {
	if len(key) != 65 {
		return nil, malformed("input.length", fmt.Sprintf("a public key has 65 bytes, not %d", len(key)))
	}
	return &PublicKeyMT{H: uint32(key[0]>>4) * 20, D: uint32(key[0] & 15), Root: key[1:33], Seed: key[33:65]}, nil
}

// VerifyMT says whether a signature is valid for a message and a serialized public key of XMSS^MT. Malformed
// input is not valid.
func VerifyMT(bsig, msg, bpk []byte) bool {
	pk, err := DeserializeMT(bpk)
	if err != nil || checkShape(pk.H, pk.D) != nil {
		return false
	}
	return verify(int(pk.H), int(pk.D), bpk[1:], msg, bsig) == nil
}
