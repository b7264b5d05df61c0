package org.tetralith;

import java.util.BitSet;

/** The verdicts of a call that verified columns. Immutable. */
public class Verdicts {
    private final byte[] statuses;

    Verdicts(byte[] statuses, BitSet malformed) {
        this.statuses = statuses;
        malformed.stream().forEach(row -> statuses[row] = (byte) Verdict.MALFORMED.ordinal());
    }

    /**
     * Returns the number of rows.
     *
     * @return the rows that were verified
     */
    public final int size() {
        return statuses.length;
    }

    /**
     * Returns the verdict of a row.
     *
     * @param row from 0
     * @return its verdict
     * @throws IndexOutOfBoundsException if there is no such row
     */
    public final Verdict get(int row) {
        return Verdict.of(statuses[row]);
    }

    /**
     * Tells whether a row is valid.
     *
     * @param row from 0
     * @return whether its verdict is {@link Verdict#VALID}
     * @throws IndexOutOfBoundsException if there is no such row
     */
    public final boolean isValid(int row) {
        return statuses[row] == Status.OK;
    }

    /**
     * Counts the valid rows.
     *
     * @return how many rows are valid
     */
    public final int validCount() {
        int count = 0;
        for (byte status : statuses) {
            count += status == Status.OK ? 1 : 0;
        }
        return count;
    }

    /**
     * Tells whether every row is valid.
     *
     * @return true also if there are no rows
     */
    public final boolean allValid() {
        return validCount() == size();
    }
}
