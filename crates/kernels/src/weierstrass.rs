//! The points of P-256 and secp256k1 for verifiers, portable and variable time.
//!
//! y^2 = x^3 + a x + b, a = -3 for P-256 and 0 for secp256k1, over a prime of 256 bits. Points are
//! held in Jacobian coordinates (X : Y : Z), x = X/Z^2, y = Y/Z^3, with Z = 0 for the neutral element;
//! the formulas' special cases are branches. Everything here is for public data only; provers use
//! the constant-time crates `p256` and `k256`.
//!
//! SEC 1 §2.3; Bernstein and Lange, Explicit-Formulas Database, "jacobian-3" and "jacobian-0"

pub mod eight;
mod field;
mod scalar_mul;

pub use field::{K256, P256, Prime};
pub use scalar_mul::commitments_vartime;

use field::Fe;

/// A point that is not the neutral element.
#[derive(Clone, Copy, Debug)]
pub struct Affine<C> {
    x: Fe<C>,
    y: Fe<C>,
}

/// A point in Jacobian coordinates.
#[derive(Clone, Copy)]
struct Jacobian<C> {
    x: Fe<C>,
    y: Fe<C>,
    z: Fe<C>,
}

impl<C: Prime> Affine<C> {
    /// Decodes a compressed point: 02 or 03, and x below p, big-endian.
    ///
    /// # Security
    /// Variable time.
    ///
    /// SEC 1 §2.3.4
    #[must_use]
    pub fn decode_vartime(bytes: &[u8; 33]) -> Option<Affine<C>> {
        let odd = match bytes[0] {
            2 => false,
            3 => true,
            _ => return None,
        };
        let x = Fe::from_bytes(&core::array::from_fn(|i| bytes[i + 1]))?;
        let square = equation(&x);
        let y = square.sqrt_candidate();
        if y.square() != square {
            return None;
        }
        Some(Affine { x, y: if y.is_odd() == odd { y } else { y.neg() } })
    }

    /// Takes both coordinates, big-endian; none if they are no point.
    ///
    /// # Security
    /// Variable time.
    #[must_use]
    pub fn from_coordinates_vartime(x: &[u8; 32], y: &[u8; 32]) -> Option<Affine<C>> {
        let point = Affine { x: Fe::from_bytes(x)?, y: Fe::from_bytes(y)? };
        (point.y.square() == equation(&point.x)).then_some(point)
    }

    /// The compressed encoding.
    ///
    /// SEC 1 §2.3.3
    #[must_use]
    pub fn encode(&self) -> [u8; 33] {
        let mut bytes = [2 + u8::from(self.y.is_odd()); 33];
        bytes[1..].copy_from_slice(&self.x.to_bytes());
        bytes
    }

    fn neg(&self) -> Affine<C> {
        Affine { x: self.x, y: self.y.neg() }
    }

    fn jacobian(&self) -> Jacobian<C> {
        Jacobian { x: self.x, y: self.y, z: Fe::ONE }
    }
}

/// x^3 + a x + b.
fn equation<C: Prime>(x: &Fe<C>) -> Fe<C> {
    let cube = x.square().mul(x);
    let b = cube.add(&Fe::new(C::B));
    if C::A_IS_MINUS_3 { b.sub(&x.add(x).add(x)) } else { b }
}

impl<C: Prime> Jacobian<C> {
    const NEUTRAL: Jacobian<C> = Jacobian { x: Fe::ONE, y: Fe::ONE, z: Fe::ZERO };

    fn is_neutral(&self) -> bool {
        self.z == Fe::ZERO
    }

    /// Formulas "dbl-2001-b" and "dbl-2009-l"; no point has y = 0, and Z = 0 stays.
    fn double(&self) -> Jacobian<C> {
        if C::A_IS_MINUS_3 { self.double_minus_3() } else { self.double_0() }
    }

    fn double_minus_3(&self) -> Jacobian<C> {
        let delta = self.z.square();
        let gamma = self.y.square();
        let beta = self.x.mul(&gamma);
        let product = self.x.sub(&delta).mul(&self.x.add(&delta));
        let alpha = product.twice().add(&product);
        let beta4 = beta.twice().twice();
        let x = alpha.square().sub(&beta4.twice());
        let z = self.y.add(&self.z).square().sub(&gamma).sub(&delta);
        let gamma2_8 = gamma.square().twice().twice().twice();
        let y = alpha.mul(&beta4.sub(&x)).sub(&gamma2_8);
        Jacobian { x, y, z }
    }

    fn double_0(&self) -> Jacobian<C> {
        let a = self.x.square();
        let b = self.y.square();
        let c = b.square();
        let d = self.x.add(&b).square().sub(&a).sub(&c).twice();
        let e = a.twice().add(&a);
        let x = e.square().sub(&d.twice());
        let y = e.mul(&d.sub(&x)).sub(&c.twice().twice().twice());
        let z = self.y.mul(&self.z).twice();
        Jacobian { x, y, z }
    }

    /// Formula "madd-2007-bl".
    fn add_affine(&self, q: &Affine<C>) -> Jacobian<C> {
        if self.is_neutral() {
            return q.jacobian();
        }
        let zz = self.z.square();
        let h = q.x.mul(&zz).sub(&self.x);
        let r = q.y.mul(&self.z).mul(&zz).sub(&self.y).twice();
        if h == Fe::ZERO {
            return if r == Fe::ZERO { self.double() } else { Jacobian::NEUTRAL };
        }
        let hh = h.square();
        let i = hh.twice().twice();
        let j = h.mul(&i);
        let v = self.x.mul(&i);
        let x = r.square().sub(&j).sub(&v.twice());
        let y = r.mul(&v.sub(&x)).sub(&self.y.mul(&j).twice());
        let z = self.z.add(&h).square().sub(&zz).sub(&hh);
        Jacobian { x, y, z }
    }

    /// Formula "add-2007-bl".
    fn add(&self, q: &Jacobian<C>) -> Jacobian<C> {
        if self.is_neutral() {
            return *q;
        }
        if q.is_neutral() {
            return *self;
        }
        let (zz1, zz2) = (self.z.square(), q.z.square());
        let (u1, u2) = (self.x.mul(&zz2), q.x.mul(&zz1));
        let (s1, s2) = (self.y.mul(&q.z).mul(&zz2), q.y.mul(&self.z).mul(&zz1));
        let (h, r) = (u2.sub(&u1), s2.sub(&s1).twice());
        if h == Fe::ZERO {
            return if r == Fe::ZERO { self.double() } else { Jacobian::NEUTRAL };
        }
        let i = h.twice().square();
        let j = h.mul(&i);
        let v = u1.mul(&i);
        let x = r.square().sub(&j).sub(&v.twice());
        let y = r.mul(&v.sub(&x)).sub(&s1.mul(&j).twice());
        let z = self.z.add(&q.z).square().sub(&zz1).sub(&zz2).mul(&h);
        Jacobian { x, y, z }
    }

    /// Brings points to Z = 1 with one inversion; the neutral element becomes none.
    fn affine_all(points: &[Jacobian<C>]) -> Vec<Option<Affine<C>>> {
        let mut prefix = Vec::with_capacity(points.len());
        let mut product = Fe::ONE;
        for p in points {
            prefix.push(product);
            if !p.is_neutral() {
                product = product.mul(&p.z);
            }
        }
        let mut inverse = product.invert();
        let mut out = vec![None; points.len()];
        for (i, p) in points.iter().enumerate().rev() {
            if p.is_neutral() {
                continue;
            }
            let z = inverse.mul(&prefix[i]);
            inverse = inverse.mul(&p.z);
            let zz = z.square();
            out[i] = Some(Affine { x: p.x.mul(&zz), y: p.y.mul(&zz).mul(&z) });
        }
        out
    }
}

#[cfg(test)]
mod tests;
