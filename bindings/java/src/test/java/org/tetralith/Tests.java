package org.tetralith;

/** Runs all tests, and prints the route and a hash of everything that was answered: Tests ROUTE CALLS */
final class Tests {
    private Tests() {}

    public static void main(String[] arguments) throws Exception {
        Check.equal(Tetralith.route(), arguments[0]);
        Check.that(!Tetralith.version().isEmpty());
        Check.that(Tetralith.kernel().matches("[a-z0-9]+"), Tetralith.kernel());
        VrfTests.run();
        XmssTests.run();
        VdfTests.run();
        String transcript = Check.transcript();
        LoadTests.threads();
        LoadTests.memory(Integer.parseInt(arguments[1]));
        System.out.println("transcript " + transcript);
    }
}
