//! Two double multiplications in step: s B - c Y and s H - c G, in each lane.
//!
//! The second takes 252 doublings for s below 2^253; the first takes 128 for c, because multiples of
//! B and of 2^124 B are tables. Signed digits of four bits for Y, G and H, of eight for B. The
//! doublings of both sums are interleaved; they do not wait for each other.
//!
//! Points may have torsion parts, for which it matters what integer -c is ([`MinusC`]). L - c is
//! 2^252 - (c - l) with l = L - 2^252 of 125 bits, so that it costs no more additions; both sums
//! start from the point itself, 252 doublings before the end.
//!
//! Digits are taken from s + 0x88..88 (0x80..80 for B), each nibble of which is a digit plus 8 (each
//! byte one plus 128): no carries run. c + 0x88..88 overflows 128 bits by one bit at most, which is a
//! digit of its own.

use super::table::{Digits, FixedMultiples, Multiples};
use super::{Augend, Completed, Points};
use crate::edwards25519::base;
use crate::field25519x8::words;
use crate::lanes8::Lanes8;
use core::arch::x86_64::*;
use std::sync::LazyLock;

/// The integer that -c is, for points with a torsion part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinusC {
    /// The integer -c.
    Integer,
    /// L - c, or 0 for c = 0.
    ModOrder,
}

/// The input of one group: in each lane two scalars and three points.
#[derive(Clone, Copy, Debug)]
pub struct DoubleMul<'a> {
    /// s, below 2^253, little-endian.
    pub s: &'a [[u8; 32]; 8],
    /// c, below 2^128, little-endian.
    pub c: &'a [[u8; 16]; 8],
    /// Y.
    pub y: &'a Points,
    /// H.
    pub h: &'a Points,
    /// G.
    pub g: &'a Points,
}

/// Computes s B - c Y and s H - c G for each lane of each group, B being the base point.
///
/// # Panics
/// An s is not below 2^253.
///
/// # Security
/// Variable time in the caches alone; public data only.
#[must_use]
pub fn double_mul_all_vartime(
    _: Lanes8,
    groups: &[DoubleMul<'_>],
    minus_c: MinusC,
) -> Vec<[Points; 2]> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { double_mul_all(groups, minus_c) }
}

/// Multiples of B for the lower bytes of s, and of 2^124 B for the upper ones: those are added at odd
/// powers of 16, where 16^(2j+1) 2^124 = 256^j 2^128.
static BASE: LazyLock<[FixedMultiples; 2]> = LazyLock::new(|| {
    let (mut one, mut high) = ([0; 32], [0; 32]);
    (one[0], high[15]) = (1, 0x10);
    [one, high].map(|scalar| FixedMultiples::new(&base().mul(&scalar)))
});

/// L - 2^252.
const L_LOW: u128 = 27742317777372353535851937790883648493;

/// The digits of a group's scalars.
struct Scalars {
    s: [__m512i; 4],
    s_bytes: [__m512i; 4],
    c: [__m512i; 2],
    /// The 33rd digits of c: 0 or 1.
    c_top: Digits,
    /// Lanes that start from the point itself.
    from_point: u8,
}

impl Scalars {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(group: &DoubleMul<'_>, minus_c: MinusC) -> Scalars {
        let (mut s, mut s_bytes, mut c) = ([[0; 32]; 8], [[0; 32]; 8], [[0; 32]; 8]);
        let mut c_top = [0; 8];
        let mut from_point = 0;
        for lane in 0..8 {
            assert!(group.s[lane][31] < 0x20, "s is below 2^253");
            s[lane] = add_repeated(&group.s[lane], 0x8888_8888_8888_8888);
            s_bytes[lane] = add_repeated(&group.s[lane], 0x8080_8080_8080_8080);
            let value = u128::from_le_bytes(group.c[lane]);
            let shifted = minus_c == MinusC::ModOrder && value != 0;
            from_point |= u8::from(shifted) << lane;
            // value - l may be negative; with the excess added it is not, nor 2^129 or more.
            let excess = 0x8888_8888_8888_8888_8888_8888_8888_8888u128;
            let excess = if shifted { excess - L_LOW } else { excess };
            let (low, overflow) = value.overflowing_add(excess);
            c[lane][..16].copy_from_slice(&low.to_le_bytes());
            c_top[lane] = u64::from(overflow);
        }
        let [c0, c1, _, _] = words(&c);
        Scalars {
            s: words(&s),
            s_bytes: words(&s_bytes),
            c: [c0, c1],
            c_top: Digits { magnitudes: c_top, negative: 0xff },
            from_point,
        }
    }

    /// The digits of s at 16^i.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn s(&self, i: usize) -> Digits {
        Digits::from_excess(field(self.s[i / 16], 4 * (i % 16), 15), 8)
    }

    /// The digits of s at 256^i.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn s_byte(&self, i: usize) -> Digits {
        Digits::from_excess(field(self.s_bytes[i / 8], 8 * (i % 8), 255), 128)
    }

    /// The digits of the number that is to be subtracted, at 16^i.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn minus_c(&self, i: usize) -> Digits {
        Digits::from_excess(field(self.c[i / 16], 4 * (i % 16), 15), 8).neg()
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn field(word: __m512i, shift: usize, mask: i64) -> __m512i {
    let shifted = _mm512_srl_epi64(word, _mm_set_epi64x(0, shift as i64));
    _mm512_and_si512(shifted, _mm512_set1_epi64(mask))
}

/// Adds a word repeated four times; the sum is below 2^256.
pub(super) fn add_repeated(s: &[u8; 32], word: u64) -> [u8; 32] {
    let mut out = [0; 32];
    let mut carry = false;
    for (chunk, sum) in s.chunks_exact(8).zip(out.chunks_exact_mut(8)) {
        let limb = u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"));
        let (a, first) = limb.overflowing_add(word);
        let (b, second) = a.overflowing_add(u64::from(carry));
        carry = first | second;
        sum.copy_from_slice(&b.to_le_bytes());
    }
    out
}

/// Multiples of one group's Y, G and H.
#[derive(Default)]
struct Tables {
    y: Multiples,
    g: Multiples,
    h: Multiples,
}

/// s B - c Y and s H - c G so far. Results are written where they stay: copies of structures of this
/// size cost as much as an addition of points.
struct Sums {
    /// Before their last multiplications.
    completed: [Completed; 2],
    /// Fit for being doubled.
    points: [Points; 2],
    augends: [Augend; 2],
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn double_mul_all(groups: &[DoubleMul<'_>], minus_c: MinusC) -> Vec<[Points; 2]> {
    let mut tables = Tables::default();
    let mut sums = Sums::new();
    let mut out = Vec::with_capacity(groups.len());
    for group in groups {
        let scalars = Scalars::new(group, minus_c);
        tables.y.fill(group.y);
        tables.g.fill(group.g);
        tables.h.fill(group.h);
        sums.above_128(group, &scalars, &tables);
        for i in (0..32).rev() {
            sums.double_4_times(0);
            sums.add_at(i, &scalars, &tables);
        }
        out.push([sums.completed[0].extended(), sums.completed[1].extended()]);
    }
    out
}

impl Sums {
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn new() -> Sums {
        let neutral = Points::neutral();
        Sums {
            completed: [Completed::of(&neutral); 2],
            points: [neutral; 2],
            augends: [neutral.augend(); 2],
        }
    }

    /// Both sums from 2^252 down to 2^128.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn above_128(&mut self, group: &DoubleMul<'_>, scalars: &Scalars, tables: &Tables) {
        let neutral = Points::neutral();
        let start = |p: &Points| neutral.or_where(scalars.from_point, p);
        self.completed = [Completed::of(&start(group.y)), Completed::of(&start(group.g))];
        let first = usize::from(scalars.from_point == 0); // the first sum is neutral until 2^128
        for i in (32..64).rev() {
            if i < 63 {
                self.double_4_times(first);
            }
            let [_, v] = &mut self.completed;
            let [_, a] = &mut self.augends;
            if i == 32 {
                v.set_augend(a);
                tables.g.add_to(a, &scalars.c_top, v);
            }
            v.set_augend(a);
            tables.h.add_to(a, &scalars.s(i), v);
        }
        let [u, _] = &mut self.completed;
        let [a, _] = &mut self.augends;
        u.set_augend(a);
        tables.y.add_to(a, &scalars.c_top, u);
    }

    /// Adds what belongs to 16^i, for i below 32. What belongs to different sums stands side by side
    /// in the program, because it does not wait for each other.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn add_at(&mut self, i: usize, scalars: &Scalars, tables: &Tables) {
        let [even, odd] = &*BASE;
        let (c, s) = (scalars.minus_c(i), scalars.s(i));
        let [u, v] = &mut self.completed;
        let [a, b] = &mut self.augends;
        u.set_augend(a);
        v.set_augend(b);
        tables.y.add_to(a, &c, u);
        tables.g.add_to(b, &c, v);
        u.set_augend(a);
        v.set_augend(b);
        match i % 2 {
            0 => even.add_to(a, &scalars.s_byte(i / 2), u),
            _ => odd.add_to(a, &scalars.s_byte(16 + i / 2), u),
        }
        tables.h.add_to(b, &s, v);
    }

    /// Sums times 16, from the `first` on.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn double_4_times(&mut self, first: usize) {
        for _ in 0..4 {
            for k in first..2 {
                self.points[k].set_projective(&self.completed[k]);
            }
            for k in first..2 {
                self.points[k].double(&mut self.completed[k]);
            }
        }
    }
}
