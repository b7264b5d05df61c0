package org.tetralith;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Objects;
import javax.security.auth.Destroyable;

/**
 * A secret key of a suite.
 *
 * <p>It holds a copy of the 32 bytes, which {@link #close} wipes; copies that the garbage collector made
 * before are out of reach. Its text says nothing of the key.
 */
public final class VrfSecretKey implements AutoCloseable, Destroyable {
    private static final int SIZE = 32;

    private final VrfSuite suite;
    private final byte[] secret;
    private final byte[] publicKey;
    private boolean destroyed;

    private VrfSecretKey(VrfSuite suite, byte[] secret) throws MalformedException {
        this.suite = suite;
        this.secret = secret;
        this.publicKey = new byte[suite.publicKeySize()];
        Status.decoded(Abi.get().vrfPublicKey(suite.number(), secret, publicKey));
    }

    /**
     * Reads a secret key.
     *
     * @param suite the suite
     * @param bytes the 32 bytes, of which a copy is kept
     * @return the key
     * @throws MalformedException if the length is wrong, or the number is none of the curve's scalars
     */
    public static VrfSecretKey of(VrfSuite suite, byte[] bytes) throws MalformedException {
        Objects.requireNonNull(suite, "suite");
        byte[] copy = bytes.clone();
        try {
            return new VrfSecretKey(suite, copy);
        } catch (MalformedException failed) {
            Arrays.fill(copy, (byte) 0);
            throw failed;
        }
    }

    /**
     * Makes a new secret key from the system's randomness.
     *
     * @param suite the suite
     * @return the key
     */
    public static VrfSecretKey generate(VrfSuite suite) {
        SecureRandom random = new SecureRandom();
        byte[] bytes = new byte[SIZE];
        // A string is no scalar of P-256 or secp256k1 with a chance of 2^-32 at most.
        for (int attempt = 0; ; attempt++) {
            random.nextBytes(bytes);
            try {
                return of(suite, bytes);
            } catch (MalformedException failed) {
                if (attempt == 8) {
                    throw new IllegalStateException(failed);
                }
            } finally {
                Arrays.fill(bytes, (byte) 0);
            }
        }
    }

    /**
     * Returns the suite.
     *
     * @return the suite of this key
     */
    public VrfSuite suite() {
        return suite;
    }

    /**
     * Returns the public key.
     *
     * @return its bytes
     */
    public byte[] publicKey() {
        return publicKey.clone();
    }

    /**
     * Makes a proof. Constant time in the key.
     *
     * @param alpha the input
     * @return the proof
     * @throws IllegalStateException if the key is closed
     * @see <a href="https://www.rfc-editor.org/rfc/rfc9381#section-5.1">RFC 9381 §5.1</a>
     */
    public synchronized byte[] prove(byte[] alpha) {
        Objects.requireNonNull(alpha, "alpha");
        if (destroyed) {
            throw new IllegalStateException("the secret key is closed");
        }
        byte[] proof = new byte[suite.proofSize()];
        Status.expectOk(Abi.get().vrfProve(suite.number(), secret, alpha, proof));
        return proof;
    }

    /** Wipes the key. */
    @Override
    public synchronized void destroy() {
        Arrays.fill(secret, (byte) 0);
        destroyed = true;
    }

    /**
     * Tells whether the key is wiped.
     *
     * @return whether {@link #destroy} or {@link #close} was called
     */
    @Override
    public synchronized boolean isDestroyed() {
        return destroyed;
    }

    /** Wipes the key. */
    @Override
    public void close() {
        destroy();
    }

    /**
     * Names the suite, and nothing of the key.
     *
     * @return such as {@code VrfSecretKey(draft03-cardano)}
     */
    @Override
    public String toString() {
        return "VrfSecretKey(" + suite + ")";
    }
}
