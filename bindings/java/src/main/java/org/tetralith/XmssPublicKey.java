package org.tetralith;

import java.io.InvalidObjectException;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectStreamException;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.security.KeyRep;
import java.security.PublicKey;
import java.util.Arrays;
import java.util.Base64;
import java.util.Objects;

/**
 * A public key of XMSS or XMSS^MT: every set of RFC 8391 and SP 800-208, and QRL's.
 *
 * <p>Immutable. It is a key of {@link java.security} as well, with the encoding of RFC 9802.
 */
public final class XmssPublicKey implements PublicKey {
    private static final long serialVersionUID = 1L;
    private static final Cleaner CLEANER = Cleaner.create();

    private final transient Format format;
    private final transient byte[] raw;
    private final transient long handle;
    private final transient int signatureSize;

    private enum Format {
        XMSS,
        XMSSMT,
        PEM,
        DER,
        QRL
    }

    private XmssPublicKey(Format format, byte[] raw) throws MalformedException {
        this.format = format;
        this.raw = raw.clone();
        long address = open(format, this.raw);
        handle = address;
        CLEANER.register(this, () -> Abi.get().xmssFree(address));
        signatureSize = Math.toIntExact(Abi.get().xmssSignatureSize(address));
    }

    private static long open(Format format, byte[] key) throws MalformedException {
        long[] handle = new long[1];
        Status.decoded(Abi.get().xmssPublicKey(format.ordinal(), key, handle));
        return handle[0];
    }

    /**
     * Reads {@code OID ‖ root ‖ SEED} of XMSS.
     *
     * @param bytes the encoded key
     * @return the key
     * @throws MalformedException if it is none
     * @see <a href="https://www.rfc-editor.org/rfc/rfc8391#section-4.1.7">RFC 8391 §4.1.7</a>
     */
    public static XmssPublicKey fromBytes(byte[] bytes) throws MalformedException {
        return new XmssPublicKey(Format.XMSS, bytes);
    }

    /**
     * Reads {@code OID ‖ root ‖ SEED} of XMSS^MT.
     *
     * @param bytes the encoded key
     * @return the key
     * @throws MalformedException if it is none
     * @see <a href="https://www.rfc-editor.org/rfc/rfc8391#section-4.2.2">RFC 8391 §4.2.2</a>
     */
    public static XmssPublicKey fromMultiTreeBytes(byte[] bytes) throws MalformedException {
        return new XmssPublicKey(Format.XMSSMT, bytes);
    }

    /**
     * Reads the 67 bytes of a QRL key: descriptor, root and SEED.
     *
     * @param bytes the encoded key
     * @return the key
     * @throws MalformedException if it is none
     */
    public static XmssPublicKey fromQrl(byte[] bytes) throws MalformedException {
        return new XmssPublicKey(Format.QRL, bytes);
    }

    /**
     * Reads a SubjectPublicKeyInfo, or takes the key of a certificate.
     *
     * @param der its DER encoding
     * @return the key
     * @throws MalformedException if it is neither, or of another algorithm
     * @see <a href="https://www.rfc-editor.org/rfc/rfc9802">RFC 9802</a>
     */
    public static XmssPublicKey fromDer(byte[] der) throws MalformedException {
        byte[] copy = der.clone();
        Abi.get().xmssFree(open(Format.DER, copy));
        Der.Key key = Der.key(copy);
        return new XmssPublicKey(key.multiTree ? Format.XMSSMT : Format.XMSS, key.raw);
    }

    /**
     * Reads a SubjectPublicKeyInfo, or takes the key of a certificate.
     *
     * @param pem text with one block {@code PUBLIC KEY} or {@code CERTIFICATE}
     * @return the key
     * @throws MalformedException if there is no such block or more than one, or its key is of another algorithm
     * @see <a href="https://www.rfc-editor.org/rfc/rfc9802">RFC 9802</a>
     */
    public static XmssPublicKey fromPem(String pem) throws MalformedException {
        Abi.get().xmssFree(open(Format.PEM, pem.getBytes(StandardCharsets.UTF_8)));
        boolean certificate = pem.contains("-----BEGIN CERTIFICATE-----");
        if (certificate && pem.contains("-----BEGIN PUBLIC KEY-----")) {
            throw new MalformedException(
                    "input.malformed", "the text has a CERTIFICATE and a PUBLIC KEY, expected one block", null);
        }
        String label = certificate ? "CERTIFICATE" : "PUBLIC KEY";
        String begin = "-----BEGIN " + label + "-----";
        int start = pem.indexOf(begin) + begin.length();
        String block = pem.substring(start, pem.indexOf("-----END " + label + "-----", start));
        return fromDer(Base64.getMimeDecoder().decode(block));
    }

    /**
     * Verifies a signature. Variable time: all is public.
     *
     * @param message the message
     * @param signature its signature
     * @throws NotValidException if the signature is not valid
     * @throws MalformedException if it is malformed
     * @see <a href="https://www.rfc-editor.org/rfc/rfc8391#section-4.1.10">RFC 8391 §4.1.10</a>
     */
    public void verify(byte[] message, byte[] signature) throws NotValidException, MalformedException {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(signature, "signature");
        try {
            Status.verified(Abi.get().xmssVerify(handle, message, signature));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    int verifyMany(
            long count, Abi.Block messages, long messagesLen, Abi.Block offsets, Abi.Block signatures,
            Abi.Block verdicts) {
        try {
            return Abi.get().xmssVerifyMany(handle, count, messages, messagesLen, offsets, signatures, verdicts);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the length of this key's signatures.
     *
     * @return in bytes
     */
    public int signatureSize() {
        return signatureSize;
    }

    /**
     * Returns the raw encoding, as {@link #fromBytes}, {@link #fromMultiTreeBytes} or {@link #fromQrl} read it.
     *
     * @return the encoded key
     */
    public byte[] toBytes() {
        return raw.clone();
    }

    /**
     * Names the scheme.
     *
     * @return {@code XMSS} or {@code XMSSMT}, the names in {@link TetralithProvider}; {@code QRL} for a key of QRL's
     */
    @Override
    public String getAlgorithm() {
        return format.name();
    }

    /**
     * Names the encoding of {@link #getEncoded}.
     *
     * @return {@code X.509}; null for a QRL key, which has no standard encoding
     */
    @Override
    public String getFormat() {
        return format == Format.QRL ? null : "X.509";
    }

    /**
     * Encodes the key as SubjectPublicKeyInfo.
     *
     * @return its DER encoding; null for a QRL key
     */
    @Override
    public byte[] getEncoded() {
        return format == Format.QRL ? null : Der.info(new Der.Key(format == Format.XMSSMT, raw));
    }

    /**
     * Compares keys.
     *
     * @param other anything
     * @return whether it is the same key of the same scheme
     */
    @Override
    public boolean equals(Object other) {
        return other instanceof XmssPublicKey
                && format == ((XmssPublicKey) other).format
                && Arrays.equals(raw, ((XmssPublicKey) other).raw);
    }

    /**
     * Hashes the key.
     *
     * @return a number that equal keys share
     */
    @Override
    public int hashCode() {
        return 31 * format.hashCode() + Arrays.hashCode(raw);
    }

    /**
     * Names the scheme and the first bytes of the key.
     *
     * @return such as {@code XMSS public key 00000001b901b8d9…}
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(format.name()).append(" public key ");
        for (int i = 0; i < 8; i++) {
            text.append(String.format("%02x", raw[i]));
        }
        return text.append('…').toString();
    }

    /**
     * Replaces the key by its encoding.
     *
     * @return the encoding
     * @throws NotSerializableException for a QRL key, which has none
     */
    private Object writeReplace() throws ObjectStreamException {
        if (format == Format.QRL) {
            throw new NotSerializableException("a QRL key; serialize its toBytes()");
        }
        return new KeyRep(KeyRep.Type.PUBLIC, getAlgorithm(), getFormat(), getEncoded());
    }

    /**
     * Refuses: the stream holds the replacement.
     *
     * @param stream not read
     * @throws InvalidObjectException always
     */
    private void readObject(ObjectInputStream stream) throws InvalidObjectException {
        throw new InvalidObjectException("keys are serialized as KeyRep");
    }
}
