package org.tetralith;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.math.BigInteger;
import java.util.Objects;

/**
 * Verifiable delays modulo one N: y = x^(2^T) mod N by T squarings, one after the other, and proofs of it.
 *
 * <p>The input x is hashed from a public seed together with N and T. The methods with {@code Raw} in their
 * name take the number x itself: whoever chooses such an x can combine outputs that are known already, for
 * y(18) = y(2)·y(3)². Use them only for protocols that fix x in another way.
 *
 * <p>Immutable. An {@linkplain Thread#interrupt interrupt} stops a computation with
 * {@link InterruptedException}. Variable time: all is public.
 */
public final class Vdf {
    private static final Cleaner CLEANER = Cleaner.create();

    private final BigInteger modulus;
    private final long handle;
    private final int width;

    private Vdf(BigInteger modulus) throws MalformedException {
        this.modulus = modulus;
        long[] out = new long[1];
        Status.decoded(Abi.get().vdfNew(number(modulus, "modulus"), out));
        long address = out[0];
        handle = address;
        CLEANER.register(this, () -> Abi.get().vdfFree(address));
        width = Math.toIntExact(Abi.get().vdfWidth(address));
    }

    /**
     * Prepares a modulus.
     *
     * @param modulus an odd number of 64 to 8192 bits, of which nobody knows the factors
     * @return squaring modulo that number
     * @throws MalformedException if nothing can be proved modulo this number
     */
    public static Vdf modulo(BigInteger modulus) throws MalformedException {
        return new Vdf(modulus);
    }

    /**
     * Returns squaring modulo RSA-2048, a number of the RSA Factoring Challenge.
     *
     * @return squaring modulo that number
     */
    public static Vdf rsa2048() {
        return Rsa2048.VDF;
    }

    /**
     * Returns N.
     *
     * @return the modulus
     */
    public BigInteger modulus() {
        return modulus;
    }

    /**
     * Returns the width of every number modulo N.
     *
     * @return in bytes
     */
    public int width() {
        return width;
    }

    /**
     * Hashes a public seed to the input of some squarings.
     *
     * @param seed any bytes
     * @param iterations T, the number of squarings
     * @return x in big-endian bytes, as wide as N
     */
    public byte[] input(byte[] seed, long iterations) {
        Objects.requireNonNull(seed, "seed");
        byte[] x = new byte[width];
        try {
            Status.expectOk(Abi.get().vdfHashToElement(handle, count(iterations), seed, x));
        } finally {
            Reference.reachabilityFence(this);
        }
        return x;
    }

    /**
     * Computes y for a seed. Each squaring is checked, so a fault of the machine is noticed.
     *
     * @param seed any bytes
     * @param iterations T, the number of squarings
     * @param progress hears of the work, or null
     * @return y in big-endian bytes, as wide as N
     * @throws EnvironmentException if the machine failed
     * @throws InterruptedException if this thread was interrupted
     */
    public byte[] compute(byte[] seed, long iterations, Progress progress)
            throws EnvironmentException, InterruptedException {
        return computeBytes(input(seed, iterations), iterations, progress);
    }

    /**
     * Computes y for a number x.
     *
     * @param x the number, which is reduced modulo N
     * @param iterations T, the number of squarings
     * @param progress hears of the work, or null
     * @return y in big-endian bytes, as wide as N
     * @throws EnvironmentException if the machine failed
     * @throws InterruptedException if this thread was interrupted
     */
    public byte[] computeRaw(BigInteger x, long iterations, Progress progress)
            throws EnvironmentException, InterruptedException {
        return computeBytes(number(x, "x"), iterations, progress);
    }

    private byte[] computeBytes(byte[] x, long iterations, Progress progress)
            throws EnvironmentException, InterruptedException {
        Watch watch = new Watch(progress);
        byte[] y = new byte[width];
        try {
            int status = Abi.get().vdfCompute(handle, x, count(iterations), watch, y);
            finish(status, watch);
            return y;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Computes y for a seed, and a proof of it, with all processors.
     *
     * @param seed any bytes
     * @param iterations T, the number of squarings
     * @param system how to prove it
     * @param progress hears of the work, or null
     * @return y and the proof
     * @throws MalformedException if nothing can be proved modulo this N
     * @throws EnvironmentException if the machine failed
     * @throws InterruptedException if this thread was interrupted
     */
    public VdfProof prove(byte[] seed, long iterations, VdfSystem system, Progress progress)
            throws MalformedException, EnvironmentException, InterruptedException {
        return proveBytes(input(seed, iterations), iterations, system, progress);
    }

    /**
     * Computes y for a number x, and a proof of it, with all processors.
     *
     * @param x the number, which is reduced modulo N
     * @param iterations T, the number of squarings
     * @param system how to prove it
     * @param progress hears of the work, or null
     * @return y and the proof
     * @throws MalformedException if nothing can be proved modulo this N
     * @throws EnvironmentException if the machine failed
     * @throws InterruptedException if this thread was interrupted
     */
    public VdfProof proveRaw(BigInteger x, long iterations, VdfSystem system, Progress progress)
            throws MalformedException, EnvironmentException, InterruptedException {
        return proveBytes(number(x, "x"), iterations, system, progress);
    }

    private VdfProof proveBytes(byte[] x, long iterations, VdfSystem system, Progress progress)
            throws MalformedException, EnvironmentException, InterruptedException {
        Watch watch = new Watch(progress);
        byte[] y = new byte[width];
        byte[][] proof = new byte[1][];
        long threads = Runtime.getRuntime().availableProcessors();
        try {
            int status = Abi.get().vdfProve(
                    handle, x, count(iterations), system.number(), threads, watch, y, proof);
            watch.finish(status);
            Status.computed(status);
            return new VdfProof(y, proof[0]);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Verifies that a proof is valid for exactly this N, seed, T and y.
     *
     * @param seed any bytes
     * @param iterations T, the number of squarings
     * @param y the result, or null for whatever the proof proves
     * @param proof the encoded proof
     * @throws NotValidException if it is false, or a proof of something else
     * @throws MalformedException if the proof or y is malformed
     */
    public void verify(byte[] seed, long iterations, byte[] y, byte[] proof)
            throws NotValidException, MalformedException {
        verifyBytes(input(seed, iterations), iterations, y, proof);
    }

    /**
     * Verifies that a proof is valid for exactly this N, x, T and y.
     *
     * @param x the number, which is reduced modulo N
     * @param iterations T, the number of squarings
     * @param y the result, or null for whatever the proof proves
     * @param proof the encoded proof
     * @throws NotValidException if it is false, or a proof of something else
     * @throws MalformedException if the proof or y is malformed
     */
    public void verifyRaw(BigInteger x, long iterations, byte[] y, byte[] proof)
            throws NotValidException, MalformedException {
        verifyBytes(number(x, "x"), iterations, y, proof);
    }

    private void verifyBytes(byte[] x, long iterations, byte[] y, byte[] proof)
            throws NotValidException, MalformedException {
        Objects.requireNonNull(proof, "proof");
        if (y != null && y.length != width) {
            throw new MalformedException(
                    "input.length", "y has " + y.length + " bytes, expected " + width + ", as many as N", null);
        }
        try {
            Status.verified(Abi.get().vdfVerify(handle, x, count(iterations), y, proof));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private static void finish(int status, Watch watch) throws EnvironmentException, InterruptedException {
        watch.finish(status);
        try {
            Status.computed(status);
        } catch (MalformedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static long count(long iterations) {
        if (iterations < 0) {
            throw new IllegalArgumentException("iterations: " + iterations + ", expected 0 or more");
        }
        return iterations;
    }

    /** Big-endian bytes without a sign. */
    private static byte[] number(BigInteger number, String name) {
        if (number.signum() < 0) {
            throw new IllegalArgumentException(name + " is negative");
        }
        return number.toByteArray();
    }

    /** RSA-2048, made on first use. */
    private static final class Rsa2048 {
        private static final BigInteger NUMBER = new BigInteger(
                "c7970ceedcc3b0754490201a7aa613cd73911081c790f5f1a8726f463550bb5b7ff0db8e1ea1189e"
                        + "c72f93d1650011bd721aeeacc2acde32a04107f0648c2813a31f5b0b7765ff8b44b4b6ffc93384b6"
                        + "46eb09c7cf5e8592d40ea33c80039f35b4f14a04b51f7bfd781be4d1673164ba8eb991c2c4d730bb"
                        + "be35f592bdef524af7e8daefd26c66fc02c479af89d64d373f442709439de66ceb955f3ea37d5159"
                        + "f6135809f85334b5cb1813addc80cd05609f10ac6a95ad65872c909525bdad32bc729592642920f2"
                        + "4c61dc5b3c3b7923e56b16a4d9d373d8721f24a3fc0f1b3131f55615172866bccc30f95054c824e7"
                        + "33a5eb6817f7bc16399d48c6361cc7e5",
                16);

        static final Vdf VDF = make();

        private static Vdf make() {
            try {
                return new Vdf(NUMBER);
            } catch (MalformedException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }
}
