package org.tetralith;

/** Listens to a computation on its thread, and stops it on an interrupt or a listener's exception. */
final class Watch {
    private final Progress progress;
    private boolean interrupted;
    private Throwable thrown;

    /** {@code progress} may be null. */
    Watch(Progress progress) {
        this.progress = progress;
    }

    /** The C interface's callback: a result other than 0 stops. Throws nothing, for C cannot catch it. */
    int step(long done, long total) {
        try {
            if (progress != null) {
                progress.step(done, total);
            }
            interrupted = Thread.interrupted();
            return interrupted ? 1 : 0;
        } catch (Throwable failed) {
            thrown = failed;
            return 1;
        }
    }

    /** Throws what stopped the computation, if the caller's side did. */
    void finish(int status) throws InterruptedException {
        if (thrown instanceof RuntimeException) {
            throw (RuntimeException) thrown;
        }
        if (thrown instanceof Error) {
            throw (Error) thrown;
        }
        if (thrown != null) {
            throw new IllegalStateException(thrown);
        }
        if (interrupted && status == Status.OK) {
            // The last step was done already: the result counts, and the interrupt is the caller's.
            Thread.currentThread().interrupt();
        } else if (interrupted) {
            throw new InterruptedException("the computation was interrupted");
        }
    }
}
