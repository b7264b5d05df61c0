package org.tetralith;

import java.math.BigInteger;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Squarings and proofs against the vectors; moduli, seeds and proofs that are none; and how to stop. */
final class VdfTests {
    private static final Vdf RSA = Vdf.rsa2048();

    private VdfTests() {}

    static void run() throws Exception {
        vectors();
        proofs();
        moduli();
        stopping();
        // A false proof, made with the published factors, whose equation holds.
        byte[] forged = Check.hex(Check.text("vdf/forged_lcs35.hex").trim());
        try {
            RSA.verify(new byte[0], 1L << 62, null, forged);
            throw new AssertionError("a forged proof");
        } catch (NotValidException | MalformedException refused) {
            Check.note(refused.toString());
        }
    }

    private static void vectors() throws Exception {
        String text = Check.text("vdf/rsa2048_squaring.json");
        BigInteger x = new BigInteger(1, Check.hex(Check.fields(text, ": ").get(" \"x\"").replaceAll("[\",]", "")));
        int seen = 0;
        for (Map<String, String> known : Check.objects(text)) {
            int t = Integer.parseInt(known.get("t"));
            if (t <= 14) {
                Check.equal(RSA.computeRaw(x, 1L << t, null), Check.hex(known.get("y")));
                seen++;
            }
        }
        Check.that(seen > 0);
        Map<String, String> proofs = Check.objects(Check.text("vdf/proofs.json")).get(0);
        BigInteger frozen = new BigInteger(1, "frozen".getBytes());
        for (String name : new String[] {"wesolowski", "n-wesolowski", "pietrzak"}) {
            byte[] proof = Check.hex(proofs.get(name));
            RSA.verifyRaw(frozen, 1000, null, proof);
            RSA.verifyRaw(frozen, 1000, RSA.computeRaw(frozen, 1000, null), proof);
        }
        for (Map<String, String> known : Check.objects(Check.text("vdf/seeds.json"))) {
            Vdf vdf = known.get("modulus").equals("rsa2048") ? RSA : null;
            if (vdf != null) {
                long t = Long.parseUnsignedLong(known.get("iterations"));
                if (t >= 0) {
                    Check.equal(vdf.input(Check.hex(known.get("seed_hex")), t), Check.hex(known.get("x")));
                }
            }
        }
    }

    private static void proofs() throws Exception {
        byte[] seed = {1, 2, 3};
        for (VdfSystem system : VdfSystem.values()) {
            VdfProof made = RSA.prove(seed, 3000, system, null);
            Check.equal(made.y(), RSA.compute(seed, 3000, null));
            byte[] y = made.y();
            byte[] proof = made.proof();
            RSA.verify(seed, 3000, y, proof);
            RSA.verify(seed, 3000, null, proof);
            Check.fails(NotValidException.class, "verification.other_statement",
                    () -> RSA.verify(seed, 3001, y, proof));
            Check.fails(NotValidException.class, "verification.other_statement",
                    () -> RSA.verify(new byte[0], 3000, y, proof));
            Check.fails(NotValidException.class, "verification.other_statement",
                    () -> RSA.verify(seed, 3000, Check.flip(y, 255), proof));
            Check.fails(MalformedException.class, "input.length", () -> RSA.verify(seed, 3000, new byte[0], proof));
            Check.fails(MalformedException.class, "input.length", () -> RSA.verify(seed, 3000, new byte[257], proof));
            for (int at = 0; at < proof.length; at += 41) {
                byte[] spoiled = Check.flip(proof, at);
                try {
                    RSA.verify(seed, 3000, y, spoiled);
                    throw new AssertionError(system + " byte " + at);
                } catch (NotValidException | MalformedException refused) {
                    Check.note(refused.toString());
                }
            }
            for (int length : new int[] {0, 7, proof.length - 1, proof.length + 1}) {
                Check.fails(MalformedException.class, () -> RSA.verify(seed, 3000, y, Check.cut(proof, length)));
            }
            Check.fails(NullPointerException.class, () -> RSA.verify(seed, 3000, y, null));
            Check.fails(NullPointerException.class, () -> RSA.verify(null, 3000, y, proof));
            Check.fails(IllegalArgumentException.class, () -> RSA.verify(seed, -1, y, proof));
        }
        Check.fails(NullPointerException.class, () -> RSA.prove(seed, 10, null, null));
        Check.fails(NullPointerException.class, () -> RSA.compute(null, 10, null));
        Check.fails(IllegalArgumentException.class, () -> RSA.compute(seed, -1, null));
        Check.fails(IllegalArgumentException.class, () -> RSA.computeRaw(BigInteger.ONE.negate(), 1, null));
    }

    private static void moduli() throws Exception {
        BigInteger n = RSA.modulus();
        Check.equal(RSA.width(), 256);
        Check.equal(new BigInteger(1, RSA.computeRaw(BigInteger.TWO, 4, null)), BigInteger.TWO.pow(16));
        BigInteger odd = BigInteger.ONE.shiftLeft(127).subtract(BigInteger.ONE);
        Check.equal(new BigInteger(1, Vdf.modulo(odd).computeRaw(BigInteger.TEN, 9, null)),
                BigInteger.TEN.modPow(BigInteger.ONE.shiftLeft(9), odd));
        Check.fails(MalformedException.class, "input.modulus", () -> Vdf.modulo(BigInteger.ZERO));
        Check.fails(MalformedException.class, "input.modulus", () -> Vdf.modulo(BigInteger.ONE));
        Check.fails(MalformedException.class, "input.modulus", () -> Vdf.modulo(n.add(BigInteger.ONE)));
        Check.fails(MalformedException.class, "input.modulus", () -> Vdf.modulo(BigInteger.valueOf(15)));
        Check.fails(MalformedException.class, "input.modulus",
                () -> Vdf.modulo(BigInteger.ONE.shiftLeft(9000).add(BigInteger.ONE)));
        Check.fails(MalformedException.class, "input.modulus",
                () -> Vdf.modulo(odd).prove(new byte[1], 100, VdfSystem.WESOLOWSKI, null));
        Check.fails(IllegalArgumentException.class, () -> Vdf.modulo(n.negate()));
        Check.fails(IllegalArgumentException.class, () -> Vdf.modulo(BigInteger.ONE.shiftLeft(1 << 24)));
        Check.fails(NullPointerException.class, () -> Vdf.modulo(null));
    }

    private static void stopping() throws Exception {
        long forever = 1L << 50;
        AtomicLong steps = new AtomicLong();
        Check.fails(CancellationException.class, () -> RSA.compute(new byte[1], forever, (done, total) -> {
            Check.equal(total, forever);
            if (steps.incrementAndGet() == 3) {
                throw new CancellationException("enough");
            }
        }));
        Check.equal(steps.get(), 3L);
        Check.fails(StackOverflowError.class,
                () -> RSA.prove(new byte[1], forever, VdfSystem.PIETRZAK, (done, total) -> {
                    throw new StackOverflowError("in the listener");
                }));
        // Also of the last step, after which the result is there.
        Check.fails(CancellationException.class, () -> RSA.compute(new byte[1], 3000, (done, total) -> {
            if (done == total) {
                throw new CancellationException("late");
            }
        }));
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            AtomicLong interrupted = new AtomicLong();
            Future<?> task = pool.submit(() -> {
                try {
                    return RSA.compute(new byte[1], forever, (done, total) -> steps.incrementAndGet());
                } catch (InterruptedException stopped) {
                    interrupted.incrementAndGet();
                    throw stopped;
                }
            });
            while (steps.get() < 5) {
                Thread.sleep(5);
            }
            task.cancel(true);
            pool.shutdown();
            Check.that(pool.awaitTermination(20, TimeUnit.SECONDS), "an interrupt stops the work");
            Check.equal(interrupted.get(), 1L);
        } finally {
            pool.shutdownNow();
        }
    }
}
