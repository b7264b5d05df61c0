// Fast cryptography for ledgers: VDF squaring and proofs, VRF, XMSS verification.
//
// Numbers are big-endian bytes. A length stands beside every pointer, and NULL is allowed where the
// length is 0. A function returns a TETRALITH_ status and writes results only if it is TETRALITH_OK;
// tetralith_last_error tells the calling thread what failed. Handles may be shared between threads for
// reading: all functions but `_free` only read them.
// SPDX-License-Identifier: MIT OR Apache-2.0


#ifndef TETRALITH_H
#define TETRALITH_H

/* Made from the Rust sources by `TETRALITH_HEADER=write cargo test -p tetralith-c --test header`. */

#include <stddef.h>
#include <stdint.h>

// Success; of a verification: valid.
#define TETRALITH_OK 0

// Well formed, and not valid.
#define TETRALITH_NOT_VALID 1

// The input is malformed.
#define TETRALITH_MALFORMED 2

// The machine or the system failed, or the caller stopped the work.
#define TETRALITH_ENVIRONMENT 3

// The durable state refuses.
#define TETRALITH_STATE 4

// A pointer is NULL that must not be, or a buffer has the wrong length.
#define TETRALITH_ARGUMENT 64

// A fault of this library.
#define TETRALITH_INTERNAL 70

// The version of this interface: programs built for another do not fit.
#define TETRALITH_ABI_VERSION 1

// A Wesolowski proof: one group element.
#define TETRALITH_VDF_WESOLOWSKI 1

// A Wesolowski proof of consecutive segments, ready soon after the last squaring.
#define TETRALITH_VDF_N_WESOLOWSKI 2

// A Pietrzak proof: a group element for each halving of T.
#define TETRALITH_VDF_PIETRZAK 3

// `draft03-cardano`.
#define TETRALITH_VRF_DRAFT03_CARDANO 0

// `draft03-algorand`.
#define TETRALITH_VRF_DRAFT03_ALGORAND 1

// `draft13-batchcompat`.
#define TETRALITH_VRF_DRAFT13_BATCHCOMPAT 2

// `rfc9381-edwards25519-sha512-tai`.
#define TETRALITH_VRF_EDWARDS25519_TAI 3

// `rfc9381-edwards25519-sha512-ell2`.
#define TETRALITH_VRF_EDWARDS25519_ELL2 4

// `rfc9381-p256-sha256-tai`.
#define TETRALITH_VRF_P256_TAI 5

// `rfc9381-p256-sha256-sswu`.
#define TETRALITH_VRF_P256_SSWU 6

// `secp256k1-sha256-tai`.
#define TETRALITH_VRF_SECP256K1_TAI 7

// `OID ‖ root ‖ SEED` of XMSS. RFC 8391 §4.1.7.
#define TETRALITH_XMSS_RAW 0

// `OID ‖ root ‖ SEED` of XMSS^MT. RFC 8391 §4.2.2.
#define TETRALITH_XMSS_RAW_MULTI_TREE 1

// A SubjectPublicKeyInfo or a certificate in PEM. RFC 9802.
#define TETRALITH_XMSS_PEM 2

// A SubjectPublicKeyInfo or a certificate in DER. RFC 9802.
#define TETRALITH_XMSS_DER 3

// QRL's 67 bytes: descriptor, root, SEED.
#define TETRALITH_XMSS_QRL 4

// A key of AidosKuneen/xmss that signs with any index it is told.
typedef struct tetralith_aidos_unprotected tetralith_aidos_unprotected;

// An odd modulus of 64 to 8192 bits, with its tables.
typedef struct tetralith_vdf tetralith_vdf;

// A public key.
typedef struct tetralith_xmss_public_key tetralith_xmss_public_key;

// Called a few times a second with the caller's pointer, the squarings done and those of the whole
// run. A result other than 0 stops the run with `TETRALITH_ENVIRONMENT`.
typedef int32_t (*tetralith_progress)(void *user, uint64_t done, uint64_t total);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes what failed last on this thread as `code: message`, and returns its length without the
// final NUL.
//
// The text is cut to `len` bytes with its NUL; nothing is written if `len` is 0. The length is 0 if
// nothing failed yet.
//
// # Safety
// `buffer` is NULL or points to `len` writable bytes.
size_t tetralith_last_error(char *buffer, size_t len);

// The version of this interface, to be compared with `TETRALITH_ABI_VERSION`.
uint32_t tetralith_abi_version(void);

// The version of the library, such as `0.1.0`; a constant.
const char *tetralith_version(void);

// Writes the name of the fastest kernels that run here, such as `avx512`, and returns its length
// without the final NUL.
//
// The text is cut to `len` bytes with its NUL; nothing is written if `len` is 0.
//
// # Safety
// `buffer` is NULL or points to `len` writable bytes.
size_t tetralith_kernel(char *buffer, size_t len);

// Prepares a modulus N of `len` bytes, and writes its handle to `*out`; NULL on failure.
//
// # Safety
// `modulus` points to `len` readable bytes, `out` to a writable pointer.
int32_t tetralith_vdf_new(const uint8_t *modulus, size_t len, tetralith_vdf **out);

// The length in bytes of every number modulo N: that of N without leading zeros. 0 for NULL.
//
// # Safety
// `modulus` is NULL or a handle that is not freed.
size_t tetralith_vdf_width(const tetralith_vdf *modulus);

// Hashes a public seed to the input x of `iterations` squarings; `x_len` is the modulus's width.
//
// Use it: of an x that somebody chose, outputs combine, for y(18) = y(2)·y(3)^2.
//
// # Safety
// `modulus` is a handle; `seed` points to `seed_len` readable bytes, `x` to `x_len` writable ones.
int32_t tetralith_vdf_hash_to_element(const tetralith_vdf *modulus,
                                      uint64_t iterations,
                                      const uint8_t *seed,
                                      size_t seed_len,
                                      uint8_t *x,
                                      size_t x_len);

// Writes x^(2^iterations) mod N to `y`, whose length is the modulus's width.
//
// `x` may be above N and is reduced. `progress` may be NULL. Variable time: all is public.
//
// # Safety
// `modulus` is a handle; `x` points to `x_len` readable bytes, `y` to `y_len` writable ones.
int32_t tetralith_vdf_compute(const tetralith_vdf *modulus,
                              const uint8_t *x,
                              size_t x_len,
                              uint64_t iterations,
                              tetralith_progress progress,
                              void *user,
                              uint8_t *y,
                              size_t y_len);

// Writes y as `tetralith_vdf_compute` does, and a proof to `*proof` with its length to `*proof_len`.
//
// Free the proof with `tetralith_bytes_free`. `threads` of 0 means one.
//
// # Safety
// As `tetralith_vdf_compute`; `proof` and `proof_len` may be written.
int32_t tetralith_vdf_prove(const tetralith_vdf *modulus,
                            const uint8_t *x,
                            size_t x_len,
                            uint64_t iterations,
                            int32_t system,
                            size_t threads,
                            tetralith_progress progress,
                            void *user,
                            uint8_t *y,
                            size_t y_len,
                            uint8_t **proof,
                            size_t *proof_len);

// Checks a proof that `*y` = ±x^(2^iterations) mod N; with `y` NULL and `y_len` 0 for any y.
//
// `TETRALITH_NOT_VALID` if it is false, or of another modulus, input, number of squarings or y.
//
// # Safety
// `modulus` is a handle; the other pointers point to as many readable bytes as their lengths say.
int32_t tetralith_vdf_verify(const tetralith_vdf *modulus,
                             const uint8_t *x,
                             size_t x_len,
                             uint64_t iterations,
                             const uint8_t *y,
                             size_t y_len,
                             const uint8_t *proof,
                             size_t proof_len);

// Frees a modulus; NULL is allowed.
//
// # Safety
// `modulus` is NULL or a handle that is not freed, and no call uses it.
void tetralith_vdf_free(tetralith_vdf *modulus);

// Frees bytes that this library allocated; NULL is allowed.
//
// # Safety
// `bytes` and `len` are what a function of this library wrote, not freed before.
void tetralith_bytes_free(uint8_t *bytes, size_t len);

// Writes the lengths in bytes of a suite's public keys, proofs and outputs; a place may be NULL.
//
// # Safety
// Each pointer is NULL or may be written.
int32_t tetralith_vrf_sizes(int32_t suite, size_t *public_key, size_t *proof, size_t *output);

// Verifies a proof and writes its output, or with `output` NULL only verifies.
//
// `TETRALITH_NOT_VALID` for a well-formed proof that is not valid, `TETRALITH_MALFORMED` for other
// input. Variable time: all is public. RFC 9381 §5.3.
//
// # Safety
// The pointers point to as many bytes as their lengths say, those of `output` writable.
int32_t tetralith_vrf_verify(int32_t suite,
                             const uint8_t *public_key,
                             size_t public_key_len,
                             const uint8_t *alpha,
                             size_t alpha_len,
                             const uint8_t *proof,
                             size_t proof_len,
                             uint8_t *output,
                             size_t output_len);

// Writes the public key of a 32-byte secret key.
//
// # Safety
// The pointers point to as many bytes as their lengths say, those of `public_key` writable.
int32_t tetralith_vrf_public_key(int32_t suite,
                                 const uint8_t *secret_key,
                                 size_t secret_key_len,
                                 uint8_t *public_key,
                                 size_t public_key_len);

// Makes a proof with a 32-byte secret key. Constant time in the key. RFC 9381 §5.1.
//
// # Safety
// The pointers point to as many bytes as their lengths say, those of `proof` writable.
int32_t tetralith_vrf_prove(int32_t suite,
                            const uint8_t *secret_key,
                            size_t secret_key_len,
                            const uint8_t *alpha,
                            size_t alpha_len,
                            uint8_t *proof,
                            size_t proof_len);

// Verifies `count` proofs on all cores and writes a status for each to `verdicts`.
//
// Keys, proofs and outputs stand one after the other, each as long as the suite says. The input of row
// i is bytes `offsets[i]` to `offsets[i + 1]` of `alphas`, so that there are `count + 1` offsets.
// `outputs` may be NULL; a row that is not valid has an output of zeros. Each verdict is that of
// `tetralith_vrf_verify`; the call returns `TETRALITH_OK` if all rows have one.
//
// # Safety
// The pointers point to as many bytes and numbers as follow from `count`, the suite and `alphas_len`;
// those of `verdicts` and `outputs` are writable.
int32_t tetralith_vrf_verify_many(int32_t suite,
                                  size_t count,
                                  const uint8_t *public_keys,
                                  const uint8_t *alphas,
                                  size_t alphas_len,
                                  const uint64_t *offsets,
                                  const uint8_t *proofs,
                                  uint8_t *verdicts,
                                  uint8_t *outputs);

// Reads a public key in one of the formats above, and writes its handle to `*out`; NULL on failure.
//
// # Safety
// `key` points to `len` readable bytes, `out` to a writable pointer.
int32_t tetralith_xmss_public_key_new(int32_t format,
                                      const uint8_t *key,
                                      size_t len,
                                      tetralith_xmss_public_key **out);

// The length of the key's signatures in bytes. 0 for NULL.
//
// # Safety
// `key` is NULL or a handle that is not freed.
size_t tetralith_xmss_signature_size(const tetralith_xmss_public_key *key);

// Verifies a signature. Variable time: all is public. RFC 8391 §4.1.10 and §4.2.5.
//
// # Safety
// `key` is a handle; the other pointers point to as many readable bytes as their lengths say.
int32_t tetralith_xmss_verify(const tetralith_xmss_public_key *key,
                              const uint8_t *message,
                              size_t message_len,
                              const uint8_t *signature,
                              size_t signature_len);

// Verifies `count` signatures of one key on all cores and writes a status for each to `verdicts`.
//
// Signatures stand one after the other. Message i is bytes `offsets[i]` to `offsets[i + 1]` of
// `messages`, so that there are `count + 1` offsets.
//
// # Safety
// `key` is a handle; the pointers point to as many bytes and numbers as follow from `count`, the key
// and `messages_len`; those of `verdicts` are writable.
int32_t tetralith_xmss_verify_many(const tetralith_xmss_public_key *key,
                                   size_t count,
                                   const uint8_t *messages,
                                   size_t messages_len,
                                   const uint64_t *offsets,
                                   const uint8_t *signatures,
                                   uint8_t *verdicts);

// Frees a public key; NULL is allowed.
//
// # Safety
// `key` is NULL or a handle that is not freed, and no call uses it.
void tetralith_xmss_public_key_free(tetralith_xmss_public_key *key);

// Computes a key of AidosKuneen/xmss, and writes its handle to `*out`; NULL on failure.
//
// UNPROTECTED: nothing remembers which indices were used. Two messages under one index let anybody forge
// signatures. Use it only if you record each index durably, with its message, before you sign.
// The heights are 1 to 20 with `layers` 0, XMSS, and 20, 40 and 60 with up to 15 layers of XMSS^MT. `seeds` are
// the 96 bytes SK_SEED, SK_PRF and SEED.
//
// # Safety
// `seeds` points to `seeds_len` readable bytes, `out` to a writable pointer.
int32_t tetralith_aidos_unprotected_new(uint32_t height,
                                        uint32_t layers,
                                        const uint8_t *seeds,
                                        size_t seeds_len,
                                        tetralith_aidos_unprotected **out);

// Writes the key's root of 32 bytes.
//
// # Safety
// `key` is a handle; `root` points to `root_len` writable bytes.
int32_t tetralith_aidos_unprotected_root(const tetralith_aidos_unprotected *key,
                                         uint8_t *root,
                                         size_t root_len);

// The length of the key's signatures in bytes. 0 for NULL.
//
// # Safety
// `key` is NULL or a handle that is not freed.
size_t tetralith_aidos_unprotected_signature_size(const tetralith_aidos_unprotected *key);

// Signs a message with an index, even if that index signed before.
//
// UNPROTECTED: see `tetralith_aidos_unprotected_new`. Constant time but for the message's digest.
//
// # Safety
// `key` is a handle; the pointers point to as many bytes as their lengths say, those of `signature`
// writable.
int32_t tetralith_aidos_unprotected_sign(const tetralith_aidos_unprotected *key,
                                         uint64_t index,
                                         const uint8_t *message,
                                         size_t message_len,
                                         uint8_t *signature,
                                         size_t signature_len);

// Writes the JSON of one tree at a leaf, as AidosKuneen/xmss writes it, to `*json` and its length to
// `*json_len`.
//
// It holds the seeds in the clear. Overwrite it before you free it with `tetralith_bytes_free`.
//
// # Safety
// `key` is a handle; `json` and `json_len` may be written.
int32_t tetralith_aidos_unprotected_json(const tetralith_aidos_unprotected *key,
                                         uint32_t layer,
                                         uint64_t tree,
                                         uint32_t leaf,
                                         uint8_t **json,
                                         size_t *json_len);

// Frees a key; NULL is allowed.
//
// # Safety
// `key` is NULL or a handle that is not freed, and no call uses it.
void tetralith_aidos_unprotected_free(tetralith_aidos_unprotected *key);

// Verifies a signature of AidosKuneen/xmss. `public_key` has 64 bytes: root and SEED.
//
// Heights and layers are those of `tetralith_aidos_unprotected_new`. Variable time: all is public.
//
// # Safety
// The pointers point to as many readable bytes as their lengths say.
int32_t tetralith_aidos_verify(uint32_t height,
                               uint32_t layers,
                               const uint8_t *public_key,
                               size_t public_key_len,
                               const uint8_t *message,
                               size_t message_len,
                               const uint8_t *signature,
                               size_t signature_len);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TETRALITH_H */
