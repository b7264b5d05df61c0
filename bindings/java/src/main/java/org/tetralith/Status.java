package org.tetralith;

/** Turns the statuses of the C interface into exceptions. */
final class Status {
    static final int OK = 0;
    static final int NOT_VALID = 1;
    static final int MALFORMED = 2;
    static final int ENVIRONMENT = 3;
    static final int STATE = 4;
    static final int ARGUMENT = 64;

    private Status() {}

    /** For calls that check what another party sent. */
    static void verified(int status) throws NotValidException, MalformedException {
        if (status == OK) {
            return;
        }
        Failure failure = Failure.last();
        if (status == NOT_VALID) {
            throw new NotValidException(failure.code, failure.message, null);
        }
        if (status == MALFORMED) {
            throw new MalformedException(failure.code, failure.message, null);
        }
        throw failure.unexpected(status);
    }

    /** For calls that decode. */
    static void decoded(int status) throws MalformedException {
        try {
            verified(status);
        } catch (NotValidException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** For calls that compute for long. */
    static void computed(int status) throws MalformedException, EnvironmentException {
        if (status == ENVIRONMENT) {
            Failure failure = Failure.last();
            String hint = failure.code.equals("machine.faulty") ? "check memory and CPU, then run it again" : null;
            throw new EnvironmentException(failure.code, failure.message, hint);
        }
        decoded(status);
    }

    /** For calls that fail only by a mistake of this package or its caller. */
    static void expectOk(int status) {
        if (status != OK) {
            throw Failure.last().unexpected(status);
        }
    }

    /**
     * What failed last on this thread.
     *
     * <p>It is read right after the call that failed, with nothing between that blocks: so a virtual thread
     * is still on the same thread of the system.
     */
    private static final class Failure {
        final String code;
        final String message;

        private Failure(String code, String message) {
            this.code = code;
            this.message = message;
        }

        static Failure last() {
            String text = Abi.get().lastError();
            int colon = text.indexOf(": ");
            return colon < 0
                    ? new Failure("internal", text)
                    : new Failure(text.substring(0, colon), text.substring(colon + 2));
        }

        RuntimeException unexpected(int status) {
            String text = code + ": " + message;
            return status == ARGUMENT
                    ? new IllegalArgumentException(text)
                    : new IllegalStateException("status " + status + ": " + text);
        }
    }
}
