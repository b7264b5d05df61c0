//! The kernels with AVX2: a lane is a proof's.
//!
//! Straus with signed digits, of four bits for Y, G and H and of eight for B: every lane adds in every
//! place, the neutral element for the digit 0. The sum of B takes 128 doublings, for c, because
//! multiples of B and of 2^124 B are tables; the other takes 252, for s.
//!
//! Bounds of limbs are those of [`crate::field25519x4`]: an element is at most n.

use super::table::{FixedMultiples, Multiples};
use super::{DoubleMul, MinusC};
use crate::edwards25519::{Point, base, radix_16};
use crate::field25519::Fe;
use crate::field25519x4::{Fe4, Wide, pow_p58 as pow_p58_lanes};
use core::arch::x86_64::*;
use std::sync::LazyLock;

/// Four points in extended coordinates, at most 1.
#[derive(Clone, Copy)]
pub(super) struct Points {
    x: Fe4,
    y: Fe4,
    z: Fe4,
    t: Fe4,
}

/// Points made ready for being added: Y+X, Y-X, 2Z, 2dT, at most 1.
#[derive(Clone, Copy)]
pub(super) struct Cached(pub(super) [Fe4; 4]);

/// Points with Z = 1 made ready for being added: y+x, y-x, 2dxy, at most 1.
#[derive(Clone, Copy)]
pub(super) struct Affine(pub(super) [Fe4; 3]);

impl Points {
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn new(points: &[Point; 4]) -> Points {
        Points {
            x: Fe4::from_lanes(&points.map(|p| p.x)),
            y: Fe4::from_lanes(&points.map(|p| p.y)),
            z: Fe4::from_lanes(&points.map(|p| p.z)),
            t: Fe4::from_lanes(&points.map(|p| p.t)),
        }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn neutral() -> Points {
        let (zero, one) = (Fe4::splat(&Fe::ZERO), Fe4::splat(&Fe::ONE));
        Points { x: zero, y: one, z: one, t: zero }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn points(&self) -> [Point; 4] {
        let (x, y) = (self.x.to_lanes(), self.y.to_lanes());
        let (z, t) = (self.z.to_lanes(), self.t.to_lanes());
        core::array::from_fn(|i| Point { x: x[i], y: y[i], z: z[i], t: t[i] })
    }

    /// `other` in the lanes of a mask, `self` in the rest.
    #[target_feature(enable = "avx2,fma")]
    fn or_where(&self, mask: __m256d, other: &Points) -> Points {
        Points {
            x: self.x.or_where(mask, &other.x),
            y: self.y.or_where(mask, &other.y),
            z: self.z.or_where(mask, &other.z),
            t: self.t.or_where(mask, &other.t),
        }
    }

    /// Twice the points; T where asked for.
    ///
    /// A, B, C, P = X^2, Y^2, Z^2, XY; E = 2P, F = B-A-2C, G = B-A, H = -(A+B). The sums are taken before
    /// the carry, so that all that is multiplied is at most 1.
    ///
    /// # Correctness
    /// Of products before their carry F counts 4.
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    fn double(&mut self, with_t: bool) {
        let (a, b, c) = (self.x.square_wide(), self.y.square_wide(), self.z.square_wide());
        let p = self.x.mul_wide(&self.y);
        let g = b.sub(&a);
        let f = g.sub(&c.add(&c)).carry();
        let h = Wide::zero().sub(&a.add(&b)).carry();
        let (e, g) = (p.add(&p).carry(), g.carry());
        self.multiply([&e, &f, &g, &h], with_t);
    }

    /// X, Y, Z, T = EF, GH, FG, EH, of elements at most 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn multiply(&mut self, [e, f, g, h]: [&Fe4; 4], with_t: bool) {
        self.x = e.mul(f);
        self.y = g.mul(h);
        self.z = f.mul(g);
        if with_t {
            self.t = e.mul(h);
        }
    }

    /// The points times 2^n, n not zero.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn double_times(&mut self, n: usize) {
        for i in 0..n {
            self.double(i == n - 1);
        }
    }

    /// The sums with other points.
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn add(&mut self, q: &Cached) {
        let d = self.z.mul_wide(&q.0[2]);
        self.add_with(&d, &q.0[0], &q.0[1], &q.0[3]);
    }

    /// The sums with other points whose Z is 1.
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn add_affine(&mut self, q: &Affine) {
        let z = self.z.wide();
        self.add_with(&z.add(&z), &q.0[0], &q.0[1], &q.0[2]);
    }

    /// A, B, C = (Y-X)(y-x), (Y+X)(y+x), 2dTt, D = 2Zz; E, F, G, H = B-A, D-C, D+C, B+A.
    ///
    /// # Correctness
    /// Y-X and Y+X are at most 2, so that A and B count 2 before their carry and E and H 4.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn add_with(&mut self, d: &Wide, plus: &Fe4, minus: &Fe4, t2d: &Fe4) {
        let a = self.y.sub(&self.x).mul_wide(minus);
        let b = self.y.add(&self.x).mul_wide(plus);
        let c = self.t.mul_wide(t2d);
        let (e, h) = (b.sub(&a).carry(), b.add(&a).carry());
        let (f, g) = (d.sub(&c).carry(), d.add(&c).carry());
        self.multiply([&e, &f, &g, &h], true);
    }

    /// The points made ready for being added.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn cached(&self) -> Cached {
        let (x, y, z) = (self.x.wide(), self.y.wide(), self.z.wide());
        Cached([
            y.add(&x).carry(),
            y.sub(&x).carry(),
            z.add(&z).carry(),
            self.t.mul(&Fe4::splat(&Fe::D2)),
        ])
    }
}

impl Cached {
    /// The negatives.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn neg(&self) -> Cached {
        self.negate_where(_mm256_castsi256_pd(_mm256_set1_epi64x(-1)))
    }

    /// The negatives in the lanes of a mask.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn negate_where(&self, mask: __m256d) -> Cached {
        let [plus, minus, z2, t2d] = &self.0;
        let (p, m) = (plus.or_where(mask, minus), minus.or_where(mask, plus));
        Cached([p, m, *z2, t2d.negate_where(mask)])
    }
}

impl Affine {
    /// The negatives in the lanes of a mask.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn negate_where(&self, mask: __m256d) -> Affine {
        let [plus, minus, xy2d] = &self.0;
        let (p, m) = (plus.or_where(mask, minus), minus.or_where(mask, plus));
        Affine([p, m, xy2d.negate_where(mask)])
    }
}

/// Multiples of B for the lower bytes of s, and of 2^124 B for the upper ones: those are added at odd
/// powers of 16, where 16^(2j+1) 2^124 = 256^j 2^128.
static BASE: LazyLock<[FixedMultiples; 2]> = LazyLock::new(|| {
    let (mut one, mut high) = ([0; 32], [0; 32]);
    (one[0], high[15]) = (1, 0x10);
    [one, high].map(|scalar| FixedMultiples::new(&base().mul(&scalar)))
});

/// Digits d_i from -128 to 128 with s = sum of d_i 256^i.
fn radix_256(s: &[u8; 32]) -> [i16; 32] {
    let mut digits = s.map(i16::from);
    for i in 0..31 {
        let carry = (digits[i] + 128) >> 8;
        digits[i] -= carry << 8;
        digits[i + 1] += carry;
    }
    digits
}

/// As [`super::double_mul_vartime`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn double_mul_vartime(lanes: &[DoubleMul; 4]) -> [[Point; 2]; 4] {
    let m = lanes.map(|lane| lane.minus_c);
    let u = sum_with_base(&lanes.map(|lane| radix_256(&lane.s)), &m, &lanes.map(|lane| lane.y));
    let h = Multiples::new(&Points::new(&lanes.map(|lane| lane.h)));
    let v = sum(&lanes.map(|lane| radix_16(&lane.s)), &h, &m, &lanes.map(|lane| lane.g));
    core::array::from_fn(|i| [u[i], v[i]])
}

/// The points that are counted 2^252 times, where they are, and whether they are in any lane.
#[target_feature(enable = "avx2,fma")]
fn start(m: &[MinusC; 4], points: &Points) -> (Points, bool) {
    let [a, b, c, d] = m.map(|m| -i64::from(m.plus_2_252));
    let mask = _mm256_castsi256_pd(_mm256_setr_epi64x(a, b, c, d));
    let r = Points::neutral().or_where(mask, points);
    (r, m.iter().any(|m| m.plus_2_252))
}

fn digits_at(m: &[MinusC; 4], i: usize) -> [i16; 4] {
    m.map(|m| i16::from(m.digits[i]))
}

/// s B + m Y.
#[target_feature(enable = "avx2,fma")]
fn sum_with_base(s: &[[i16; 32]; 4], m: &[MinusC; 4], y: &[Point; 4]) -> [Point; 4] {
    let [even, odd] = &*BASE;
    let y = Points::new(y);
    let of_y = Multiples::new(&y);
    let (mut r, any) = start(m, &y);
    if any {
        r.double_times(252 - 128);
    }
    r.add(&of_y.look_up(digits_at(m, 32)));
    for i in (0..32).rev() {
        r.double_times(4);
        r.add(&of_y.look_up(digits_at(m, i)));
        let (of_b, at) = if i % 2 == 0 { (even, i / 2) } else { (odd, 16 + i / 2) };
        r.add_affine(&of_b.look_up([s[0][at], s[1][at], s[2][at], s[3][at]]));
    }
    r.points()
}

/// s H + m G.
#[target_feature(enable = "avx2,fma")]
fn sum(s: &[[i8; 64]; 4], of_h: &Multiples, m: &[MinusC; 4], g: &[Point; 4]) -> [Point; 4] {
    let g = Points::new(g);
    let of_g = Multiples::new(&g);
    let (mut r, _) = start(m, &g);
    for i in (0..64).rev() {
        if i < 63 {
            r.double_times(4);
        }
        r.add(&of_h.look_up([s[0][i], s[1][i], s[2][i], s[3][i]].map(i16::from)));
        if i <= 32 {
            r.add(&of_g.look_up(digits_at(m, i)));
        }
    }
    r.points()
}

/// Raises at most twelve elements to (p-5)/8.
#[target_feature(enable = "avx2,fma")]
pub(super) fn pow_p58(elements: &mut [Fe]) {
    assert!(elements.len() <= 12, "three vectors hold twelve elements");
    let mut all = [Fe::ONE; 12];
    all[..elements.len()].copy_from_slice(elements);
    let group = |n: usize| [all[n], all[n + 1], all[n + 2], all[n + 3]];
    let x = [Fe4::from_lanes(&group(0)), Fe4::from_lanes(&group(4)), Fe4::from_lanes(&group(8))];
    for (vector, out) in pow_p58_lanes(&x).into_iter().zip(elements.chunks_mut(4)) {
        for (element, power) in out.iter_mut().zip(vector.to_lanes()) {
            *element = power;
        }
    }
}
