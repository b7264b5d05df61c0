package org.tetralith;

import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactorySpi;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.KeySpec;
import java.security.spec.X509EncodedKeySpec;

/** Public keys of one scheme from and to SubjectPublicKeyInfo. */
abstract class XmssKeyFactory extends KeyFactorySpi {
    private final String scheme;

    private XmssKeyFactory(String scheme) {
        this.scheme = scheme;
    }

    /** For the provider. */
    public static final class SingleTree extends XmssKeyFactory {
        /** For the provider. */
        public SingleTree() {
            super("XMSS");
        }
    }

    /** For the provider. */
    public static final class MultiTree extends XmssKeyFactory {
        /** For the provider. */
        public MultiTree() {
            super("XMSSMT");
        }
    }

    /** Reads a key of either class of {@link java.security}, if it is of this scheme. */
    static XmssPublicKey translate(Key key, String scheme) throws InvalidKeyException {
        if (key == null) {
            throw new InvalidKeyException("the key is null");
        }
        XmssPublicKey ours;
        if (key instanceof XmssPublicKey) {
            ours = (XmssPublicKey) key;
        } else if (key instanceof PublicKey && "X.509".equals(key.getFormat()) && key.getEncoded() != null) {
            try {
                ours = decode(key.getEncoded());
            } catch (MalformedException failed) {
                throw new InvalidKeyException(failed.getMessage(), failed);
            }
        } else {
            throw new InvalidKeyException("a " + key.getAlgorithm() + " key, expected a public key of " + scheme);
        }
        boolean qrl = ours.getAlgorithm().equals("QRL") && scheme.equals("XMSS");
        if (!qrl && !ours.getAlgorithm().equals(scheme)) {
            throw new InvalidKeyException("a key of " + ours.getAlgorithm() + ", expected " + scheme);
        }
        return ours;
    }

    private static XmssPublicKey decode(byte[] info) throws MalformedException {
        if (!Der.isInfo(info)) {
            throw new MalformedException("input.malformed", "expected a SubjectPublicKeyInfo", null);
        }
        return XmssPublicKey.fromDer(Der.withoutNull(info));
    }

    @Override
    protected PublicKey engineGeneratePublic(KeySpec spec) throws InvalidKeySpecException {
        if (!(spec instanceof X509EncodedKeySpec)) {
            throw new InvalidKeySpecException("expected an X509EncodedKeySpec");
        }
        try {
            return translate(decode(((X509EncodedKeySpec) spec).getEncoded()), scheme);
        } catch (MalformedException | InvalidKeyException failed) {
            throw new InvalidKeySpecException(failed.getMessage(), failed);
        }
    }

    @Override
    protected PrivateKey engineGeneratePrivate(KeySpec spec) throws InvalidKeySpecException {
        throw new InvalidKeySpecException(XmssSignature.REFUSED, XmssSignature.refused());
    }

    @Override
    protected <T extends KeySpec> T engineGetKeySpec(Key key, Class<T> spec) throws InvalidKeySpecException {
        try {
            byte[] encoded = translate(key, scheme).getEncoded();
            if (encoded == null || !spec.isAssignableFrom(X509EncodedKeySpec.class)) {
                throw new InvalidKeySpecException("a key of " + scheme + " has an X509EncodedKeySpec only");
            }
            return spec.cast(new X509EncodedKeySpec(encoded));
        } catch (InvalidKeyException failed) {
            throw new InvalidKeySpecException(failed.getMessage(), failed);
        }
    }

    @Override
    protected Key engineTranslateKey(Key key) throws InvalidKeyException {
        return translate(key, scheme);
    }
}
