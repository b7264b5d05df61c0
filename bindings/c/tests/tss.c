/* Threshold runs of three parties in one process through the C interface. */
#include "tetralith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(const char *what, long got, long wanted) {
    if (got != wanted) {
        char why[300] = "";
        tetralith_last_error(why, sizeof why);
        printf("%s: %ld, not %ld; last error: %s\n", what, got, wanted, why);
        failures++;
    }
}

typedef struct {
    uint8_t *bytes;
    size_t len;
} blob;

/* Carries messages until nobody has any; if `spoil` is a party, its first message to all is changed. */
static void carry(tetralith_tss_session **parties, const uint8_t *numbers, int count, int spoil) {
    int sent = 1, strict = spoil == 0;
    while (sent) {
        sent = 0;
        for (int i = 0; i < count; i++) {
            for (;;) {
                uint8_t to, *message;
                size_t len;
                expect("next", tetralith_tss_next_message(parties[i], &to, &message, &len), TETRALITH_OK);
                if (message == NULL) break;
                sent = 1;
                if (numbers[i] == spoil && to == 0) {
                    message[len - 1] ^= 1;
                    spoil = 0;
                }
                for (int j = 0; j < count; j++) {
                    if (j == i || (to != 0 && to != numbers[j])) continue;
                    int status = tetralith_tss_receive(parties[j], numbers[i], message, len);
                    /* A party that found the fault refuses what comes after it. */
                    if (strict) expect("receive", status, TETRALITH_OK);
                }
                tetralith_bytes_free(message, len);
            }
        }
    }
}

static void results(tetralith_tss_session **parties, int count, blob *out) {
    uint8_t waiting[255];
    size_t waited;
    for (int i = 0; i < count; i++) {
        expect("waiting", tetralith_tss_waiting_for(parties[i], waiting, &waited), TETRALITH_OK);
        expect("for nobody", (long)waited, 0);
        expect("result", tetralith_tss_result(parties[i], &out[i].bytes, &out[i].len), TETRALITH_OK);
        expect("there is one", out[i].bytes != NULL, 1);
        tetralith_tss_session_free(parties[i]);
    }
}

static void scheme(int number, size_t key_len, size_t signature_len) {
    const uint8_t all[3] = {1, 2, 3}, signers[2] = {1, 3};
    uint8_t run[32] = {(uint8_t)number}, digest[32] = {7}, key[33], again[33], me, t, n, *none;
    size_t none_len = 1;
    tetralith_tss_session *parties[3];
    blob shares[3], signatures[2];
    for (int i = 0; i < 3; i++)
        expect("keygen", tetralith_tss_keygen(number, run, 32, all[i], 2, 3, &parties[i]), TETRALITH_OK);
    expect("nothing yet", tetralith_tss_result(parties[0], &none, &none_len), TETRALITH_OK);
    expect("nothing yet", none == NULL, 1);
    expect("garbage", tetralith_tss_receive(parties[0], 2, digest, 32), TETRALITH_MALFORMED);
    carry(parties, all, 3, 0);
    results(parties, 3, shares);
    expect("info", tetralith_tss_share_info(number, shares[1].bytes, shares[1].len, &me, &t, &n, key, key_len), TETRALITH_OK);
    expect("party, t, n", me * 100 + t * 10 + n, 223);
    expect("cut", tetralith_tss_share_info(number, shares[1].bytes, shares[1].len - 1, NULL, NULL, NULL, NULL, 0),
           TETRALITH_MALFORMED);
    if (number == TETRALITH_TSS_DKLS23) {
        run[1] = 1;
        for (int i = 0; i < 3; i++) {
            expect("refresh", tetralith_tss_refresh(run, 32, shares[i].bytes, shares[i].len, &parties[i]), TETRALITH_OK);
            tetralith_bytes_free(shares[i].bytes, shares[i].len);
        }
        carry(parties, all, 3, 0);
        results(parties, 3, shares);
        expect("info", tetralith_tss_share_info(number, shares[0].bytes, shares[0].len, NULL, NULL, NULL, again, key_len),
               TETRALITH_OK);
        expect("the key stays", memcmp(key, again, key_len), 0);
    }
    for (int spoil = 0; spoil < 2; spoil++) {
        run[2] = (uint8_t)(1 + spoil);
        for (int i = 0; i < 2; i++) {
            blob share = shares[signers[i] - 1];
            expect("sign", tetralith_tss_sign(number, run, 32, share.bytes, share.len, signers, 2, digest, 32, &parties[i]),
                   TETRALITH_OK);
        }
        carry(parties, signers, 2, spoil ? 3 : 0);
        if (spoil) break;
        results(parties, 2, signatures);
        expect("length", (long)signatures[0].len, (long)signature_len);
        expect("the same", memcmp(signatures[0].bytes, signatures[1].bytes, signature_len), 0);
        if (number == TETRALITH_TSS_DKLS23) {
            expect("verify", tetralith_tss_verify(key, 33, digest, 32, signatures[0].bytes, 65), TETRALITH_OK);
            digest[0] ^= 1;
            expect("other", tetralith_tss_verify(key, 33, digest, 32, signatures[0].bytes, 65), TETRALITH_NOT_VALID);
            digest[0] ^= 1;
        }
        for (int i = 0; i < 2; i++) tetralith_bytes_free(signatures[i].bytes, signatures[i].len);
    }
    /* Party 3 sent something else than it should: party 1 says so. */
    uint8_t suspects[255];
    size_t count = 0;
    expect("aborted", tetralith_tss_result(parties[0], &none, &none_len), TETRALITH_PEERS);
    expect("suspects", tetralith_tss_suspects(parties[0], suspects, &count), TETRALITH_OK);
    expect("one", (long)count, 1);
    expect("it is 3", suspects[0], 3);
    for (int i = 0; i < 2; i++) tetralith_tss_session_free(parties[i]);
    for (int i = 0; i < 3; i++) tetralith_bytes_free(shares[i].bytes, shares[i].len);
}

int main(void) {
    uint8_t run[32] = {0};
    tetralith_tss_session *session;
    expect("no scheme", tetralith_tss_keygen(9, run, 32, 1, 2, 3, &session), TETRALITH_ARGUMENT);
    expect("no session", session == NULL, 1);
    expect("t of 1", tetralith_tss_keygen(TETRALITH_TSS_DKLS23, run, 32, 1, 1, 3, &session), TETRALITH_MALFORMED);
    expect("party 4 of 3", tetralith_tss_keygen(TETRALITH_TSS_DKLS23, run, 32, 4, 2, 3, &session), TETRALITH_MALFORMED);
    expect("short run", tetralith_tss_keygen(TETRALITH_TSS_DKLS23, run, 31, 1, 2, 3, &session), TETRALITH_ARGUMENT);
    expect("no share", tetralith_tss_refresh(run, 32, run, 32, &session), TETRALITH_MALFORMED);
    tetralith_tss_session_free(NULL);
    scheme(TETRALITH_TSS_FROST_ED25519, 32, 64);
    scheme(TETRALITH_TSS_DKLS23, 33, 65);
    return failures ? 1 : 0;
}
