package org.tetralith;

/**
 * Hears of a long computation.
 *
 * <p>It is called on the computing thread, a few times a second. An exception that it throws stops the
 * computation and reaches the caller of the computation.
 */
@FunctionalInterface
public interface Progress {
    /**
     * Called between stretches of squarings.
     *
     * @param done the squarings done
     * @param total the squarings of the whole run
     */
    void step(long done, long total);
}
