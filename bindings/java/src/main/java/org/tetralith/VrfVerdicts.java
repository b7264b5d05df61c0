package org.tetralith;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;

/** The verdicts and outputs of a column of VRF proofs. Immutable. */
public final class VrfVerdicts extends Verdicts {
    private final byte[] outputs;
    private final int width;

    VrfVerdicts(byte[] statuses, BitSet malformed, byte[] outputs, int width) {
        super(statuses, malformed);
        this.outputs = outputs;
        this.width = width;
    }

    /**
     * Returns the output of a row.
     *
     * @param row from 0
     * @return its output, or nothing unless the row is valid
     * @throws IndexOutOfBoundsException if there is no such row
     */
    public Optional<byte[]> output(int row) {
        return isValid(row)
                ? Optional.of(Arrays.copyOfRange(outputs, row * width, (row + 1) * width))
                : Optional.empty();
    }
}
