//! Two double multiplications in step: s B - c Y and s H - c G, in each lane.
//!
//! The second takes 252 doublings for s below 2^253; the first takes 128 for c, because multiples of
//! B and of 2^124 B are tables. Signed digits of four bits for Y, G and H, of eight for B. The
//! doublings of two sums are interleaved, which do not wait for each other: of the second sums of two
//! groups down to 2^128, and of both sums of one group from there on.
//!
//! Points may have torsion parts, for which it matters what integer -c is ([`MinusC`]). L - c is
//! 2^252 - (c - l) with l = L - 2^252 of 125 bits, so that it costs no more additions. The second sum
//! starts from G itself, 252 doublings before the end, which costs nothing. The first would take 124
//! doublings more; where Y has no torsion part, which `subgroup` finds out for half of their price,
//! L Y is the neutral element and is left out.
//!
//! Digits are taken from s + 0x88..88 (0x80..80 for B), each nibble of which is a digit plus 8 (each
//! byte one plus 128): no carries run. c + 0x88..88 overflows 128 bits by one bit at most, which is a
//! digit of its own.

use super::table::{Digits, FixedMultiples, Multiples};
use super::{Augend, Completed, Points, subgroup};
use crate::edwards25519::base;
use crate::edwards25519x8::{DoubleMul, MinusC};
use crate::field25519x8::words;
use crate::lanes8::Lanes8;
use core::arch::x86_64::*;
use std::sync::LazyLock;

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
    groups: &[DoubleMul<'_, Points>],
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

/// c of each lane, or what L - c has below 2^252, as digits.
struct Challenges {
    words: [__m512i; 2],
    /// The 33rd digits: 0 or 1.
    top: Digits,
    /// Lanes with L - c.
    from_point: u8,
}

impl Challenges {
    /// Takes L - c for -c in the lanes of `mod_order`, unless c is 0.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(challenges: &[[u8; 16]; 8], mod_order: u8) -> Challenges {
        let (mut c, mut top, mut from_point) = ([[0; 32]; 8], [0; 8], 0);
        for lane in 0..8 {
            let value = u128::from_le_bytes(challenges[lane]);
            let shifted = mod_order >> lane & 1 == 1 && value != 0;
            from_point |= u8::from(shifted) << lane;
            // value - l may be negative; with the excess added it is not, nor 2^129 or more.
            let excess = 0x8888_8888_8888_8888_8888_8888_8888_8888u128;
            let excess = if shifted { excess - L_LOW } else { excess };
            let (low, overflow) = value.overflowing_add(excess);
            c[lane][..16].copy_from_slice(&low.to_le_bytes());
            top[lane] = u64::from(overflow);
        }
        let [c0, c1, _, _] = words(&c);
        Challenges { words: [c0, c1], top: Digits { magnitudes: top, negative: 0xff }, from_point }
    }

    /// The digits of the number that is to be subtracted, at 16^i.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn minus(&self, i: usize) -> Digits {
        Digits::from_excess(field(self.words[i / 16], 4 * (i % 16), 15), 8).neg()
    }
}

/// The digits of a group's scalars.
struct Scalars {
    s: [__m512i; 4],
    s_bytes: [__m512i; 4],
    /// c for the sums with Y and with G.
    c: [Challenges; 2],
}

impl Scalars {
    /// `torsion_free`: lanes in which it does not matter to Y what integer -c is.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(group: &DoubleMul<'_, Points>, minus_c: MinusC, torsion_free: u8) -> Scalars {
        let (mut s, mut s_bytes) = ([[0; 32]; 8], [[0; 32]; 8]);
        for lane in 0..8 {
            assert!(group.s[lane][31] < 0x20, "s is below 2^253");
            s[lane] = add_repeated(&group.s[lane], 0x8888_8888_8888_8888);
            s_bytes[lane] = add_repeated(&group.s[lane], 0x8080_8080_8080_8080);
        }
        let mod_order = match minus_c {
            MinusC::Integer => 0,
            MinusC::ModOrder => 0xff,
        };
        let c = [mod_order & !torsion_free, mod_order].map(|lanes| Challenges::new(group.c, lanes));
        Scalars { s: words(&s), s_bytes: words(&s_bytes), c }
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

/// Groups whose sums are computed in step where there is but one sum a group.
const ABREAST: usize = 2;

/// Multiples of two groups' H, and of one's Y and G.
struct Tables {
    y: Multiples,
    g: Multiples,
    h: [Multiples; ABREAST],
}

/// Two sums so far. Results are written where they stay: copies of structures of this size cost as much
/// as an addition of points.
struct Sums {
    /// Before their last multiplications.
    completed: [Completed; 2],
    /// Fit for being doubled.
    points: [Points; 2],
    augends: [Augend; 2],
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn double_mul_all(groups: &[DoubleMul<'_, Points>], minus_c: MinusC) -> Vec<[Points; 2]> {
    let mut tables =
        Tables { y: Multiples::default(), g: Multiples::default(), h: Default::default() };
    let mut sums = Sums::new();
    let mut out = Vec::with_capacity(groups.len());
    let torsion_free = match minus_c {
        MinusC::Integer => vec![0xff; groups.len()],
        MinusC::ModOrder => {
            let mut keys = Vec::with_capacity(groups.len());
            for group in groups {
                keys.push(*group.y);
            }
            subgroup::torsion_free(&keys)
        }
    };
    for (groups, free) in groups.chunks(ABREAST).zip(torsion_free.chunks(ABREAST)) {
        let mut scalars = Vec::with_capacity(ABREAST);
        for (group, &free) in groups.iter().zip(free) {
            scalars.push(Scalars::new(group, minus_c, free));
        }
        let [first, second] = &mut tables.h;
        match groups {
            [a, b] => Multiples::fill([first, second], [a.h, b.h]),
            _ => Multiples::fill([first], [groups[0].h]),
        }
        let upper = sums.above_128(groups, &scalars, &tables);
        for (k, (group, scalars)) in groups.iter().zip(&scalars).enumerate() {
            Multiples::fill([&mut tables.y, &mut tables.g], [group.y, group.g]);
            sums.set_at_128(group.y, upper[k], scalars, &tables);
            for i in (0..32).rev() {
                sums.double_4_times(2);
                sums.add_at(i, scalars, &tables, &tables.h[k]);
            }
            out.push([sums.completed[0].extended(), sums.completed[1].extended()]);
        }
    }
    out
}

/// What a sum with multiples of `p` starts from at 2^252.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn start(p: &Points, c: &Challenges) -> Points {
    Points::neutral().or_where(c.from_point, p)
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

    /// The second sums of one group or two from 2^252 down to 2^128, but for the digits of c.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn above_128(
        &mut self,
        groups: &[DoubleMul<'_, Points>],
        scalars: &[Scalars],
        tables: &Tables,
    ) -> [Completed; ABREAST] {
        let n = groups.len();
        for k in 0..n {
            self.completed[k] = Completed::of(&start(groups[k].g, &scalars[k].c[1]));
        }
        for i in (32..64).rev() {
            if i < 63 {
                self.double_4_times(n);
            }
            for k in 0..n {
                self.completed[k].set_augend(&mut self.augends[k]);
            }
            for k in 0..n {
                let digits = scalars[k].s(i);
                tables.h[k].add_to(&self.augends[k], &digits, &mut self.completed[k]);
            }
        }
        self.completed
    }

    /// Sets both sums of a group at 2^128: the first from Y, the second from what it is by now.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn set_at_128(&mut self, y: &Points, v: Completed, scalars: &Scalars, tables: &Tables) {
        let [c_y, c_g] = &scalars.c;
        let mut first = start(y, c_y);
        if c_y.from_point != 0 {
            first = first.double_times(124);
        }
        self.completed = [Completed::of(&first), v];
        for k in 0..2 {
            self.completed[k].set_augend(&mut self.augends[k]);
        }
        tables.y.add_to(&self.augends[0], &c_y.top, &mut self.completed[0]);
        tables.g.add_to(&self.augends[1], &c_g.top, &mut self.completed[1]);
    }

    /// Adds what belongs to 16^i, for i below 32. What belongs to different sums stands side by side
    /// in the program, because it does not wait for each other.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn add_at(&mut self, i: usize, scalars: &Scalars, tables: &Tables, h: &Multiples) {
        let [even, odd] = &*BASE;
        let [c_y, c_g] = [0, 1].map(|k| scalars.c[k].minus(i));
        let s = scalars.s(i);
        let [u, v] = &mut self.completed;
        let [a, b] = &mut self.augends;
        u.set_augend(a);
        v.set_augend(b);
        tables.y.add_to(a, &c_y, u);
        tables.g.add_to(b, &c_g, v);
        u.set_augend(a);
        v.set_augend(b);
        match i % 2 {
            0 => even.add_to(a, &scalars.s_byte(i / 2), u),
            _ => odd.add_to(a, &scalars.s_byte(16 + i / 2), u),
        }
        h.add_to(b, &s, v);
    }

    /// The first `n` sums times 16.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn double_4_times(&mut self, n: usize) {
        for _ in 0..4 {
            for k in 0..n {
                self.points[k].set_projective(&self.completed[k]);
            }
            for k in 0..n {
                self.points[k].double(&mut self.completed[k]);
            }
        }
    }
}
