//go:build !tetralith_wasm && (linux || darwin) && (amd64 || arm64)

package xmss_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/xmss"
)

var passphrase = []byte("correct horse")

// create makes a small key.
func create(t *testing.T) (path string, key *xmss.Key) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "signer.key")
	key, err := xmss.CreateKey(t.Context(), path, "QRL-SHA2_4_256", passphrase, &xmss.KeyOptions{Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return path, key
}

func open(t *testing.T, key *xmss.Key) *xmss.Signer {
	t.Helper()
	signer, err := key.Signer(t.Context(), passphrase, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { signer.Close() })
	return signer
}

func TestSigning(t *testing.T) {
	path, key := create(t)
	public, err := key.PublicKey()
	if err != nil || !key.IsEncrypted() {
		t.Fatal(err)
	}
	for round := range 3 {
		signer := open(t, key)
		for i := range 2 {
			signature, err := signer.Sign([]byte("m"))
			if err != nil {
				t.Fatal(err)
			}
			if err := public.Verify([]byte("m"), signature); err != nil {
				t.Error(err)
			}
			if index := binary.BigEndian.Uint32(signature); int(index) != 2*round+i {
				t.Errorf("index %d after %d signatures", index, 2*round+i)
			}
		}
		if left, err := signer.Remaining(); err != nil || int(left) != 14-2*round {
			t.Error(left, err)
		}
		if err := signer.Close(); err != nil {
			t.Error(err)
		}
		if err := signer.Close(); err != nil {
			t.Error("closed twice:", err)
		}
		if _, err := signer.Sign(nil); !errors.Is(err, tetralith.ErrMalformed) {
			t.Error("a closed signer signs:", err)
		}
		if key, err = xmss.OpenKey(path, &xmss.KeyOptions{Wait: time.Millisecond}); err != nil {
			t.Fatal(err)
		}
	}
	status, err := key.Status()
	if err != nil || status.Used != 6 || status.Left != 10 || status.Limit != 16 || status.Next != 6 {
		t.Errorf("%+v %v", status, err)
	}
	qrl, err := public.MarshalQRL()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := xmss.ParseQRLPublicKey(qrl); err != nil {
		t.Error(err)
	}
	if _, err := public.Marshal(); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error("a key of QRL's has no DER:", err)
	}
}

func TestStateIsRefused(t *testing.T) {
	path, key := create(t)
	signer := open(t, key)
	var failure *tetralith.Error
	_, err := key.Signer(t.Context(), passphrase, nil)
	if !errors.As(err, &failure) || failure.Kind != tetralith.ErrState {
		t.Error("two signers:", err)
	}
	for i := range 16 {
		if _, err := signer.Sign([]byte{byte(i)}); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := signer.Sign(nil); !errors.Is(err, tetralith.ErrState) {
		t.Error("an exhausted key signs:", err)
	}
	if err := signer.Close(); err != nil {
		t.Error(err)
	}
	if status, err := key.Status(); !errors.Is(err, tetralith.ErrState) || status.Used != 16 || status.Left != 0 {
		t.Errorf("%+v %v", status, err)
	}
	// A lost state.
	states, err := filepath.Glob(path + ".state*")
	if err != nil || len(states) == 0 {
		t.Fatal(states, err)
	}
	for _, state := range states {
		if err := os.Remove(state); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := key.Signer(t.Context(), passphrase, nil); !errors.Is(err, tetralith.ErrState) {
		t.Error("a key without its state signs:", err)
	}
}

func TestReserveAndRestore(t *testing.T) {
	_, key := create(t)
	if first, _, err := key.Reserve(5); err != nil || first != 0 {
		t.Error(first, err)
	}
	if first, _, err := key.Reserve(1); err != nil || first != 5 {
		t.Error(first, err)
	}
	if _, _, err := key.Reserve(0); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
	if _, _, err := key.Reserve(100); !errors.Is(err, tetralith.ErrState) {
		t.Error(err)
	}
	if err := key.Restore(3, 0); err == nil {
		t.Error("the state goes back")
	}
	if err := key.Restore(9, 0); err != nil {
		t.Fatal(err)
	}
	signature, err := open(t, key).Sign(nil)
	if err != nil || binary.BigEndian.Uint32(signature) != 9 {
		t.Error(err)
	}
}

func TestBadKeys(t *testing.T) {
	path, key := create(t)
	ctx := t.Context()
	if _, err := key.Signer(ctx, []byte("wrong"), nil); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
	if _, err := key.Signer(ctx, nil, nil); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
	for name, bad := range map[string]func() error{
		"a file that exists": func() error { _, err := xmss.CreateKey(ctx, path, "QRL-SHA2_4_256", passphrase, nil); return err },
		"no file":            func() error { _, err := xmss.OpenKey(path+"x", nil); return err },
	} {
		if err := bad(); !errors.Is(err, tetralith.ErrEnvironment) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fresh := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(fresh+"2", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]func() error{
		"no path":       func() error { _, err := xmss.OpenKey("", nil); return err },
		"a NUL":         func() error { _, err := xmss.OpenKey(path+"\x00x", nil); return err },
		"no key file":   func() error { _, err := xmss.OpenKey(fresh+"2", nil); return err },
		"no such store": func() error { _, err := xmss.OpenKey(path, &xmss.KeyOptions{Store: "redis:x"}); return err },
		"no set":        func() error { _, err := xmss.CreateKey(ctx, fresh, "", passphrase, nil); return err },
		"another set":   func() error { _, err := xmss.CreateKey(ctx, fresh, "XMSS-MD5_10_256", passphrase, nil); return err },
		"no passphrase": func() error { _, err := xmss.CreateKey(ctx, fresh, "QRL-SHA2_4_256", nil, nil); return err },
		"two minds": func() error {
			_, err := xmss.CreateKey(ctx, fresh, "QRL-SHA2_4_256", passphrase, &xmss.KeyOptions{Unencrypted: true})
			return err
		},
	} {
		if err := bad(); !errors.Is(err, tetralith.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := xmss.CreateKey(ctx, fresh, "QRL-SHA2_4_256", nil, &xmss.KeyOptions{Unencrypted: true}); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if _, err := xmss.CreateKey(ended, fresh+"3", "XMSS-SHA2_20_256", passphrase, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestManyGoroutinesSign(t *testing.T) {
	_, key := create(t)
	signer := open(t, key)
	var group sync.WaitGroup
	var indices sync.Map
	for range 8 {
		group.Go(func() {
			signature, err := signer.Sign(nil)
			if err != nil {
				t.Error(err)
				return
			}
			if _, twice := indices.LoadOrStore(binary.BigEndian.Uint32(signature), true); twice {
				t.Error("an index twice")
			}
		})
	}
	group.Wait()
}

func ExampleSigner() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "signer.key")
	ctx := context.Background()
	key, err := xmss.CreateKey(ctx, path, "XMSS-SHA2_10_256", []byte("correct horse"), nil)
	if errors.Is(err, tetralith.ErrEnvironment) {
		fmt.Println("1023 signatures left") // WebAssembly does not sign
		return
	} else if err != nil {
		panic(err)
	}
	signer, err := key.Signer(ctx, []byte("correct horse"), nil)
	if err != nil {
		panic(err)
	}
	defer signer.Close()
	signature, err := signer.Sign([]byte("a message"))
	if err != nil {
		panic(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		panic(err)
	}
	if err := public.Verify([]byte("a message"), signature); err != nil {
		panic(err)
	}
	left, err := signer.Remaining()
	if err != nil {
		panic(err)
	}
	fmt.Println(left, "signatures left")
	// Output: 1023 signatures left
}
