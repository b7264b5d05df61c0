package xmss

import (
	"runtime"

	"tetralith.example/tetralith/internal/abi"
)

// handle is a key of the library that signs whatever it is told.
type handle struct{ abi.Handle }

func newHandle(height, layers int, seeds []byte) (*handle, []byte, error) {
	made := &handle{}
	if err := keyNew.Call(abi.Int(height), abi.Int(layers), abi.In(seeds), abi.Len(seeds), abi.OutHandle(&made.Handle)); err != nil {
		return nil, nil, err
	}
	runtime.AddCleanup(made, func(h abi.Handle) { keyFree.Get(abi.The(h)) }, made.Handle)
	root := make([]byte, 32)
	if err := keyRoot.Call(abi.The(made.Handle), abi.Out(root), abi.Len(root)); err != nil {
		return nil, nil, err
	}
	return made, root, nil
}

func (h *handle) sign(index uint64, msg []byte) ([]byte, error) {
	defer runtime.KeepAlive(h)
	signature := make([]byte, keySignatureSize.Get(abi.The(h.Handle)))
	err := keySign.Call(abi.The(h.Handle), abi.Int(index), abi.In(msg), abi.Len(msg), abi.Out(signature), abi.Len(signature))
	if err != nil {
		return nil, err
	}
	return signature, nil
}

// json returns a tree as JSON.
func (h *handle) json(layer int, tree uint64, leaf uint32) ([]byte, error) {
	defer runtime.KeepAlive(h)
	var text abi.Owned
	err := keyJSON.Call(abi.The(h.Handle), abi.Int(layer), abi.Int(tree), abi.Int(leaf), abi.OutBytes(&text), abi.OutLen(&text))
	if err != nil {
		return nil, err
	}
	return text.Take(h.Handle)
}

func verify(height, layers int, public, msg, signature []byte) error {
	return aidosVerify.Call(abi.Int(height), abi.Int(layers), abi.In(public), abi.Len(public), abi.In(msg), abi.Len(msg),
		abi.In(signature), abi.Len(signature))
}

var (
	keyNew           = abi.Function("aidos_unprotected_new")
	keyRoot          = abi.Function("aidos_unprotected_root")
	keySignatureSize = abi.Function("aidos_unprotected_signature_size")
	keySign          = abi.Function("aidos_unprotected_sign")
	keyJSON          = abi.Function("aidos_unprotected_json")
	keyFree          = abi.Function("aidos_unprotected_free")
	aidosVerify      = abi.Function("aidos_verify")
)
