package org.tetralith;

/** What the verification of one row of columns found. */
public enum Verdict {
    /** The proof or signature is valid. */
    VALID,
    /** Well formed, and not valid. */
    NOT_VALID,
    /** The row has a wrong length or a wrong encoding. */
    MALFORMED;

    private static final Verdict[] ALL = values();

    static Verdict of(byte status) {
        return ALL[status];
    }
}
