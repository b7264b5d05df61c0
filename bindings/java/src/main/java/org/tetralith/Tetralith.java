package org.tetralith;

/** Says which native library is loaded, and how it is called. */
public final class Tetralith {
    private Tetralith() {}

    /**
     * Returns the version of the native library.
     *
     * @return such as {@code 0.1.0}
     */
    public static String version() {
        return Abi.get().version();
    }

    /**
     * Returns the name of the fastest kernels that run on this CPU.
     *
     * @return such as {@code avx512} or {@code portable}
     */
    public static String kernel() {
        return Abi.get().kernel();
    }

    /**
     * Returns how the native library is called: {@code ffm} on Java 22 and later, else {@code jna}.
     *
     * <p>The property {@code -Dtetralith.route=jna} asks for JNA on any Java.
     *
     * @return {@code ffm} or {@code jna}
     */
    public static String route() {
        return Abi.get().route();
    }
}
