package xmss

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/vmihailenco/msgpack"
	"tetralith.example/tetralith"
)

// The parts of a key, with the names that JSON and msgpack have.
type (
	treeParts struct {
		Leaf   uint32
		Height uint32
		Auth   [][]byte
		Priv   *privParts
		Stacks []*stackParts
		Layer  uint32
		Tree   uint64
	}
	privParts struct {
		MsgSeed, WotsSeed, PubSeed, Root []byte
	}
	stackParts struct {
		Stack  []*nodeParts
		Height uint32
		Leaf   uint32
		Layer  uint32
		Tree   uint64
	}
	nodeParts struct {
		Node   []byte
		Height uint32
		Index  uint32
	}
	hyperParts struct {
		Index  uint64
		Merkle []*treeParts
		H      uint32
		D      uint32
	}
)

// seeds returns SK_SEED, SK_PRF and SEED.
func (p *treeParts) seeds() ([]byte, error) {
	priv := p.Priv
	if priv == nil || len(priv.MsgSeed) != 32 || len(priv.WotsSeed) != 32 || len(priv.PubSeed) != 32 || len(priv.Root) != 32 {
		return nil, malformed("input.malformed", "the key's seeds and root do not have 32 bytes each")
	}
	return bytes.Join([][]byte{priv.WotsSeed, priv.MsgSeed, priv.PubSeed}, nil), nil
}

// imports takes a tree. The path and the stacks are computed anew when they are needed.
func (m *Merkle) imports(p *treeParts) error {
	seeds, err := p.seeds()
	if err != nil {
		return err
	}
	if p.Height < 1 || p.Height > 20 || uint64(p.Leaf) > 1<<p.Height || p.Layer != 0 || p.Tree != 0 ||
		len(p.Auth) != int(p.Height) || len(p.Stacks) != int(p.Height) {
		return malformed("input.malformed", "the key is not one of height 1 to 20 at one of its leaves")
	}
	*m = Merkle{Leaf: p.Leaf, Height: p.Height, key: &key{height: int(p.Height), seeds: seeds, root: p.Priv.Root}}
	return nil
}

// MarshalJSON encodes the key. Its seeds are in the clear.
func (m *Merkle) MarshalJSON() ([]byte, error) {
	if m.key == nil {
		return nil, errNoKey
	}
	return m.key.json(0, 0, m.Leaf)
}

// UnmarshalJSON decodes a key. Its tree is computed when it is first needed.
func (m *Merkle) UnmarshalJSON(b []byte) error {
	var parts treeParts
	if err := unmarshal(b, &parts); err != nil {
		return err
	}
	return m.imports(&parts)
}

// EncodeMsgpack encodes the key. Its seeds are in the clear.
func (m *Merkle) EncodeMsgpack(enc *msgpack.Encoder) error {
	text, err := m.MarshalJSON()
	if err != nil {
		return err
	}
	defer clear(text)
	var parts treeParts
	if err := unmarshal(text, &parts); err != nil {
		return err
	}
	return enc.Encode(&parts)
}

// DecodeMsgpack decodes a key.
func (m *Merkle) DecodeMsgpack(dec *msgpack.Decoder) error {
	var parts treeParts
	if err := decode(dec, &parts); err != nil {
		return err
	}
	return m.imports(&parts)
}

// json encodes a tree of the key.
func (k *key) json(layer int, tree uint64, leaf uint32) ([]byte, error) {
	k.Lock()
	defer k.Unlock()
	if err := k.build(); err != nil {
		return nil, err
	}
	return k.handle.json(layer, tree, leaf)
}

// exports returns the trees that are in use.
func (p *PrivKeyMT) exports() (*hyperParts, error) {
	if p.key == nil {
		return nil, errNoKey
	}
	parts := &hyperParts{Index: p.index, H: p.h, D: p.d}
	for layer, at := range p.trees {
		if at == nil {
			parts.Merkle = append(parts.Merkle, nil)
			continue
		}
		text, err := p.key.json(layer, at.tree, at.leaf)
		if err != nil {
			return nil, err
		}
		tree := &treeParts{}
		if err := unmarshal(text, tree); err != nil {
			return nil, err
		}
		clear(text)
		parts.Merkle = append(parts.Merkle, tree)
	}
	return parts, nil
}

func (p *PrivKeyMT) imports(parts *hyperParts) error {
	if err := checkShape(parts.H, parts.D); err != nil {
		return err
	}
	if len(parts.Merkle) != int(parts.D) || parts.Merkle[parts.D-1] == nil || parts.Index > 1<<parts.H {
		return malformed("input.malformed", "the key does not have a tree for each layer, or its index is beyond the end")
	}
	top := parts.Merkle[parts.D-1]
	seeds, err := top.seeds()
	if err != nil {
		return err
	}
	made := PrivKeyMT{index: parts.Index, h: parts.H, d: parts.D}
	for layer, tree := range parts.Merkle {
		if tree == nil {
			made.trees = append(made.trees, nil)
			continue
		}
		height := parts.H / parts.D
		if int(tree.Layer) != layer || tree.Height != height || uint64(tree.Leaf) > 1<<height ||
			tree.Tree>>(parts.H-height*uint32(layer+1)) != 0 {
			return malformed("input.malformed", "a tree of the key is out of its place")
		}
		made.trees = append(made.trees, &position{tree: tree.Tree, leaf: tree.Leaf})
	}
	made.key = &key{height: int(parts.H), layers: int(parts.D), seeds: seeds, root: top.Priv.Root}
	*p = made
	return nil
}

// MarshalJSON encodes the key. Its seeds are in the clear.
func (p *PrivKeyMT) MarshalJSON() ([]byte, error) {
	parts, err := p.exports()
	if err != nil {
		return nil, err
	}
	return json.Marshal(parts)
}

// UnmarshalJSON decodes a key. Its trees are computed when they are first needed.
func (p *PrivKeyMT) UnmarshalJSON(b []byte) error {
	var parts hyperParts
	if err := unmarshal(b, &parts); err != nil {
		return err
	}
	return p.imports(&parts)
}

// EncodeMsgpack encodes the key. Its seeds are in the clear.
func (p *PrivKeyMT) EncodeMsgpack(enc *msgpack.Encoder) error {
	parts, err := p.exports()
	if err != nil {
		return err
	}
	return enc.Encode(parts)
}

// DecodeMsgpack decodes a key.
func (p *PrivKeyMT) DecodeMsgpack(dec *msgpack.Decoder) error {
	var parts hyperParts
	if err := decode(dec, &parts); err != nil {
		return err
	}
	return p.imports(&parts)
}

// unmarshal reads JSON. What the reader says could quote a seed, so that only its kind is told.
func unmarshal(text []byte, to any) error {
	err := json.Unmarshal(text, to)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return malformed("input.malformed", "the key is not JSON")
	}
	return malformed("input.malformed", "a field of the key has another type")
}

// decode reads msgpack, which may come from a stream: its own errors are returned for what is not a key.
func decode(dec *msgpack.Decoder, to any) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = malformed("input.malformed", "the key is not msgpack")
		}
	}()
	if err := dec.Decode(to); err != nil {
		return &tetralith.Error{Kind: tetralith.ErrMalformed, Code: "input.malformed", Message: "the key is not msgpack of a key"}
	}
	return nil
}
