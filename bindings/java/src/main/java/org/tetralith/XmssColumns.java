package org.tetralith;

import java.util.Objects;

/**
 * Columns of messages and signatures under one key, in native memory until they are closed.
 *
 * <p>A call that verifies them does not hold up the garbage collector. One call uses them at a time; others
 * wait.
 */
public final class XmssColumns extends Rows {
    private final XmssPublicKey key;
    private final Column signatures;

    /**
     * Makes empty columns.
     *
     * @param key the key of all rows
     */
    public XmssColumns(XmssPublicKey key) {
        this(key, 16);
    }

    /**
     * Makes empty columns with room for some rows.
     *
     * @param key the key of all rows
     * @param expectedRows for how many rows memory is taken at first
     * @throws IllegalArgumentException if {@code expectedRows} is negative
     */
    public XmssColumns(XmssPublicKey key, int expectedRows) {
        super(expectedRows);
        this.key = Objects.requireNonNull(key, "key");
        signatures = new Column((long) expectedRows * key.signatureSize());
    }

    /**
     * Adds a row. A signature of a wrong length makes the row {@link Verdict#MALFORMED}.
     *
     * @param message the message
     * @param signature its signature
     * @return these columns
     * @throws IllegalStateException if the columns are closed or full
     */
    public synchronized XmssColumns add(byte[] message, byte[] signature) {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(signature, "signature");
        checkRoom(Integer.MAX_VALUE);
        boolean wellFormed = signature.length == key.signatureSize();
        signatures.put((long) size() * key.signatureSize(), wellFormed ? signature : new byte[key.signatureSize()]);
        endRow(message, wellFormed);
        return this;
    }

    /**
     * Returns the key.
     *
     * @return the key of all rows
     */
    public XmssPublicKey key() {
        return key;
    }

    /**
     * Verifies all rows on all cores; each verdict is that of {@link XmssPublicKey#verify} alone.
     *
     * @return a verdict for each row
     * @throws IllegalStateException if the columns are closed
     */
    public synchronized Verdicts verify() {
        checkOpen();
        Abi.Block verdicts = Abi.get().allocate(size());
        try {
            Status.expectOk(key.verifyMany(
                    size(), messages.block(), messagesEnd(), offsets.block(), signatures.block(), verdicts));
            return new Verdicts(array(verdicts, size()), malformed);
        } finally {
            verdicts.free();
        }
    }

    @Override
    void freeMore() {
        signatures.free();
    }
}
