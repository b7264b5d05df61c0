// Package vdf computes and verifies delays: sequential squaring modulo N, and proofs of it.
//
// Errors are of type [tetralith.Error]. All functions may be called from many goroutines at once. Numbers
// are big-endian bytes.
package vdf

import (
	"context"
	_ "embed"
	"encoding/hex"
	"runtime"
	"strings"
	"sync"

	"tetralith.example/tetralith/internal/abi"
)

// Modulus is an odd number N of 64 to 8192 bits. Nobody may know its factors: whoever does computes any
// delay at once.
type Modulus struct {
	handle abi.Handle
	width  int
}

//go:embed rsa2048.hex
var rsa2048 string

// RSA2048 returns the RSA-2048 challenge number, whose factors nobody is known to have.
var RSA2048 = sync.OnceValues(func() (*Modulus, error) {
	bytes, err := hex.DecodeString(strings.Join(strings.Fields(rsa2048), ""))
	if err != nil {
		return nil, err
	}
	return NewModulus(bytes)
})

// NewModulus prepares a modulus. It refuses even numbers and sizes out of range.
func NewModulus(n []byte) (*Modulus, error) {
	var handle abi.Handle
	if err := vdfNew.Call(abi.In(n), abi.Len(n), abi.OutHandle(&handle)); err != nil {
		return nil, err
	}
	modulus := &Modulus{handle: handle, width: int(vdfWidth.Get(abi.The(handle)))}
	runtime.AddCleanup(modulus, func(handle abi.Handle) { vdfFree.Get(abi.The(handle)) }, handle)
	return modulus, nil
}

// Width returns the length in bytes of every number modulo N.
func (m *Modulus) Width() int { return m.width }

// HashToElement hashes a public seed to the input x of a run of so many squarings.
//
// Use it: outputs of inputs that somebody chose combine, for y(18) = y(2)·y(3)².
func (m *Modulus) HashToElement(seed []byte, iterations uint64) ([]byte, error) {
	defer runtime.KeepAlive(m)
	x := make([]byte, m.width)
	err := vdfHash.Call(abi.The(m.handle), abi.Int(iterations), abi.In(seed), abi.Len(seed), abi.Out(x), abi.Len(x))
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Progress is called a few times a second with the squarings done and those of the whole run.
type Progress func(done, total uint64)

// Compute returns y = x^(2^iterations) mod N. It ends soon after ctx does, with the context's error.
//
// progress may be nil. Variable time: all is public.
func (m *Modulus) Compute(ctx context.Context, x []byte, iterations uint64, progress Progress) ([]byte, error) {
	defer runtime.KeepAlive(m)
	callback, user, end := abi.Watch(ctx, progress)
	defer end()
	y := make([]byte, m.width)
	err := vdfCompute.CallContext(ctx, abi.The(m.handle), abi.In(x), abi.Len(x), abi.Int(iterations), callback, user,
		abi.Out(y), abi.Len(y))
	if err != nil {
		return nil, err
	}
	return y, nil
}

// System is a proof system.
type System int

// The proof systems.
const (
	Wesolowski  System = 1 // one group element
	NWesolowski System = 2 // one for each of some segments, ready soon after the last squaring
	Pietrzak    System = 3 // a group element for each halving of T
)

// ProveOptions are the choices of [Modulus.Prove].
type ProveOptions struct {
	// System is the proof system, Wesolowski unless set.
	System System
	// Threads is how many threads work on the proof, all cores unless set.
	Threads int
	// Progress, if set, is told how far the run is.
	Progress Progress
}

func (o *ProveOptions) get() ProveOptions {
	options := ProveOptions{}
	if o != nil {
		options = *o
	}
	if options.System == 0 {
		options.System = Wesolowski
	}
	if options.Threads <= 0 {
		options.Threads = runtime.GOMAXPROCS(0)
	}
	return options
}

// Prove computes y = x^(2^iterations) mod N, and a proof that y is that up to its sign. options may be nil. It
// ends soon after ctx does, with the context's error.
func (m *Modulus) Prove(ctx context.Context, x []byte, iterations uint64, options *ProveOptions) (y, proof []byte, err error) {
	defer runtime.KeepAlive(m)
	o := options.get()
	callback, user, end := abi.Watch(ctx, o.Progress)
	defer end()
	y = make([]byte, m.width)
	var made abi.Owned
	err = vdfProve.CallContext(ctx, abi.The(m.handle), abi.In(x), abi.Len(x), abi.Int(iterations), abi.Int(o.System),
		abi.Int(o.Threads), callback, user, abi.Out(y), abi.Len(y), abi.OutBytes(&made), abi.OutLen(&made))
	if err != nil {
		return nil, nil, err
	}
	if proof, err = made.Take(m.handle); err != nil {
		return nil, nil, err
	}
	return y, proof, nil
}

// Verify verifies a proof that y is x^(2^iterations) mod N up to its sign; for any y if y is nil.
//
// The error is [tetralith.example/tetralith.ErrNotValid] if that is false, or if the proof is of another
// modulus, input, number of squarings or y.
func (m *Modulus) Verify(x []byte, iterations uint64, y, proof []byte) error {
	defer runtime.KeepAlive(m)
	return vdfVerify.Call(abi.The(m.handle), abi.In(x), abi.Len(x), abi.Int(iterations), abi.In(y), abi.Len(y),
		abi.In(proof), abi.Len(proof))
}

var (
	vdfNew     = abi.Function("vdf_new")
	vdfWidth   = abi.Function("vdf_width")
	vdfFree    = abi.Function("vdf_free")
	vdfHash    = abi.Function("vdf_hash_to_element")
	vdfCompute = abi.Function("vdf_compute")
	vdfProve   = abi.Function("vdf_prove")
	vdfVerify  = abi.Function("vdf_verify")
)
