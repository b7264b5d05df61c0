package org.tetralith;

/** A well-formed signature or proof that is not valid. The command exits with 1. */
public final class NotValidException extends TetralithException {
    private static final long serialVersionUID = 1L;

    NotValidException(String code, String message, String hint) {
        super(code, message, hint);
    }
}
