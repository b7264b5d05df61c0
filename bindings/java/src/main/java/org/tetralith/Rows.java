package org.tetralith;

import java.util.BitSet;

/** What columns have in common: rows with a message of any length, in native memory until they are closed. */
abstract class Rows implements AutoCloseable {
    /** More rows would not fit an array of verdicts. */
    private static final int MOST = Integer.MAX_VALUE - 8;

    final Column messages;
    final Column offsets;
    final BitSet malformed = new BitSet();
    private int rows;
    private long end;
    private boolean closed;

    Rows(int expected) {
        if (expected < 0) {
            throw new IllegalArgumentException("expected rows: " + expected);
        }
        messages = new Column(32L * expected);
        offsets = new Column(8L * expected + 8);
        offsets.putLong(0, 0);
    }

    /**
     * Adds the message of a row whose other columns are written. The row counts from here on: one that failed
     * before, for want of memory, is overwritten by the next.
     */
    final void endRow(byte[] message, boolean wellFormed) {
        messages.put(end, message);
        offsets.putLong(8L * (rows + 1), messages.length());
        malformed.set(rows, !wellFormed);
        end = messages.length();
        rows++;
    }

    /** The bytes of all messages. */
    final long messagesEnd() {
        return end;
    }

    final void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the columns are closed");
        }
    }

    final void checkRoom(int most) {
        checkOpen();
        if (rows == Math.min(most, MOST)) {
            throw new IllegalStateException("the columns are full: " + rows + " rows");
        }
    }

    /**
     * Returns the number of rows.
     *
     * @return the rows added since the start or since {@link #clear}
     */
    public final synchronized int size() {
        return rows;
    }

    /**
     * Forgets all rows, and keeps the memory for more.
     *
     * @throws IllegalStateException if the columns are closed
     */
    public final synchronized void clear() {
        checkOpen();
        malformed.clear();
        rows = 0;
        end = 0;
    }

    /** Frees the native memory, once a call that uses it has returned. Closing again has no effect. */
    @Override
    public final synchronized void close() {
        if (!closed) {
            closed = true;
            messages.free();
            offsets.free();
            freeMore();
        }
    }

    abstract void freeMore();

    /** Reads a result of native memory. */
    static byte[] array(Abi.Block block, int length) {
        byte[] array = new byte[length];
        block.read(0, array, 0, length);
        return array;
    }
}
