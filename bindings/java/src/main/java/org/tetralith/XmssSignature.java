package org.tetralith;

import java.io.ByteArrayOutputStream;
import java.security.InvalidKeyException;
import java.security.InvalidParameterException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SignatureException;
import java.security.SignatureSpi;
import java.util.Arrays;

/** Verification by one scheme for {@link java.security.Signature}. The message is kept in memory until then. */
abstract class XmssSignature extends SignatureSpi {
    static final String REFUSED = "XMSS does not sign with a private key in memory: an index could be used twice";

    private final String scheme;
    private final ByteArrayOutputStream message = new ByteArrayOutputStream();
    private XmssPublicKey key;

    private XmssSignature(String scheme) {
        this.scheme = scheme;
    }

    /** For the provider. */
    public static final class SingleTree extends XmssSignature {
        /** For the provider. */
        public SingleTree() {
            super("XMSS");
        }
    }

    /** For the provider. */
    public static final class MultiTree extends XmssSignature {
        /** For the provider. */
        public MultiTree() {
            super("XMSSMT");
        }
    }

    static StateException refused() {
        return new StateException("state.missing", REFUSED, "sign with the command: tetralith xmss sign -k KEYFILE FILE");
    }

    @Override
    protected void engineInitVerify(PublicKey publicKey) throws InvalidKeyException {
        key = XmssKeyFactory.translate(publicKey, scheme);
        message.reset();
    }

    @Override
    protected void engineInitSign(PrivateKey privateKey) throws InvalidKeyException {
        throw new InvalidKeyException(REFUSED, refused());
    }

    @Override
    protected void engineUpdate(byte b) {
        message.write(b);
    }

    @Override
    protected void engineUpdate(byte[] bytes, int offset, int length) {
        message.write(bytes, offset, length);
    }

    @Override
    protected byte[] engineSign() throws SignatureException {
        throw new SignatureException(REFUSED, refused());
    }

    @Override
    protected boolean engineVerify(byte[] signature) throws SignatureException {
        byte[] signed = message.toByteArray();
        message.reset();
        try {
            key.verify(signed, signature);
            return true;
        } catch (NotValidException invalid) {
            return false;
        } catch (MalformedException malformed) {
            throw new SignatureException(malformed.getMessage(), malformed);
        }
    }

    @Override
    protected boolean engineVerify(byte[] bytes, int offset, int length) throws SignatureException {
        return engineVerify(Arrays.copyOfRange(bytes, offset, offset + length));
    }

    @Override
    @Deprecated
    protected void engineSetParameter(String name, Object value) {
        throw new InvalidParameterException("XMSS has no parameters");
    }

    @Override
    @Deprecated
    protected Object engineGetParameter(String name) {
        throw new InvalidParameterException("XMSS has no parameters");
    }
}
