package xmss

import (
	"context"
	"runtime"
	"sync"
	"time"

	"tetralith.example/tetralith/internal/abi"
)

// Key is an XMSS key on a disk: an encrypted key file with its state beside it. The command signs with the
// same files. Opening a key locks nothing.
type Key struct{ handle abi.Handle }

// KeyOptions say where a key's state is.
type KeyOptions struct {
	// Store is the URL of the state, "sqlite:PATH" or "file:PATH". Where it is empty, the state is beside the key.
	Store string
	// Wait is how long to wait for another process that has the state open, ten seconds unless set.
	Wait time.Duration
	// Unencrypted says that [CreateKey] leaves the secret unencrypted. Otherwise it needs a passphrase.
	Unencrypted bool
	// Progress, if set, is told how many leaves of the key's tree are computed.
	Progress func(done, total uint64)
}

func (o *KeyOptions) get() (KeyOptions, uint32) {
	options := KeyOptions{}
	if o != nil {
		options = *o
	}
	if options.Wait <= 0 {
		options.Wait = 10 * time.Second
	}
	return options, uint32(min(options.Wait.Milliseconds(), 1<<32-1))
}

func (o *KeyOptions) check(path string) error {
	if err := abi.CheckText("the key's path", path); err != nil {
		return err
	}
	if path == "" {
		return malformed("usage.arguments", "the key's path is empty")
	}
	return abi.CheckText("the store", o.Store)
}

// CreateKey makes a key that has never signed, and opens it. The file must not exist. The state is on the disk
// before the key is. options may be nil.
//
// params is the name of a parameter set, such as "XMSS-SHA2_10_256", "XMSSMT-SHA2_20/4_256" or
// "QRL-SHAKE_10_256". A key of height 20 takes minutes. It ends soon after ctx does, with the context's error.
func CreateKey(ctx context.Context, path, params string, passphrase []byte, options *KeyOptions) (*Key, error) {
	o, wait := options.get()
	if err := o.check(path); err != nil {
		return nil, err
	}
	if err := abi.CheckText("the parameter set", params); err != nil {
		return nil, err
	}
	if (len(passphrase) == 0) != o.Unencrypted {
		return nil, malformed("usage.arguments", "a key needs a passphrase, or the option Unencrypted and none")
	}
	if o.Unencrypted {
		passphrase = nil
	}
	var handle abi.Handle
	callback, user, end := abi.Watch(ctx, o.Progress)
	defer end()
	err := keyCreate.CallContext(ctx, abi.Text(path), abi.Text(o.Store), abi.Text(params), abi.In(passphrase), abi.Len(passphrase),
		abi.Int(wait), callback, user, abi.OutHandle(&handle))
	if err != nil {
		return nil, err
	}
	return newKey(handle), nil
}

// OpenKey opens a key file. options may be nil.
func OpenKey(path string, options *KeyOptions) (*Key, error) {
	o, wait := options.get()
	if err := o.check(path); err != nil {
		return nil, err
	}
	var handle abi.Handle
	if err := keyOpen.Call(abi.Text(path), abi.Text(o.Store), abi.Int(wait), abi.OutHandle(&handle)); err != nil {
		return nil, err
	}
	return newKey(handle), nil
}

func newKey(handle abi.Handle) *Key {
	key := &Key{handle: handle}
	runtime.AddCleanup(key, func(handle abi.Handle) { keyFree.Get(abi.The(handle)) }, handle)
	return key
}

// PublicKey returns the public key.
func (k *Key) PublicKey() (*PublicKey, error) {
	defer runtime.KeepAlive(k)
	var handle abi.Handle
	if err := keyPublic.Call(abi.The(k.handle), abi.OutHandle(&handle)); err != nil {
		return nil, err
	}
	return fromHandle(handle), nil
}

// IsEncrypted says whether the secret needs a passphrase.
func (k *Key) IsEncrypted() bool {
	defer runtime.KeepAlive(k)
	return keyIsEncrypted.Get(abi.The(k.handle))&1 == 1
}

// Status is how a key's indices are spent.
type Status struct {
	Limit   uint64 // the indices of the key
	Until   uint64 // the first index that is not for this place: Limit, unless a range was restored
	Used    uint64 // the indices with which something was signed
	Lost    uint64 // those that a crash or an abandoned signature spent
	Leased  uint64 // those that are leased now
	Skipped uint64 // those that a restored state left out
	Left    uint64 // those that can still be leased here
	Next    uint64 // the next index to be leased
}

// Status reads how the indices are spent, also while another process signs. Where signing would be refused, the
// status is returned beside the refusal, [tetralith.ErrState].
func (k *Key) Status() (Status, error) {
	defer runtime.KeepAlive(k)
	var n [8]uint64
	err := keyStatus.Call(abi.The(k.handle), abi.OutNumbers(n[:]))
	return Status{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]}, err
}

// Reserve hands out count indices for good, to a signer elsewhere that keeps its own count. It returns the first of
// them and the fencing number.
func (k *Key) Reserve(count uint64) (first, fencing uint64, err error) {
	defer runtime.KeepAlive(k)
	err = keyReserve.Call(abi.The(k.handle), abi.Int(count), abi.OutSize(&first), abi.OutSize(&fencing))
	return first, fencing, err
}

// Restore makes a lost, copied or rolled-back state usable from the index resumeAt on, and before until if that
// is not 0.
//
// resumeAt must lie above every index that any copy of the key may have used: two signatures of one index let
// anybody forge.
func (k *Key) Restore(resumeAt, until uint64) error {
	defer runtime.KeepAlive(k)
	return keyRestore.Call(abi.The(k.handle), abi.Int(resumeAt), abi.Int(until))
}

// Signer signs with a key, whose state is locked until the signer is closed. It may be used by many goroutines: one
// signs after the other.
type Signer struct {
	mutex   sync.RWMutex
	handle  abi.Handle
	size    int
	cleanup runtime.Cleanup
}

// Signer opens the key for signing and locks its state. passphrase is nil for an unencrypted key; progress may be
// nil.
//
// Where another process has the state, the error is [tetralith.ErrState] after the time that the key was opened
// with. Trees that are not beside the key are computed now. Close the signer.
func (k *Key) Signer(ctx context.Context, passphrase []byte, progress func(done, total uint64)) (*Signer, error) {
	defer runtime.KeepAlive(k)
	if len(passphrase) == 0 {
		passphrase = nil
	}
	var handle abi.Handle
	callback, user, end := abi.Watch(ctx, progress)
	defer end()
	err := signerOpen.CallContext(ctx, abi.The(k.handle), abi.In(passphrase), abi.Len(passphrase), callback, user, abi.OutHandle(&handle))
	if err != nil {
		return nil, err
	}
	signer := &Signer{handle: handle, size: int(signerSize.Get(abi.The(handle)))}
	signer.cleanup = runtime.AddCleanup(signer, func(handle abi.Handle) { _ = signerFree.Call(abi.The(handle)) }, handle)
	return signer, nil
}

// Sign signs a message with the next index.
//
// The use of the index is on the disk before a secret of it is touched, and the signature is verified before it is
// returned. If the call fails after that, the index is lost and the next signature has another.
func (s *Signer) Sign(message []byte) ([]byte, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.handle == 0 {
		return nil, errClosed
	}
	signature := make([]byte, s.size)
	err := sign.Call(abi.The(s.handle), abi.In(message), abi.Len(message), abi.Out(signature), abi.Len(signature), abi.In(nil))
	if err != nil {
		return nil, err
	}
	return signature, nil
}

// SetBatch sets how many indices one commit leases, 1 unless set. More is faster, and a crash loses those that were
// not used.
func (s *Signer) SetBatch(batch uint64) error {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.handle == 0 {
		return errClosed
	}
	return signerSetBatch.Call(abi.The(s.handle), abi.Int(batch))
}

// Remaining returns how many signatures are left.
func (s *Signer) Remaining() (uint64, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.handle == 0 {
		return 0, errClosed
	}
	var left uint64
	err := signerRemaining.Call(abi.The(s.handle), abi.OutSize(&left))
	return left, err
}

// Close accounts for the indices that were leased, and unlocks the state. Without it, the indices that were leased
// count as lost. Whatever it returns, no index is used twice.
func (s *Signer) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.handle == 0 {
		return nil
	}
	handle := s.handle
	s.handle = 0
	s.cleanup.Stop()
	return signerFree.Call(abi.The(handle))
}

var errClosed = malformed("usage.arguments", "the signer is closed")

var (
	keyCreate       = abi.Function("xmss_key_create")
	keyOpen         = abi.Function("xmss_key_open")
	keyPublic       = abi.Function("xmss_key_public")
	keyIsEncrypted  = abi.Function("xmss_key_is_encrypted")
	keyStatus       = abi.Function("xmss_key_status")
	keyReserve      = abi.Function("xmss_key_reserve")
	keyRestore      = abi.Function("xmss_key_restore")
	keyFree         = abi.Function("xmss_key_free")
	signerOpen      = abi.Function("xmss_signer_open")
	signerSize      = abi.Function("xmss_signer_signature_size")
	signerSetBatch  = abi.Function("xmss_signer_set_batch")
	signerRemaining = abi.Function("xmss_signer_remaining")
	signerFree      = abi.Function("xmss_signer_free")
	sign            = abi.Function("xmss_sign")
)
