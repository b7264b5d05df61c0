/* wolfSSL with XMSS and what it needs, and with all of its x86-64 assembly, SHA instructions among
 * it: what `configure --enable-xmss --enable-sha3 --enable-intelasm` would choose. */
#define WOLFCRYPT_ONLY
#define SINGLE_THREADED
#define WOLFSSL_HAVE_XMSS
#define WOLFSSL_SHA3
#define WOLFSSL_SHAKE128
#define WOLFSSL_SHAKE256
#define NO_AES
#define NO_ASN
#define NO_CERTS
#define NO_DES3
#define NO_DH
#define NO_DSA
#define NO_ERROR_STRINGS
#define NO_FILESYSTEM
#define NO_HMAC
#define NO_MD4
#define NO_MD5
#define NO_OLD_TLS
#define NO_PKCS12
#define NO_PWDBASED
#define NO_RC4
#define NO_RSA
#define NO_SHA
/* Key generation takes its seeds from the benchmark, so that all peers make the same key. */
#define WC_NO_HASHDRBG
#define CUSTOM_RAND_GENERATE_BLOCK peers_wolfssl_random
#ifndef __ASSEMBLER__
int peers_wolfssl_random(unsigned char *out, unsigned int length);
#endif
#if defined(__x86_64__)
#define WOLFSSL_X86_64_BUILD
#define USE_INTEL_SPEEDUP
#endif
