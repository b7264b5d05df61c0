package org.tetralith;

/** A suite: a curve, a hash function and a way to hash to the curve. */
public enum VrfSuite {
    /** What Cardano runs: draft 3, Ed25519 with Elligator 2. */
    DRAFT03_CARDANO("draft03-cardano"),
    /** What Algorand runs. */
    DRAFT03_ALGORAND("draft03-algorand"),
    /** Draft 13 with proofs that can be verified in batches. */
    DRAFT13_BATCHCOMPAT("draft13-batchcompat"),
    /** ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381. */
    EDWARDS25519_TAI("rfc9381-edwards25519-sha512-tai"),
    /** ECVRF-EDWARDS25519-SHA512-ELL2 of RFC 9381. */
    EDWARDS25519_ELL2("rfc9381-edwards25519-sha512-ell2"),
    /** ECVRF-P256-SHA256-TAI of RFC 9381. */
    P256_TAI("rfc9381-p256-sha256-tai"),
    /** ECVRF-P256-SHA256-SSWU of RFC 9381. */
    P256_SSWU("rfc9381-p256-sha256-sswu"),
    /** The same construction over secp256k1. */
    SECP256K1_TAI("secp256k1-sha256-tai");

    private final String text;

    VrfSuite(String text) {
        this.text = text;
    }

    /**
     * Finds a suite by its name.
     *
     * @param name such as {@code draft03-cardano}
     * @return the suite
     * @throws IllegalArgumentException if there is none of that name
     */
    public static VrfSuite of(String name) {
        for (VrfSuite suite : values()) {
            if (suite.text.equals(name)) {
                return suite;
            }
        }
        throw new IllegalArgumentException("unknown suite \"" + name + "\"");
    }

    /**
     * Returns the length of public keys.
     *
     * @return in bytes
     */
    public int publicKeySize() {
        return size(0);
    }

    /**
     * Returns the length of proofs.
     *
     * @return in bytes
     */
    public int proofSize() {
        return size(1);
    }

    /**
     * Returns the length of outputs.
     *
     * @return in bytes
     */
    public int outputSize() {
        return size(2);
    }

    /**
     * Returns the name that all of Tetralith's languages use.
     *
     * @return such as {@code draft03-cardano}
     */
    @Override
    public String toString() {
        return text;
    }

    /** The number that the C interface has for this suite. */
    int number() {
        return ordinal();
    }

    private int size(int of) {
        return Sizes.ALL[ordinal()][of];
    }

    /** Asked once, and not before the library is needed. */
    private static final class Sizes {
        static final int[][] ALL = all();

        private static int[][] all() {
            int[][] all = new int[values().length][3];
            for (VrfSuite suite : values()) {
                long[] sizes = new long[3];
                Status.expectOk(Abi.get().vrfSizes(suite.number(), sizes));
                for (int i = 0; i < 3; i++) {
                    all[suite.ordinal()][i] = Math.toIntExact(sizes[i]);
                }
            }
            return all;
        }
    }
}
