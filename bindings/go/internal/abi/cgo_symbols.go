//go:build !tetralith_wasm && tetralith_cgo && (linux || darwin) && (amd64 || arm64)

package abi

// #include <tetralith.h>
import "C"

import "unsafe"

// symbols are the functions that the linker found. A test compares them with those that are called.
var symbols = map[string]unsafe.Pointer{
	"tetralith_aidos_unprotected_free":           unsafe.Pointer(C.tetralith_aidos_unprotected_free),
	"tetralith_aidos_unprotected_json":           unsafe.Pointer(C.tetralith_aidos_unprotected_json),
	"tetralith_aidos_unprotected_new":            unsafe.Pointer(C.tetralith_aidos_unprotected_new),
	"tetralith_aidos_unprotected_root":           unsafe.Pointer(C.tetralith_aidos_unprotected_root),
	"tetralith_aidos_unprotected_sign":           unsafe.Pointer(C.tetralith_aidos_unprotected_sign),
	"tetralith_aidos_unprotected_signature_size": unsafe.Pointer(C.tetralith_aidos_unprotected_signature_size),
	"tetralith_aidos_verify":                     unsafe.Pointer(C.tetralith_aidos_verify),
	"tetralith_bytes_free":                       unsafe.Pointer(C.tetralith_bytes_free),
	"tetralith_kernel":                           unsafe.Pointer(C.tetralith_kernel),
	"tetralith_last_error":                       unsafe.Pointer(C.tetralith_last_error),
	"tetralith_vdf_compute":                      unsafe.Pointer(C.tetralith_vdf_compute),
	"tetralith_vdf_free":                         unsafe.Pointer(C.tetralith_vdf_free),
	"tetralith_vdf_hash_to_element":              unsafe.Pointer(C.tetralith_vdf_hash_to_element),
	"tetralith_vdf_new":                          unsafe.Pointer(C.tetralith_vdf_new),
	"tetralith_vdf_prove":                        unsafe.Pointer(C.tetralith_vdf_prove),
	"tetralith_vdf_verify":                       unsafe.Pointer(C.tetralith_vdf_verify),
	"tetralith_vdf_width":                        unsafe.Pointer(C.tetralith_vdf_width),
	"tetralith_vrf_prove":                        unsafe.Pointer(C.tetralith_vrf_prove),
	"tetralith_vrf_public_key":                   unsafe.Pointer(C.tetralith_vrf_public_key),
	"tetralith_vrf_sizes":                        unsafe.Pointer(C.tetralith_vrf_sizes),
	"tetralith_vrf_verify":                       unsafe.Pointer(C.tetralith_vrf_verify),
	"tetralith_vrf_verify_many":                  unsafe.Pointer(C.tetralith_vrf_verify_many),
	"tetralith_xmss_key_create":                  unsafe.Pointer(C.tetralith_xmss_key_create),
	"tetralith_xmss_key_free":                    unsafe.Pointer(C.tetralith_xmss_key_free),
	"tetralith_xmss_key_is_encrypted":            unsafe.Pointer(C.tetralith_xmss_key_is_encrypted),
	"tetralith_xmss_key_open":                    unsafe.Pointer(C.tetralith_xmss_key_open),
	"tetralith_xmss_key_public":                  unsafe.Pointer(C.tetralith_xmss_key_public),
	"tetralith_xmss_key_reserve":                 unsafe.Pointer(C.tetralith_xmss_key_reserve),
	"tetralith_xmss_key_restore":                 unsafe.Pointer(C.tetralith_xmss_key_restore),
	"tetralith_xmss_key_status":                  unsafe.Pointer(C.tetralith_xmss_key_status),
	"tetralith_xmss_public_key_bytes":            unsafe.Pointer(C.tetralith_xmss_public_key_bytes),
	"tetralith_xmss_public_key_free":             unsafe.Pointer(C.tetralith_xmss_public_key_free),
	"tetralith_xmss_public_key_new":              unsafe.Pointer(C.tetralith_xmss_public_key_new),
	"tetralith_xmss_sign":                        unsafe.Pointer(C.tetralith_xmss_sign),
	"tetralith_xmss_signature_size":              unsafe.Pointer(C.tetralith_xmss_signature_size),
	"tetralith_xmss_signer_free":                 unsafe.Pointer(C.tetralith_xmss_signer_free),
	"tetralith_xmss_signer_open":                 unsafe.Pointer(C.tetralith_xmss_signer_open),
	"tetralith_xmss_signer_remaining":            unsafe.Pointer(C.tetralith_xmss_signer_remaining),
	"tetralith_xmss_signer_set_batch":            unsafe.Pointer(C.tetralith_xmss_signer_set_batch),
	"tetralith_xmss_signer_signature_size":       unsafe.Pointer(C.tetralith_xmss_signer_signature_size),
	"tetralith_xmss_verify":                      unsafe.Pointer(C.tetralith_xmss_verify),
	"tetralith_xmss_verify_many":                 unsafe.Pointer(C.tetralith_xmss_verify_many),
}
