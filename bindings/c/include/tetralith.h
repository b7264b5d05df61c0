// Fast cryptography for ledgers: VDF squaring and proofs, VRF, XMSS.
//
// Numbers are big-endian bytes. A length stands beside every pointer to bytes, and NULL is allowed where
// the length is 0; names and paths are NUL-terminated UTF-8. A function returns a TETRALITH_ status and
// writes results only if it is TETRALITH_OK, unless it says otherwise; tetralith_last_error tells the
// calling thread what failed. All functions may be called with one handle from several threads at once,
// but for those whose names end in `_free`, which nobody else may be using then.
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

// Another party failed.
#define TETRALITH_PEERS 5

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

// ECDSA on secp256k1 by DKLs23.
#define TETRALITH_TSS_DKLS23 1

// Ed25519 by FROST. RFC 9591.
#define TETRALITH_TSS_FROST_ED25519 2

// A key of AidosKuneen/xmss that signs with any index it is told.
typedef struct tetralith_aidos_unprotected tetralith_aidos_unprotected;

// An odd modulus of 64 to 8192 bits, with its tables.
typedef struct tetralith_vdf tetralith_vdf;

// One party's side of a run.
typedef struct tetralith_tss_session tetralith_tss_session;

// Counts of a run, and a request to stop it, for a program that wants no callback of its own.
typedef struct tetralith_watch tetralith_watch;

// A key file with its state. Opening it locks nothing.
typedef struct tetralith_xmss_key tetralith_xmss_key;

// A public key.
typedef struct tetralith_xmss_public_key tetralith_xmss_public_key;

// A key that signs: its state is locked until the signer is freed.
typedef struct tetralith_xmss_signer tetralith_xmss_signer;

// Called a few times a second with the caller's pointer, the steps done and those of the whole run, on
// the thread that called the library. A result other than 0 stops the run with
// `TETRALITH_ENVIRONMENT`.
typedef int32_t (*tetralith_progress)(void *user, uint64_t done, uint64_t total);

// How a key's indices are spent.
typedef struct {
  // The indices of the key.
  uint64_t limit;
  // The first index that is not for this place: `limit`, but where a range was restored.
  uint64_t until;
  // The indices with which something was signed.
  uint64_t used;
  // Those that a crash or an abandoned signature spent.
  uint64_t lost;
  // Those that are leased now.
  uint64_t leased;
  // Those that a restored state left out.
  uint64_t skipped;
  // Those that can still be leased here.
  uint64_t left;
  // The next index to be leased.
  uint64_t next;
} tetralith_xmss_status;

// Reads the next part of a message into `buffer` of `len` bytes. Returns how many bytes there are, 0 at
// the end of the message, or a negative number if it cannot be read.
typedef ptrdiff_t (*tetralith_read)(void *user, uint8_t *buffer, size_t len);

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

// Makes a watch. Pass it as `user` with `tetralith_watch_progress` as `progress`; other threads may
// then read it and stop the run.
//
// # Safety
// `out` points to a writable pointer.
int32_t tetralith_watch_new(tetralith_watch **out);

// A `tetralith_progress` function whose `user` is a watch.
//
// # Safety
// `watch` is a handle.
int32_t tetralith_watch_progress(void *watch, uint64_t done, uint64_t total);

// Stops the run that has this watch, and every later one, soon. From any thread.
//
// # Safety
// `watch` is a handle.
int32_t tetralith_watch_stop(const tetralith_watch *watch);

// Writes the steps done and those of the whole run; a place may be NULL. From any thread.
//
// # Safety
// `watch` is a handle; `done` and `total` are NULL or may be written.
int32_t tetralith_watch_read(const tetralith_watch *watch, uint64_t *done, uint64_t *total);

// Frees a watch; NULL is allowed.
//
// # Safety
// `watch` is NULL or a handle that is not freed, and no call uses it.
void tetralith_watch_free(tetralith_watch *watch);

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

// Overwrites and frees bytes that this library allocated; NULL is allowed.
//
// # Safety
// `bytes` and `len` are what a function of this library wrote, not freed before.
void tetralith_bytes_free(uint8_t *bytes, size_t len);

// As `tetralith_vdf_compute`, with the state in the file `checkpoint`, from which a later call with the
// same arguments goes on.
//
// The state is written every minute, when `progress` stops the run, and at the end; the file before it
// stays as `CHECKPOINT.previous`. The command's `vdf eval --checkpoint` reads and writes the same file.
// `TETRALITH_STATE` where the file is of another run, or another process uses it.
// `tetralith_vdf_forget` removes it.
//
// # Safety
// As `tetralith_vdf_compute`; `checkpoint` is a NUL-terminated text.
int32_t tetralith_vdf_compute_resumable(const tetralith_vdf *modulus,
                                        const uint8_t *x,
                                        size_t x_len,
                                        uint64_t iterations,
                                        const char *checkpoint,
                                        tetralith_progress progress,
                                        void *user,
                                        uint8_t *y,
                                        size_t y_len);

// As `tetralith_vdf_prove`, with the state in files whose names begin with `checkpoint`, from which a
// later call with the same arguments goes on. See `tetralith_vdf_compute_resumable`; the command's
// `vdf prove --checkpoint` reads and writes the same files.
//
// # Safety
// As `tetralith_vdf_prove`; `checkpoint` is a NUL-terminated text.
int32_t tetralith_vdf_prove_resumable(const tetralith_vdf *modulus,
                                      const uint8_t *x,
                                      size_t x_len,
                                      uint64_t iterations,
                                      int32_t system,
                                      size_t threads,
                                      const char *checkpoint,
                                      tetralith_progress progress,
                                      void *user,
                                      uint8_t *y,
                                      size_t y_len,
                                      uint8_t **proof,
                                      size_t *proof_len);

// Removes the files of a checkpoint, if there are any.
//
// # Safety
// `checkpoint` is a NUL-terminated text.
int32_t tetralith_vdf_forget(const char *checkpoint);

// Seals bytes, so that opening them takes `iterations` squarings modulo a new number of `bits` bits: a
// multiple of 128 from 256 to 8192, or 0 for 2048. Sealing takes no squarings.
//
// Free the result with `tetralith_bytes_free`. The command's `vdf open` opens it.
//
// # Safety
// `content` points to `content_len` readable bytes; `sealed` and `sealed_len` may be written.
int32_t tetralith_vdf_seal(uint64_t iterations,
                           uint32_t bits,
                           const uint8_t *content,
                           size_t content_len,
                           uint8_t **sealed,
                           size_t *sealed_len);

// Writes how many squarings it takes to open sealed bytes.
//
// # Safety
// `sealed` points to `sealed_len` readable bytes; `iterations` may be written.
int32_t tetralith_vdf_sealed_iterations(const uint8_t *sealed,
                                        size_t sealed_len,
                                        uint64_t *iterations);

// Opens sealed bytes, however long that takes; `progress` may be NULL.
//
// `checkpoint`: a file from which a later call goes on, as for `tetralith_vdf_compute_resumable`, or
// NULL. `TETRALITH_NOT_VALID` if a byte was altered or is missing: then there is no content at all.
// Free the content with `tetralith_bytes_free`, which overwrites it.
//
// # Safety
// `sealed` points to `sealed_len` readable bytes; `checkpoint` is NULL or a NUL-terminated text;
// `content` and `content_len` may be written.
int32_t tetralith_vdf_open(const uint8_t *sealed,
                           size_t sealed_len,
                           const char *checkpoint,
                           tetralith_progress progress,
                           void *user,
                           uint8_t **content,
                           size_t *content_len);

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

// Writes a public key in one of the formats above to `*out`, and its length to `*out_len`.
//
// PEM and DER are a SubjectPublicKeyInfo. Free the bytes with `tetralith_bytes_free`. QRL's keys have
// QRL's format only, and other keys do not have it.
//
// # Safety
// `key` is a handle; `out` and `out_len` may be written.
int32_t tetralith_xmss_public_key_bytes(const tetralith_xmss_public_key *key,
                                        int32_t format,
                                        uint8_t **out,
                                        size_t *out_len);

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

// Makes a key that has never signed, with a state that is on the disk before the key is, and opens it.
//
// `path`: the key file, which must not exist; its state and trees lie beside it. `store`: the URL of
// the state, `sqlite:PATH` or `file:PATH`, or NULL for `sqlite:KEY.state`; `TETRALITH_STORE` is not
// read. `params`: a name such as `XMSS-SHA2_10_256`, `XMSSMT-SHA2_20/4_256` or `QRL-SHAKE_10_256`. The
// secret is encrypted under the passphrase, or with NULL kept unencrypted. `wait_ms`: how long later
// calls wait for another process that has the state open. `progress` counts leaves, and may be NULL.
//
// # Safety
// `path` and `params` are NUL-terminated texts, `store` is one or NULL; `passphrase` points to
// `passphrase_len` readable bytes, `out` to a writable pointer.
int32_t tetralith_xmss_key_create(const char *path,
                                  const char *store,
                                  const char *params,
                                  const uint8_t *passphrase,
                                  size_t passphrase_len,
                                  uint32_t wait_ms,
                                  tetralith_progress progress,
                                  void *user,
                                  tetralith_xmss_key **out);

// Opens a key file. Its state is neither opened nor locked. The arguments are those of
// `tetralith_xmss_key_create`.
//
// # Safety
// `path` is a NUL-terminated text, `store` is one or NULL; `out` points to a writable pointer.
int32_t tetralith_xmss_key_open(const char *path,
                                const char *store,
                                uint32_t wait_ms,
                                tetralith_xmss_key **out);

// Writes a handle of the key's public key to `*out`; free it with `tetralith_xmss_public_key_free`.
//
// # Safety
// `key` is a handle; `out` points to a writable pointer.
int32_t tetralith_xmss_key_public(const tetralith_xmss_key *key, tetralith_xmss_public_key **out);

// 1 if the secret needs a passphrase, else 0; 0 for NULL.
//
// # Safety
// `key` is NULL or a handle that is not freed.
int32_t tetralith_xmss_key_is_encrypted(const tetralith_xmss_key *key);

// Writes how the indices are spent, also while another process signs.
//
// Where signing would be refused (the state is exhausted, was copied or went back), the counts are
// written, and the refusal is returned: its status and `tetralith_last_error`.
//
// # Safety
// `key` is a handle; `out` may be written.
int32_t tetralith_xmss_key_status(const tetralith_xmss_key *key, tetralith_xmss_status *out);

// Hands out `count` indices for good, to a signer elsewhere that keeps its own count: writes the first
// of them and the fencing number. They are committed as spent here.
//
// # Safety
// `key` is a handle; `first` and `fencing` are NULL or may be written.
int32_t tetralith_xmss_key_reserve(const tetralith_xmss_key *key,
                                   uint64_t count,
                                   uint64_t *first,
                                   uint64_t *fencing);

// Makes a lost, copied or rolled-back state usable from index `resume_at` on, and before `until` if
// that is not 0.
//
// `resume_at` must lie above every index that any copy of the key may have used: two signatures of one
// index let anybody forge.
//
// # Safety
// `key` is a handle.
int32_t tetralith_xmss_key_restore(const tetralith_xmss_key *key,
                                   uint64_t resume_at,
                                   uint64_t until);

// Frees a key; NULL is allowed. Signers that were opened with it stay.
//
// # Safety
// `key` is NULL or a handle that is not freed, and no call uses it.
void tetralith_xmss_key_free(tetralith_xmss_key *key);

// Opens a key for signing, and locks its state until the signer is freed.
//
// A process that meets the lock waits as long as the key was opened with, then fails with
// `TETRALITH_STATE`. Trees are computed now where they are not beside the key; `progress` counts their
// leaves, and may be NULL. A child made by `fork` cannot sign with it. With several calls at once, one
// signs after the other.
//
// # Safety
// `key` is a handle; `passphrase` points to `passphrase_len` readable bytes, or is NULL for none;
// `out` points to a writable pointer.
int32_t tetralith_xmss_signer_open(const tetralith_xmss_key *key,
                                   const uint8_t *passphrase,
                                   size_t passphrase_len,
                                   tetralith_progress progress,
                                   void *user,
                                   tetralith_xmss_signer **out);

// The length of the signer's signatures in bytes. 0 for NULL.
//
// # Safety
// `signer` is NULL or a handle that is not freed.
size_t tetralith_xmss_signer_signature_size(const tetralith_xmss_signer *signer);

// Signs a message with the next index, and writes the index to `*index` if that is not NULL.
//
// The use of the index is on the disk before a secret of it is touched, and the signature was verified.
// If the call fails after that, the index is lost and the next signature has another.
//
// # Safety
// `signer` is a handle; `message` points to `message_len` readable bytes, `signature` to
// `signature_len` writable ones; `index` is NULL or may be written.
int32_t tetralith_xmss_sign(const tetralith_xmss_signer *signer,
                            const uint8_t *message,
                            size_t message_len,
                            uint8_t *signature,
                            size_t signature_len,
                            uint64_t *index);

// As `tetralith_xmss_sign`, with a message of any length that `read` supplies in parts.
//
// The index is spent before the first part is read, for the message is hashed with it: if `read`
// fails, the index is lost.
//
// # Safety
// As `tetralith_xmss_sign`; `read` may be called with `user` and writes no more than it is told.
int32_t tetralith_xmss_sign_stream(const tetralith_xmss_signer *signer,
                                   tetralith_read read,
                                   void *user,
                                   uint8_t *signature,
                                   size_t signature_len,
                                   uint64_t *index);

// Sets how many indices one commit leases, 1 unless set: more is faster, and a crash loses those that
// were not used.
//
// # Safety
// `signer` is a handle.
int32_t tetralith_xmss_signer_set_batch(const tetralith_xmss_signer *signer,
                                        uint64_t batch);

// Writes how many signatures are left, those that are leased and unused included.
//
// # Safety
// `signer` is a handle; `left` may be written.
int32_t tetralith_xmss_signer_remaining(const tetralith_xmss_signer *signer, uint64_t *left);

// Accounts for the indices that were leased, unlocks the state and frees the signer; NULL is allowed.
//
// Without it, the indices that were leased count as lost. Whatever it returns, the signer is freed and
// no index is used twice.
//
// # Safety
// `signer` is NULL or a handle that is not freed, and no call uses it.
int32_t tetralith_xmss_signer_free(tetralith_xmss_signer *signer);

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

// Begins to make a key of which any `t` of `n` parties can sign; the result is this party's share.
//
// `run`: 32 bytes, the same for all parties and never used again. `me`: this party, from 1. The owner
// carries the messages: each must reach its receiver authenticated, and those to one party confidential
// as well, for they carry secrets.
//
// # Safety
// `run` points to `run_len` readable bytes, `out` to a writable pointer.
int32_t tetralith_tss_keygen(int32_t scheme,
                             const uint8_t *run,
                             size_t run_len,
                             uint8_t me,
                             uint8_t t,
                             uint8_t n,
                             tetralith_tss_session **out);

// Begins to sign; the result is the signature.
//
// `signers`: the parties that take part, `signer_count` numbers in ascending order. DKLs23 signs a
// digest of 32 bytes, and its signature is r, s and a recovery number, 65 bytes. FROST signs a message
// of any length, and its signature is RFC 8032's, 64 bytes. The caller decides what may be signed.
//
// # Safety
// `run`, `share`, `signers` and `message` point to as many readable bytes as their lengths say, `out` to
// a writable pointer.
int32_t tetralith_tss_sign(int32_t scheme,
                           const uint8_t *run,
                           size_t run_len,
                           const uint8_t *share,
                           size_t share_len,
                           const uint8_t *signers,
                           size_t signer_count,
                           const uint8_t *message,
                           size_t message_len,
                           tetralith_tss_session **out);

// Begins to replace all shares of a DKLs23 key, whose public key stays; all parties take part. The
// result is this party's new share.
//
// # Safety
// `run` and `share` point to as many readable bytes as their lengths say, `out` to a writable pointer.
int32_t tetralith_tss_refresh(const uint8_t *run,
                              size_t run_len,
                              const uint8_t *share,
                              size_t share_len,
                              tetralith_tss_session **out);

// Takes in a message that `from` sent: the true sender, which the owner's channel has authenticated.
//
// `TETRALITH_MALFORMED` with `message.refused` for a message that was not accepted; the run goes on
// unchanged. Order and duplicates do not matter. Takes some milliseconds for each other party.
//
// # Safety
// `session` is a handle; `message` points to `message_len` readable bytes.
int32_t tetralith_tss_receive(const tetralith_tss_session *session,
                              uint8_t from,
                              const uint8_t *message,
                              size_t message_len);

// Writes the next message that is ready to `*message`, or NULL while there is none, and its receiver to
// `*to`: a party, or 0 for all others.
//
// Free it with `tetralith_bytes_free`, which overwrites it: a message to one party is secret.
//
// # Safety
// `session` is a handle; `to`, `message` and `message_len` may be written.
int32_t tetralith_tss_next_message(const tetralith_tss_session *session,
                                   uint8_t *to,
                                   uint8_t **message,
                                   size_t *message_len);

// Writes the result to `*result` once the run has ended, and NULL before that and after it was taken.
//
// Free it with `tetralith_bytes_free`, which overwrites it. A share is written as the nodes' encrypted
// files hold it, but in the clear: encrypt it before you store it. `TETRALITH_PEERS` if the run was
// aborted because of a party; `tetralith_tss_suspects` names those among which the fault lies.
//
// # Safety
// `session` is a handle; `result` and `result_len` may be written.
int32_t tetralith_tss_result(const tetralith_tss_session *session,
                             uint8_t **result,
                             size_t *result_len);

// Writes the parties of which a message is missing in this round, and their number; none at the end.
//
// # Safety
// `session` is a handle; `parties` points to 255 writable bytes, `count` may be written.
int32_t tetralith_tss_waiting_for(const tetralith_tss_session *session,
                                  uint8_t *parties,
                                  size_t *count);

// Writes the parties among which the fault lies, once `tetralith_tss_result` returned
// `TETRALITH_PEERS`, and their number.
//
// # Safety
// `session` is a handle; `parties` points to 255 writable bytes, `count` may be written.
int32_t tetralith_tss_suspects(const tetralith_tss_session *session,
                               uint8_t *parties,
                               size_t *count);

// Frees a session and overwrites its secrets; NULL is allowed.
//
// # Safety
// `session` is NULL or a handle that is not freed, and no call uses it.
void tetralith_tss_session_free(tetralith_tss_session *session);

// Writes what is public of a share: its party, t, n, each of which may be NULL, and the group's public
// key, 33 bytes of SEC 1 for DKLs23 and 32 bytes of RFC 8032 for FROST; NULL and 0 for no key.
//
// # Safety
// `share` points to `share_len` readable bytes, `key` to `key_len` writable ones; the others are NULL or
// may be written.
int32_t tetralith_tss_share_info(int32_t scheme,
                                 const uint8_t *share,
                                 size_t share_len,
                                 uint8_t *me,
                                 uint8_t *t,
                                 uint8_t *n,
                                 uint8_t *key,
                                 size_t key_len);

// Verifies a DKLs23 signature of 65 bytes for a digest of 32 bytes under a group key of 33 bytes.
//
// A FROST signature is an Ed25519 signature, which any library verifies. Variable time: all is public.
//
// # Safety
// The pointers point to as many readable bytes as their lengths say.
int32_t tetralith_tss_verify(const uint8_t *key,
                             size_t key_len,
                             const uint8_t *digest,
                             size_t digest_len,
                             const uint8_t *signature,
                             size_t signature_len);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TETRALITH_H */
