package org.tetralith;

import java.security.Provider;

/**
 * XMSS for {@link java.security}: {@code Signature} and {@code KeyFactory} of {@code XMSS} and {@code XMSSMT}.
 *
 * <p>With the provider in place, {@link java.security.cert.X509Certificate#verify} checks certificates that
 * XMSS signed, by the identifiers of RFC 9802 and by those of before. Signing is refused: a signature needs
 * a key file with a durable state, which a {@link java.security.PrivateKey} in memory is not.
 */
public final class TetralithProvider extends Provider {
    private static final long serialVersionUID = 1L;

    /** The name to pass to {@code getInstance}. */
    public static final String NAME = "Tetralith";

    /** Makes the provider, for {@link java.security.Security#addProvider}. */
    public TetralithProvider() {
        super(NAME, "0.1", "XMSS and XMSS^MT signature verification");
        scheme("XMSS", XmssSignature.SingleTree.class, XmssKeyFactory.SingleTree.class, Der.XMSS, Der.OLDER_XMSS);
        scheme("XMSSMT", XmssSignature.MultiTree.class, XmssKeyFactory.MultiTree.class, Der.XMSSMT, Der.OLDER_XMSSMT);
    }

    private void scheme(String name, Class<?> signature, Class<?> factory, String... identifiers) {
        put("Signature." + name, signature.getName());
        put("Signature." + name + " SupportedKeyClasses", XmssPublicKey.class.getName());
        put("KeyFactory." + name, factory.getName());
        for (String identifier : identifiers) {
            for (String type : new String[] {"Signature", "KeyFactory"}) {
                put("Alg.Alias." + type + "." + identifier, name);
                put("Alg.Alias." + type + ".OID." + identifier, name);
            }
        }
    }
}
