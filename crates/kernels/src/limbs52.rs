//! Numbers of 256 bits as five limbs of 52, for the fields that IFMA multiplies in lanes.

/// Splits a big-endian number.
pub(crate) fn split(bytes: &[u8; 32]) -> [u64; 5] {
    let word = |i: usize| u64::from_be_bytes(core::array::from_fn(|j| bytes[24 - 8 * i + j]));
    let [a, b, c, d] = [word(0), word(1), word(2), word(3)];
    let mask = (1 << 52) - 1;
    [
        a & mask,
        (a >> 52 | b << 12) & mask,
        (b >> 40 | c << 24) & mask,
        (c >> 28 | d << 36) & mask,
        d >> 16,
    ]
}

/// Joins limbs of a number below 2^256.
pub(crate) fn join(limbs: &[u64; 5]) -> [u8; 32] {
    let [a, b, c, d, e] = *limbs;
    let words = [d >> 36 | e << 16, c >> 24 | d << 28, b >> 12 | c << 40, a | b << 52];
    core::array::from_fn(|i| words[i / 8].to_be_bytes()[i % 8])
}
