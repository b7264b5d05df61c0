//! Elligator 2: from a field element to a point, through the Montgomery curve t^2 = g(s),
//! g(s) = s^3 + A s^2 + s.
//!
//! With Z = 2, x1 = -A/(1 + 2 r^2) and x2 = -x1 - A; s is x1 where g(x1) is a square, else x2. The
//! Edwards point is (sqrt(-A-2) s/t, (s-1)/(s+1)).
//!
//! One square root does it all, and nothing is inverted. Let D = 1 + 2 r^2, never zero since -1/2
//! is no square. Then x1 = -A/D, x2 = -2 A r^2/D, g(x1) = N/D^3 with N = -A (A^2 (1 - D) + D^2),
//! which is never zero since s^2 + A s + 1 has no root, and g(x2) = 2 r^2 g(x1). Write i for the
//! square root of -1; `sqrt_ratio` gives a root of i·u/v where u/v is no square, and
//! sqrt(2/i) = 1 - i. Which root is asked for depends on the coordinate whose parity decides:
//!
//! - by t: root = sqrt(N/D^3) is t; or, no square, t = r (1 - i) root. Then x = sqrt(-A-2) s/t is
//!   left as a fraction.
//! - by x: root = sqrt(1/(N D)); s/t = -A D root or, no square, -A r (1 - i) D root. Then x itself
//!   is known.
//!
//! r = 0 gives s = t = 0, of order two; by t, the fraction's zero denominator makes it the
//! identity, as the standard says; by x, it comes out as (0, -1). Both are the identity once the
//! cofactor is cleared. s = -1 is never reached: A - 2 is no square.
//!
//! RFC 9380 §6.7.1 and §6.8.2, draft-irtf-cfrg-vrf-03 §5.4.1.2

use super::Point;
use crate::field25519::Fe;
use subtle::{Choice, ConditionallySelectable};

/// sqrt(-A-2) = sqrt(-486664), the even root.
pub(crate) const SQRT_MINUS_A_2: Fe =
    Fe([1693982333959686, 608509411481997, 2235573344831311, 947681270984193, 266558006233600]);

/// Which of the two points with the mapped y coordinate is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The one whose Montgomery t is odd exactly when g(x1) is a square. RFC 9380 §6.7.1
    Rfc9380,
    /// The one whose Edwards x is even, as draft 3 of ECVRF is deployed.
    EvenX,
}

/// Maps a field element to a point of the prime-order subgroup; the cofactor is cleared.
///
/// # Security
/// Constant time.
///
/// RFC 9380 §6.7.1 (Elligator 2), §6.8.2 (Edwards), §7 (cofactor)
#[must_use]
pub fn map_to_curve_elligator2(r: &Fe, sign: Sign) -> Point {
    let pending = PendingMap::new(r, sign);
    let (u, v) = pending.ratio();
    pending.finish(Fe::sqrt_ratio(&u, &v))
}

/// A point being mapped to, that lacks its square root, so that several roots can be taken at once.
#[derive(Clone, Copy, Debug)]
pub struct PendingMap {
    /// D = 1 + 2 r^2.
    d: Fe,
    /// N = -A (A^2 (1 - D) + D^2).
    n: Fe,
    /// 2 r^2.
    rr2: Fe,
    /// r sqrt(2/i).
    r_sqrt_2_i: Fe,
    sign: Sign,
}

impl PendingMap {
    /// Begins to map a field element.
    #[must_use]
    pub fn new(r: &Fe, sign: Sign) -> PendingMap {
        let r2 = r.square();
        let rr2 = r2.add(&r2);
        let d = rr2.add(&Fe::ONE);
        let n = Fe::A.square().mul(&rr2).sub(&d.square()).mul(&Fe::A);
        let r_sqrt_2_i = r.mul(&Fe::ONE.sub(&Fe::SQRT_M1));
        PendingMap { d, n, rr2, r_sqrt_2_i, sign }
    }

    /// u and v, of whose ratio [`PendingMap::finish`] takes the root.
    #[must_use]
    pub fn ratio(&self) -> (Fe, Fe) {
        match self.sign {
            Sign::Rfc9380 => (self.n, self.d.square().mul(&self.d)),
            Sign::EvenX => (Fe::ONE, self.n.mul(&self.d)),
        }
    }

    /// Ends mapping with what [`Fe::sqrt_ratio`] gives, and clears the cofactor.
    #[must_use]
    pub fn finish(&self, (square, root): (Choice, Fe)) -> Point {
        match self.sign {
            Sign::Rfc9380 => self.by_t(square, &root),
            Sign::EvenX => self.by_x(square, &root),
        }
        .mul_by_cofactor()
    }

    /// x1 D or x2 D: the numerator of s over D.
    fn numerator(&self, square: Choice) -> Fe {
        let minus_a = Fe::A.neg();
        Fe::conditional_select(&minus_a.mul(&self.rr2), &minus_a, square)
    }

    fn by_t(&self, square: Choice, root: &Fe) -> Point {
        let s = self.numerator(square);
        let mut t = Fe::conditional_select(&root.mul(&self.r_sqrt_2_i), root, square);
        let flip = t.is_negative() ^ square;
        t.conditional_negate(flip);
        let (xn, xd) = (s.mul(&SQRT_MINUS_A_2), self.d.mul(&t));
        let (yn, yd) = (s.sub(&self.d), s.add(&self.d));
        let p = Point { x: xn.mul(&yd), y: yn.mul(&xd), z: xd.mul(&yd), t: xn.mul(&yn) };
        let exceptional = p.z.is_zero();
        Point {
            x: Fe::conditional_select(&p.x, &Fe::ZERO, exceptional),
            y: Fe::conditional_select(&p.y, &Fe::ONE, exceptional),
            z: Fe::conditional_select(&p.z, &Fe::ONE, exceptional),
            t: Fe::conditional_select(&p.t, &Fe::ZERO, exceptional),
        }
    }

    fn by_x(&self, square: Choice, root: &Fe) -> Point {
        let s = self.numerator(square);
        let factor = Fe::conditional_select(&self.r_sqrt_2_i, &Fe::ONE, square);
        let mut x = root.mul(&self.d).mul(&factor).mul(&Fe::A).mul(&SQRT_MINUS_A_2);
        let odd = x.is_negative();
        x.conditional_negate(odd);
        let (yn, yd) = (s.sub(&self.d), s.add(&self.d));
        Point { x: x.mul(&yd), y: yn, z: yd, t: x.mul(&yn) }
    }
}
