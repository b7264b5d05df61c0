//! Scalars of secp256k1 as two short ones.
//!
//! The curve has an endomorphism that costs one multiplication: (x, y) ↦ (β x, y) is the multiplication by
//! λ, with λ^3 = 1 mod n and β^3 = 1 mod p. A scalar k is k1 + k2 λ with k1 and k2 of 128 bits and a
//! sign, so that k P takes half of the doublings. (a1, b1) and (a2, b2) are short vectors with
//! a + b λ = 0 mod n; k1 and k2 are what remains of (k, 0) after its nearest combination of both.
//!
//! Everything is constant time in the scalar.
//!
//! Gallant, Lambert and Vanstone, "Faster Point Multiplication on Elliptic Curves with Efficient
//! Endomorphisms" (CRYPTO 2001)

use zeroize::{Zeroize, ZeroizeOnDrop};

/// β, big-endian.
pub(super) const BETA: [u8; 32] = [
    0x7a, 0xe9, 0x6a, 0x2b, 0x65, 0x7c, 0x07, 0x10, 0x6e, 0x64, 0x47, 0x9e, 0xac, 0x34, 0x34, 0xe9,
    0x9c, 0xf0, 0x49, 0x75, 0x12, 0xf5, 0x89, 0x95, 0xc1, 0x39, 0x6c, 0x28, 0x71, 0x95, 0x01, 0xee,
];

/// round(2^384 b2 / n) and round(2^384 (−b1) / n): what finds the nearest combination.
const G1: [u64; 4] =
    [0xe893_209a_45db_b031, 0x3daa_8a14_71e8_ca7f, 0xe86c_90e4_9284_eb15, 0x3086_d221_a7d4_6bcd];
const G2: [u64; 4] =
    [0x1571_b4ae_8ac4_7f71, 0x2212_08ac_9df5_06c6, 0x6f54_7fa9_0abf_e4c4, 0xe443_7ed6_010e_8828];
/// a1, which is also b2.
const A1: [u64; 3] = [0xe86c_90e4_9284_eb15, 0x3086_d221_a7d4_6bcd, 0];
const A2: [u64; 3] = [0x57c1_108d_9d44_cfd8, 0x14ca_50f7_a8e2_f3f6, 1];
/// −b1.
const MINUS_B1: [u64; 3] = [0x6f54_7fa9_0abf_e4c3, 0xe443_7ed6_010e_8828, 0];

/// Places of a short scalar in radix 16.
pub(super) const PLACES: usize = 33;

/// k1 and k2 in signed digits of radix 16, from −8 to 8, least significant first.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Halves(pub(super) [[i8; PLACES]; 2]);

impl Halves {
    /// Splits a scalar, big-endian.
    ///
    /// # Correctness
    /// |k1| ≤ (|a1| + |a2|) / 2 + |a1| + |a2| units of the roundings' errors, which are below 2^-126 each:
    /// below 2^128, and k2 likewise. So computing modulo 2^192 loses nothing.
    pub(super) fn new(scalar: &[u8; 32]) -> Halves {
        let word = |i: usize| u64::from_be_bytes(core::array::from_fn(|j| scalar[8 * (3 - i) + j]));
        let mut k = [word(0), word(1), word(2), word(3)];
        let (mut c1, mut c2) = (shifted_product(&k, &G1), shifted_product(&k, &G2));
        let mut k1 = [k[0], k[1], k[2]];
        sub(&mut k1, &product(&c1, &A1));
        sub(&mut k1, &product(&c2, &A2));
        let mut k2 = product(&c1, &MINUS_B1);
        sub(&mut k2, &product(&c2, &A1));
        let halves = Halves([digits(&k1), digits(&k2)]);
        for words in [&mut k[..], &mut c1, &mut c2, &mut k1, &mut k2] {
            words.zeroize();
        }
        halves
    }
}

/// k g / 2^384, rounded.
fn shifted_product(k: &[u64; 4], g: &[u64; 4]) -> [u64; 3] {
    let mut wide = [0u64; 8];
    for i in 0..4 {
        let mut carry = 0;
        for j in 0..4 {
            let t = u128::from(k[i]) * u128::from(g[j]) + u128::from(wide[i + j]) + carry;
            wide[i + j] = t as u64;
            carry = t >> 64;
        }
        wide[i + 4] = carry as u64;
    }
    let round = u128::from(wide[7]) << 64 | u128::from(wide[6]);
    let round = round.wrapping_add(u128::from(wide[5] >> 63));
    wide.zeroize();
    [round as u64, (round >> 64) as u64, 0]
}

/// a b mod 2^192.
fn product(a: &[u64; 3], b: &[u64; 3]) -> [u64; 3] {
    let mut r = [0u64; 3];
    for i in 0..3 {
        let mut carry = 0;
        for j in 0..3 - i {
            let t = u128::from(a[i]) * u128::from(b[j]) + u128::from(r[i + j]) + carry;
            r[i + j] = t as u64;
            carry = t >> 64;
        }
    }
    r
}

/// a −= b mod 2^192.
fn sub(a: &mut [u64; 3], b: &[u64; 3]) {
    let mut borrow = 0u64;
    for (a, b) in a.iter_mut().zip(b) {
        let t = u128::from(*a).wrapping_sub(u128::from(*b)).wrapping_sub(u128::from(borrow));
        *a = t as u64;
        borrow = (t >> 64) as u64 & 1;
    }
}

/// The digits of a number of 128 bits and a sign.
fn digits(k: &[u64; 3]) -> [i8; PLACES] {
    let negative = (k[2] >> 63).wrapping_neg();
    let mask = u128::from(negative) << 64 | u128::from(negative);
    let number = u128::from(k[1]) << 64 | u128::from(k[0]);
    let magnitude = (number ^ mask).wrapping_sub(mask);
    let mut digits = [0i8; PLACES];
    let mut carry = 0;
    for (i, digit) in digits.iter_mut().enumerate() {
        let nibble = if i < 32 { (magnitude >> (4 * i)) as i8 & 15 } else { 0 };
        // At most 16, so the next carry is 0 or 1.
        let sum = nibble.wrapping_add(carry);
        carry = sum.wrapping_add(8) >> 4;
        let signed = sum.wrapping_sub(carry << 4);
        *digit = (signed ^ negative as i8).wrapping_sub(negative as i8);
    }
    digits
}

/// Digits of a scalar of 256 bits, big-endian, in radix 16, from −8 to 8, least significant first.
pub(super) fn radix_16(scalar: &[u8; 32]) -> [i8; super::ROWS] {
    let mut digits = [0i8; super::ROWS];
    for (i, byte) in scalar.iter().rev().enumerate() {
        digits[2 * i] = (byte & 15) as i8;
        digits[2 * i + 1] = (byte >> 4) as i8;
    }
    for i in 0..super::ROWS - 1 {
        // A digit with its carry is at most 16, so the next carry is 0 or 1. Wrapping: where a build checks
        // for overflow, the check would branch on the digit.
        let carry = digits[i].wrapping_add(8) >> 4;
        digits[i] = digits[i].wrapping_sub(carry << 4);
        digits[i + 1] = digits[i + 1].wrapping_add(carry);
    }
    digits
}
