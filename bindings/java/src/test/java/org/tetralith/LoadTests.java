package org.tetralith;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** Many threads on the same objects, and memory over many calls. */
final class LoadTests {
    private LoadTests() {}

    /** Each thread must get its own failure's text, and columns may be closed while others use them. */
    static void threads() throws Exception {
        ExecutorService pool = virtualThreads();
        VrfTests.Case proof = VrfTests.cases().get(20);
        XmssTests.Case signed = XmssTests.cases().get(1);
        List<Future<Void>> tasks = new ArrayList<>();
        try (VrfColumns columns = new VrfColumns(proof.suite())) {
            AtomicBoolean closed = new AtomicBoolean();
            for (int task = 0; task < 32; task++) {
                int number = task;
                tasks.add(pool.submit((Callable<Void>) () -> {
                    for (int round = 0; round < 40; round++) {
                        Vrf.verify(proof.suite(), proof.key(), proof.alpha(), proof.proof());
                        signed.key().verify(signed.message(), signed.signature());
                        MalformedException refused;
                        try {
                            signed.key().verify(signed.message(), new byte[number]);
                            throw new AssertionError("a short signature");
                        } catch (MalformedException expected) {
                            refused = expected;
                        }
                        Check.that(refused.getMessage().matches(".*\\b" + number + "\\b.*"), refused, number);
                        Thread.yield();
                        try {
                            columns.add(proof.key(), proof.alpha(), proof.proof());
                            if (round % 8 == 0) {
                                Check.that(Vrf.verifyMany(columns).allValid());
                            }
                        } catch (IllegalStateException late) {
                            Check.that(closed.get(), late);
                        }
                        if (number == 31 && round == 30) {
                            closed.set(true);
                            columns.close();
                        }
                    }
                    return null;
                }));
            }
            for (Future<Void> task : tasks) {
                task.get();
            }
        } finally {
            pool.shutdown();
        }
    }

    /** Virtual threads where this Java has them. */
    private static ExecutorService virtualThreads() throws Exception {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException older) {
            return Executors.newFixedThreadPool(16);
        }
    }

    /**
     * Calls of every kind, good and bad: the process must not grow over the second half of them.
     * The heap's size has to be fixed.
     */
    static void memory(int calls) throws Exception {
        VrfTests.Case proof = VrfTests.cases().get(20);
        XmssTests.Case signed = XmssTests.cases().get(1);
        byte[] pem = signed.key().getEncoded();
        long settled = 0;
        for (int call = 0; call < calls; call++) {
            if (call == calls / 2) {
                settled = resident();
            }
            switch (call % 8) {
                case 0 -> Vrf.verify(proof.suite(), proof.key(), proof.alpha(), proof.proof());
                case 1 -> refused(() -> Vrf.verify(proof.suite(), proof.key(), proof.alpha(), proof.key()));
                case 2 -> refused(() -> XmssPublicKey.fromDer(Check.cut(pem, 30)));
                case 3 -> XmssPublicKey.fromDer(pem);
                case 4 -> refused(() -> signed.key().verify(signed.message(), proof.proof()));
                case 5 -> Vdf.modulo(java.math.BigInteger.ONE.shiftLeft(127).subtract(java.math.BigInteger.ONE));
                case 6 -> {
                    try (VrfColumns columns = new VrfColumns(proof.suite(), 100)) {
                        columns.add(proof.key(), proof.alpha(), proof.proof());
                        if (call % 64 == 6) {
                            Check.that(Vrf.verifyMany(columns).allValid());
                        }
                    }
                }
                default -> refused(() -> Vdf.rsa2048().verify(proof.alpha(), 9, null, proof.proof()));
            }
        }
        long growth = resident() - settled;
        System.out.println("resident memory grew by " + growth + " bytes over " + calls / 2 + " calls");
        // Compiled code and malloc's slack. A lost kilobyte a call is 500 MB over 10^6 calls.
        long allowed = 16L << 20;
        Check.that(growth < allowed, "resident memory grew by", growth, "bytes over", calls, "calls");
    }

    private static void refused(Check.Work work) throws Exception {
        try {
            work.run();
            throw new AssertionError("expected a failure");
        } catch (TetralithException expected) {
            Check.that(expected.code().startsWith("input."), expected);
        }
    }

    /** Bytes of this process in memory, once the collector and the cleaner have run. */
    private static long resident() throws Exception {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(50);
        }
        String pages = Files.readString(Path.of("/proc/self/statm")).split(" ")[1];
        return Long.parseLong(pages) * 4096;
    }
}
