package org.tetralith;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Proofs of every suite against the vectors, and everything that is not a proof. */
final class VrfTests {
    private VrfTests() {}

    record Case(VrfSuite suite, byte[] secret, byte[] key, byte[] alpha, byte[] proof, byte[] output) {}

    static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (Map<String, String> vector : Check.objects(Check.text("vrf/rfc9381/ecvrf_vectors.json"))) {
            VrfSuite suite = switch (vector.get("suite")) {
                case "ECVRF-P256-SHA256-TAI" -> VrfSuite.P256_TAI;
                case "ECVRF-P256-SHA256-SSWU" -> VrfSuite.P256_SSWU;
                case "ECVRF-EDWARDS25519-SHA512-TAI" -> VrfSuite.EDWARDS25519_TAI;
                case "ECVRF-EDWARDS25519-SHA512-ELL2" -> VrfSuite.EDWARDS25519_ELL2;
                default -> throw new AssertionError(vector.get("suite"));
            };
            cases.add(read(suite, vector, "SK", "PK", "alpha", "pi", "beta"));
        }
        for (String name : Check.names("vrf/praos", "")) {
            if (name.contains("/vrf_ver")) {
                VrfSuite suite =
                        name.contains("ver03") ? VrfSuite.DRAFT03_CARDANO : VrfSuite.DRAFT13_BATCHCOMPAT;
                cases.add(read(suite, Check.fields(Check.text(name), ": "), "sk", "pk", "alpha", "pi", "beta"));
            }
        }
        Check.equal(cases.size(), 26);
        return cases;
    }

    private static Case read(VrfSuite suite, Map<String, String> fields, String... names) {
        byte[][] values = new byte[5][];
        for (int i = 0; i < 5; i++) {
            values[i] = Check.hex(fields.get(names[i]).replace("empty", ""));
        }
        return new Case(suite, Check.cut(values[0], 32), values[1], values[2], values[3], values[4]);
    }

    static void run() throws Exception {
        for (Case known : cases()) {
            VrfSuite suite = known.suite();
            Check.equal(VrfSuite.of(suite.toString()), suite);
            try (VrfSecretKey key = VrfSecretKey.of(suite, known.secret())) {
                Check.equal(key.publicKey(), known.key());
                Check.equal(key.prove(known.alpha()), known.proof());
            }
            Check.equal(Vrf.verify(suite, known.key(), known.alpha(), known.proof()), known.output());
            refusals(known);
        }
        secretKeys();
        longInputs();
        columns();
        torsion();
    }

    private static void refusals(Case known) {
        VrfSuite suite = known.suite();
        byte[] key = known.key();
        byte[] alpha = known.alpha();
        byte[] proof = known.proof();
        Check.fails(NotValidException.class, "verification.failed",
                () -> Vrf.verify(suite, key, Check.hex("ff00ff"), proof));
        for (int at = 0; at < proof.length; at += 3) {
            byte[] spoiled = Check.flip(proof, at);
            try {
                Vrf.verify(suite, key, alpha, spoiled);
                throw new AssertionError(suite + " byte " + at);
            } catch (NotValidException | MalformedException refused) {
                Check.note(refused.toString());
            }
        }
        for (int length : new int[] {0, 1, proof.length - 1, proof.length + 1}) {
            Check.fails(MalformedException.class, "input.length",
                    () -> Vrf.verify(suite, key, alpha, Check.cut(proof, length)));
            int other = length < 2 ? length : key.length + length - proof.length;
            Check.fails(MalformedException.class, "input.length",
                    () -> Vrf.verify(suite, Check.cut(key, other), alpha, proof));
        }
        Check.fails(NullPointerException.class, () -> Vrf.verify(null, key, alpha, proof));
        Check.fails(NullPointerException.class, () -> Vrf.verify(suite, null, alpha, proof));
        Check.fails(NullPointerException.class, () -> Vrf.verify(suite, key, null, proof));
        Check.fails(NullPointerException.class, () -> Vrf.verify(suite, key, alpha, null));
    }

    private static void secretKeys() throws Exception {
        Check.fails(IllegalArgumentException.class, () -> VrfSuite.of("draft03"));
        for (VrfSuite suite : VrfSuite.values()) {
            for (int length : new int[] {0, 31, 33, 64}) {
                Check.fails(MalformedException.class, "input.length", () -> VrfSecretKey.of(suite, new byte[length]));
            }
            VrfSecretKey key = VrfSecretKey.generate(suite);
            byte[] proof = key.prove(new byte[0]);
            Check.equal(Vrf.verify(suite, key.publicKey(), new byte[0], proof).length, suite.outputSize());
            Check.equal(key.toString(), "VrfSecretKey(" + suite + ")");
            Check.fails(NullPointerException.class, () -> key.prove(null));
            key.close();
            Check.that(key.isDestroyed());
            Check.fails(IllegalStateException.class, () -> key.prove(new byte[0]));
        }
        Check.fails(MalformedException.class, "input.malformed",
                () -> VrfSecretKey.of(VrfSuite.P256_TAI, new byte[32]));
        Check.fails(NullPointerException.class, () -> VrfSecretKey.of(null, new byte[32]));
        Check.fails(NullPointerException.class, () -> VrfSecretKey.of(VrfSuite.P256_TAI, null));
    }

    /** Longer than what is passed without a copy. */
    private static void longInputs() throws Exception {
        byte[] alpha = new byte[1 << 20];
        try (VrfSecretKey key = VrfSecretKey.of(VrfSuite.DRAFT03_CARDANO, new byte[32])) {
            byte[] proof = key.prove(alpha);
            Check.note(Check.hex(Vrf.verify(key.suite(), key.publicKey(), alpha, proof)));
            Check.fails(NotValidException.class, "verification.failed",
                    () -> Vrf.verify(key.suite(), key.publicKey(), Check.flip(alpha, 99_999), proof));
        }
    }

    private static void columns() throws Exception {
        for (VrfSuite suite : VrfSuite.values()) {
            List<Case> cases = cases().stream().filter(known -> known.suite() == suite).toList();
            try (VrfColumns columns = new VrfColumns(suite)) {
                Check.that(Vrf.verifyMany(columns).allValid() && columns.size() == 0);
                for (int round = 0; round < 20; round++) {
                    for (Case known : cases) {
                        columns.add(known.key(), known.alpha(), known.proof());
                        columns.add(known.key(), Check.hex("abcd"), known.proof());
                        columns.add(known.key(), known.alpha(), Check.cut(known.proof(), round));
                        columns.add(new byte[0], known.alpha(), known.proof());
                    }
                }
                check(columns, cases);
                columns.clear();
                Check.equal(columns.size(), 0);
                Check.fails(NullPointerException.class, () -> columns.add(null, new byte[0], new byte[0]));
                Check.fails(NullPointerException.class, () -> columns.add(new byte[0], null, new byte[0]));
                Check.fails(NullPointerException.class, () -> columns.add(new byte[0], new byte[0], null));
                columns.close();
                columns.close();
                Check.fails(IllegalStateException.class, () -> Vrf.verifyMany(columns));
                Check.fails(IllegalStateException.class, columns::clear);
                Check.fails(IllegalStateException.class,
                        () -> columns.add(new byte[0], new byte[0], new byte[0]));
            }
        }
        Check.fails(IllegalArgumentException.class, () -> new VrfColumns(VrfSuite.P256_TAI, -1));
        Check.fails(NullPointerException.class, () -> new VrfColumns(null));
        Check.fails(NullPointerException.class, () -> Vrf.verifyMany(null));
    }

    private static void check(VrfColumns columns, List<Case> cases) {
        VrfVerdicts verdicts = Vrf.verifyMany(columns);
        Check.equal(verdicts.size(), 80 * cases.size());
        Check.equal(verdicts.validCount(), 20 * cases.size());
        for (int row = 0; row < verdicts.size(); row++) {
            Verdict expected = switch (row % 4) {
                case 0 -> Verdict.VALID;
                case 1 -> Verdict.NOT_VALID;
                default -> Verdict.MALFORMED;
            };
            Check.equal(verdicts.get(row), expected);
            Check.equal(verdicts.isValid(row), expected == Verdict.VALID);
            Check.equal(verdicts.output(row).isPresent(), expected == Verdict.VALID);
            if (row % 4 == 0) {
                Check.equal(verdicts.output(row).get(), cases.get(row / 4 % cases.size()).output());
            }
        }
        Check.fails(ArrayIndexOutOfBoundsException.class, () -> verdicts.get(verdicts.size()));
    }

    /** Lines of a name, key, input, proof and more: the honest line is valid, the forged ones are not. */
    private static void torsion() throws Exception {
        for (String line : Check.text("vrf/torsion_forged_draft13bc.txt").split("\n")) {
            String[] words = line.split(" ");
            boolean valid;
            try {
                Vrf.verify(
                        VrfSuite.DRAFT13_BATCHCOMPAT, Check.hex(words[1]), Check.hex(words[2]), Check.hex(words[3]));
                valid = true;
            } catch (NotValidException | MalformedException refused) {
                valid = false;
            }
            Check.equal(valid, words[0].equals("honest"));
        }
    }
}
