package org.tetralith;

import com.sun.jna.Callback;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.file.Path;
import java.nio.charset.StandardCharsets;

/** The C interface through JNA's direct mapping. A {@code size_t} or a handle is a {@code long}. */
final class JnaAbi extends Abi {
    /** C's {@code tetralith_progress}. */
    interface Step extends Callback {
        int invoke(Pointer user, long done, long total);
    }

    /** The mapped functions, under their C names. */
    private static final class C {
        static native int tetralith_abi_version();

        static native String tetralith_version();

        static native long tetralith_last_error(byte[] buffer, long len);

        static native long tetralith_kernel(byte[] buffer, long len);

        static native int tetralith_vrf_sizes(int suite, long[] publicKey, long[] proof, long[] output);

        static native int tetralith_vrf_verify(
                int suite, byte[] publicKey, long publicKeyLen, byte[] alpha, long alphaLen, byte[] proof,
                long proofLen, byte[] output, long outputLen);

        static native int tetralith_vrf_public_key(
                int suite, Pointer secretKey, long secretKeyLen, byte[] publicKey, long publicKeyLen);

        static native int tetralith_vrf_prove(
                int suite, Pointer secretKey, long secretKeyLen, byte[] alpha, long alphaLen, byte[] proof,
                long proofLen);

        static native int tetralith_vrf_verify_many(
                int suite, long count, Pointer keys, Pointer alphas, long alphasLen, Pointer offsets, Pointer proofs,
                Pointer verdicts, Pointer outputs);

        static native int tetralith_xmss_public_key_new(int format, byte[] key, long len, long[] out);

        static native long tetralith_xmss_signature_size(long key);

        static native int tetralith_xmss_verify(
                long key, byte[] message, long messageLen, byte[] signature, long signatureLen);

        static native int tetralith_xmss_verify_many(
                long key, long count, Pointer messages, long messagesLen, Pointer offsets, Pointer signatures,
                Pointer verdicts);

        static native void tetralith_xmss_public_key_free(long key);

        static native int tetralith_vdf_new(byte[] modulus, long len, long[] out);

        static native long tetralith_vdf_width(long modulus);

        static native int tetralith_vdf_hash_to_element(
                long modulus, long iterations, byte[] seed, long seedLen, byte[] x, long xLen);

        static native int tetralith_vdf_compute(
                long modulus, byte[] x, long xLen, long iterations, Step progress, Pointer user, byte[] y, long yLen);

        static native int tetralith_vdf_prove(
                long modulus, byte[] x, long xLen, long iterations, int system, long threads, Step progress,
                Pointer user, byte[] y, long yLen, long[] proof, long[] proofLen);

        static native int tetralith_vdf_verify(
                long modulus, byte[] x, long xLen, long iterations, byte[] y, long yLen, byte[] proof,
                long proofLen);

        static native void tetralith_vdf_free(long modulus);

        static native void tetralith_bytes_free(long bytes, long len);
    }

    private static final byte[] NONE = new byte[0];

    JnaAbi(Path library) {
        if (Native.SIZE_T_SIZE != 8 || Native.POINTER_SIZE != 8) {
            throw new UnsatisfiedLinkError("a 64-bit Java is needed");
        }
        Native.register(C.class, com.sun.jna.NativeLibrary.getInstance(library.toString()));
    }

    @Override
    String route() {
        return "jna";
    }

    @Override
    int abiVersion() {
        return C.tetralith_abi_version();
    }

    @Override
    String version() {
        return C.tetralith_version();
    }

    @Override
    String lastError() {
        byte[] text = new byte[1024];
        long length = Math.min(C.tetralith_last_error(text, text.length), text.length - 1);
        return new String(text, 0, (int) length, StandardCharsets.UTF_8);
    }

    @Override
    String kernel() {
        byte[] text = new byte[64];
        long length = Math.min(C.tetralith_kernel(text, text.length), text.length - 1);
        return new String(text, 0, (int) length, StandardCharsets.UTF_8);
    }

    @Override
    Block allocate(long bytes) {
        return new JnaBlock(bytes);
    }

    @Override
    int vrfSizes(int suite, long[] sizes) {
        long[][] each = new long[3][1];
        int status = C.tetralith_vrf_sizes(suite, each[0], each[1], each[2]);
        for (int i = 0; i < 3; i++) {
            sizes[i] = each[i][0];
        }
        return status;
    }

    @Override
    int vrfVerify(int suite, byte[] publicKey, byte[] alpha, byte[] proof, byte[] output) {
        return C.tetralith_vrf_verify(
                suite, publicKey, publicKey.length, alpha, alpha.length, proof, proof.length, output, output.length);
    }

    @Override
    int vrfPublicKey(int suite, byte[] secretKey, byte[] publicKey) {
        try (Secret secret = new Secret(secretKey)) {
            return C.tetralith_vrf_public_key(suite, secret.pointer, secret.length, publicKey, publicKey.length);
        }
    }

    @Override
    int vrfProve(int suite, byte[] secretKey, byte[] alpha, byte[] proof) {
        try (Secret secret = new Secret(secretKey)) {
            return C.tetralith_vrf_prove(
                    suite, secret.pointer, secret.length, alpha, alpha.length, proof, proof.length);
        }
    }

    @Override
    int vrfVerifyMany(
            int suite, long count, Block keys, Block alphas, long alphasLen, Block offsets, Block proofs,
            Block verdicts, Block outputs) {
        return C.tetralith_vrf_verify_many(
                suite, count, at(keys), at(alphas), alphasLen, at(offsets), at(proofs), at(verdicts), at(outputs));
    }

    @Override
    int xmssPublicKey(int format, byte[] key, long[] handle) {
        return C.tetralith_xmss_public_key_new(format, key, key.length, handle);
    }

    @Override
    long xmssSignatureSize(long key) {
        return C.tetralith_xmss_signature_size(key);
    }

    @Override
    int xmssVerify(long key, byte[] message, byte[] signature) {
        return C.tetralith_xmss_verify(key, message, message.length, signature, signature.length);
    }

    @Override
    int xmssVerifyMany(
            long key, long count, Block messages, long messagesLen, Block offsets, Block signatures, Block verdicts) {
        return C.tetralith_xmss_verify_many(
                key, count, at(messages), messagesLen, at(offsets), at(signatures), at(verdicts));
    }

    @Override
    void xmssFree(long key) {
        C.tetralith_xmss_public_key_free(key);
    }

    @Override
    int vdfNew(byte[] modulus, long[] handle) {
        return C.tetralith_vdf_new(modulus, modulus.length, handle);
    }

    @Override
    long vdfWidth(long modulus) {
        return C.tetralith_vdf_width(modulus);
    }

    @Override
    int vdfHashToElement(long modulus, long iterations, byte[] seed, byte[] x) {
        return C.tetralith_vdf_hash_to_element(modulus, iterations, seed, seed.length, x, x.length);
    }

    @Override
    int vdfCompute(long modulus, byte[] x, long iterations, Watch watch, byte[] y) {
        Step step = (user, done, total) -> watch.step(done, total);
        return C.tetralith_vdf_compute(modulus, x, x.length, iterations, step, null, y, y.length);
    }

    @Override
    int vdfProve(
            long modulus, byte[] x, long iterations, int system, long threads, Watch watch, byte[] y, byte[][] proof) {
        Step step = (user, done, total) -> watch.step(done, total);
        long[] made = new long[1];
        long[] length = new long[1];
        int status = C.tetralith_vdf_prove(
                modulus, x, x.length, iterations, system, threads, step, null, y, y.length, made, length);
        if (made[0] != 0) {
            proof[0] = new Pointer(made[0]).getByteArray(0, Math.toIntExact(length[0]));
            C.tetralith_bytes_free(made[0], length[0]);
        }
        return status;
    }

    @Override
    int vdfVerify(long modulus, byte[] x, long iterations, byte[] y, byte[] proof) {
        byte[] wanted = y == null ? NONE : y;
        return C.tetralith_vdf_verify(
                modulus, x, x.length, iterations, wanted, wanted.length, proof, proof.length);
    }

    @Override
    void vdfFree(long modulus) {
        C.tetralith_vdf_free(modulus);
    }

    private static Pointer at(Block block) {
        return ((JnaBlock) block).pointer;
    }

    private static Pointer malloc(long bytes) {
        long address = Native.malloc(Math.max(bytes, 8));
        if (address == 0) {
            throw new OutOfMemoryError("cannot allocate " + bytes + " bytes of native memory");
        }
        return new Pointer(address);
    }

    /** A secret in native memory that is wiped: JNA would copy an array and leave the copy behind. */
    private static final class Secret implements AutoCloseable {
        final Pointer pointer;
        final long length;

        Secret(byte[] secret) {
            length = secret.length;
            pointer = malloc(length);
            pointer.write(0, secret, 0, secret.length);
        }

        @Override
        public void close() {
            pointer.clear(length);
            Native.free(Pointer.nativeValue(pointer));
        }
    }

    private static final class JnaBlock extends Block {
        private final Pointer pointer;
        private final long size;

        JnaBlock(long size) {
            this.size = size;
            pointer = malloc(size);
            pointer.clear(Math.max(size, 8));
        }

        @Override
        long size() {
            return size;
        }

        @Override
        void write(long at, byte[] from, int start, int length) {
            check(at, length);
            pointer.write(at, from, start, length);
        }

        @Override
        void read(long at, byte[] to, int start, int length) {
            check(at, length);
            pointer.read(at, to, start, length);
        }

        @Override
        void writeLong(long at, long value) {
            check(at, 8);
            pointer.setLong(at, value);
        }

        @Override
        void copy(Block from, long length) {
            check(0, length);
            ((JnaBlock) from).check(0, length);
            byte[] stretch = new byte[1 << 16];
            for (long at = 0; at < length; at += stretch.length) {
                int now = (int) Math.min(stretch.length, length - at);
                from.read(at, stretch, 0, now);
                write(at, stretch, 0, now);
            }
        }

        @Override
        void free() {
            Native.free(Pointer.nativeValue(pointer));
        }

        private void check(long at, long length) {
            if (at < 0 || length < 0 || at > size - length) {
                throw new IndexOutOfBoundsException(length + " bytes at " + at + " of " + size);
            }
        }
    }
}
