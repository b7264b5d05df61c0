package vdf

import (
	"context"
	"runtime"

	"tetralith.example/tetralith/internal/abi"
)

// Seal encrypts bytes, so that opening them takes so many squarings modulo a new number of bits bits: a multiple of
// 128 from 256 to 8192, or 0 for 2048. Sealing takes no squarings. The command's `vdf open` opens it as well.
func Seal(content []byte, iterations uint64, bits int) ([]byte, error) {
	if bits < 0 || bits > 1<<20 {
		return nil, malformed("a modulus has 256 to 8192 bits")
	}
	var sealed abi.Owned
	err := vdfSeal.Call(abi.Int(iterations), abi.Int(bits), abi.In(content), abi.Len(content), abi.OutBytes(&sealed), abi.OutLen(&sealed))
	if err != nil {
		return nil, err
	}
	return sealed.Take(0)
}

// SealedIterations returns how many squarings it takes to open sealed bytes.
func SealedIterations(sealed []byte) (uint64, error) {
	var iterations uint64
	err := vdfSealedIterations.Call(abi.In(sealed), abi.Len(sealed), abi.OutSize(&iterations))
	return iterations, err
}

// Open opens sealed bytes, however long that takes. It ends soon after ctx does, with the context's error.
//
// checkpoint is a file from which a later call goes on, or empty; progress may be nil. The error is
// [tetralith.example/tetralith.ErrNotValid] if a byte was altered or is missing: then there is no content at all.
func Open(ctx context.Context, sealed []byte, checkpoint string, progress Progress) ([]byte, error) {
	if err := abi.CheckText("the checkpoint", checkpoint); err != nil {
		return nil, err
	}
	callback, user, end := abi.Watch(ctx, progress)
	defer end()
	var content abi.Owned
	err := vdfOpen.CallContext(ctx, abi.In(sealed), abi.Len(sealed), abi.Text(checkpoint), callback, user,
		abi.OutBytes(&content), abi.OutLen(&content))
	if err != nil {
		return nil, err
	}
	return content.Take(0)
}

// ComputeResumable is [Modulus.Compute] with its state in the file checkpoint, from which a later call with the same
// arguments goes on.
//
// The state is written every minute, when the context ends, and at the end. The command's `vdf eval --checkpoint` reads
// and writes the same file. The error is [tetralith.example/tetralith.ErrState] where another process uses it.
// [Forget] removes it.
func (m *Modulus) ComputeResumable(ctx context.Context, x []byte, iterations uint64, checkpoint string, progress Progress) ([]byte, error) {
	defer runtime.KeepAlive(m)
	if err := checkName(checkpoint); err != nil {
		return nil, err
	}
	callback, user, end := abi.Watch(ctx, progress)
	defer end()
	y := make([]byte, m.width)
	err := vdfComputeResumable.CallContext(ctx, abi.The(m.handle), abi.In(x), abi.Len(x), abi.Int(iterations), abi.Text(checkpoint),
		callback, user, abi.Out(y), abi.Len(y))
	if err != nil {
		return nil, err
	}
	return y, nil
}

// ProveResumable is [Modulus.Prove] with its state in files whose names begin with checkpoint, from which a later call
// with the same arguments goes on. See [Modulus.ComputeResumable].
func (m *Modulus) ProveResumable(ctx context.Context, x []byte, iterations uint64, checkpoint string, options *ProveOptions) (y, proof []byte, err error) {
	defer runtime.KeepAlive(m)
	if err := checkName(checkpoint); err != nil {
		return nil, nil, err
	}
	o := options.get()
	callback, user, end := abi.Watch(ctx, o.Progress)
	defer end()
	y = make([]byte, m.width)
	var made abi.Owned
	err = vdfProveResumable.CallContext(ctx, abi.The(m.handle), abi.In(x), abi.Len(x), abi.Int(iterations), abi.Int(o.System),
		abi.Int(o.Threads), abi.Text(checkpoint), callback, user, abi.Out(y), abi.Len(y), abi.OutBytes(&made), abi.OutLen(&made))
	if err != nil {
		return nil, nil, err
	}
	if proof, err = made.Take(m.handle); err != nil {
		return nil, nil, err
	}
	return y, proof, nil
}

// Forget removes the files of a checkpoint, if there are any.
func Forget(checkpoint string) error {
	if err := checkName(checkpoint); err != nil {
		return err
	}
	return vdfForget.Call(abi.Text(checkpoint))
}

func checkName(checkpoint string) error {
	if checkpoint == "" {
		return malformed("the checkpoint's name is empty")
	}
	return abi.CheckText("the checkpoint", checkpoint)
}

func malformed(message string) error {
	return abi.Failure(abi.Malformed, "usage.arguments", message)
}

var (
	vdfSeal             = abi.Function("vdf_seal")
	vdfSealedIterations = abi.Function("vdf_sealed_iterations")
	vdfOpen             = abi.Function("vdf_open")
	vdfComputeResumable = abi.Function("vdf_compute_resumable")
	vdfProveResumable   = abi.Function("vdf_prove_resumable")
	vdfForget           = abi.Function("vdf_forget")
)
