/* Known answers and bad input through the C interface. Arguments: N, x and y in hex, T; then a VRF public key,
 * input, proof and output of draft03-cardano; then an XMSS public key, message and signature in hex. */
#include "tetralith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 8192

static size_t from_hex(const char *hex, uint8_t *out) {
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        unsigned byte;
        if (i >= MOST || sscanf(hex + 2 * i, "%2x", &byte) != 1) exit(99);
        out[i] = (uint8_t)byte;
    }
    return len;
}

static int failures;

static void expect(const char *what, long got, long wanted) {
    if (got != wanted) {
        char why[200];
        tetralith_last_error(why, sizeof why);
        printf("%s: %ld, not %ld; last error: %s\n", what, got, wanted, why);
        failures++;
    }
}

static int stop(void *user, uint64_t done, uint64_t total) {
    ++*(int *)user;
    return done < total;
}

static void vdf_bad_input(void) {
    tetralith_vdf *modulus = (tetralith_vdf *)&failures;
    uint8_t even[32], short_one[7], long_one[1025], odd[16], y[16];
    int calls = 0;
    memset(even, 0xfe, sizeof even);
    memset(short_one, 0xff, sizeof short_one);
    memset(long_one, 0xff, sizeof long_one);
    expect("no place", tetralith_vdf_new(even, sizeof even, NULL), TETRALITH_MALFORMED);
    expect("no modulus", tetralith_vdf_new(NULL, 5, &modulus), TETRALITH_ARGUMENT);
    expect("left empty", modulus == NULL, 1);
    expect("empty", tetralith_vdf_new(NULL, 0, &modulus), TETRALITH_MALFORMED);
    expect("even", tetralith_vdf_new(even, sizeof even, &modulus), TETRALITH_MALFORMED);
    expect("short", tetralith_vdf_new(short_one, sizeof short_one, &modulus), TETRALITH_MALFORMED);
    expect("long", tetralith_vdf_new(long_one, sizeof long_one, &modulus), TETRALITH_MALFORMED);
    expect("width of none", (long)tetralith_vdf_width(NULL), 0);
    expect("compute none", tetralith_vdf_compute(NULL, odd, 1, 1, NULL, NULL, y, 16), TETRALITH_ARGUMENT);
    tetralith_vdf_free(NULL);

    memset(odd, 0xff, sizeof odd); /* 2^128 - 1 */
    expect("odd", tetralith_vdf_new(odd, sizeof odd, &modulus), TETRALITH_OK);
    expect("width", (long)tetralith_vdf_width(modulus), 16);
    expect("no x", tetralith_vdf_compute(modulus, NULL, 3, 1, NULL, NULL, y, 16), TETRALITH_ARGUMENT);
    expect("no y", tetralith_vdf_compute(modulus, odd, 16, 1, NULL, NULL, NULL, 16), TETRALITH_ARGUMENT);
    expect("short y", tetralith_vdf_compute(modulus, odd, 16, 1, NULL, NULL, y, 15), TETRALITH_ARGUMENT);
    expect("long y", tetralith_vdf_compute(modulus, odd, 16, 1, NULL, NULL, y, 17), TETRALITH_ARGUMENT);
    expect("huge x", tetralith_vdf_compute(modulus, odd, SIZE_MAX / 4, 1, NULL, NULL, y, 16), TETRALITH_ARGUMENT);
    expect("too many", tetralith_vdf_compute(modulus, odd, 16, UINT64_MAX, NULL, NULL, y, 16), TETRALITH_MALFORMED);
    expect("x = N", tetralith_vdf_compute(modulus, odd, 16, 9, NULL, NULL, y, 16), TETRALITH_OK);
    for (int i = 0; i < 16; i++) expect("zero", y[i], 0);
    expect("x = nothing", tetralith_vdf_compute(modulus, NULL, 0, 9, NULL, NULL, y, 16), TETRALITH_OK);
    expect("stopped", tetralith_vdf_compute(modulus, odd, 16, 1 << 20, stop, &calls, y, 16), TETRALITH_ENVIRONMENT);
    expect("stopped at once", calls, 1);
    tetralith_vdf_free(modulus);
}

static void vdf(char **hex) {
    uint8_t n[MOST], x[MOST], wanted[MOST], y[MOST], *proof;
    size_t n_len = from_hex(hex[0], n), x_len = from_hex(hex[1], x), y_len = from_hex(hex[2], wanted), proof_len;
    uint64_t t = strtoull(hex[3], NULL, 10);
    tetralith_vdf *modulus;
    expect("new", tetralith_vdf_new(n, n_len, &modulus), TETRALITH_OK);
    expect("width", (long)tetralith_vdf_width(modulus), (long)y_len);
    for (int again = 0; again < 2; again++) {
        memset(y, 0xaa, sizeof y);
        expect("compute", tetralith_vdf_compute(modulus, x, x_len, t, NULL, NULL, y, y_len), TETRALITH_OK);
        expect("known answer", memcmp(y, wanted, y_len), 0);
        expect("beyond the end", y[y_len], 0xaa);
    }
    expect("hash", tetralith_vdf_hash_to_element(modulus, t, x, x_len, y, y_len), TETRALITH_OK);
    expect("hashed", memcmp(y, wanted, y_len) != 0, 1);
    expect("short hash", tetralith_vdf_hash_to_element(modulus, t, x, x_len, y, y_len - 1), TETRALITH_ARGUMENT);
    for (int system = TETRALITH_VDF_WESOLOWSKI; system <= TETRALITH_VDF_PIETRZAK; system++) {
        expect("prove", tetralith_vdf_prove(modulus, x, x_len, t, system, 1, NULL, NULL, y, y_len, &proof, &proof_len),
               TETRALITH_OK);
        expect("y", memcmp(y, wanted, y_len), 0);
        expect("verify", tetralith_vdf_verify(modulus, x, x_len, t, y, y_len, proof, proof_len), TETRALITH_OK);
        expect("any y", tetralith_vdf_verify(modulus, x, x_len, t, NULL, 0, proof, proof_len), TETRALITH_OK);
        expect("other T", tetralith_vdf_verify(modulus, x, x_len, t + 1, y, y_len, proof, proof_len), TETRALITH_NOT_VALID);
        expect("other x", tetralith_vdf_verify(modulus, x, x_len - 1, t, y, y_len, proof, proof_len), TETRALITH_NOT_VALID);
        expect("cut", tetralith_vdf_verify(modulus, x, x_len, t, y, y_len, proof, proof_len - 1), TETRALITH_MALFORMED);
        expect("none", tetralith_vdf_verify(modulus, x, x_len, t, y, y_len, NULL, proof_len), TETRALITH_ARGUMENT);
        tetralith_bytes_free(proof, proof_len);
    }
    expect("no system", tetralith_vdf_prove(modulus, x, x_len, t, 9, 1, NULL, NULL, y, y_len, &proof, &proof_len),
           TETRALITH_ARGUMENT);
    expect("no proof", proof == NULL, 1);
    tetralith_bytes_free(NULL, 0);
    tetralith_vdf_free(modulus);
}

static void vrf(char **hex) {
    enum { ROWS = 20 };
    const int suite = TETRALITH_VRF_DRAFT03_CARDANO;
    uint8_t key[MOST], alpha[MOST], proof[MOST], wanted[MOST], output[64], secret[32] = {1}, made[80];
    size_t alpha_len, key_size, proof_size, output_size;
    expect("key", (long)from_hex(hex[0], key), 32);
    alpha_len = from_hex(hex[1], alpha);
    expect("proof", (long)from_hex(hex[2], proof), 80);
    from_hex(hex[3], wanted);
    expect("sizes", tetralith_vrf_sizes(suite, &key_size, &proof_size, &output_size), TETRALITH_OK);
    expect("sizes", (long)(key_size * 10000 + proof_size * 100 + output_size), 328064);
    expect("sizes of none", tetralith_vrf_sizes(99, &key_size, NULL, NULL), TETRALITH_ARGUMENT);
    expect("verify", tetralith_vrf_verify(suite, key, 32, alpha, alpha_len, proof, 80, output, 64), TETRALITH_OK);
    expect("output", memcmp(output, wanted, 64), 0);
    expect("no output", tetralith_vrf_verify(suite, key, 32, alpha, alpha_len, proof, 80, NULL, 0), TETRALITH_OK);
    expect("short output", tetralith_vrf_verify(suite, key, 32, alpha, alpha_len, proof, 80, output, 63), TETRALITH_ARGUMENT);
    expect("other input", tetralith_vrf_verify(suite, key, 32, proof, 80, proof, 80, output, 64), TETRALITH_NOT_VALID);
    expect("short proof", tetralith_vrf_verify(suite, key, 32, alpha, alpha_len, proof, 79, output, 64), TETRALITH_MALFORMED);

    expect("prove", tetralith_vrf_prove(suite, secret, 32, alpha, alpha_len, made, 80), TETRALITH_OK);
    expect("public key", tetralith_vrf_public_key(suite, secret, 32, key + 32, 32), TETRALITH_OK);
    expect("own proof", tetralith_vrf_verify(suite, key + 32, 32, alpha, alpha_len, made, 80, NULL, 0), TETRALITH_OK);
    expect("short secret", tetralith_vrf_prove(suite, secret, 31, alpha, alpha_len, made, 80), TETRALITH_MALFORMED);

    uint8_t keys[ROWS * 32], proofs[ROWS * 80], verdicts[ROWS], outputs[ROWS * 64];
    uint64_t offsets[ROWS + 1];
    for (int i = 0; i < ROWS; i++) {
        memcpy(keys + 32 * i, key, 32);
        memcpy(proofs + 80 * i, proof, 80);
        offsets[i] = 0;
    }
    for (int i = 1; i <= ROWS; i++) offsets[i] = i % 2 ? alpha_len : 0;
    /* Even rows have the input, odd rows run from alpha_len back to 0, which is no range. */
    expect("bad offsets", tetralith_vrf_verify_many(suite, ROWS, keys, alpha, alpha_len, offsets, proofs, verdicts, NULL),
           alpha_len ? TETRALITH_ARGUMENT : TETRALITH_OK);
    uint8_t *alphas = (uint8_t *)malloc(ROWS * alpha_len + 1);
    for (int i = 0; i <= ROWS; i++) offsets[i] = (uint64_t)i * alpha_len;
    for (int i = 0; i < ROWS; i++) memcpy(alphas + i * alpha_len, alpha, alpha_len);
    proofs[7 * 80 + 50] ^= 1;
    expect("many", tetralith_vrf_verify_many(suite, ROWS, keys, alphas, ROWS * alpha_len, offsets, proofs, verdicts, outputs),
           TETRALITH_OK);
    for (int i = 0; i < ROWS; i++) {
        expect("verdict", verdicts[i], i == 7 ? TETRALITH_NOT_VALID : TETRALITH_OK);
        expect("an output", memcmp(outputs + 64 * i, wanted, 64) == 0, i != 7);
    }
    expect("no rows", tetralith_vrf_verify_many(suite, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), TETRALITH_OK);
    expect("too many rows", tetralith_vrf_verify_many(suite, SIZE_MAX, keys, alphas, 0, offsets, proofs, verdicts, NULL),
           TETRALITH_ARGUMENT);
    free(alphas);
}

static void xmss(char **hex) {
    uint8_t key[MOST], message[MOST], signature[MOST], two[2 * MOST], verdicts[2];
    size_t key_len = from_hex(hex[0], key), message_len = from_hex(hex[1], message), len = from_hex(hex[2], signature);
    tetralith_xmss_public_key *public_key;
    expect("key", tetralith_xmss_public_key_new(TETRALITH_XMSS_RAW, key, key_len, &public_key), TETRALITH_OK);
    expect("size", (long)tetralith_xmss_signature_size(public_key), (long)len);
    expect("verify", tetralith_xmss_verify(public_key, message, message_len, signature, len), TETRALITH_OK);
    expect("other", tetralith_xmss_verify(public_key, message, message_len - 1, signature, len), TETRALITH_NOT_VALID);
    expect("cut", tetralith_xmss_verify(public_key, message, message_len, signature, len - 1), TETRALITH_MALFORMED);
    uint64_t offsets[3] = {0, message_len, message_len};
    memcpy(two, signature, len);
    memcpy(two + len, signature, len);
    expect("many", tetralith_xmss_verify_many(public_key, 2, message, message_len, offsets, two, verdicts), TETRALITH_OK);
    expect("first", verdicts[0], TETRALITH_OK);
    expect("second", verdicts[1], TETRALITH_NOT_VALID);
    tetralith_xmss_public_key_free(public_key);
    expect("no format", tetralith_xmss_public_key_new(9, key, key_len, &public_key), TETRALITH_ARGUMENT);
    expect("cut key", tetralith_xmss_public_key_new(TETRALITH_XMSS_RAW, key, key_len - 1, &public_key), TETRALITH_MALFORMED);
    expect("no key", public_key == NULL, 1);
    expect("verify with none", tetralith_xmss_verify(NULL, message, 0, signature, len), TETRALITH_ARGUMENT);
    tetralith_xmss_public_key_free(NULL);
}

int main(int argc, char **argv) {
    char why[16];
    if (argc != 12) return 98;
    expect("ABI", (long)tetralith_abi_version(), TETRALITH_ABI_VERSION);
    expect("version", strncmp(tetralith_version(), "0.", 2), 0);
    expect("nothing failed yet", (long)tetralith_last_error(NULL, 0), 0);
    vdf(argv + 1);
    vdf_bad_input();
    vrf(argv + 5);
    xmss(argv + 9);
    expect("the last failure is told", tetralith_last_error(why, sizeof why) > sizeof why, 1);
    expect("and cut", strcmp(why, "usage.arguments"), 0);
    return failures ? 1 : 0;
}
