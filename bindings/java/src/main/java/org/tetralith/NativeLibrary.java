package org.tetralith;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Finds the native library: the one that a property names, or the jar's own for this platform. */
final class NativeLibrary {
    static final String PROPERTY = "tetralith.library";

    private NativeLibrary() {}

    static Path locate() {
        String named = System.getProperty(PROPERTY);
        if (named == null) {
            return unpack();
        }
        Path path = Path.of(named).toAbsolutePath();
        if (!Files.isRegularFile(path)) {
            throw new UnsatisfiedLinkError("-D" + PROPERTY + "=" + named + " names no file");
        }
        return path;
    }

    /** The platform as the jar's folders name it, such as {@code linux-x86_64}. */
    static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String cpu = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        String name = system.startsWith("mac") ? "macos" : system.startsWith("windows") ? "windows" : system;
        return name + "-" + (cpu.equals("amd64") ? "x86_64" : cpu.equals("arm64") ? "aarch64" : cpu);
    }

    private static Path unpack() {
        String name = System.mapLibraryName("tetralith");
        String resource = "native/" + platform() + "/" + name;
        try (InputStream library = NativeLibrary.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new UnsatisfiedLinkError(
                        "the jar has no native library for " + platform() + "; build libtetralith there and name it with -D"
                                + PROPERTY + "=FILE");
            }
            // The folder is private to this user from the start, so nobody can swap the file before it is loaded.
            Path folder = Files.createTempDirectory("tetralith-");
            Path file = folder.resolve(name);
            folder.toFile().deleteOnExit();
            file.toFile().deleteOnExit();
            Files.copy(library, file);
            return file;
        } catch (IOException failed) {
            UnsatisfiedLinkError error = new UnsatisfiedLinkError(
                    "cannot unpack the native library below " + System.getProperty("java.io.tmpdir")
                            + "; set -Djava.io.tmpdir to a writable folder, or name the library with -D" + PROPERTY);
            error.initCause(failed);
            throw error;
        }
    }
}
