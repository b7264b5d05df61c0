package org.tetralith;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The C interface through the Foreign Function and Memory API. A {@code size_t} is a {@code long}, and so
 * is a handle.
 *
 * <p>Short calls are linked as critical and get the callers' arrays without a copy. That holds the garbage
 * collector up, so long messages and all columns go through native memory instead.
 */
final class FfmAbi extends Abi {
    /** The longest message that is hashed while the collector waits: about 0.1 ms. */
    private static final int SHORT = 1 << 16;

    private static final FunctionDescriptor STEP = FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);

    private final Linker linker = Linker.nativeLinker();
    private final SymbolLookup library;

    private final MethodHandle abiVersion;
    private final MethodHandle version;
    private final MethodHandle lastError;
    private final MethodHandle kernel;
    private final MethodHandle vrfSizes;
    private final MethodHandle vrfVerify;
    private final MethodHandle vrfVerifyLong;
    private final MethodHandle vrfPublicKey;
    private final MethodHandle vrfProve;
    private final MethodHandle vrfProveLong;
    private final MethodHandle vrfVerifyMany;
    private final MethodHandle xmssPublicKey;
    private final MethodHandle xmssSignatureSize;
    private final MethodHandle xmssVerify;
    private final MethodHandle xmssVerifyLong;
    private final MethodHandle xmssVerifyMany;
    private final MethodHandle xmssFree;
    private final MethodHandle vdfNew;
    private final MethodHandle vdfWidth;
    private final MethodHandle vdfHashToElement;
    private final MethodHandle vdfCompute;
    private final MethodHandle vdfProve;
    private final MethodHandle vdfVerify;
    private final MethodHandle vdfFree;
    private final MethodHandle bytesFree;

    FfmAbi(Path path) {
        if (ADDRESS.byteSize() != 8) {
            throw new UnsatisfiedLinkError("a 64-bit Java is needed");
        }
        library = SymbolLookup.libraryLookup(path, Arena.global());
        Linker.Option heap = Linker.Option.critical(true);
        abiVersion = call("abi_version", JAVA_INT);
        version = call("version", ADDRESS);
        lastError = call("last_error", JAVA_LONG, heap, ADDRESS, JAVA_LONG);
        kernel = call("kernel", JAVA_LONG, heap, ADDRESS, JAVA_LONG);
        vrfSizes = call("vrf_sizes", JAVA_INT, heap, JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
        MemoryLayout[] verify = {
            JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG
        };
        vrfVerify = call("vrf_verify", JAVA_INT, heap, verify);
        vrfVerifyLong = call("vrf_verify", JAVA_INT, verify);
        vrfPublicKey = call("vrf_public_key", JAVA_INT, heap, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
        MemoryLayout[] prove = {JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG};
        vrfProve = call("vrf_prove", JAVA_INT, heap, prove);
        vrfProveLong = call("vrf_prove", JAVA_INT, prove);
        vrfVerifyMany = call(
                "vrf_verify_many", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS);
        xmssPublicKey = call("xmss_public_key_new", JAVA_INT, heap, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
        xmssSignatureSize = call("xmss_signature_size", JAVA_LONG, JAVA_LONG);
        MemoryLayout[] signature = {JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG};
        xmssVerify = call("xmss_verify", JAVA_INT, heap, signature);
        xmssVerifyLong = call("xmss_verify", JAVA_INT, signature);
        xmssVerifyMany = call(
                "xmss_verify_many", JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS);
        xmssFree = call("xmss_public_key_free", null, JAVA_LONG);
        vdfNew = call("vdf_new", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
        vdfWidth = call("vdf_width", JAVA_LONG, JAVA_LONG);
        vdfHashToElement = call(
                "vdf_hash_to_element", JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
        vdfCompute = call(
                "vdf_compute", JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG);
        vdfProve = call(
                "vdf_prove", JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS,
                ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);
        vdfVerify = call(
                "vdf_verify", JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS,
                JAVA_LONG);
        vdfFree = call("vdf_free", null, JAVA_LONG);
        bytesFree = call("bytes_free", null, ADDRESS, JAVA_LONG);
    }

    private MethodHandle call(String name, MemoryLayout result, MemoryLayout... arguments) {
        return link(name, result, arguments);
    }

    private MethodHandle call(
            String name, MemoryLayout result, Linker.Option option, MemoryLayout... arguments) {
        return link(name, result, arguments, option);
    }

    private MethodHandle link(
            String name, MemoryLayout result, MemoryLayout[] arguments, Linker.Option... options) {
        MemorySegment function = library.find("tetralith_" + name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the library has no tetralith_" + name));
        FunctionDescriptor shape = result == null
                ? FunctionDescriptor.ofVoid(arguments)
                : FunctionDescriptor.of(result, arguments);
        return linker.downcallHandle(function, shape, options);
    }

    @Override
    String route() {
        return "ffm";
    }

    @Override
    int abiVersion() {
        try {
            return (int) abiVersion.invokeExact();
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    String version() {
        try {
            MemorySegment text = (MemorySegment) version.invokeExact();
            return text.reinterpret(64).getString(0);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    String lastError() {
        byte[] text = new byte[1024];
        try {
            long length = (long) lastError.invokeExact(of(text), (long) text.length);
            return new String(text, 0, (int) Math.min(length, text.length - 1), StandardCharsets.UTF_8);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    String kernel() {
        byte[] text = new byte[64];
        try {
            long length = (long) kernel.invokeExact(of(text), (long) text.length);
            return new String(text, 0, (int) Math.min(length, text.length - 1), StandardCharsets.UTF_8);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    Block allocate(long bytes) {
        return new FfmBlock(bytes);
    }

    @Override
    int vrfSizes(int suite, long[] sizes) {
        MemorySegment all = MemorySegment.ofArray(sizes);
        try {
            return (int) vrfSizes.invokeExact(suite, all, all.asSlice(8), all.asSlice(16));
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vrfVerify(int suite, byte[] publicKey, byte[] alpha, byte[] proof, byte[] output) {
        if (alpha.length > SHORT) {
            return vrfVerifyLong(suite, publicKey, alpha, proof, output);
        }
        try {
            return (int) vrfVerify.invokeExact(
                    suite, of(publicKey), (long) publicKey.length, of(alpha), (long) alpha.length, of(proof),
                    (long) proof.length, of(output), (long) output.length);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    private int vrfVerifyLong(int suite, byte[] publicKey, byte[] alpha, byte[] proof, byte[] output) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(output.length);
            int status = (int) vrfVerifyLong.invokeExact(
                    suite, in(arena, publicKey), (long) publicKey.length, in(arena, alpha), (long) alpha.length,
                    in(arena, proof), (long) proof.length, made, (long) output.length);
            out(made, output);
            return status;
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vrfPublicKey(int suite, byte[] secretKey, byte[] publicKey) {
        try {
            return (int) vrfPublicKey.invokeExact(
                    suite, of(secretKey), (long) secretKey.length, of(publicKey), (long) publicKey.length);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vrfProve(int suite, byte[] secretKey, byte[] alpha, byte[] proof) {
        if (alpha.length > SHORT) {
            return vrfProveLong(suite, secretKey, alpha, proof);
        }
        try {
            return (int) vrfProve.invokeExact(
                    suite, of(secretKey), (long) secretKey.length, of(alpha), (long) alpha.length, of(proof),
                    (long) proof.length);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    private int vrfProveLong(int suite, byte[] secretKey, byte[] alpha, byte[] proof) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = in(arena, alpha);
            MemorySegment made = arena.allocate(proof.length);
            MemorySegment secret = in(arena, secretKey);
            try {
                int status = (int) vrfProveLong.invokeExact(
                        suite, secret, (long) secretKey.length, message, (long) alpha.length, made, (long) proof.length);
                out(made, proof);
                return status;
            } finally {
                secret.fill((byte) 0);
            }
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vrfVerifyMany(
            int suite, long count, Block keys, Block alphas, long alphasLen, Block offsets, Block proofs,
            Block verdicts, Block outputs) {
        try {
            return (int) vrfVerifyMany.invokeExact(
                    suite, count, at(keys), at(alphas), alphasLen, at(offsets), at(proofs), at(verdicts), at(outputs));
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int xmssPublicKey(int format, byte[] key, long[] handle) {
        try {
            return (int) xmssPublicKey.invokeExact(
                    format, of(key), (long) key.length, MemorySegment.ofArray(handle));
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    long xmssSignatureSize(long key) {
        try {
            return (long) xmssSignatureSize.invokeExact(key);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int xmssVerify(long key, byte[] message, byte[] signature) {
        try {
            if (message.length <= SHORT) {
                return (int) xmssVerify.invokeExact(
                        key, of(message), (long) message.length, of(signature), (long) signature.length);
            }
            try (Arena arena = Arena.ofConfined()) {
                return (int) xmssVerifyLong.invokeExact(
                        key, in(arena, message), (long) message.length, in(arena, signature), (long) signature.length);
            }
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int xmssVerifyMany(
            long key, long count, Block messages, long messagesLen, Block offsets, Block signatures, Block verdicts) {
        try {
            return (int) xmssVerifyMany.invokeExact(
                    key, count, at(messages), messagesLen, at(offsets), at(signatures), at(verdicts));
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    void xmssFree(long key) {
        try {
            xmssFree.invokeExact(key);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vdfNew(byte[] modulus, long[] handle) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(JAVA_LONG);
            int status = (int) vdfNew.invokeExact(in(arena, modulus), (long) modulus.length, made);
            handle[0] = made.get(JAVA_LONG, 0);
            return status;
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    long vdfWidth(long modulus) {
        try {
            return (long) vdfWidth.invokeExact(modulus);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vdfHashToElement(long modulus, long iterations, byte[] seed, byte[] x) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(x.length);
            int status = (int) vdfHashToElement.invokeExact(
                    modulus, iterations, in(arena, seed), (long) seed.length, made, (long) x.length);
            out(made, x);
            return status;
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vdfCompute(long modulus, byte[] x, long iterations, Watch watch, byte[] y) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(y.length);
            int status = (int) vdfCompute.invokeExact(
                    modulus, in(arena, x), (long) x.length, iterations, step(arena, watch), MemorySegment.NULL, made,
                    (long) y.length);
            out(made, y);
            return status;
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vdfProve(
            long modulus, byte[] x, long iterations, int system, long threads, Watch watch, byte[] y, byte[][] proof) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(y.length);
            MemorySegment place = arena.allocate(ADDRESS);
            MemorySegment length = arena.allocate(JAVA_LONG);
            int status = (int) vdfProve.invokeExact(
                    modulus, in(arena, x), (long) x.length, iterations, system, threads, step(arena, watch),
                    MemorySegment.NULL, made, (long) y.length, place, length);
            out(made, y);
            MemorySegment bytes = place.get(ADDRESS, 0);
            if (bytes.address() != 0) {
                proof[0] = bytes.reinterpret(length.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
                bytesFree.invokeExact(bytes, length.get(JAVA_LONG, 0));
            }
            return status;
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    int vdfVerify(long modulus, byte[] x, long iterations, byte[] y, byte[] proof) {
        byte[] wanted = y == null ? new byte[0] : y;
        try (Arena arena = Arena.ofConfined()) {
            return (int) vdfVerify.invokeExact(
                    modulus, in(arena, x), (long) x.length, iterations, in(arena, wanted), (long) wanted.length,
                    in(arena, proof), (long) proof.length);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    @Override
    void vdfFree(long modulus) {
        try {
            vdfFree.invokeExact(modulus);
        } catch (Throwable failed) {
            throw rethrow(failed);
        }
    }

    private static MemorySegment of(byte[] array) {
        return MemorySegment.ofArray(array);
    }

    private static MemorySegment at(Block block) {
        return ((FfmBlock) block).segment;
    }

    private static MemorySegment in(Arena arena, byte[] array) {
        return arena.allocateFrom(JAVA_BYTE, array);
    }

    private static void out(MemorySegment made, byte[] to) {
        MemorySegment.copy(made, JAVA_BYTE, 0, to, 0, to.length);
    }

    private static int stepped(Watch watch, MemorySegment user, long done, long total) {
        return watch.step(done, total);
    }

    private MemorySegment step(Arena arena, Watch watch) throws ReflectiveOperationException {
        MethodType type = MethodType.methodType(int.class, Watch.class, MemorySegment.class, long.class, long.class);
        MethodHandle step = MethodHandles.lookup().findStatic(FfmAbi.class, "stepped", type);
        return linker.upcallStub(MethodHandles.insertArguments(step, 0, watch), STEP, arena);
    }

    /** A call through a method handle declares Throwable, and throws none that is checked. */
    private static RuntimeException rethrow(Throwable failed) {
        if (failed instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (failed instanceof Error error) {
            throw error;
        }
        throw new IllegalStateException(failed);
    }

    private static final class FfmBlock extends Block {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment segment;

        FfmBlock(long size) {
            segment = arena.allocate(size, 8);
        }

        @Override
        long size() {
            return segment.byteSize();
        }

        @Override
        void write(long at, byte[] from, int start, int length) {
            MemorySegment.copy(from, start, segment, JAVA_BYTE, at, length);
        }

        @Override
        void read(long at, byte[] to, int start, int length) {
            MemorySegment.copy(segment, JAVA_BYTE, at, to, start, length);
        }

        @Override
        void writeLong(long at, long value) {
            segment.set(ValueLayout.JAVA_LONG, at, value);
        }

        @Override
        void copy(Block from, long length) {
            MemorySegment.copy(((FfmBlock) from).segment, 0, segment, 0, length);
        }

        @Override
        void free() {
            arena.close();
        }
    }
}
