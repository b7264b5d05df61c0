package org.tetralith;

/** Malformed input: a wrong length, a wrong encoding, an unknown key. The command exits with 2. */
public final class MalformedException extends TetralithException {
    private static final long serialVersionUID = 1L;

    MalformedException(String code, String message, String hint) {
        super(code, message, hint);
    }
}
