package org.tetralith;

/** A column of bytes in native memory that grows. The owner guards it from other threads. */
final class Column {
    private Abi.Block block;
    private long length;

    Column(long capacity) {
        block = Abi.get().allocate(Math.max(capacity, 64));
    }

    long length() {
        return length;
    }

    Abi.Block block() {
        return block;
    }

    void add(byte[] bytes) {
        reserve(bytes.length);
        block.write(length, bytes, 0, bytes.length);
        length += bytes.length;
    }

    void addLong(long value) {
        reserve(8);
        block.writeLong(length, value);
        length += 8;
    }

    /** Forgets what was added, and keeps the memory. */
    void clear() {
        length = 0;
    }

    void free() {
        block.free();
    }

    private void reserve(long more) {
        long needed = Math.addExact(length, more);
        if (needed <= block.size()) {
            return;
        }
        Abi.Block larger = Abi.get().allocate(Math.max(needed, 2 * block.size()));
        larger.copy(block, length);
        block.free();
        block = larger;
    }
}
