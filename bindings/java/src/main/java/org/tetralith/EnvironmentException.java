package org.tetralith;

/** The machine or a file failed. The command exits with 3. */
public final class EnvironmentException extends TetralithException {
    private static final long serialVersionUID = 1L;

    EnvironmentException(String code, String message, String hint) {
        super(code, message, hint);
    }
}
