package org.tetralith;

/**
 * The C interface as Java methods, by one of two routes. Statuses are returned as they are.
 *
 * <p>A handle is a native address. Arrays are the callers' own and are not kept after a call returns.
 */
abstract class Abi {
    /** The version of the C interface that these classes call. */
    static final int VERSION = 1;

    private static final class Loaded {
        static final Abi ABI = load();

        private static Abi load() {
            Abi abi = Route.open(NativeLibrary.locate());
            if (abi.abiVersion() != VERSION) {
                throw new UnsatisfiedLinkError(
                        "the native library has ABI version " + abi.abiVersion() + ", expected " + VERSION
                                + "; use the library that is in the jar: unset -D" + NativeLibrary.PROPERTY);
            }
            return abi;
        }
    }

    /** The loaded library. */
    static Abi get() {
        return Loaded.ABI;
    }

    abstract String route();

    abstract int abiVersion();

    abstract String version();

    abstract String lastError();

    abstract String kernel();

    /** Native memory, filled with zeros. */
    abstract Block allocate(long bytes);

    /** Writes the lengths of public keys, proofs and outputs. */
    abstract int vrfSizes(int suite, long[] sizes);

    abstract int vrfVerify(int suite, byte[] publicKey, byte[] alpha, byte[] proof, byte[] output);

    abstract int vrfPublicKey(int suite, byte[] secretKey, byte[] publicKey);

    abstract int vrfProve(int suite, byte[] secretKey, byte[] alpha, byte[] proof);

    abstract int vrfVerifyMany(
            int suite, long count, Block keys, Block alphas, long alphasLen, Block offsets, Block proofs,
            Block verdicts, Block outputs);

    abstract int xmssPublicKey(int format, byte[] key, long[] handle);

    abstract long xmssSignatureSize(long key);

    abstract int xmssVerify(long key, byte[] message, byte[] signature);

    abstract int xmssVerifyMany(
            long key, long count, Block messages, long messagesLen, Block offsets, Block signatures, Block verdicts);

    abstract void xmssFree(long key);

    abstract int vdfNew(byte[] modulus, long[] handle);

    abstract long vdfWidth(long modulus);

    abstract int vdfHashToElement(long modulus, long iterations, byte[] seed, byte[] x);

    abstract int vdfCompute(long modulus, byte[] x, long iterations, Watch watch, byte[] y);

    /** Writes the proof to the first place. */
    abstract int vdfProve(
            long modulus, byte[] x, long iterations, int system, long threads, Watch watch, byte[] y, byte[][] proof);

    /** {@code y} is null for any result. */
    abstract int vdfVerify(long modulus, byte[] x, long iterations, byte[] y, byte[] proof);

    abstract void vdfFree(long modulus);

    /** Native memory of a fixed size. */
    abstract static class Block {
        abstract long size();

        abstract void write(long at, byte[] from, int start, int length);

        abstract void read(long at, byte[] to, int start, int length);

        abstract void writeLong(long at, long value);

        /** Copies the first bytes of another block to the start of this one. */
        abstract void copy(Block from, long length);

        abstract void free();
    }
}
