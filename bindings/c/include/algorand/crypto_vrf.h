/* The VRF calls of Algorand's fork of libsodium over libtetralith. All but crypto_vrf_is_valid_key return 0 or -1.
 * A secret key whose second half is not the public key of its first is refused with -1.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef crypto_vrf_H
#define crypto_vrf_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define crypto_vrf_PUBLICKEYBYTES 32U
size_t crypto_vrf_publickeybytes(void);
#define crypto_vrf_SECRETKEYBYTES 64U
size_t crypto_vrf_secretkeybytes(void);
#define crypto_vrf_SEEDBYTES 32U
size_t crypto_vrf_seedbytes(void);
#define crypto_vrf_PROOFBYTES 80U
size_t crypto_vrf_proofbytes(void);
#define crypto_vrf_OUTPUTBYTES 64U
size_t crypto_vrf_outputbytes(void);

#define crypto_vrf_PRIMITIVE "ietfdraft03"
const char *crypto_vrf_primitive(void);

/* Keys: sk is the 32-byte seed, then pk. */
int crypto_vrf_keypair(unsigned char *pk, unsigned char *sk);
int crypto_vrf_seed_keypair(unsigned char *pk, unsigned char *sk, const unsigned char *seed);
int crypto_vrf_keypair_from_seed(unsigned char *pk, unsigned char *sk, const unsigned char *seed);
int crypto_vrf_is_valid_key(const unsigned char *pk); /* 1 or 0 */
void crypto_vrf_sk_to_pk(unsigned char *pk, const unsigned char *sk);
void crypto_vrf_sk_to_seed(unsigned char *seed, const unsigned char *sk);

/* Algorand reduces s where Cardano refuses it, so these names lead to functions of their own. */
#define crypto_vrf_prove tetralith_algorand_vrf_prove
#define crypto_vrf_verify tetralith_algorand_vrf_verify
#define crypto_vrf_proof_to_hash tetralith_algorand_vrf_proof_to_hash
#define crypto_vrf_ietfdraft03_prove tetralith_algorand_vrf_prove
#define crypto_vrf_ietfdraft03_verify tetralith_algorand_vrf_verify
#define crypto_vrf_ietfdraft03_proof_to_hash tetralith_algorand_vrf_proof_to_hash

/* Draft 3, as Algorand uses it. */
int tetralith_algorand_vrf_prove(unsigned char *proof, const unsigned char *sk, const unsigned char *m, unsigned long long mlen);
int tetralith_algorand_vrf_verify(unsigned char *output, const unsigned char *pk, const unsigned char *proof, const unsigned char *m,
    unsigned long long mlen);
int tetralith_algorand_vrf_proof_to_hash(unsigned char *hash, const unsigned char *proof);

#ifdef __cplusplus
}
#endif

#endif
