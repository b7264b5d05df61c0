//go:build tetralith_wasm || !((linux || darwin) && (amd64 || arm64))

package tss_test

import (
	"errors"
	"testing"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/tss"
)

// The module for wazero says that it has no threshold signatures.
func TestUnsupported(t *testing.T) {
	if _, err := tss.Keygen(tss.DKLs23, tss.RunID{}, 1, 2, 3); !errors.Is(err, tetralith.ErrEnvironment) {
		t.Error(err)
	}
}
