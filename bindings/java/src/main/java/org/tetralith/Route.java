package org.tetralith;

import java.nio.file.Path;

/** Picks the route to the native library. Java 22 and later has another copy of this class. */
final class Route {
    private Route() {}

    static Abi open(Path library) {
        return new JnaAbi(library);
    }
}
