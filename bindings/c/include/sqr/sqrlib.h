/* The calls of the sqr library over libtetralith: results and argument order are the same.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef SQR_H
#define SQR_H 1

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SQR_ERROR {
    SQR_ERR_OK = 0,
    SQR_ERR_OUT_OF_MEM = 1,
    SQR_ERR_BAD_PARAMS = 2,
    SQR_ERR_INTERNAL = 3
} SQR_ERROR;

typedef struct Sqr_State Sqr_State;

/* Prepares the odd modulus N of Nl bytes, 64 to 8192 bits. */
SQR_ERROR sqr_allocate_state(const uint8_t *N, unsigned Nl, Sqr_State **state);

/* Writes x^(2^T) mod N as 2*Nl hexadecimal digits and a NUL; outl is at least 2*Nl + 1. */
SQR_ERROR sqr_calculate(Sqr_State *state, uint64_t T, const char *xhex, char *outhex, unsigned outl);

/* Frees a state, under the name of sqr's header and that of its README; NULL is allowed. */
SQR_ERROR sqr_free_state(Sqr_State *state);
SQR_ERROR sqr_free(Sqr_State *state);

#ifdef __cplusplus
}
#endif

#endif
