//! Eight points of edwards25519 at once, one in each 64-bit lane, with AVX-512 IFMA.
//!
//! The twin of [`crate::edwards25519`], with the same complete formulas on the same coordinates: a
//! lane needs no special case and has no influence on another. Points come in groups of eight, and
//! functions take many groups, because square roots and inversions of several groups overlap and
//! one inversion serves all encodings.
//!
//! Every function here takes a [`Lanes8`], which shows that the CPU has the instructions, and does
//! thousands of cycles of work in one call: crossing into code compiled for them costs as much as a
//! multiplication in the field. Nothing unsafe is left but that crossing, loads and stores.
//!
//! Functions are constant time unless their names end in `_vartime`; those are for public data.
//!
//! Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", §3.1 and §3.3

mod elligator2;
mod encoding;
mod scalar_mul;
mod secret_mul;
mod subgroup;
mod table;

pub use elligator2::map_to_curve_elligator2_all;
pub use encoding::{decode_all, encode_all};
pub use scalar_mul::double_mul_all_vartime;
pub use secret_mul::{mul_all, mul_base_all, two_mul_all};

use crate::edwards25519::Point;
use crate::field25519::Fe;
use crate::field25519x8::{Fe8, Wide, mul_biased, mul_wide, square_biased, square_wide};
use crate::lanes8::Lanes8;
use core::arch::x86_64::*;

/// A group of eight points, in extended coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Points {
    x: Fe8,
    y: Fe8,
    z: Fe8,
    t: Fe8,
}

/// Points made ready for being added to: (Y+X, Y-X, Z, T).
#[derive(Clone, Copy)]
struct Augend {
    y_plus_x: Fe8,
    y_minus_x: Fe8,
    z: Fe8,
    t: Fe8,
}

/// Points made ready for being added: (Y+X, Y-X, 2Z, 2dT). All may be loose.
#[derive(Clone, Copy, Debug)]
struct Cached {
    y_plus_x: Fe8,
    y_minus_x: Fe8,
    z2: Fe8,
    t2d: Fe8,
}

/// Points with Z = 1 made ready for being added: (y+x, y-x, 2dxy). All may be loose.
#[derive(Clone, Copy, Debug)]
struct Affine {
    y_plus_x: Fe8,
    y_minus_x: Fe8,
    xy2d: Fe8,
}

/// x = E/G, y = H/F: what both formulas end in before the last multiplications.
#[derive(Clone, Copy)]
struct Completed {
    e: Fe8,
    f: Fe8,
    g: Fe8,
    h: Fe8,
}

impl Points {
    /// The points times the cofactor 8, which takes off their torsion parts.
    #[must_use]
    pub fn mul_by_cofactor(&self, _: Lanes8) -> Points {
        // SAFETY: the token shows that the CPU has the features that the function enables.
        unsafe { self.double_times(3) }
    }

    /// The lanes with a point whose order divides 8, as a mask.
    #[must_use]
    pub fn small_order(&self, _: Lanes8) -> u8 {
        // SAFETY: the token shows that the CPU has the features that the function enables.
        let p = unsafe { self.double_times(3) };
        // SAFETY: likewise.
        unsafe { p.identity() }
    }

    /// One lane's point.
    #[must_use]
    pub fn lane(&self, _: Lanes8, lane: usize) -> Point {
        // SAFETY: the token shows that the CPU has the features that the function enables.
        let coordinate = |a: &Fe8| unsafe { a.lane(lane) };
        Point {
            x: coordinate(&self.x),
            y: coordinate(&self.y),
            z: coordinate(&self.z),
            t: coordinate(&self.t),
        }
    }

    /// One point for each lane.
    #[must_use]
    pub fn from_lanes(_: Lanes8, points: &[Point; 8]) -> Points {
        // SAFETY: the token shows that the CPU has the features that the function enables.
        let coordinate = |of: fn(&Point) -> Fe| unsafe { Fe8::from_lanes(&points.map(|p| of(&p))) };
        Points {
            x: coordinate(|p| p.x),
            y: coordinate(|p| p.y),
            z: coordinate(|p| p.z),
            t: coordinate(|p| p.t),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn neutral() -> Points {
        let (zero, one) = (Fe8::splat(&Fe::ZERO), Fe8::splat(&Fe::ONE));
        Points { x: zero, y: one, z: one, t: zero }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn identity(&self) -> u8 {
        self.x.zero() & self.y.sub(&self.z).zero()
    }

    /// `other` in the lanes of `mask`, `self` in the rest.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn or_where(&self, mask: u8, other: &Points) -> Points {
        Points {
            x: self.x.or_where(mask, &other.x),
            y: self.y.or_where(mask, &other.y),
            z: self.z.or_where(mask, &other.z),
            t: self.t.or_where(mask, &other.t),
        }
    }

    /// The points times 2^n; `n` is public and not zero.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn double_times(&self, n: u32) -> Points {
        debug_assert!(n > 0);
        let (mut p, mut sum) = (*self, Completed::of(self));
        for i in 0..n {
            if i > 0 {
                p.set_projective(&sum);
            }
            p.double(&mut sum);
        }
        sum.extended()
    }

    /// Does the last multiplications but for that of T, which is left as it is: wrong. The points are
    /// fit for being doubled and nothing else.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn set_projective(&mut self, sum: &Completed) {
        self.x = mul_wide!(sum.e, sum.f).reduce();
        self.y = mul_wide!(sum.g, sum.h).reduce();
        self.z = mul_wide!(sum.f, sum.g).reduce();
    }

    /// # Correctness
    /// With A = X^2 and B = Y^2: E = 2XY, F = 2Z^2 - G, G = B - A, H = A + B, all of whole
    /// products; see [`Wide`].
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn double(&self, sum: &mut Completed) {
        let a = square_wide!(self.x);
        let b = square_biased!(self.y);
        let g = b.minus(&a);
        sum.g = g.reduce();
        sum.h = b.add(&a);
        sum.f = square_biased!(self.z).twice_sub(&g);
        sum.e = mul_wide!(self.x, self.y).twice();
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn augend(&self) -> Augend {
        let (y_plus_x, y_minus_x) = (self.y.add(&self.x), self.y.sub(&self.x));
        Augend { y_plus_x, y_minus_x, z: self.z, t: self.t }
    }
}

impl Augend {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn cached(&self) -> Cached {
        Cached {
            y_plus_x: self.y_plus_x,
            y_minus_x: self.y_minus_x,
            z2: self.z.add(&self.z),
            t2d: self.t.mul(&Fe8::splat(&Fe::D2)),
        }
    }

    /// # Correctness
    /// The sums and differences are taken of whole products; see [`Wide`].
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn add_cached(&self, q: &Cached, sum: &mut Completed) {
        let a = mul_wide!(self.y_minus_x, q.y_minus_x);
        let b = mul_biased!(self.y_plus_x, q.y_plus_x);
        let c = mul_wide!(self.t, q.t2d);
        let d = mul_biased!(self.z, q.z2);
        sum.e = b.sub(&a);
        sum.f = d.sub(&c);
        sum.g = d.add(&c);
        sum.h = b.add(&a);
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn add_affine(&self, q: &Affine, sum: &mut Completed) {
        let a = mul_wide!(self.y_minus_x, q.y_minus_x);
        let b = mul_biased!(self.y_plus_x, q.y_plus_x);
        let c = mul_wide!(self.t, q.xy2d);
        let d = Wide::twice_of(&self.z);
        sum.e = b.sub(&a);
        sum.f = d.sub(&c);
        sum.g = d.add(&c);
        sum.h = b.add(&a);
    }
}

impl Completed {
    /// Points as they are, with any Z: E/G = X/Z and H/F = Y/Z.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn of(p: &Points) -> Completed {
        Completed { e: p.x, f: p.z, g: p.z, h: p.y }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn extended(&self) -> Points {
        let (x, y) = (mul_wide!(self.e, self.f).reduce(), mul_wide!(self.g, self.h).reduce());
        Points {
            x,
            y,
            z: mul_wide!(self.f, self.g).reduce(),
            t: mul_wide!(self.e, self.h).reduce(),
        }
    }

    /// The points, when they are next added to: Y + X and Y - X are taken of whole products.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn set_augend(&self, a: &mut Augend) {
        let (x, y) = (mul_wide!(self.e, self.f), mul_biased!(self.g, self.h));
        a.y_plus_x = y.add(&x);
        a.y_minus_x = y.sub(&x);
        a.z = mul_wide!(self.f, self.g).reduce();
        a.t = mul_wide!(self.e, self.h).reduce();
    }
}

#[cfg(test)]
mod tests;
