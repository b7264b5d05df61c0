//! The field of integers mod p = 2^255 - 19, portable and constant time.
//!
//! An element is five limbs of 51 bits, least significant first: x = x0 + 2^51 x1 + ... + 2^204 x4.
//! Limbs may exceed 51 bits; two bounds are used:
//!
//! - *tight*: every limb < 2^52. Every function returns tight elements.
//! - *loose*: every limb < 2^54. Every function takes loose elements.
//!
//! Products are made in one of two ways, [`wide`] or, on WebAssembly, [`narrow`], with the same limbs in
//! and out. This module is the oracle of the vector kernels and what runs where they cannot. Nothing here
//! branches on, or indexes by, the value of an element, so elements may be secret.

pub mod narrow;
pub mod wide;

#[cfg(target_family = "wasm")]
use narrow as fastest;
#[cfg(not(target_family = "wasm"))]
use wide as fastest;

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroize;

/// An element of the field, in five limbs of radix 2^51.
///
/// # Security
/// Constant time; not canonical, so compare through [`ConstantTimeEq`] and never limb by limb.
#[derive(Clone, Copy, Debug)]
pub struct Fe(pub(crate) [u64; 5]);

pub(crate) const MASK51: u64 = (1 << 51) - 1;

/// 16 p, limb by limb: larger than any loose limb, so that `a + 16 p - b` does not go below zero.
const P16: [u64; 5] = [
    16 * ((1 << 51) - 19),
    16 * ((1 << 51) - 1),
    16 * ((1 << 51) - 1),
    16 * ((1 << 51) - 1),
    16 * ((1 << 51) - 1),
];

impl Fe {
    /// Zero.
    pub const ZERO: Fe = Fe([0; 5]);
    /// One.
    pub const ONE: Fe = Fe([1, 0, 0, 0, 0]);
    /// The Edwards curve's d = -121665/121666. RFC 8032 §5.1.
    pub const D: Fe = Fe([
        929955233495203,
        466365720129213,
        1662059464998953,
        2033849074728123,
        1442794654840575,
    ]);
    /// 2 d.
    pub const D2: Fe = Fe([
        1859910466990425,
        932731440258426,
        1072319116312658,
        1815898335770999,
        633789495995903,
    ]);
    /// A square root of -1, the even one: 2^((p-1)/4).
    pub const SQRT_M1: Fe = Fe([
        1718705420411056,
        234908883556509,
        2233514472574048,
        2117202627021982,
        765476049583133,
    ]);
    /// The Montgomery curve's A = 486662. RFC 7748 §4.1.
    pub const A: Fe = Fe([486662, 0, 0, 0, 0]);

    /// Takes 255 bits, little-endian; the top bit is ignored, and values from p up are reduced.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Fe {
        let w: [u64; 4] = core::array::from_fn(|i| {
            u64::from_le_bytes(core::array::from_fn(|j| bytes[8 * i + j]))
        });
        Fe([
            w[0] & MASK51,
            (w[0] >> 51 | w[1] << 13) & MASK51,
            (w[1] >> 38 | w[2] << 26) & MASK51,
            (w[2] >> 25 | w[3] << 39) & MASK51,
            (w[3] >> 12) & MASK51,
        ])
    }

    /// Gives the canonical encoding: the value in 0..p, little-endian, top bit clear.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        let t = self.canonical();
        let w = [
            t[0] | t[1] << 51,
            t[1] >> 13 | t[2] << 38,
            t[2] >> 26 | t[3] << 25,
            t[3] >> 39 | t[4] << 12,
        ];
        core::array::from_fn(|i| w[i / 8].to_le_bytes()[i % 8])
    }

    /// The limbs of the value in 0..p, each below 2^51.
    ///
    /// # Correctness
    /// After two carries limbs are at most 2^51 + 18 and the value is below 2^255 + 2^205 < 2p, so at most one p is to be taken
    /// off; q is the carry out of x + 19, which is 1 exactly when x >= p.
    pub(crate) fn canonical(&self) -> [u64; 5] {
        let mut t = carry(carry(self.0));
        let mut q = (t[0] + 19) >> 51;
        for limb in &t[1..] {
            q = (limb + q) >> 51;
        }
        t[0] += 19 * q;
        for i in 0..4 {
            t[i + 1] += t[i] >> 51;
            t[i] &= MASK51;
        }
        t[4] &= MASK51;
        t
    }

    /// The sum.
    #[must_use]
    pub fn add(&self, b: &Fe) -> Fe {
        Fe(carry(core::array::from_fn(|i| self.0[i] + b.0[i])))
    }

    /// The difference.
    #[must_use]
    pub fn sub(&self, b: &Fe) -> Fe {
        Fe(carry(core::array::from_fn(|i| self.0[i] + (P16[i] - b.0[i]))))
    }

    /// The negative.
    #[must_use]
    pub fn neg(&self) -> Fe {
        Fe::ZERO.sub(self)
    }

    /// The product.
    #[must_use]
    pub fn mul(&self, other: &Fe) -> Fe {
        Fe(fastest::mul(&self.0, &other.0))
    }

    /// The square.
    #[must_use]
    pub fn square(&self) -> Fe {
        Fe(fastest::square(&self.0))
    }

    /// The 2^n-th power; `n` is public.
    #[must_use]
    pub fn square_times(&self, n: u32) -> Fe {
        let mut r = *self;
        for _ in 0..n {
            r = r.square();
        }
        r
    }

    /// (x^(2^250 - 1), x^11), from which both exponentiations below are finished.
    fn pow_2_250_1(&self) -> (Fe, Fe) {
        let x2 = self.square();
        let x9 = x2.square_times(2).mul(self);
        let x11 = x9.mul(&x2);
        let e5 = x11.square().mul(&x9); // 2^5 - 1
        let e10 = e5.square_times(5).mul(&e5);
        let e20 = e10.square_times(10).mul(&e10);
        let e40 = e20.square_times(20).mul(&e20);
        let e50 = e40.square_times(10).mul(&e10);
        let e100 = e50.square_times(50).mul(&e50);
        let e200 = e100.square_times(100).mul(&e100);
        (e200.square_times(50).mul(&e50), x11)
    }

    /// The inverse, x^(p-2); zero for zero.
    #[must_use]
    pub fn invert(&self) -> Fe {
        let (e250, x11) = self.pow_2_250_1();
        e250.square_times(5).mul(&x11)
    }

    /// x^((p-5)/8) = x^(2^252 - 3).
    #[must_use]
    pub fn pow_p58(&self) -> Fe {
        self.pow_2_250_1().0.square_times(2).mul(self)
    }

    /// A root of u/v where there is one: `(true, sqrt(u/v))`, the even root; else
    /// `(false, sqrt(i·u/v))` with i the square root of -1. For u = 0 the answer is `(true, 0)`,
    /// for v = 0 and u != 0 `(false, 0)`.
    ///
    /// RFC 8032 §5.1.3, step 3
    #[must_use]
    pub fn sqrt_ratio(u: &Fe, v: &Fe) -> (Choice, Fe) {
        Fe::root_from_power(u, v, &Fe::root_base(u, v).pow_p58())
    }

    /// u v^7, whose power is the costly part of a root of u/v.
    pub(crate) fn root_base(u: &Fe, v: &Fe) -> Fe {
        let v3 = v.square().mul(v);
        u.mul(&v3.square().mul(v))
    }

    /// As [`Fe::sqrt_ratio`], from (u v^7)^((p-5)/8).
    pub(crate) fn root_from_power(u: &Fe, v: &Fe, power: &Fe) -> (Choice, Fe) {
        let v3 = v.square().mul(v);
        let mut r = u.mul(&v3).mul(power);
        let check = v.mul(&r.square());
        let minus_u = u.neg();
        let correct = check.ct_eq(u);
        let flipped = check.ct_eq(&minus_u);
        let flipped_i = check.ct_eq(&minus_u.mul(&Fe::SQRT_M1));
        r.conditional_assign(&r.mul(&Fe::SQRT_M1), flipped | flipped_i);
        let odd = r.is_negative();
        r.conditional_negate(odd);
        (correct | flipped, r)
    }

    /// Says whether the canonical value is odd, which RFC 8032 calls negative.
    #[must_use]
    pub fn is_negative(&self) -> Choice {
        Choice::from((self.canonical()[0] & 1) as u8)
    }

    /// Says whether the value is zero.
    #[must_use]
    pub fn is_zero(&self) -> Choice {
        let t = self.canonical();
        (t[0] | t[1] | t[2] | t[3] | t[4]).ct_eq(&0)
    }

    /// Negates where `choice` is set.
    pub fn conditional_negate(&mut self, choice: Choice) {
        let negated = self.neg();
        self.conditional_assign(&negated, choice);
    }

    /// Inverts every element with one inversion; zeros stay zero.
    pub fn invert_all(elements: &mut [Fe]) {
        let mut prefix = Vec::with_capacity(elements.len());
        let mut product = Fe::ONE;
        for e in elements.iter() {
            prefix.push(product);
            product = Fe::conditional_select(&product.mul(e), &product, e.is_zero());
        }
        let mut inverse = product.invert();
        for (e, before) in elements.iter_mut().zip(prefix).rev() {
            let zero = e.is_zero();
            let result = inverse.mul(&before);
            inverse = Fe::conditional_select(&inverse.mul(e), &inverse, zero);
            *e = Fe::conditional_select(&result, &Fe::ZERO, zero);
        }
    }
}

/// Carries once, all limbs at a time; the carry out of the top returns as 19.
///
/// # Correctness
/// Limbs below 2^63 give carries below 2^12, so limbs come out below 2^51 + 19·2^12 < 2^52.
fn carry(t: [u64; 5]) -> [u64; 5] {
    debug_assert!(t.iter().all(|&limb| limb < 1 << 63));
    let c: [u64; 5] = core::array::from_fn(|i| t[i] >> 51);
    [
        (t[0] & MASK51) + 19 * c[4],
        (t[1] & MASK51) + c[0],
        (t[2] & MASK51) + c[1],
        (t[3] & MASK51) + c[2],
        (t[4] & MASK51) + c[3],
    ]
}

impl ConditionallySelectable for Fe {
    fn conditional_select(a: &Fe, b: &Fe, choice: Choice) -> Fe {
        Fe(core::array::from_fn(|i| u64::conditional_select(&a.0[i], &b.0[i], choice)))
    }
}

impl ConstantTimeEq for Fe {
    fn ct_eq(&self, other: &Fe) -> Choice {
        self.canonical().ct_eq(&other.canonical())
    }
}

impl Zeroize for Fe {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Small, large and non-canonical encodings, and a pseudo-random run.
    pub(crate) fn samples() -> Vec<[u8; 32]> {
        let mut all = vec![[0; 32], [0xff; 32]];
        for low in [1u8, 2, 18, 19, 0xec, 0xed, 0xee, 0xff] {
            let mut b = [0xff; 32];
            b[0] = low;
            b[31] = 0x7f;
            all.push(b);
            let mut b = [0; 32];
            b[0] = low;
            all.push(b);
        }
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..64 {
            all.push(core::array::from_fn(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 56) as u8
            }));
        }
        all
    }

    fn eq(a: &Fe, b: &Fe) -> bool {
        a.ct_eq(b).into()
    }

    #[test]
    fn field_laws_hold() {
        let all: Vec<Fe> = samples().iter().map(Fe::from_bytes).collect();
        for a in &all {
            assert!(eq(&a.square(), &a.mul(a)));
            assert!(eq(&a.sub(a), &Fe::ZERO));
            assert!(eq(&a.add(&a.neg()), &Fe::ZERO));
            assert!(eq(&Fe::from_bytes(&a.to_bytes()), a));
            if !bool::from(a.is_zero()) {
                assert!(eq(&a.mul(&a.invert()), &Fe::ONE));
            }
            for b in &all {
                assert!(eq(&a.mul(b), &b.mul(a)));
                assert!(eq(
                    &a.add(b).square(),
                    &a.square().add(&b.square()).add(&a.mul(b).add(&a.mul(b)))
                ));
                assert!(eq(&a.sub(b).mul(&a.add(b)), &a.square().sub(&b.square())));
            }
        }
    }

    #[test]
    fn constants_are_what_they_say() {
        let int = |n: u64| Fe([n, 0, 0, 0, 0]);
        assert!(eq(&Fe::D.mul(&int(121666)), &int(121665).neg()));
        assert!(eq(&Fe::D2, &Fe::D.add(&Fe::D)));
        assert!(eq(&Fe::SQRT_M1.square(), &Fe::ONE.neg()));
        assert!(!bool::from(Fe::SQRT_M1.is_negative()));
    }

    #[test]
    fn encodings_are_canonical() {
        let mut p = [0xff; 32];
        (p[0], p[31]) = (0xed, 0x7f);
        assert_eq!(Fe::from_bytes(&p).to_bytes(), [0; 32]);
        p[31] = 0xff;
        assert!(bool::from(Fe::from_bytes(&p).is_zero()));
    }

    #[test]
    fn square_roots_are_roots() {
        for bytes in samples() {
            let u = Fe::from_bytes(&bytes);
            let v = u.add(&Fe::A);
            let (square, root) = Fe::sqrt_ratio(&u, &v);
            assert!(!bool::from(root.is_negative()));
            let back = root.square().mul(&v);
            let expected = if square.into() { u } else { u.mul(&Fe::SQRT_M1) };
            assert!(eq(&back, &expected));
        }
        let (square, root) = Fe::sqrt_ratio(&Fe::ONE, &Fe::ZERO);
        assert!(!bool::from(square) && bool::from(root.is_zero()));
    }

    #[test]
    fn batch_inversion_keeps_zeros() {
        let mut all: Vec<Fe> = samples().iter().map(Fe::from_bytes).collect();
        let expected: Vec<Fe> = all.iter().map(Fe::invert).collect();
        Fe::invert_all(&mut all);
        assert!(all.iter().zip(&expected).all(|(a, b)| eq(a, b)));
    }
}
