//! Products of the field in ten limbs of 25.5 bits, for CPUs and virtual machines whose widest
//! product has 64 bits: WebAssembly has no other, and makes four of it for each product of 128 bits.
//!
//! ```text
//! limb 51·k of radix 2^51  =  low 26 bits  +  2^26 · the rest:  limbs 2k and 2k + 1
//! product: ten columns; odd limb times odd limb counts twice; what is past 2^255 counts 19 times
//! carry twice side by side, the top into the bottom, and join the halves
//! ```
//!
//! 1. Elements stay in radix 2^51 between operations, so that all other code is the same on every
//!    machine. Splitting and joining takes 25 operations of a product's 300.
//! 2. Nothing is signed: subtraction is the caller's, in radix 2^51.
//!
//! Limbs that are loose (below 2^54, see the parent module) split into 26 bits and 28. Constant time.

const MASK26: u64 = (1 << 26) - 1;
const MASK25: u64 = (1 << 25) - 1;

/// Even limbs below 2^26, odd limbs below 2^28.
fn split(a: &[u64; 5]) -> [u64; 10] {
    debug_assert!(a.iter().all(|&limb| limb < 1 << 54));
    core::array::from_fn(|i| if i.is_multiple_of(2) { a[i / 2] & MASK26 } else { a[i / 2] >> 26 })
}

/// The product.
///
/// # Correctness
/// Loose limbs in, tight limbs out. The largest column is the lowest: five products of odd limbs,
/// 38·2^56 each, four of even ones, 19·2^52 each, and 2^52: less than 2^64. All products of an even and
/// an odd limb are below 19·2^54 and ten of them below 2^62.
#[must_use]
#[rustfmt::skip] // a line or two for each column
pub fn mul(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
    let (a, b) = (split(a), split(b));
    let a2: [u64; 5] = core::array::from_fn(|i| 2 * a[2 * i + 1]);
    let b19: [u64; 10] = core::array::from_fn(|i| 19 * b[i]);
    carry([
        a[0] * b[0] + a2[0] * b19[9] + a[2] * b19[8] + a2[1] * b19[7] + a[4] * b19[6]
            + a2[2] * b19[5] + a[6] * b19[4] + a2[3] * b19[3] + a[8] * b19[2] + a2[4] * b19[1],
        a[0] * b[1] + a[1] * b[0] + a[2] * b19[9] + a[3] * b19[8] + a[4] * b19[7]
            + a[5] * b19[6] + a[6] * b19[5] + a[7] * b19[4] + a[8] * b19[3] + a[9] * b19[2],
        a[0] * b[2] + a2[0] * b[1] + a[2] * b[0] + a2[1] * b19[9] + a[4] * b19[8]
            + a2[2] * b19[7] + a[6] * b19[6] + a2[3] * b19[5] + a[8] * b19[4] + a2[4] * b19[3],
        a[0] * b[3] + a[1] * b[2] + a[2] * b[1] + a[3] * b[0] + a[4] * b19[9]
            + a[5] * b19[8] + a[6] * b19[7] + a[7] * b19[6] + a[8] * b19[5] + a[9] * b19[4],
        a[0] * b[4] + a2[0] * b[3] + a[2] * b[2] + a2[1] * b[1] + a[4] * b[0]
            + a2[2] * b19[9] + a[6] * b19[8] + a2[3] * b19[7] + a[8] * b19[6] + a2[4] * b19[5],
        a[0] * b[5] + a[1] * b[4] + a[2] * b[3] + a[3] * b[2] + a[4] * b[1]
            + a[5] * b[0] + a[6] * b19[9] + a[7] * b19[8] + a[8] * b19[7] + a[9] * b19[6],
        a[0] * b[6] + a2[0] * b[5] + a[2] * b[4] + a2[1] * b[3] + a[4] * b[2]
            + a2[2] * b[1] + a[6] * b[0] + a2[3] * b19[9] + a[8] * b19[8] + a2[4] * b19[7],
        a[0] * b[7] + a[1] * b[6] + a[2] * b[5] + a[3] * b[4] + a[4] * b[3]
            + a[5] * b[2] + a[6] * b[1] + a[7] * b[0] + a[8] * b19[9] + a[9] * b19[8],
        a[0] * b[8] + a2[0] * b[7] + a[2] * b[6] + a2[1] * b[5] + a[4] * b[4]
            + a2[2] * b[3] + a[6] * b[2] + a2[3] * b[1] + a[8] * b[0] + a2[4] * b19[9],
        a[0] * b[9] + a[1] * b[8] + a[2] * b[7] + a[3] * b[6] + a[4] * b[5]
            + a[5] * b[4] + a[6] * b[3] + a[7] * b[2] + a[8] * b[1] + a[9] * b[0],
    ])
}

/// The square.
///
/// # Correctness
/// As [`mul`], of which it is the sum of equal products: `d` is twice a limb, `q` four times an odd one.
#[must_use]
#[rustfmt::skip] // a line or two for each column
pub fn square(a: &[u64; 5]) -> [u64; 5] {
    let a = split(a);
    let d: [u64; 10] = core::array::from_fn(|i| 2 * a[i]);
    let q: [u64; 5] = core::array::from_fn(|i| 4 * a[2 * i + 1]);
    let a19: [u64; 5] = core::array::from_fn(|i| 19 * a[i + 5]);
    carry([
        a[0] * a[0] + q[0] * a19[4] + d[2] * a19[3] + q[1] * a19[2] + d[4] * a19[1]
            + d[5] * a19[0],
        d[0] * a[1] + d[2] * a19[4] + d[3] * a19[3] + d[4] * a19[2] + d[5] * a19[1],
        d[0] * a[2] + d[1] * a[1] + q[1] * a19[4] + d[4] * a19[3] + q[2] * a19[2] + a[6] * a19[1],
        d[0] * a[3] + d[1] * a[2] + d[4] * a19[4] + d[5] * a19[3] + d[6] * a19[2],
        d[0] * a[4] + q[0] * a[3] + a[2] * a[2] + q[2] * a19[4] + d[6] * a19[3] + d[7] * a19[2],
        d[0] * a[5] + d[1] * a[4] + d[2] * a[3] + d[6] * a19[4] + d[7] * a19[3],
        d[0] * a[6] + q[0] * a[5] + d[2] * a[4] + d[3] * a[3] + q[3] * a19[4] + a[8] * a19[3],
        d[0] * a[7] + d[1] * a[6] + d[2] * a[5] + d[3] * a[4] + d[8] * a19[4],
        d[0] * a[8] + q[0] * a[7] + d[2] * a[6] + q[1] * a[5] + a[4] * a[4] + d[9] * a19[4],
        d[0] * a[9] + d[1] * a[8] + d[2] * a[7] + d[3] * a[6] + d[4] * a[5],
    ])
}

/// Carries the columns and joins the limbs.
///
/// # Correctness
/// Columns other than the lowest are below 2^63, so no sum with a carry, below 2^39, exceeds 64 bits. The
/// top column holds nothing that counts 19 times and is below 2^58, so 19 times its carry is below 2^38.
/// At the end limb 1 is below 2^25 + 2^12 and limb 5 below 2^25 + 2^12: joined, all are below 2^52.
fn carry(mut h: [u64; 10]) -> [u64; 5] {
    let mut move_up = |i: usize| {
        let (bits, mask) = if i.is_multiple_of(2) { (26, MASK26) } else { (25, MASK25) };
        let carry = h[i] >> bits;
        h[i] &= mask;
        match i {
            9 => h[0] += 19 * carry,
            _ => h[i + 1] += carry,
        }
    };
    for i in [0, 4, 1, 5, 2, 6, 3, 7, 4, 8, 9, 0] {
        move_up(i);
    }
    core::array::from_fn(|i| h[2 * i] + (h[2 * i + 1] << 26))
}
