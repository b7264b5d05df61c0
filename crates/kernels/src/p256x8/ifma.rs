//! Eight points of P-256 at a time with AVX-512 IFMA, for verifiers: variable time.
//!
//! What is not the curve's alone, and how exceptions of the formulas are met, is in `jacobian8.rs`.
//!
//! SEC 2 §2.4.2; Bernstein and Lange, Explicit-Formulas Database, "jacobian-3"

mod field;
#[allow(clippy::duplicate_mod)] // compiled once for each curve
#[path = "../jacobian8.rs"]
mod jacobian;

use field::{B, Fe8, GENERATOR, ONE, Raw, carry, minus, plus, shift};
pub use jacobian::{Lane, Points, decode_vartime, double_mul_vartime, encode_all};

/// The curve for the tests of what is shared.
#[cfg(test)]
use crate::weierstrass::P256 as Portable;

/// p, big-endian.
const PRIME: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
];

/// Formula "dbl-2001-b".
///
/// # Correctness
/// 8β and 8γ^2 are subtracted as 2^3 times an element.
#[target_feature(enable = "avx512f,avx512ifma")]
fn double(p: &Points) -> Points {
    let (delta, gamma) = (p.z.sqr(), p.y.sqr());
    let beta = p.x.mul(&gamma);
    let product = p.x.sub(&delta).mul(&p.x.add(&delta));
    let alpha = carry(plus(&shift::<1>(&product.0), &product.0));
    let z = carry(shift::<1>(&p.y.mul(&p.z).0));
    let x = carry(minus::<3>(&alpha.sqr().0, &beta.0));
    let product = alpha.mul(&carry(minus::<0>(&shift::<2>(&beta.0), &x.0)));
    let y = carry(minus::<3>(&product.0, &gamma.sqr().0));
    Points { x, y, z }
}

/// x^3 − 3x + b.
#[target_feature(enable = "avx512f,avx512ifma")]
fn right_side(x: &Fe8) -> Fe8 {
    let cube = x.sqr().mul(x);
    let three = carry(plus(&shift::<1>(&x.0), &x.0));
    cube.sub(&three).add(&Fe8::broadcast(&B))
}

/// The elements for numbers of 260 bits.
#[target_feature(enable = "avx512f,avx512ifma")]
fn from_limbs(numbers: &[[u64; 5]; 8]) -> Fe8 {
    Fe8::from_limbs(numbers)
}

/// The numbers that elements stand for, below p.
#[target_feature(enable = "avx512f,avx512ifma")]
fn numbers(x: &Fe8) -> Raw {
    x.numbers()
}
