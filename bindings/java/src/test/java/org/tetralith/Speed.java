package org.tetralith;

import java.util.List;
import java.util.Locale;

/** Prints what an empty call, one VRF proof and one of many cost: the median of short runs, wall time. */
final class Speed {
    private static final int ROWS = 2048;
    private static final int RUNS = 31;

    private Speed() {}

    interface Work {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Abi abi = Abi.get();
        VrfSuite suite = VrfSuite.DRAFT03_CARDANO;
        String route = "Java " + Runtime.version().feature() + ", " + Tetralith.route();
        byte[] alpha = {1, 2, 3};
        XmssTests.Case signed = XmssTests.cases().get(1);
        try (VrfSecretKey key = VrfSecretKey.generate(suite);
                VrfColumns columns = new VrfColumns(suite, ROWS)) {
            byte[] publicKey = key.publicKey();
            byte[] proof = key.prove(alpha);
            for (int row = 0; row < ROWS; row++) {
                columns.add(publicKey, alpha, proof);
            }
            print(route, "an empty call", 1, abi::abiVersion);
            print(route, "VRF, one", 1, () -> Vrf.verify(suite, publicKey, alpha, proof));
            print(route, "VRF, each of " + ROWS, ROWS, () -> Vrf.verifyMany(columns));
            print(route, "XMSS-SHA2_10_256, one", 1, () -> signed.key().verify(signed.message(), signed.signature()));
        }
    }

    private static void print(String route, String name, int operations, Work work) throws Exception {
        // Long enough for the compiler to have done its part.
        long start = System.nanoTime();
        int calls = 0;
        while (System.nanoTime() - start < 1_000_000_000L) {
            work.run();
            calls++;
        }
        int each = Math.max(1, calls / 20);
        double[] times = new double[RUNS];
        for (int run = 0; run < RUNS; run++) {
            long before = System.nanoTime();
            for (int call = 0; call < each; call++) {
                work.run();
            }
            times[run] = (System.nanoTime() - before) / 1e3 / each / operations;
        }
        java.util.Arrays.sort(times);
        List<Object> line = List.of(route, name, times[RUNS / 2]);
        System.out.println(String.format(Locale.ROOT, "%-14s %-24s %8.3f µs", line.toArray()));
    }
}
