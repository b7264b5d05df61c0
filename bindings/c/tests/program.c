/* Known answers and bad input through the C interface. Arguments: N, x and y in hex, T. */
#include "tetralith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1024

static size_t from_hex(const char *hex, uint8_t *out) {
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) exit(99);
        out[i] = (uint8_t)byte;
    }
    return len;
}

static int failures;

static void expect(const char *what, long got, long wanted) {
    if (got != wanted) {
        printf("%s: %ld, not %ld\n", what, got, wanted);
        failures++;
    }
}

static void bad_input(void) {
    tetralith_vdf *context = (tetralith_vdf *)&failures;
    uint8_t even[32], short_one[7], long_one[1025], prime[16], odd[16], y[16];
    memset(even, 0xfe, sizeof even);
    memset(short_one, 0xff, sizeof short_one);
    memset(long_one, 0xff, sizeof long_one);
    memset(prime, 0xff, sizeof prime);
    prime[0] = 0x7f; /* 2^127 - 1 */
    expect("no place", tetralith_vdf_new(even, sizeof even, NULL), TETRALITH_NULL);
    expect("no modulus", tetralith_vdf_new(NULL, 5, &context), TETRALITH_NULL);
    expect("left alone", context == NULL, 1);
    expect("empty", tetralith_vdf_new(NULL, 0, &context), TETRALITH_MODULUS);
    expect("even", tetralith_vdf_new(even, sizeof even, &context), TETRALITH_MODULUS);
    expect("short", tetralith_vdf_new(short_one, sizeof short_one, &context), TETRALITH_MODULUS);
    expect("long", tetralith_vdf_new(long_one, sizeof long_one, &context), TETRALITH_MODULUS);
    expect("context", context == NULL, 1);
    expect("prime", tetralith_vdf_new(prime, sizeof prime, &context), TETRALITH_OK);
    tetralith_vdf_free(context);
    expect("width of none", (long)tetralith_vdf_width(NULL), 0);
    expect("compute none", tetralith_vdf_compute(NULL, prime, 1, 1, prime, 16), TETRALITH_NULL);
    tetralith_vdf_free(NULL);

    memset(odd, 0xff, sizeof odd); /* 2^128 - 1 */
    expect("odd", tetralith_vdf_new(odd, sizeof odd, &context), TETRALITH_OK);
    expect("width", (long)tetralith_vdf_width(context), 16);
    expect("no x", tetralith_vdf_compute(context, NULL, 3, 1, y, 16), TETRALITH_NULL);
    expect("no y", tetralith_vdf_compute(context, odd, 16, 1, NULL, 16), TETRALITH_NULL);
    expect("short y", tetralith_vdf_compute(context, odd, 16, 1, y, 15), TETRALITH_LENGTH);
    expect("long y", tetralith_vdf_compute(context, odd, 16, 1, y, 17), TETRALITH_LENGTH);
    expect("huge x", tetralith_vdf_compute(context, odd, SIZE_MAX / 4, 1, y, 16), TETRALITH_LENGTH);
    expect("too many", tetralith_vdf_compute(context, odd, 16, UINT64_MAX, y, 16), TETRALITH_ITERATIONS);
    expect("x = N", tetralith_vdf_compute(context, odd, 16, 9, y, 16), TETRALITH_OK);
    for (int i = 0; i < 16; i++) expect("zero", y[i], 0);
    expect("x = nothing", tetralith_vdf_compute(context, NULL, 0, 9, y, 16), TETRALITH_OK);
    tetralith_vdf_free(context);
}

int main(int argc, char **argv) {
    uint8_t n[MOST], x[MOST], wanted[MOST], y[MOST];
    if (argc != 5) return 98;
    size_t n_len = from_hex(argv[1], n), x_len = from_hex(argv[2], x), y_len = from_hex(argv[3], wanted);
    tetralith_vdf *context;
    expect("new", tetralith_vdf_new(n, n_len, &context), TETRALITH_OK);
    expect("width", (long)tetralith_vdf_width(context), (long)y_len);
    for (int again = 0; again < 2; again++) {
        memset(y, 0xaa, sizeof y);
        uint64_t t = strtoull(argv[4], NULL, 10);
        expect("compute", tetralith_vdf_compute(context, x, x_len, t, y, y_len), TETRALITH_OK);
        expect("known answer", memcmp(y, wanted, y_len), 0);
        expect("beyond the end", y[y_len], 0xaa);
    }
    tetralith_vdf_free(context);
    bad_input();
    return failures ? 1 : 0;
}
