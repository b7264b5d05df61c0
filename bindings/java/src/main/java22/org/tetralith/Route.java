package org.tetralith;

import java.nio.file.Path;

/** Picks the Foreign Function and Memory API, unless the property asks for JNA. */
final class Route {
    private static final String PROPERTY = "tetralith.route";

    private Route() {}

    static Abi open(Path library) {
        String route = System.getProperty(PROPERTY, "ffm");
        return switch (route) {
            case "ffm" -> new FfmAbi(library);
            case "jna" -> new JnaAbi(library);
            default -> throw new UnsatisfiedLinkError(
                    "-D" + PROPERTY + "=" + route + " is not a route; expected ffm or jna");
        };
    }
}
