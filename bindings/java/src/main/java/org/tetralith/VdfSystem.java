package org.tetralith;

/** A way to prove sequential squarings. */
public enum VdfSystem {
    /** One group element; the proof takes about as long as the squarings divided by the threads. */
    WESOLOWSKI(1),
    /** Consecutive segments, ready soon after the last squaring. */
    N_WESOLOWSKI(2),
    /** A group element for each halving of T. */
    PIETRZAK(3);

    private final int number;

    VdfSystem(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
