/* Sequential squaring modulo N in three calls: allocate for N, compute, free.
 *
 * Numbers are big-endian bytes. A context may be used by one thread at a time; different contexts are
 * independent. Nothing here is constant time: inputs and results are public.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef TETRALITH_H
#define TETRALITH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the calls return. */
#define TETRALITH_OK 0
/* A pointer is NULL that must not be. */
#define TETRALITH_NULL 1
/* The modulus is even, or not of 64 to 8192 bits. */
#define TETRALITH_MODULUS 2
/* The output buffer is not as long as tetralith_vdf_width says, or x has more than 2^20 bytes. */
#define TETRALITH_LENGTH 3
/* More than 2^63 squarings. */
#define TETRALITH_ITERATIONS 4
/* The machine's arithmetic failed its check again and again. */
#define TETRALITH_FAULTY 5
/* Anything else; a fault of this library. */
#define TETRALITH_INTERNAL 6

/* What is prepared for one modulus. */
typedef struct tetralith_vdf tetralith_vdf;

/* Prepares a modulus N of `len` bytes, and writes the context to `*out`; on failure `*out` becomes NULL. */
int tetralith_vdf_new(const uint8_t *modulus, size_t len, tetralith_vdf **out);

/* The bytes of a result: those of N without leading zeros. 0 for NULL. */
size_t tetralith_vdf_width(const tetralith_vdf *context);

/* Writes x^(2^iterations) mod N to `y`, `y_len` bytes, which is the context's width. x of `x_len` bytes at most
 * 2^20, may be above N; it is reduced. On failure nothing is written. */
int tetralith_vdf_compute(tetralith_vdf *context, const uint8_t *x, size_t x_len, uint64_t iterations,
                          uint8_t *y, size_t y_len);

/* Frees a context; NULL is allowed. */
void tetralith_vdf_free(tetralith_vdf *context);

#ifdef __cplusplus
}
#endif

#endif
