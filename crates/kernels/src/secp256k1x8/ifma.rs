//! Eight points of secp256k1 at a time, for verifiers: variable time.
//!
//! What is not the curve's alone, and how exceptions of the formulas are met, is in `jacobian8.rs`. These
//! formulas are fewer multiplications than the complete ones around, which are for secrets.
//!
//! SEC 2 §2.4.1; Bernstein and Lange, Explicit-Formulas Database, "jacobian-0"

#[allow(clippy::duplicate_mod)] // compiled once for each curve
#[path = "../jacobian8.rs"]
mod jacobian;

use crate::secp256k1::ifma::field::{self, Fe8, Raw, carry, minus, plus, shift};
pub use jacobian::{Lane, Points, decode_vartime, double_mul_vartime, encode_all};

/// The curve for the tests of what is shared.
#[cfg(test)]
use crate::weierstrass::K256 as Portable;

/// p, big-endian.
const PRIME: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xfc, 0x2f,
];
const ONE: [u64; 5] = [1, 0, 0, 0, 0];
/// The generator's coordinates.
const GENERATOR: [[u64; 5]; 2] = [
    [0x2815b16f81798, 0xdb2dce28d959f, 0xe870b07029bfc, 0xbbac55a06295c, 0x79be667ef9dc],
    [0x7d08ffb10d4b8, 0x48a68554199c4, 0xe1108a8fd17b4, 0xc4655da4fbfc0, 0x483ada7726a3],
];

/// Formula "dbl-2009-l".
///
/// # Correctness
/// 8C is subtracted as 2^3 times an element; all else that is subtracted is at most two elements.
#[target_feature(enable = "avx512f,avx512ifma")]
fn double(p: &Points) -> Points {
    let (a, b) = (p.x.sqr(), p.y.sqr());
    let c = b.sqr();
    let d = minus::<0>(&p.x.add(&b).sqr().0, &plus(&a.0, &c.0));
    let d = carry(shift::<1>(&d));
    let e = carry(plus(&shift::<1>(&a.0), &a.0));
    let x = carry(minus::<0>(&e.sqr().0, &shift::<1>(&d.0)));
    let y = carry(minus::<3>(&e.mul(&d.sub(&x)).0, &c.0));
    Points { x, y, z: carry(shift::<1>(&p.y.mul(&p.z).0)) }
}

/// x^3 + 7.
#[target_feature(enable = "avx512f,avx512ifma")]
fn right_side(x: &Fe8) -> Fe8 {
    x.sqr().mul(x).add(&Fe8::small(7))
}

/// The elements for numbers below 2^256.
#[target_feature(enable = "avx512f,avx512ifma")]
fn from_limbs(numbers: &[[u64; 5]; 8]) -> Fe8 {
    let mut t = [field::splat(0); 5];
    for i in 0..5 {
        t[i] = field::load(&numbers.map(|limbs| limbs[i]));
    }
    Fe8(t)
}

/// The numbers that elements stand for, below p.
#[target_feature(enable = "avx512f,avx512ifma")]
fn numbers(x: &Fe8) -> Raw {
    x.freeze().0
}
