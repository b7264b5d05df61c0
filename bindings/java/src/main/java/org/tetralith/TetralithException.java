package org.tetralith;

import java.security.GeneralSecurityException;
import java.util.Optional;

/**
 * A failure with the stable, dotted code that the command line prints for it.
 *
 * <p>The kinds are {@link NotValidException}, {@link MalformedException}, {@link EnvironmentException} and
 * {@link StateException}.
 */
public abstract class TetralithException extends GeneralSecurityException {
    private static final long serialVersionUID = 1L;

    /** Stable and dotted. */
    private final String code;

    /** An instruction, or null. */
    private final String hint;

    TetralithException(String code, String message, String hint) {
        super(message);
        this.code = code;
        this.hint = hint;
    }

    /**
     * Returns the stable, dotted code of this failure, such as {@code input.length}.
     *
     * @return the code
     */
    public final String code() {
        return code;
    }

    /**
     * Returns what to do next, if there is an instruction that can be carried out.
     *
     * @return the hint, or nothing
     */
    public final Optional<String> hint() {
        return Optional.ofNullable(hint);
    }

    /**
     * Returns the class, the code and the message.
     *
     * @return one line of text
     */
    @Override
    public final String toString() {
        return getClass().getName() + ": " + code + ": " + getMessage();
    }
}
