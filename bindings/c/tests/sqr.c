/* A program in the shape of those that use sqr. Arguments: N, x and y in hex, T. */
#include "sqrlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    uint8_t n[1024];
    char out[2049];
    Sqr_State *state;
    if (argc != 5) return 98;
    unsigned len = (unsigned)strlen(argv[1]) / 2;
    for (unsigned i = 0; i < len; i++) {
        unsigned byte;
        if (sscanf(argv[1] + 2 * i, "%2x", &byte) != 1) return 99;
        n[i] = (uint8_t)byte;
    }
    if (sqr_allocate_state(n, len, &state) != SQR_ERR_OK) return 1;
    if (sqr_calculate(state, strtoull(argv[4], NULL, 10), argv[2], out, sizeof out) != SQR_ERR_OK) return 2;
    if (strcmp(out, argv[3]) != 0) return 3;
    if (sqr_calculate(state, 0, "2", out, sizeof out) != SQR_ERR_OK || strlen(out) != 2 * len) return 4;
    if (sqr_calculate(state, 1, argv[2], out, 2 * len) != SQR_ERR_BAD_PARAMS) return 5;
    if (sqr_calculate(state, 1, "no digits", out, sizeof out) != SQR_ERR_BAD_PARAMS) return 6;
    sqr_free_state(state);
    n[len - 1] = 2;
    if (sqr_allocate_state(n, len, &state) != SQR_ERR_BAD_PARAMS || state != NULL) return 7;
    sqr_free(state);
    return 0;
}
