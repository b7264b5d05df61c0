//! Products of the field in five limbs of 51 bits, by products of 128 bits. Constant time.

use super::MASK51;

fn m(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// The product.
///
/// # Correctness
/// Loose limbs in, tight limbs out. Loose limbs are below 2^54 and 19·2^54 < 2^59, so a column of five
/// products is below 5·2^113 < 2^116. See `reduce_wide`.
#[must_use]
pub fn mul(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
    let b19: [u64; 5] = core::array::from_fn(|i| b[i] * 19);
    reduce_wide([
        m(a[0], b[0]) + m(a[4], b19[1]) + m(a[3], b19[2]) + m(a[2], b19[3]) + m(a[1], b19[4]),
        m(a[1], b[0]) + m(a[0], b[1]) + m(a[4], b19[2]) + m(a[3], b19[3]) + m(a[2], b19[4]),
        m(a[2], b[0]) + m(a[1], b[1]) + m(a[0], b[2]) + m(a[4], b19[3]) + m(a[3], b19[4]),
        m(a[3], b[0]) + m(a[2], b[1]) + m(a[1], b[2]) + m(a[0], b[3]) + m(a[4], b19[4]),
        m(a[4], b[0]) + m(a[3], b[1]) + m(a[2], b[2]) + m(a[1], b[3]) + m(a[0], b[4]),
    ])
}

/// The square.
///
/// # Correctness
/// As [`mul`], of which it is the sum of equal products.
#[must_use]
pub fn square(a: &[u64; 5]) -> [u64; 5] {
    let d: [u64; 4] = core::array::from_fn(|i| a[i] * 2);
    let (a3_19, a4_19) = (a[3] * 19, a[4] * 19);
    reduce_wide([
        m(a[0], a[0]) + m(d[1], a4_19) + m(d[2], a3_19),
        m(d[0], a[1]) + m(d[2], a4_19) + m(a[3], a3_19),
        m(d[0], a[2]) + m(a[1], a[1]) + m(d[3], a4_19),
        m(d[0], a[3]) + m(d[1], a[2]) + m(a[4], a4_19),
        m(d[0], a[4]) + m(d[1], a[3]) + m(a[2], a[2]),
    ])
}

/// Reduces five columns of products.
///
/// # Correctness
/// Columns below 2^116 give carries below 2^65 + a little, so the running sums stay below 2^117;
/// the top column holds no factor 19 and is below 5·2^108 + 2^66, so its carry is below 2^60 and
/// 19 times it, with a 51-bit limb, below 2^65: that last step is done in 128 bits.
fn reduce_wide(mut c: [u128; 5]) -> [u64; 5] {
    let mask = u128::from(MASK51);
    let mut r = [0u64; 5];
    for i in 0..4 {
        debug_assert!(c[i] < 1 << 117);
        c[i + 1] += c[i] >> 51;
        r[i] = (c[i] & mask) as u64;
    }
    r[4] = (c[4] & mask) as u64;
    let low = u128::from(r[0]) + 19 * (c[4] >> 51);
    r[0] = (low & mask) as u64;
    r[1] += (low >> 51) as u64;
    r
}
