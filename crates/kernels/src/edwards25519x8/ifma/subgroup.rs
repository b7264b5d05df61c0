//! Which points are of the prime-order subgroup: in two exponentiations of the field.
//!
//! The curve's group is cyclic of order 8 L, so those points are the ones that are 8 times another. On
//! the Montgomery form, v^2 = u (u^2 + A u + 1), doubling is a 2-isogeny to E': v'^2 = u'(u' - A - 2)
//! (u' - A + 2) and the one back, of kernel {O, (0, 0)}. P comes back from a point R of E' exactly if
//! u is a square, w^2; then R = (A + 2 m, -2 w u') with m = u + v/w, and P is in the subgroup exactly
//! if R or R + (0, 0) is of odd order. E' has two generators of its torsion, (0, 0) and a T of order
//! 4 with 2 T = (A + 2, 0), so that R is of odd order exactly if both Tate pairings are trivial:
//!
//! ```text
//! with (0, 0):  u' is a square
//! with T:       l^2 / (u' - A - 2) is a fourth power,  l = v' - mu (u' - A - 2) the tangent in T
//! ```
//!
//! Adding (0, 0) to R turns both into their negatives. So P is in the subgroup exactly if u is a
//! square and (l u')^2 / (u' - A - 2) a fourth power. The slope mu is sqrt(A + 2) - 2 for one of the
//! two roots. With v/w = sqrt(-A - 2) w / x and n = m x, all multiplied by fourth powers:
//!
//! ```text
//! z = 2 ((w (A x + 2 n) + mu (n - x)) (A x + 2 n))^2 x (n - x)^3,  n = w (w x + sqrt(-A - 2))
//! ```
//!
//! Koshelev, "Subgroup membership testing on elliptic curves via the Tate pairing" (2022); Pornin,
//! "Point-Halving and Subgroup Membership in Twisted Edwards Curves" (2022), for the curve at hand

use super::Points;
use crate::edwards25519::SQRT_MINUS_A_2;
use crate::field25519::Fe;
use crate::field25519x8::{Fe8, fourth_powers, sqrt_ratio_all};

/// The lanes whose points are of the prime-order subgroup, for each group.
///
/// # Correctness
/// Where a factor of z is zero, z is no fourth power but zero, and the lane is left out. x is zero in the
/// neutral element and the point of order 2, the others where R is (0, 0), T or 2 T, which come back to
/// points whose order divides 4: of the subgroup that is the neutral element alone, which is looked for.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(super) fn torsion_free(points: &[Points]) -> Vec<u8> {
    let (mut u, mut v) = (Vec::with_capacity(points.len()), Vec::with_capacity(points.len()));
    for p in points {
        u.push(p.z.add(&p.y));
        v.push(p.z.sub(&p.y));
    }
    let (a, c) = (Fe8::splat(&Fe::A), Fe8::splat(&SQRT_MINUS_A_2));
    let mu = Fe8::splat(&Fe::SQRT_M1).mul(&c).sub(&Fe8::splat(&Fe::ONE).twice());
    let roots = sqrt_ratio_all(&u, &v);
    let mut z = Vec::with_capacity(points.len());
    for (p, w) in points.iter().zip(&roots) {
        let w = &w.root;
        let n = w.mul(&w.mul(&p.x).add(&p.z.mul(&c)));
        let (f, g) = (a.mul(&p.x).add(&n.twice()), n.sub(&p.x));
        let l = w.mul(&f).add(&mu.mul(&g)).mul(&f).square();
        z.push(l.twice().mul(&p.x).mul(&g.square().mul(&g)));
    }
    let mut free = fourth_powers(&z);
    for ((free, p), u) in free.iter_mut().zip(points).zip(&roots) {
        *free = *free & u.square | p.identity();
    }
    free
}
