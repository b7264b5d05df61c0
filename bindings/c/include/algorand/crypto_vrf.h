/* The VRF calls of Algorand's fork of libsodium over libtetralith. All but crypto_vrf_is_valid_key return 0 or -1.
 * A secret key whose second half is not the public key of its first is refused with -1.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef crypto_vrf_H
#define crypto_vrf_H

#include "../crypto_vrf_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

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
