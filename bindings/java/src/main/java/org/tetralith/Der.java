package org.tetralith;

import java.util.Arrays;

/**
 * Takes the raw key out of a SubjectPublicKeyInfo or a certificate that the native library has accepted.
 *
 * <p>The native decoder is the strict one. This reader only walks, within bounds, through what passed it.
 */
final class Der {
    private static final int OBJECT = 0x06;
    private static final int OCTETS = 0x04;
    private static final int BITS = 0x03;
    private static final int SEQUENCE = 0x30;
    private static final int VERSION = 0xa0;
    private static final byte[] NULL = {5, 0};

    /** More bytes than any public key has, and few enough for {@link #element}. */
    private static final int LONGEST = 240;

    /** id-alg-xmss-hashsig and id-alg-xmssmt-hashsig. RFC 9802 §2 and §3. */
    static final String XMSS = "1.3.6.1.5.5.7.6.34";

    static final String XMSSMT = "1.3.6.1.5.5.7.6.35";

    /** The identifiers from before RFC 9802, of which certificates are left. */
    static final String OLDER_XMSS = "0.4.0.127.0.15.1.1.13.0";

    static final String OLDER_XMSSMT = "0.4.0.127.0.15.1.1.14.0";

    private static final byte[] XMSS_BYTES = {0x2b, 6, 1, 5, 5, 7, 6, 34};
    private static final byte[] XMSSMT_BYTES = {0x2b, 6, 1, 5, 5, 7, 6, 35};
    private static final byte[] OLDER_XMSSMT_BYTES = {4, 0, 0x7f, 0, 15, 1, 1, 14, 0};

    private final byte[] bytes;
    private int at;
    private final int end;

    private Der(byte[] bytes, int at, int end) {
        this.bytes = bytes;
        this.at = at;
        this.end = end;
    }

    /** A raw key and its scheme. */
    static final class Key {
        final boolean multiTree;
        final byte[] raw;

        Key(boolean multiTree, byte[] raw) {
            this.multiTree = multiTree;
            this.raw = raw;
        }
    }

    /** Whether it begins as a SubjectPublicKeyInfo does, and not as a certificate. */
    static boolean isInfo(byte[] der) {
        try {
            return new Der(der, 0, der.length).enter(SEQUENCE).enter(SEQUENCE).peek(OBJECT);
        } catch (IllegalStateException malformed) {
            return false;
        }
    }

    static Key key(byte[] der) {
        Der info = new Der(der, 0, der.length).enter(SEQUENCE);
        if (isInfo(der)) {
            return info.key();
        }
        Der certificate = info.enter(SEQUENCE);
        if (certificate.peek(VERSION)) {
            certificate.enter(VERSION);
        }
        // Serial number, algorithm, issuer, validity, subject.
        for (int i = 0; i < 5; i++) {
            certificate.enter(certificate.tag());
        }
        return certificate.enter(SEQUENCE).key();
    }

    /**
     * Drops a NULL parameter of the algorithm, which Java 17 adds when it takes a key out of a certificate.
     * Anything else is returned as it is, for the native decoder to judge.
     */
    static byte[] withoutNull(byte[] der) {
        if (der.length > LONGEST) {
            return der;
        }
        try {
            Der outer = new Der(der, 0, der.length);
            Der info = outer.enter(SEQUENCE);
            Der algorithm = info.enter(SEQUENCE);
            byte[] identifier = algorithm.enter(OBJECT).rest();
            byte[] bits = info.enter(BITS).rest();
            if (outer.at != outer.end || info.at != info.end || !Arrays.equals(algorithm.rest(), NULL)) {
                return der;
            }
            return element(SEQUENCE, join(element(SEQUENCE, element(OBJECT, identifier)), element(BITS, bits)));
        } catch (IllegalStateException malformed) {
            return der;
        }
    }

    /** Encodes a raw key as SubjectPublicKeyInfo. RFC 9802 §4 and §5. */
    static byte[] info(Key key) {
        byte[] algorithm = element(SEQUENCE, element(OBJECT, key.multiTree ? XMSSMT_BYTES : XMSS_BYTES));
        byte[] bits = new byte[key.raw.length + 1];
        System.arraycopy(key.raw, 0, bits, 1, key.raw.length);
        return element(SEQUENCE, join(algorithm, element(BITS, bits)));
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static byte[] element(int tag, byte[] content) {
        // A public key has at most 132 bytes, so every length fits into one more byte.
        int head = content.length < 128 ? 2 : 3;
        byte[] element = new byte[head + content.length];
        element[0] = (byte) tag;
        element[1] = head == 2 ? (byte) content.length : (byte) 0x81;
        element[head - 1] = (byte) content.length;
        System.arraycopy(content, 0, element, head, content.length);
        return element;
    }

    /** The key of a SubjectPublicKeyInfo's content. */
    private Key key() {
        byte[] algorithm = enter(SEQUENCE).enter(OBJECT).rest();
        boolean multiTree = Arrays.equals(algorithm, XMSSMT_BYTES) || Arrays.equals(algorithm, OLDER_XMSSMT_BYTES);
        Der bits = enter(BITS);
        bits.at++;
        // Keys from before RFC 9802 are wrapped once more; a raw key begins with a zero.
        return new Key(multiTree, (bits.peek(OCTETS) ? bits.enter(OCTETS) : bits).rest());
    }

    private boolean peek(int tag) {
        return at < end && tag() == tag;
    }

    private int tag() {
        return next(at);
    }

    private int next(int index) {
        if (index >= end) {
            throw new IllegalStateException("DER ends early");
        }
        return bytes[index] & 0xff;
    }

    /** Steps over an element of that tag, and reads its content. */
    private Der enter(int tag) {
        if (tag() != tag) {
            throw new IllegalStateException("DER has tag " + tag() + ", expected " + tag);
        }
        int first = next(at + 1);
        int start = at + 2;
        long length = first;
        if (first >= 0x80) {
            length = 0;
            for (int i = first & 0x7f; i > 0; i--) {
                length = length << 8 | next(start++);
            }
        }
        if (length < 0 || length > end - start) {
            throw new IllegalStateException("DER has a wrong length");
        }
        at = start + (int) length;
        return new Der(bytes, start, at);
    }

    private byte[] rest() {
        return Arrays.copyOfRange(bytes, at, end);
    }
}
