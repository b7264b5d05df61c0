package org.tetralith;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Security;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** Signatures of every parameter set against the vectors, directly and through java.security. */
final class XmssTests {
    private XmssTests() {}

    record Case(String name, XmssPublicKey key, byte[] message, byte[] signature) {
        String scheme() {
            return name.contains("XMSSMT") ? "XMSSMT" : "XMSS";
        }
    }

    static List<Case> cases() throws Exception {
        List<Case> cases = new ArrayList<>();
        for (String name : Check.names("xmss/liboqs", ".rsp")) {
            Map<String, String> fields = Check.fields(Check.text(name), " = ");
            byte[] raw = Check.hex(fields.get("pk"));
            XmssPublicKey key = name.contains("XMSSMT")
                    ? XmssPublicKey.fromMultiTreeBytes(raw)
                    : XmssPublicKey.fromBytes(raw);
            cases.add(new Case(name, key, Check.hex(fields.get("msg")), Check.hex(fields.get("sm"))));
        }
        Check.equal(cases.size(), 37);
        return cases;
    }

    static void run() throws Exception {
        Security.addProvider(new TetralithProvider());
        for (Case known : cases()) {
            known.key().verify(known.message(), known.signature());
            refusals(known);
            encodings(known);
            columns(known);
            provider(known);
        }
        keys();
        certificates();
        signing();
    }

    private static void refusals(Case known) {
        XmssPublicKey key = known.key();
        byte[] signature = known.signature();
        Check.equal(key.signatureSize(), signature.length);
        Check.fails(NotValidException.class, "verification.failed",
                () -> key.verify(Check.flip(known.message(), 7), signature));
        for (int at = 4; at < signature.length; at += signature.length / 9) {
            byte[] spoiled = Check.flip(signature, at);
            Check.fails(NotValidException.class, "verification.failed", () -> key.verify(known.message(), spoiled));
        }
        for (int length : new int[] {0, 4, signature.length - 1, signature.length + 1}) {
            Check.fails(MalformedException.class, "input.length",
                    () -> key.verify(known.message(), Check.cut(signature, length)));
        }
        Check.fails(NullPointerException.class, () -> key.verify(null, signature));
        Check.fails(NullPointerException.class, () -> key.verify(known.message(), null));
        // Longer than what is passed without a copy.
        Check.fails(NotValidException.class, "verification.failed", () -> key.verify(new byte[1 << 17], signature));
    }

    private static void encodings(Case known) throws Exception {
        XmssPublicKey key = known.key();
        byte[] encoded = key.getEncoded();
        Check.equal(key.getFormat(), "X.509");
        Check.equal(key.getAlgorithm(), known.scheme());
        Check.equal(XmssPublicKey.fromDer(encoded), key);
        Check.equal(XmssPublicKey.fromDer(encoded).hashCode(), key.hashCode());
        String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded);
        String pem = "-----BEGIN PUBLIC KEY-----\n" + body + "\n-----END PUBLIC KEY-----\n";
        Check.equal(XmssPublicKey.fromPem("a comment\n" + pem), key);
        Check.fails(MalformedException.class, () -> XmssPublicKey.fromPem(pem + pem));
        for (int at = 0; at < encoded.length - key.toBytes().length; at++) {
            byte[] spoiled = Check.flip(encoded, at);
            try {
                // The one bit that makes a key of the other scheme may be flipped.
                Check.that(!XmssPublicKey.fromDer(spoiled).equals(key));
            } catch (MalformedException refused) {
                Check.note(refused.toString());
            }
        }
        for (int length = 0; length < encoded.length; length += 5) {
            byte[] cut = Check.cut(encoded, length);
            Check.fails(MalformedException.class, () -> XmssPublicKey.fromDer(cut));
        }
        Check.fails(MalformedException.class, () -> XmssPublicKey.fromDer(Check.cut(encoded, encoded.length + 1)));
        Check.note(key + " " + Check.hex(encoded));
    }

    private static void columns(Case known) throws Exception {
        try (XmssColumns columns = new XmssColumns(known.key(), 1)) {
            Check.that(columns.verify().allValid());
            for (int i = 0; i < 5; i++) {
                columns.add(known.message(), known.signature());
                columns.add(new byte[0], known.signature());
                columns.add(known.message(), new byte[i]);
            }
            Verdicts verdicts = columns.verify();
            for (int row = 0; row < 15; row++) {
                Check.equal(verdicts.get(row), Verdict.values()[row % 3]);
            }
            Check.equal(verdicts.validCount(), 5);
            columns.clear();
            Check.equal(columns.add(known.message(), known.signature()).verify().validCount(), 1);
            Check.fails(NullPointerException.class, () -> columns.add(null, known.signature()));
            Check.fails(NullPointerException.class, () -> columns.add(known.message(), null));
            columns.close();
            Check.fails(IllegalStateException.class, columns::verify);
        }
    }

    private static void provider(Case known) throws Exception {
        KeyFactory factory = KeyFactory.getInstance(known.scheme(), TetralithProvider.NAME);
        PublicKey key = factory.generatePublic(new X509EncodedKeySpec(known.key().getEncoded()));
        Check.equal(key, known.key());
        Check.equal(factory.getKeySpec(key, X509EncodedKeySpec.class).getEncoded(), known.key().getEncoded());
        byte[] encoded = known.key().getEncoded();
        for (int length = 0; length < encoded.length; length += 3) {
            byte[] cut = Check.cut(encoded, length);
            Check.fails(InvalidKeySpecException.class, () -> factory.generatePublic(new X509EncodedKeySpec(cut)));
        }
        String other = known.scheme().equals("XMSS") ? "XMSSMT" : "XMSS";
        Check.fails(InvalidKeySpecException.class, () -> KeyFactory.getInstance(other, TetralithProvider.NAME)
                .generatePublic(new X509EncodedKeySpec(known.key().getEncoded())));
        String identifier = known.scheme().equals("XMSS") ? Der.XMSS : Der.XMSSMT;
        for (String name : new String[] {known.scheme(), identifier}) {
            Signature verifier = Signature.getInstance(name);
            verifier.initVerify(key);
            // One object for many messages, and a message in parts.
            for (int round = 0; round < 2; round++) {
                verifier.update(known.message()[0]);
                verifier.update(known.message(), 1, known.message().length - 1);
                Check.that(verifier.verify(known.signature()));
                verifier.update(known.message(), 1, 3);
                Check.that(!verifier.verify(known.signature()));
            }
            verifier.update(known.message());
            SignatureException refused =
                    Check.fails(SignatureException.class, () -> verifier.verify(new byte[9]));
            Check.equal(((MalformedException) refused.getCause()).code(), "input.length");
        }
        Check.fails(InvalidKeyException.class,
                () -> Signature.getInstance(other, TetralithProvider.NAME).initVerify(key));
    }

    private static void keys() throws Exception {
        XmssPublicKey qrl = XmssPublicKey.fromQrl(Check.hex("010500" + "11".repeat(64)));
        Check.equal(qrl.getAlgorithm(), "QRL");
        Check.that(qrl.getEncoded() == null && qrl.getFormat() == null);
        Check.fails(NotValidException.class, "verification.failed",
                () -> qrl.verify(new byte[3], new byte[qrl.signatureSize()]));
        Signature verifier = Signature.getInstance("XMSS", TetralithProvider.NAME);
        verifier.initVerify(qrl);
        Check.that(!verifier.verify(new byte[qrl.signatureSize()]));
        for (int length : new int[] {0, 3, 66, 68}) {
            Check.fails(MalformedException.class, () -> XmssPublicKey.fromQrl(new byte[length]));
            Check.fails(MalformedException.class, () -> XmssPublicKey.fromBytes(new byte[length]));
            Check.fails(MalformedException.class, () -> XmssPublicKey.fromMultiTreeBytes(new byte[length]));
        }
        Check.fails(MalformedException.class, () -> XmssPublicKey.fromPem(""));
        Check.fails(MalformedException.class, () -> XmssPublicKey.fromPem("-----BEGIN PUBLIC KEY-----"));
        Check.fails(NullPointerException.class, () -> XmssPublicKey.fromPem(null));
        Check.fails(NullPointerException.class, () -> XmssPublicKey.fromDer(null));
        Check.fails(NullPointerException.class, () -> XmssPublicKey.fromBytes(null));
        Check.fails(NullPointerException.class, () -> XmssPublicKey.fromQrl(null));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        XmssPublicKey key = cases().get(0).key();
        new ObjectOutputStream(bytes).writeObject(key);
        Object read = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        Check.equal(read, key);
        Check.fails(NotSerializableException.class,
                () -> new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(qrl));
    }

    /** Self-signed certificates of two other libraries, by the identifiers from before RFC 9802. */
    private static void certificates() throws Exception {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        for (String name : Check.names("xmss/botan", ".pem")) {
            byte[] pem = Check.text(name).getBytes(StandardCharsets.UTF_8);
            X509Certificate root = (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(pem));
            Check.equal(root.getPublicKey(), XmssPublicKey.fromPem(Check.text(name)));
            Check.equal(root.getPublicKey(), XmssPublicKey.fromDer(root.getEncoded()));
            root.verify(root.getPublicKey());
            Check.fails(InvalidKeySpecException.class, () -> KeyFactory.getInstance("XMSS")
                    .generatePublic(new X509EncodedKeySpec(root.getEncoded())));
            Check.fails(MalformedException.class, () -> XmssPublicKey.fromPem(Check.text(name)
                    + "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"));
            byte[] spoiled = root.getEncoded();
            spoiled[spoiled.length - 1] ^= 1;
            X509Certificate forged =
                    (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(spoiled));
            Check.fails(SignatureException.class, () -> forged.verify(root.getPublicKey()));
        }
    }

    private static void signing() throws Exception {
        PrivateKey foreign = KeyPairGenerator.getInstance("EC").generateKeyPair().getPrivate();
        for (String scheme : new String[] {"XMSS", "XMSSMT"}) {
            Signature signer = Signature.getInstance(scheme, TetralithProvider.NAME);
            for (PrivateKey key : new PrivateKey[] {foreign, null}) {
                InvalidKeyException refused =
                        Check.fails(InvalidKeyException.class, () -> signer.initSign(key));
                StateException why = (StateException) refused.getCause();
                Check.equal(why.code(), "state.missing");
                Check.that(why.hint().isPresent());
            }
            Check.fails(SignatureException.class, signer::sign);
            Check.fails(InvalidKeyException.class, () -> signer.initVerify((PublicKey) null));
        }
    }
}
