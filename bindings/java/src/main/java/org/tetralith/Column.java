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

    /** Writes at the end of what stays; what a failed row left there is overwritten. */
    void put(long at, byte[] bytes) {
        reserve(at, bytes.length);
        block.write(at, bytes, 0, bytes.length);
        length = at + bytes.length;
    }

    void putLong(long at, long value) {
        reserve(at, 8);
        block.writeLong(at, value);
        length = at + 8;
    }

    void free() {
        block.free();
    }

    private void reserve(long at, long more) {
        long needed = Math.addExact(at, more);
        if (needed <= block.size()) {
            return;
        }
        Abi.Block larger = Abi.get().allocate(Math.max(needed, 2 * block.size()));
        larger.copy(block, length);
        block.free();
        block = larger;
    }
}
