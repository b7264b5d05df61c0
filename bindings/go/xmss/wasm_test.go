//go:build tetralith_wasm || !((linux || darwin) && (amd64 || arm64))

package xmss_test

import (
	"errors"
	"path/filepath"
	"testing"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/xmss"
)

// The module for wazero says that it does not sign.
func TestUnsupported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signer.key")
	_, err := xmss.CreateKey(t.Context(), path, "QRL-SHA2_4_256", []byte("correct horse"), nil)
	if !errors.Is(err, tetralith.ErrEnvironment) {
		t.Error(err)
	}
}
