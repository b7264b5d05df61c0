/* The VRF calls of Cardano's fork of libsodium over libtetralith. All but crypto_vrf_is_valid_key return 0 or -1.
 * A secret key whose second half is not the public key of its first is refused with -1.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef crypto_vrf_H
#define crypto_vrf_H

#include "../crypto_vrf_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Draft 3, as Praos uses it. */
int crypto_vrf_prove(unsigned char *proof, const unsigned char *sk, const unsigned char *m, unsigned long long mlen);
int crypto_vrf_verify(unsigned char *output, const unsigned char *pk, const unsigned char *proof, const unsigned char *m,
    unsigned long long mlen);
int crypto_vrf_proof_to_hash(unsigned char *hash, const unsigned char *proof);

#define crypto_vrf_ietfdraft03_PUBLICKEYBYTES 32U
size_t crypto_vrf_ietfdraft03_publickeybytes(void);
#define crypto_vrf_ietfdraft03_SECRETKEYBYTES 64U
size_t crypto_vrf_ietfdraft03_secretkeybytes(void);
#define crypto_vrf_ietfdraft03_SEEDBYTES 32U
size_t crypto_vrf_ietfdraft03_seedbytes(void);
#define crypto_vrf_ietfdraft03_PROOFBYTES 80U
size_t crypto_vrf_ietfdraft03_proofbytes(void);
#define crypto_vrf_ietfdraft03_OUTPUTBYTES 64U
size_t crypto_vrf_ietfdraft03_outputbytes(void);

#define crypto_vrf_ietfdraft03_BYTES 80U
size_t crypto_vrf_ietfdraft03_bytes(void);
/* The same under its own name. */
int crypto_vrf_ietfdraft03_prove(unsigned char *proof, const unsigned char *sk, const unsigned char *m, unsigned long long mlen);
int crypto_vrf_ietfdraft03_verify(unsigned char *output, const unsigned char *pk, const unsigned char *proof, const unsigned char *m,
    unsigned long long mlen);
int crypto_vrf_ietfdraft03_proof_to_hash(unsigned char *hash, const unsigned char *proof);

#define crypto_vrf_ietfdraft13_PUBLICKEYBYTES 32U
size_t crypto_vrf_ietfdraft13_publickeybytes(void);
#define crypto_vrf_ietfdraft13_SECRETKEYBYTES 64U
size_t crypto_vrf_ietfdraft13_secretkeybytes(void);
#define crypto_vrf_ietfdraft13_SEEDBYTES 32U
size_t crypto_vrf_ietfdraft13_seedbytes(void);
#define crypto_vrf_ietfdraft13_OUTPUTBYTES 64U
size_t crypto_vrf_ietfdraft13_outputbytes(void);

#define crypto_vrf_ietfdraft13_BYTES 80U
size_t crypto_vrf_ietfdraft13_bytes(void);
#define crypto_vrf_batchcompat_ietfdraft13_BYTES 128U
size_t crypto_vrf_batchcompat_ietfdraft13_bytes(void);

/* Draft 13 with proofs of 80 bytes, verified by the rules of RFC 9381. */
int crypto_vrf_ietfdraft13_prove(unsigned char *proof, const unsigned char *sk, const unsigned char *m, unsigned long long mlen);
int crypto_vrf_ietfdraft13_verify(unsigned char *output, const unsigned char *pk, const unsigned char *proof, const unsigned char *m,
    unsigned long long mlen);
int crypto_vrf_ietfdraft13_proof_to_hash(unsigned char *hash, const unsigned char *proof);

/* Draft 13 with batch-compatible proofs of 128 bytes. */
int crypto_vrf_ietfdraft13_prove_batchcompat(unsigned char *proof, const unsigned char *sk, const unsigned char *m, unsigned long long mlen);
int crypto_vrf_ietfdraft13_verify_batchcompat(unsigned char *output, const unsigned char *pk, const unsigned char *proof, const unsigned char *m,
    unsigned long long mlen);
int crypto_vrf_ietfdraft13_proof_to_hash_batchcompat(unsigned char *hash, const unsigned char *proof);

/* 0 and all outputs if each of num proofs is valid, else -1 and none. */
int crypto_vrf_ietfdraft13_batch_verify(unsigned char **output, const unsigned char **pk,
    const unsigned char **proof, const unsigned char **msg, const unsigned long long *msglen, size_t num);

#ifdef __cplusplus
}
#endif

#endif
