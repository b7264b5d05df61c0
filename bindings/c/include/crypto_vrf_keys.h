/* What the crypto_vrf.h of Cardano's and of Algorand's fork of libsodium have in common. Include one of those.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef crypto_vrf_keys_H
#define crypto_vrf_keys_H

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

#ifdef __cplusplus
}
#endif

#endif
