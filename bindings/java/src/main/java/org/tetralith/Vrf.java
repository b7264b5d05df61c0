package org.tetralith;

import java.util.Objects;

/** Verifiable random functions: RFC 9381, and the drafts that Cardano and Algorand run. */
public final class Vrf {
    private Vrf() {}

    /**
     * Verifies a proof for an input and returns its output. Variable time: all is public.
     *
     * @param suite the suite
     * @param publicKey the prover's public key
     * @param alpha the input
     * @param proof the proof
     * @return the output
     * @throws NotValidException if the proof is not valid
     * @throws MalformedException if the proof or the key is malformed
     * @see <a href="https://www.rfc-editor.org/rfc/rfc9381#section-5.3">RFC 9381 §5.3</a>
     */
    public static byte[] verify(VrfSuite suite, byte[] publicKey, byte[] alpha, byte[] proof)
            throws NotValidException, MalformedException {
        Objects.requireNonNull(publicKey, "publicKey");
        Objects.requireNonNull(alpha, "alpha");
        Objects.requireNonNull(proof, "proof");
        byte[] output = new byte[suite.outputSize()];
        Status.verified(Abi.get().vrfVerify(suite.number(), publicKey, alpha, proof, output));
        return output;
    }

    /**
     * Verifies columns of proofs on all cores; each verdict is that of {@link #verify} alone.
     *
     * @param columns the keys, inputs and proofs
     * @return a verdict for each row, and the outputs of the valid ones
     * @throws IllegalStateException if the columns are closed
     */
    public static VrfVerdicts verifyMany(VrfColumns columns) {
        return columns.verify();
    }
}
