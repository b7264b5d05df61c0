/* A program in the shape of those that use the forks' VRF, compiled once with each fork's header. Arguments: a
 * seed, public key, input, proof and output in hex. */
#include "crypto_vrf.h"

#include <stdio.h>
#include <string.h>

static size_t from_hex(const char *hex, unsigned char *out) {
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return 0;
        out[i] = (unsigned char)byte;
    }
    return len;
}

int main(int argc, char **argv) {
    unsigned char seed[64], wanted_pk[64], m[1024], wanted[128], wanted_out[64];
    unsigned char pk[crypto_vrf_PUBLICKEYBYTES], sk[crypto_vrf_SECRETKEYBYTES], copy[32];
    unsigned char proof[crypto_vrf_PROOFBYTES], out[crypto_vrf_OUTPUTBYTES], hash[crypto_vrf_OUTPUTBYTES];
    if (argc != 6) return 98;
    from_hex(argv[1], seed);
    from_hex(argv[2], wanted_pk);
    size_t mlen = from_hex(argv[3], m);
    from_hex(argv[4], wanted);
    from_hex(argv[5], wanted_out);
    if (crypto_vrf_proofbytes() != sizeof proof || crypto_vrf_secretkeybytes() != sizeof sk) return 1;
    if (strcmp(crypto_vrf_primitive(), crypto_vrf_PRIMITIVE) != 0) return 2;
    if (crypto_vrf_keypair_from_seed(pk, sk, seed) != 0 || memcmp(pk, wanted_pk, 32) != 0) return 3;
    if (crypto_vrf_prove(proof, sk, m, mlen) != 0 || memcmp(proof, wanted, sizeof proof) != 0) return 4;
    if (crypto_vrf_verify(out, pk, proof, m, mlen) != 0 || memcmp(out, wanted_out, sizeof out) != 0) return 5;
    if (crypto_vrf_proof_to_hash(hash, proof) != 0 || memcmp(hash, out, sizeof out) != 0) return 6;
    if (crypto_vrf_ietfdraft03_verify(out, pk, proof, m, mlen) != 0) return 7;
    if (crypto_vrf_verify(out, pk, proof, m, mlen + 1) != -1) return 8;
    crypto_vrf_sk_to_pk(copy, sk);
    if (memcmp(copy, pk, 32) != 0) return 9;
    crypto_vrf_sk_to_seed(copy, sk);
    if (memcmp(copy, seed, 32) != 0 || crypto_vrf_is_valid_key(pk) != 1) return 10;

    /* s + L is another encoding of s: Algorand reads it, Cardano refuses it. */
    static const unsigned char order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                            0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                            0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};
    unsigned carry = 0;
    for (int i = 0; i < 32; i++) {
        carry += proof[48 + i] + order[i];
        proof[48 + i] = (unsigned char)carry;
        carry >>= 8;
    }
    if (crypto_vrf_verify(out, pk, proof, m, mlen) != (ALGORAND ? 0 : -1)) return 11;

    sk[40] ^= 1;
    if (crypto_vrf_prove(proof, sk, m, mlen) != -1) return 12;
    memset(pk, 0, sizeof pk);
    pk[0] = 1;
    if (crypto_vrf_is_valid_key(pk) != 0) return 13;
    if (crypto_vrf_keypair(pk, sk) != 0 || crypto_vrf_prove(proof, sk, m, mlen) != 0) return 14;
    if (crypto_vrf_verify(out, pk, proof, m, mlen) != 0) return 15;

#if !ALGORAND
    unsigned char batch[3][128], outputs[3][64];
    unsigned char *output[3] = {outputs[0], outputs[1], outputs[2]};
    const unsigned char *keys[3] = {pk, pk, pk}, *proofs[3] = {batch[0], batch[1], batch[2]}, *messages[3] = {m, m, m};
    const unsigned long long lengths[3] = {0, mlen / 2, mlen};
    for (int i = 0; i < 3; i++) {
        if (crypto_vrf_ietfdraft13_prove_batchcompat(batch[i], sk, m, lengths[i]) != 0) return 16;
    }
    if (crypto_vrf_ietfdraft13_batch_verify(output, keys, proofs, messages, lengths, 3) != 0) return 17;
    if (crypto_vrf_ietfdraft13_proof_to_hash_batchcompat(hash, batch[1]) != 0) return 18;
    if (memcmp(hash, outputs[1], 64) != 0) return 19;
    if (crypto_vrf_ietfdraft13_verify_batchcompat(out, pk, batch[2], m, mlen) != 0) return 20;
    batch[1][100] ^= 1;
    if (crypto_vrf_ietfdraft13_batch_verify(output, keys, proofs, messages, lengths, 3) != -1) return 21;
    if (crypto_vrf_ietfdraft13_prove(proof, sk, m, mlen) != 0) return 22;
    if (crypto_vrf_ietfdraft13_verify(out, pk, proof, m, mlen) != 0) return 23;
    if (crypto_vrf_ietfdraft13_proof_to_hash(hash, proof) != 0 || memcmp(hash, out, 64) != 0) return 24;
#endif
    return 0;
}
