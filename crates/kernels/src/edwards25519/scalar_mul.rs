//! Scalar multiplication on edwards25519.
//!
//! - constant time, any point: signed radix 16, eight multiples looked up by scanning all;
//! - constant time, a fixed point: 32 tables of eight multiples of 256^i P, 64 additions and four
//!   doublings;
//! - variable time, a P + b Q: Straus with non-adjacent forms of width 5 for P and 8 for a fixed Q.
//!
//! Scalars are integers below 2^255, little-endian, used as they are.

use super::{Affine, Cached, Point};
use crate::ct;
use std::sync::LazyLock;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroize;

impl Point {
    /// The point times a scalar below 2^255.
    ///
    /// # Panics
    /// The scalar's top bit is set.
    ///
    /// # Security
    /// Constant time.
    #[must_use]
    pub fn mul(&self, scalar: &[u8; 32]) -> Point {
        let mut digits = radix_16(scalar);
        let mut table = [self.cached(); 8];
        for i in 1..8 {
            table[i] = self.add_cached(&table[i - 1]).cached();
        }
        let mut r = Point::IDENTITY.add_cached(&select(&table, digits[63]));
        for &digit in digits[..63].iter().rev() {
            r = r.double_times(4).add_cached(&select(&table, digit));
        }
        digits.zeroize();
        r
    }

    /// `a` times this point and `b` times a fixed point, added.
    ///
    /// # Panics
    /// A scalar's top bit is set.
    ///
    /// # Security
    /// Variable time: public data only.
    #[must_use]
    pub fn double_mul_fixed_vartime(
        &self,
        a: &[u8; 32],
        fixed: &FixedPoint,
        b: &[u8; 32],
    ) -> Point {
        let (a, b) = (non_adjacent_form(a, 5), non_adjacent_form(b, 8));
        let table = odd_multiples(self);
        straus(&[&a, &b], |p, which, index, negative| match (which, negative) {
            (0, false) => p.add_cached(&table[index]),
            (0, true) => p.add_cached(&table[index].neg()),
            (_, false) => p.add_affine(&fixed.odd[index]),
            (_, true) => p.add_affine(&fixed.odd[index].neg()),
        })
    }

    /// `a` times this point and `b` times another, added.
    ///
    /// # Panics
    /// A scalar's top bit is set.
    ///
    /// # Security
    /// Variable time: public data only.
    #[must_use]
    pub fn double_mul_vartime(&self, a: &[u8; 32], other: &Point, b: &[u8; 32]) -> Point {
        let (a, b) = (non_adjacent_form(a, 5), non_adjacent_form(b, 5));
        let tables = [odd_multiples(self), odd_multiples(other)];
        straus(&[&a, &b], |p, which, index, negative| {
            let q = &tables[which][index];
            if negative { p.add_cached(&q.neg()) } else { p.add_cached(q) }
        })
    }
}

/// A point with tables of its multiples.
#[derive(Debug)]
pub struct FixedPoint {
    point: Point,
    /// j·256^i·P at 8 i + j - 1, for i in 0..32 and j in 1..=8.
    comb: Vec<Affine>,
    /// P, 3P, ..., 127P.
    odd: Vec<Affine>,
}

impl FixedPoint {
    /// Computes the tables, which takes about the time of ten multiplications.
    #[must_use]
    pub fn new(point: &Point) -> FixedPoint {
        let mut comb = Vec::with_capacity(256);
        let mut p = *point;
        for _ in 0..32 {
            let cached = p.cached();
            let mut multiple = p;
            for _ in 0..8 {
                comb.push(multiple);
                multiple = multiple.add_cached(&cached);
            }
            p = p.double_times(8);
        }
        let twice = point.double().cached();
        let mut odd = vec![*point];
        for i in 1..64 {
            odd.push(odd[i - 1].add_cached(&twice));
        }
        FixedPoint {
            point: *point,
            comb: Affine::from_points(&comb),
            odd: Affine::from_points(&odd),
        }
    }

    /// The point itself.
    #[must_use]
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// The first table.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn comb(&self) -> &[Affine] {
        &self.comb
    }

    /// The point times a scalar below 2^255.
    ///
    /// # Panics
    /// The scalar's top bit is set.
    ///
    /// # Security
    /// Constant time.
    #[must_use]
    pub fn mul(&self, scalar: &[u8; 32]) -> Point {
        let mut digits = radix_16(scalar);
        let table = |i: usize| &self.comb[8 * i..8 * i + 8];
        let mut r = Point::IDENTITY;
        for i in 0..32 {
            r = r.add_affine(&select(table(i), digits[2 * i + 1]));
        }
        r = r.double_times(4);
        for i in 0..32 {
            r = r.add_affine(&select(table(i), digits[2 * i]));
        }
        digits.zeroize();
        r
    }
}

/// The base point B of RFC 8032 §5.1 with its tables, made at the first call.
#[must_use]
pub fn base() -> &'static FixedPoint {
    static BASE: LazyLock<FixedPoint> = LazyLock::new(|| {
        let mut bytes = [0x66; 32];
        bytes[0] = 0x58;
        let point = Point::decode(&bytes, super::NegativeZero::Refuse)
            .expect("the base point's encoding decodes");
        FixedPoint::new(&point)
    });
    &BASE
}

/// A table entry that can be negated.
trait Entry: ConditionallySelectable {
    const IDENTITY: Self;
    fn negated(&self) -> Self;
}

impl Entry for Cached {
    const IDENTITY: Cached = Cached::IDENTITY;
    fn negated(&self) -> Cached {
        self.neg()
    }
}

impl Entry for Affine {
    const IDENTITY: Affine = Affine::IDENTITY;
    fn negated(&self) -> Affine {
        self.neg()
    }
}

/// `digit` times the first entry, digit in -8..=8, reading every entry.
fn select<E: Entry>(table: &[E], digit: i8) -> E {
    let sign = (digit >> 7) as u8; // 0 or 0xff
    let magnitude = (digit as u8 ^ sign).wrapping_sub(sign);
    let mut r = E::IDENTITY;
    for (i, entry) in table.iter().enumerate() {
        r.conditional_assign(entry, magnitude.ct_eq(&(i as u8 + 1)));
    }
    let negated = r.negated();
    r.conditional_assign(&negated, Choice::from(sign & 1));
    r
}

/// Digits d_i in -8..8, the last in -8..=8, with scalar = sum of d_i 16^i.
pub(crate) fn radix_16(scalar: &[u8; 32]) -> [i8; 64] {
    // The top bit is zero in every scalar that is clamped or reduced, and tells nothing of it.
    assert!(ct::public(scalar[31] >> 7) == 0, "scalars are below 2^255");
    let mut digits = [0i8; 64];
    for i in 0..32 {
        digits[2 * i] = (scalar[i] & 15) as i8;
        digits[2 * i + 1] = (scalar[i] >> 4) as i8;
    }
    for i in 0..63 {
        let carry = (digits[i] + 8) >> 4;
        digits[i] -= carry << 4;
        digits[i + 1] += carry;
    }
    digits
}

/// P, 3P, ..., 15P.
fn odd_multiples(p: &Point) -> [Cached; 8] {
    let twice = p.double().cached();
    let mut multiple = *p;
    let mut table = [p.cached(); 8];
    for entry in &mut table[1..] {
        multiple = multiple.add_cached(&twice);
        *entry = multiple.cached();
    }
    table
}

/// The non-adjacent form of width `w`: odd digits below 2^(w-1) in magnitude, any two of them at
/// least w places apart.
pub(crate) fn non_adjacent_form(scalar: &[u8; 32], w: u32) -> [i8; 256] {
    assert!(scalar[31] < 0x80, "scalars are below 2^255");
    let words: [u64; 5] = core::array::from_fn(|i| {
        if i == 4 {
            return 0;
        }
        u64::from_le_bytes(core::array::from_fn(|j| scalar[8 * i + j]))
    });
    let mut naf = [0i8; 256];
    let (mut at, mut carry) = (0usize, 0u64);
    while at < 256 {
        let (word, bit) = (at / 64, at % 64);
        let high = if bit == 0 { 0 } else { words[word + 1] << (64 - bit) };
        let window = carry + ((words[word] >> bit | high) & ((1 << w) - 1));
        if window & 1 == 0 {
            at += 1;
            continue;
        }
        if window < 1 << (w - 1) {
            carry = 0;
            naf[at] = window as i8;
        } else {
            carry = 1;
            naf[at] = (window as i64 - (1 << w)) as i8;
        }
        at += w as usize;
    }
    naf
}

/// Horner's rule over several forms at once; `add` adds the index-th odd multiple of one of them.
fn straus(forms: &[&[i8; 256]], add: impl Fn(&Point, usize, usize, bool) -> Point) -> Point {
    let top = (0..256).rev().find(|&i| forms.iter().any(|form| form[i] != 0));
    let mut r = Point::IDENTITY;
    let mut pending = 0;
    for i in (0..=top.unwrap_or(0)).rev() {
        pending += 1;
        for (which, form) in forms.iter().enumerate() {
            let digit = form[i];
            if digit == 0 {
                continue;
            }
            if pending > 0 {
                r = r.double_times(pending);
                pending = 0;
            }
            r = add(&r, which, usize::from(digit.unsigned_abs() / 2), digit < 0);
        }
    }
    if pending > 0 { r.double_times(pending) } else { r }
}
