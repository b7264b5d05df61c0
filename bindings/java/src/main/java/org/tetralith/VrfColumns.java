package org.tetralith;

import java.util.Objects;

/**
 * Columns of public keys, inputs and proofs, in native memory until they are closed.
 *
 * <p>A call that verifies them does not hold up the garbage collector. One call uses them at a time; others
 * wait.
 */
public final class VrfColumns extends Rows {
    private final VrfSuite suite;
    private final Column keys;
    private final Column proofs;

    /**
     * Makes empty columns.
     *
     * @param suite the suite of all rows
     */
    public VrfColumns(VrfSuite suite) {
        this(suite, 16);
    }

    /**
     * Makes empty columns with room for some rows.
     *
     * @param suite the suite of all rows
     * @param expectedRows for how many rows memory is taken at first
     * @throws IllegalArgumentException if {@code expectedRows} is negative
     */
    public VrfColumns(VrfSuite suite, int expectedRows) {
        super(expectedRows);
        this.suite = Objects.requireNonNull(suite, "suite");
        keys = new Column((long) expectedRows * suite.publicKeySize());
        proofs = new Column((long) expectedRows * suite.proofSize());
    }

    /**
     * Adds a row. A key or proof of a wrong length makes the row {@link Verdict#MALFORMED}.
     *
     * @param publicKey the prover's public key
     * @param alpha the input
     * @param proof the proof
     * @return these columns
     * @throws IllegalStateException if the columns are closed or full
     */
    public synchronized VrfColumns add(byte[] publicKey, byte[] alpha, byte[] proof) {
        Objects.requireNonNull(publicKey, "publicKey");
        Objects.requireNonNull(alpha, "alpha");
        Objects.requireNonNull(proof, "proof");
        checkRoom(Integer.MAX_VALUE / suite.outputSize());
        boolean wellFormed = publicKey.length == suite.publicKeySize() && proof.length == suite.proofSize();
        keys.put((long) size() * suite.publicKeySize(), wellFormed ? publicKey : new byte[suite.publicKeySize()]);
        proofs.put((long) size() * suite.proofSize(), wellFormed ? proof : new byte[suite.proofSize()]);
        endRow(alpha, wellFormed);
        return this;
    }

    /**
     * Returns the suite.
     *
     * @return the suite of all rows
     */
    public VrfSuite suite() {
        return suite;
    }

    synchronized VrfVerdicts verify() {
        checkOpen();
        int rows = size();
        int width = suite.outputSize();
        Abi abi = Abi.get();
        Abi.Block verdicts = abi.allocate(rows);
        try {
            Abi.Block outputs = abi.allocate((long) rows * width);
            try {
                Status.expectOk(abi.vrfVerifyMany(
                        suite.number(), rows, keys.block(), messages.block(), messagesEnd(), offsets.block(),
                        proofs.block(), verdicts, outputs));
                return new VrfVerdicts(array(verdicts, rows), malformed, array(outputs, rows * width), width);
            } finally {
                outputs.free();
            }
        } finally {
            verdicts.free();
        }
    }

    @Override
    void freeMore() {
        keys.free();
        proofs.free();
    }
}
