/* Keys with a durable state through the C interface. Arguments: an empty folder, and `all` for what valgrind
 * cannot run: encryption takes minutes there, and the stacks of threads that a forked child lacks count as leaks. */
#define _POSIX_C_SOURCE 200809L
#include "tetralith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 2276 + 128, TURNS = 8 };

static int failures, all;
static const uint8_t pass[] = "correct horse";
static const char set[] = "QRL-SHA2_4_256";

static void expect(const char *what, long got, long wanted) {
    if (got != wanted) {
        char why[300] = "";
        tetralith_last_error(why, sizeof why);
        printf("%s: %ld, not %ld; last error: %s\n", what, got, wanted, why);
        failures++;
    }
}

/* The call failed with this status, and with this code. */
static void refused(const char *code, int got, int wanted) {
    char why[300] = "";
    expect(code, got, wanted);
    tetralith_last_error(why, sizeof why);
    if (strncmp(why, code, strlen(code)) != 0 || why[strlen(code)] != ':') {
        printf("expected %s, got %s\n", code, why);
        failures++;
    }
}

static const char *in(const char *folder, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int stop(void *user, uint64_t done, uint64_t total) {
    (void)user, (void)done, (void)total;
    return 1;
}

/* A message in parts, `*user` of them. */
static ptrdiff_t parts(void *user, uint8_t *buffer, size_t len) {
    int *left = (int *)user;
    if (*left == 0) return 0;
    --*left;
    buffer[0] = 'x';
    return len > 0;
}

static ptrdiff_t broken(void *user, uint8_t *buffer, size_t len) {
    (void)user, (void)buffer, (void)len;
    return -1;
}

static void create(const char *folder) {
    tetralith_xmss_key *key;
    const char *path = in(folder, "key");
    refused("xmss.params", tetralith_xmss_key_create(path, NULL, "XMSS", NULL, 0, 0, NULL, NULL, &key), TETRALITH_MALFORMED);
    refused("store.url", tetralith_xmss_key_create(path, "ftp:x", set, NULL, 0, 0, NULL, NULL, &key), TETRALITH_MALFORMED);
    refused("key.passphrase_empty", tetralith_xmss_key_create(path, NULL, set, pass, 0, 0, NULL, NULL, &key),
            TETRALITH_MALFORMED);
    refused("usage.arguments", tetralith_xmss_key_create(NULL, NULL, set, pass, 13, 0, NULL, NULL, &key), TETRALITH_ARGUMENT);
    refused("usage.arguments", tetralith_xmss_key_create(path, NULL, set, pass, 13, 0, NULL, NULL, NULL), TETRALITH_ARGUMENT);
    refused("xmss.too_tall", tetralith_xmss_key_create(path, NULL, "QRL-SHA2_30_256", pass, 13, 0, NULL, NULL, &key),
            TETRALITH_MALFORMED);
    refused("interrupted", tetralith_xmss_key_create(path, NULL, "XMSS-SHA2_16_256", pass, 13, 0, stop, NULL, &key),
            TETRALITH_ENVIRONMENT);
    refused("io.file", tetralith_xmss_key_open(path, NULL, 0, &key), TETRALITH_ENVIRONMENT);
    expect("no key", key == NULL, 1);
    expect("create", tetralith_xmss_key_create(path, NULL, set, NULL, 0, 0, NULL, NULL, &key), TETRALITH_OK);
    expect("encrypted", tetralith_xmss_key_is_encrypted(key), 0);
    tetralith_xmss_key_free(key);
    refused("io.exists", tetralith_xmss_key_create(path, NULL, set, pass, 13, 0, NULL, NULL, &key), TETRALITH_ENVIRONMENT);
}

/* A child that was forked cannot sign with the parent's signer. */
static void forked(tetralith_xmss_signer *signer, uint8_t *signature, size_t len) {
    int code = 99;
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        refused("state.forked", tetralith_xmss_sign(signer, pass, 13, signature, len, NULL), TETRALITH_STATE);
        fflush(stdout);
        _exit(failures);
    }
    waitpid(child, &code, 0);
    expect("a forked child cannot sign", code, 0);
}

static void use(const char *folder) {
    uint8_t signature[SIZE], *bytes;
    uint64_t index = 99, fencing;
    size_t len, bytes_len;
    int left = 3;
    tetralith_xmss_key *key;
    tetralith_xmss_signer *signer, *second;
    tetralith_xmss_public_key *public_key, *again;
    tetralith_xmss_status status;
    expect("open", tetralith_xmss_key_open(in(folder, "key"), NULL, 0, &key), TETRALITH_OK);
    refused("key.not_encrypted", tetralith_xmss_signer_open(key, pass, 13, NULL, NULL, &signer), TETRALITH_MALFORMED);
    expect("signer", tetralith_xmss_signer_open(key, NULL, 0, NULL, NULL, &signer), TETRALITH_OK);
    refused("state.locked", tetralith_xmss_signer_open(key, NULL, 0, NULL, NULL, &second), TETRALITH_STATE);
    len = tetralith_xmss_signer_signature_size(signer);
    expect("size", (long)len, 4 + 32 + 67 * 32 + 4 * 32);
    expect("public", tetralith_xmss_key_public(key, &public_key), TETRALITH_OK);
    expect("bytes", tetralith_xmss_public_key_bytes(public_key, TETRALITH_XMSS_QRL, &bytes, &bytes_len), TETRALITH_OK);
    expect("67 bytes", (long)bytes_len, 67);
    expect("read back", tetralith_xmss_public_key_new(TETRALITH_XMSS_QRL, bytes, 67, &again), TETRALITH_OK);
    tetralith_bytes_free(bytes, 67);
    refused("key.no_identifier", tetralith_xmss_public_key_bytes(public_key, TETRALITH_XMSS_PEM, &bytes, &bytes_len),
            TETRALITH_MALFORMED);

    refused("usage.arguments", tetralith_xmss_sign(signer, pass, 13, signature, len - 1, &index), TETRALITH_ARGUMENT);
    refused("usage.arguments", tetralith_xmss_sign(signer, NULL, 13, signature, len, &index), TETRALITH_ARGUMENT);
    expect("sign", tetralith_xmss_sign(signer, pass, 13, signature, len, &index), TETRALITH_OK);
    expect("no index was spent before", (long)index, 0);
    expect("verify", tetralith_xmss_verify(again, pass, 13, signature, len), TETRALITH_OK);
    expect("stream", tetralith_xmss_sign_stream(signer, parts, &left, signature, len, &index), TETRALITH_OK);
    expect("verify", tetralith_xmss_verify(again, (const uint8_t *)"xxx", 3, signature, len), TETRALITH_OK);
    refused("io.stream", tetralith_xmss_sign_stream(signer, broken, NULL, signature, len, &index), TETRALITH_ENVIRONMENT);
    expect("sign", tetralith_xmss_sign(signer, NULL, 0, signature, len, &index), TETRALITH_OK);
    expect("the broken message spent 2", (long)index, 3);
    expect("remaining", tetralith_xmss_signer_remaining(signer, &index), TETRALITH_OK);
    expect("remaining", (long)index, 12);

    if (all) forked(signer, signature, len);

    expect("free", tetralith_xmss_signer_free(signer), TETRALITH_OK);
    expect("reserve", tetralith_xmss_key_reserve(key, 2, &index, &fencing), TETRALITH_OK);
    expect("reserved from", (long)index, 4);
    expect("status", tetralith_xmss_key_status(key, &status), TETRALITH_OK);
    expect("limit", (long)status.limit, 16);
    expect("used", (long)status.used, 4);
    expect("next", (long)status.next, 6);
    expect("left", (long)status.left, 10);
    refused("state.backward", tetralith_xmss_key_restore(key, 5, 0), TETRALITH_STATE);
    expect("restore", tetralith_xmss_key_restore(key, 14, 0), TETRALITH_OK);
    expect("signer", tetralith_xmss_signer_open(key, NULL, 0, NULL, NULL, &signer), TETRALITH_OK);
    for (int i = 14; i < 16; i++) {
        expect("sign", tetralith_xmss_sign(signer, pass, 13, signature, len, &index), TETRALITH_OK);
        expect("index", (long)index, i);
    }
    refused("state.exhausted", tetralith_xmss_sign(signer, pass, 13, signature, len, &index), TETRALITH_STATE);
    tetralith_xmss_signer_free(signer);
    refused("state.exhausted", tetralith_xmss_key_status(key, &status), TETRALITH_STATE);
    expect("left", (long)status.left, 0);
    expect("chmod", chmod(in(folder, "key"), 0666), 0);
    refused("file.exposed", tetralith_xmss_signer_open(key, NULL, 0, NULL, NULL, &signer), TETRALITH_ENVIRONMENT);
    tetralith_xmss_public_key_free(public_key);
    tetralith_xmss_public_key_free(again);
    tetralith_xmss_key_free(key);
}

static void passphrases(const char *folder) {
    uint8_t signature[SIZE];
    tetralith_xmss_key *key;
    tetralith_xmss_signer *signer;
    const char *path = in(folder, "encrypted");
    expect("create", tetralith_xmss_key_create(path, NULL, set, pass, 13, 0, NULL, NULL, &key), TETRALITH_OK);
    expect("encrypted", tetralith_xmss_key_is_encrypted(key), 1);
    refused("key.passphrase_needed", tetralith_xmss_signer_open(key, NULL, 0, NULL, NULL, &signer), TETRALITH_MALFORMED);
    refused("key.passphrase", tetralith_xmss_signer_open(key, pass, 12, NULL, NULL, &signer), TETRALITH_MALFORMED);
    expect("signer", tetralith_xmss_signer_open(key, pass, 13, NULL, NULL, &signer), TETRALITH_OK);
    expect("sign", tetralith_xmss_sign(signer, pass, 13, signature, tetralith_xmss_signer_signature_size(signer), NULL),
           TETRALITH_OK);
    tetralith_xmss_signer_free(signer);
    tetralith_xmss_key_free(key);
}

/* Signs `TURNS` times, opening the key for each, and writes the indices to a pipe. */
static void sign_in_turns(const char *path, int out) {
    uint8_t signature[SIZE];
    tetralith_xmss_key *key;
    tetralith_xmss_signer *signer;
    uint64_t index;
    failures = 0;
    expect("open", tetralith_xmss_key_open(path, NULL, 60000, &key), TETRALITH_OK);
    for (int i = 0; i < TURNS; i++) {
        expect("signer", tetralith_xmss_signer_open(key, NULL, 0, NULL, NULL, &signer), TETRALITH_OK);
        size_t len = tetralith_xmss_signer_signature_size(signer);
        expect("sign", tetralith_xmss_sign(signer, pass, 13, signature, len, &index), TETRALITH_OK);
        expect("write", write(out, &index, sizeof index), sizeof index);
        tetralith_xmss_signer_free(signer);
    }
    tetralith_xmss_key_free(key);
    fflush(stdout);
    _exit(failures);
}

static void two_processes(const char *folder) {
    int pipes[2], code, seen[64] = {0};
    uint64_t index;
    tetralith_xmss_key *key;
    const char *path = in(folder, "shared");
    expect("create", tetralith_xmss_key_create(path, NULL, "QRL-SHA2_6_256", NULL, 0, 0, NULL, NULL, &key), TETRALITH_OK);
    tetralith_xmss_key_free(key);
    if (pipe(pipes) != 0) exit(97);
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) sign_in_turns(path, pipes[1]);
    }
    for (int i = 0; i < 2; i++) {
        wait(&code);
        expect("a signer's process", code, 0);
    }
    close(pipes[1]);
    int count = 0;
    while (read(pipes[0], &index, sizeof index) == sizeof index) {
        count++;
        if (index < 64) expect("an index is used once", seen[index]++, 0);
    }
    expect("all signed", count, 2 * TURNS);
}

int main(int argc, char **argv) {
    tetralith_watch *watch;
    uint64_t done = 9, total = 9;
    if (argc < 2) return 98;
    all = argc == 3;
    expect("watch", tetralith_watch_new(&watch), TETRALITH_OK);
    expect("runs", tetralith_watch_progress(watch, 3, 7), 0);
    expect("read", tetralith_watch_read(watch, &done, &total), TETRALITH_OK);
    expect("counts", (long)(done * 10 + total), 37);
    expect("stop", tetralith_watch_stop(watch), TETRALITH_OK);
    expect("stopped", tetralith_watch_progress(watch, 4, 7) != 0, 1);
    tetralith_watch_free(watch);
    if (all) two_processes(argv[1]);
    create(argv[1]);
    use(argv[1]);
    if (all) passphrases(argv[1]);
    return failures ? 1 : 0;
}
