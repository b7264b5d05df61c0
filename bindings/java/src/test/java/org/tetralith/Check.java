package org.tetralith;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks, and the vectors that all languages share. */
final class Check {
    private static final Path VECTORS = Path.of(System.getProperty("vectors"));
    private static final StringBuilder TRANSCRIPT = new StringBuilder();

    private Check() {}

    interface Work {
        void run() throws Exception;
    }

    static void that(boolean condition, Object... told) {
        if (!condition) {
            throw new AssertionError(List.of(told).toString());
        }
    }

    static void equal(Object found, Object expected) {
        that(expected.equals(found), "found", String.valueOf(found), "expected", expected);
    }

    static void equal(byte[] found, byte[] expected) {
        equal(hex(found), hex(expected));
    }

    /** Runs what must fail with exactly that class, notes its text, and returns it. */
    static <T extends Throwable> T fails(Class<T> kind, Work work) {
        try {
            work.run();
        } catch (Throwable thrown) {
            if (thrown.getClass() != kind) {
                throw new AssertionError("expected " + kind, thrown);
            }
            note(thrown.toString());
            return kind.cast(thrown);
        }
        throw new AssertionError("expected " + kind);
    }

    /** As above, with a stable code. */
    static <T extends TetralithException> void fails(Class<T> kind, String code, Work work) {
        equal(fails(kind, work).code(), code);
    }

    /** Adds to the transcript, which both routes must leave the same. */
    static synchronized void note(String line) {
        TRANSCRIPT.append(line).append('\n');
    }

    static String transcript() throws Exception {
        byte[] all = TRANSCRIPT.toString().getBytes(StandardCharsets.UTF_8);
        return hex(MessageDigest.getInstance("SHA-256").digest(all));
    }

    static String text(String name) {
        try {
            return Files.readString(VECTORS.resolve(name));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    static List<String> names(String folder, String ending) {
        try (var files = Files.list(VECTORS.resolve(folder))) {
            List<String> names = files.map(file -> folder + "/" + file.getFileName())
                    .filter(name -> name.endsWith(ending)).sorted().toList();
            that(!names.isEmpty(), folder);
            return names;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** The lines {@code name: value} or {@code name = value} of a file; the first of a name counts. */
    static Map<String, String> fields(String text, String separator) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line : text.split("\n")) {
            int at = line.indexOf(separator);
            if (at > 0) {
                fields.putIfAbsent(line.substring(0, at), line.substring(at + separator.length()).trim());
            }
        }
        return fields;
    }

    /** The innermost objects of a JSON text, whose values are texts or numbers. */
    static List<Map<String, String>> objects(String json) {
        List<Map<String, String>> objects = new ArrayList<>();
        Matcher object = Pattern.compile("\\{[^{}]*\\}").matcher(json);
        while (object.find()) {
            Map<String, String> fields = new LinkedHashMap<>();
            Matcher field = Pattern.compile("\"(\\w[\\w-]*)\"\\s*:\\s*\"?([^\",}]*)\"?").matcher(object.group());
            while (field.find()) {
                fields.put(field.group(1), field.group(2).trim());
            }
            objects.add(fields);
        }
        return objects;
    }

    static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    static byte[] flip(byte[] bytes, int at) {
        byte[] other = bytes.clone();
        other[at] ^= 1;
        return other;
    }

    static byte[] cut(byte[] bytes, int length) {
        return java.util.Arrays.copyOf(bytes, length);
    }
}
