/* Checkpoints and time-locks through the C interface. Argument: an empty folder. */
#include "tetralith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 32 };

static int failures;

static void expect(const char *what, long got, long wanted) {
    if (got != wanted) {
        char why[300] = "";
        tetralith_last_error(why, sizeof why);
        printf("%s: %ld, not %ld; last error: %s\n", what, got, wanted, why);
        failures++;
    }
}

static const char *in(const char *folder, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Stops in the middle, and notes where the run began. */
typedef struct {
    uint64_t first, stop_at;
} middle;

static int until(void *user, uint64_t done, uint64_t total) {
    middle *run = (middle *)user;
    (void)total;
    if (run->first == 0) run->first = done;
    return done >= run->stop_at;
}

static void checkpoints(const char *folder, uint64_t t) {
    uint8_t n[WIDTH], x[WIDTH] = {0}, y[WIDTH], again[WIDTH], *proof;
    size_t len;
    tetralith_vdf *modulus;
    middle stopped = {0, t / 2}, resumed = {0, UINT64_MAX};
    /* (2^128 - 159) (2^128 - 173) = 2^256 - 332 * 2^128 + 27507, a product of two primes. */
    memset(n, 0xff, 16);
    memset(n + 16, 0, 16);
    n[14] = 0xfe;
    n[15] = 0xb4;
    n[30] = 0x6b;
    n[31] = 0x73;
    x[WIDTH - 1] = 3;
    expect("new", tetralith_vdf_new(n, sizeof n, &modulus), TETRALITH_OK);
    expect("compute", tetralith_vdf_compute(modulus, x, WIDTH, t, NULL, NULL, y, WIDTH), TETRALITH_OK);
    const char *path = in(folder, "run");
    expect("no name", tetralith_vdf_compute_resumable(modulus, x, WIDTH, t, NULL, NULL, NULL, again, WIDTH),
           TETRALITH_ARGUMENT);
    expect("stop", tetralith_vdf_compute_resumable(modulus, x, WIDTH, t, path, until, &stopped, again, WIDTH),
           TETRALITH_ENVIRONMENT);
    expect("other run", tetralith_vdf_compute_resumable(modulus, x, WIDTH, t + 1, path, NULL, NULL, again, WIDTH),
           TETRALITH_STATE);
    expect("go on", tetralith_vdf_compute_resumable(modulus, x, WIDTH, t, path, until, &resumed, again, WIDTH),
           TETRALITH_OK);
    expect("from the middle", resumed.first > t / 2, 1);
    expect("the same", memcmp(y, again, WIDTH), 0);
    expect("forget", tetralith_vdf_forget(path), TETRALITH_OK);
    FILE *file = fopen(path, "rb");
    expect("gone", file == NULL, 1);
    if (file) fclose(file);

    stopped.first = resumed.first = 0;
    expect("stop", tetralith_vdf_prove_resumable(modulus, x, WIDTH, t, TETRALITH_VDF_WESOLOWSKI, 1, path, until, &stopped,
                                                 again, WIDTH, &proof, &len),
           TETRALITH_ENVIRONMENT);
    expect("no proof", proof == NULL, 1);
    expect("go on", tetralith_vdf_prove_resumable(modulus, x, WIDTH, t, TETRALITH_VDF_WESOLOWSKI, 1, path, until, &resumed,
                                                  again, WIDTH, &proof, &len),
           TETRALITH_OK);
    expect("from the middle", resumed.first >= t / 2, 1);
    expect("verify", tetralith_vdf_verify(modulus, x, WIDTH, t, again, WIDTH, proof, len), TETRALITH_OK);
    tetralith_bytes_free(proof, len);
    tetralith_vdf_free(modulus);
}

static void locks(const char *folder, uint64_t t) {
    const uint8_t secret[] = "a file";
    uint8_t *sealed, *opened;
    size_t len, opened_len;
    uint64_t found;
    middle stopped = {0, t / 2}, resumed = {0, UINT64_MAX};
    expect("bits", tetralith_vdf_seal(t, 100, secret, 6, &sealed, &len), TETRALITH_MALFORMED);
    expect("seal", tetralith_vdf_seal(t, 256, secret, 6, &sealed, &len), TETRALITH_OK);
    expect("squarings", tetralith_vdf_sealed_iterations(sealed, len, &found), TETRALITH_OK);
    expect("squarings", (long)found, (long)t);
    expect("stop", tetralith_vdf_open(sealed, len, NULL, until, &stopped, &opened, &opened_len), TETRALITH_ENVIRONMENT);
    expect("nothing", opened == NULL, 1);
    expect("stop", tetralith_vdf_open(sealed, len, in(folder, "lock"), until, &stopped, &opened, &opened_len),
           TETRALITH_ENVIRONMENT);
    expect("open", tetralith_vdf_open(sealed, len, in(folder, "lock"), until, &resumed, &opened, &opened_len), TETRALITH_OK);
    expect("from the middle", resumed.first > t / 2, 1);
    expect("length", (long)opened_len, 6);
    expect("content", memcmp(opened, secret, 6), 0);
    tetralith_bytes_free(opened, opened_len);
    expect("cut", tetralith_vdf_open(sealed, 50, NULL, NULL, NULL, &opened, &opened_len), TETRALITH_MALFORMED);
    sealed[len - 1] ^= 1;
    expect("altered", tetralith_vdf_open(sealed, len, NULL, NULL, NULL, &opened, &opened_len), TETRALITH_NOT_VALID);
    expect("nothing", opened == NULL, 1);
    tetralith_bytes_free(sealed, len);
}

int main(int argc, char **argv) {
    if (argc != 2) return 98;
    checkpoints(argv[1], 1 << 19);
    locks(argv[1], 1 << 19);
    return failures ? 1 : 0;
}
