package org.tetralith;

/** A result y and the encoded proof that it is ±x^(2^T) mod N. Immutable. */
public final class VdfProof {
    private final byte[] y;
    private final byte[] proof;

    VdfProof(byte[] y, byte[] proof) {
        this.y = y;
        this.proof = proof;
    }

    /**
     * Returns the result.
     *
     * @return y in big-endian bytes, as wide as N
     */
    public byte[] y() {
        return y.clone();
    }

    /**
     * Returns the proof.
     *
     * @return its encoding, in which N, x, T and y are bound
     */
    public byte[] proof() {
        return proof.clone();
    }
}
