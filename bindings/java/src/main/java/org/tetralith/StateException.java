package org.tetralith;

/** The durable state of a signing key refuses. The command exits with 4. */
public final class StateException extends TetralithException {
    private static final long serialVersionUID = 1L;

    StateException(String code, String message, String hint) {
        super(code, message, hint);
    }
}
