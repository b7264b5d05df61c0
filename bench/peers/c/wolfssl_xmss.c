/* A few calls over wolfSSL's XMSS: seeded keys, and the private key kept in memory. */
#include <stdlib.h>
#include <string.h>
#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/version.h>
#include <wolfssl/wolfcrypt/wc_xmss.h>

static const unsigned char *seed;
static size_t seed_left;

int peers_wolfssl_random(unsigned char *out, unsigned int length) {
    if (length > seed_left) return -1;
    memcpy(out, seed, length);
    seed += length;
    seed_left -= length;
    return 0;
}

struct peers_key {
    XmssKey key;
    unsigned char *stored; /* the private key, as wolfSSL hands it out to be stored */
};

static enum wc_XmssRc store(const byte *data, word32 length, void *context) {
    struct peers_key *key = context;
    if (key->stored == NULL) key->stored = malloc(length);
    if (key->stored == NULL) return WC_XMSS_RC_WRITE_FAIL;
    memcpy(key->stored, data, length);
    return WC_XMSS_RC_SAVED_TO_NV_MEMORY;
}

static enum wc_XmssRc load(byte *data, word32 length, void *context) {
    struct peers_key *key = context;
    memcpy(data, key->stored, length);
    return WC_XMSS_RC_READ_TO_MEMORY;
}

const char *peers_wolfssl_version(void) { return LIBWOLFSSL_VERSION_STRING; }

void peers_wolfssl_free(struct peers_key *key) {
    wc_XmssKey_Free(&key->key);
    free(key->stored);
    free(key);
}

/* A key of the parameter set from SK_SEED, SK_PRF and PUB_SEED; NULL on failure. */
struct peers_key *peers_wolfssl_keygen(const char *set, const unsigned char *seeds, size_t length) {
    struct peers_key *key = calloc(1, sizeof *key);
    WC_RNG rng;
    int failed;
    if (key == NULL) return NULL;
    memset(&rng, 0, sizeof rng);
    seed = seeds;
    seed_left = length;
    failed = wc_XmssKey_Init(&key->key, NULL, INVALID_DEVID) != 0 ||
             wc_XmssKey_SetParamStr(&key->key, set) != 0 ||
             wc_XmssKey_SetWriteCb(&key->key, store) != 0 ||
             wc_XmssKey_SetReadCb(&key->key, load) != 0 ||
             wc_XmssKey_SetContext(&key->key, key) != 0 || wc_InitRng(&rng) != 0 ||
             wc_XmssKey_MakeKey(&key->key, &rng) != 0;
    if (failed) {
        peers_wolfssl_free(key);
        return NULL;
    }
    return key;
}

/* OID, root and PUB_SEED; the length, or -1. */
int peers_wolfssl_public(struct peers_key *key, unsigned char *out, unsigned int room) {
    word32 length = room;
    return wc_XmssKey_ExportPubRaw(&key->key, out, &length) == 0 ? (int)length : -1;
}

/* The length of the signature, or -1. */
int peers_wolfssl_sign(struct peers_key *key, const unsigned char *message, int message_length,
                       unsigned char *out, unsigned int room) {
    word32 length = room;
    return wc_XmssKey_Sign(&key->key, out, &length, message, message_length) == 0 ? (int)length : -1;
}

/* A key that only verifies; NULL on failure. */
struct peers_key *peers_wolfssl_verifier(const char *set, const unsigned char *public_key,
                                         unsigned int length) {
    struct peers_key *key = calloc(1, sizeof *key);
    int failed;
    if (key == NULL) return NULL;
    failed = wc_XmssKey_Init(&key->key, NULL, INVALID_DEVID) != 0 ||
             wc_XmssKey_SetParamStr(&key->key, set) != 0 ||
             wc_XmssKey_ImportPubRaw(&key->key, public_key, length) != 0;
    if (failed) {
        peers_wolfssl_free(key);
        return NULL;
    }
    return key;
}

/* 1 if the signature is one of the message. */
int peers_wolfssl_verify(struct peers_key *key, const unsigned char *message, int message_length,
                         const unsigned char *signature, unsigned int length) {
    return wc_XmssKey_Verify(&key->key, signature, length, message, message_length) == 0;
}
