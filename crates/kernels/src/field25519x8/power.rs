//! Exponentiations: inverses and square roots, of several groups at a time.

use super::Fe8;
use crate::field25519::Fe;

/// What [`sqrt_ratio_all`] finds, as masks of lanes, with the roots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roots {
    /// The lanes where u/v is a square.
    pub(crate) square: u8,
    /// An even root of u/v, or where that is no square, of i·u/v.
    pub(crate) root: Fe8,
}

type Group<const N: usize> = [Fe8; N];

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn mul_all<const N: usize>(a: &Group<N>, b: &Group<N>) -> Group<N> {
    let mut r = *a;
    for i in 0..N {
        r[i] = a[i].mul(&b[i]);
    }
    r
}

/// The 2^n-th powers. The squarings of different groups do not wait for each other.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn square_times<const N: usize>(a: &Group<N>, n: u32) -> Group<N> {
    let mut r = *a;
    for _ in 0..n {
        for x in &mut r {
            *x = x.square();
        }
    }
    r
}

/// x^(2^250 - 1) and x^11.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn pow_2_250_1<const N: usize>(x: &Group<N>) -> (Group<N>, Group<N>) {
    let x2 = square_times(x, 1);
    let x9 = mul_all(&square_times(&x2, 2), x);
    let x11 = mul_all(&x9, &x2);
    let e5 = mul_all(&square_times(&x11, 1), &x9); // 2^5 - 1
    let e10 = mul_all(&square_times(&e5, 5), &e5);
    let e20 = mul_all(&square_times(&e10, 10), &e10);
    let e40 = mul_all(&square_times(&e20, 20), &e20);
    let e50 = mul_all(&square_times(&e40, 10), &e10);
    let e100 = mul_all(&square_times(&e50, 50), &e50);
    let e200 = mul_all(&square_times(&e100, 100), &e100);
    (mul_all(&square_times(&e200, 50), &e50), x11)
}

/// The inverses, x^(p-2); zero for zero.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn invert<const N: usize>(x: &Group<N>) -> Group<N> {
    let (e250, x11) = pow_2_250_1(x);
    mul_all(&square_times(&e250, 5), &x11)
}

/// x^((p-5)/8) = x^(2^252 - 3).
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn pow_p58<const N: usize>(x: &Group<N>) -> Group<N> {
    mul_all(&square_times(&pow_2_250_1(x).0, 2), x)
}

/// Roots of u/v: see [`Fe::sqrt_ratio`], also for what becomes of zeros.
///
/// RFC 8032 §5.1.3, step 3
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(crate) fn sqrt_ratio_all(u: &[Fe8], v: &[Fe8]) -> Vec<Roots> {
    let mut out = Vec::with_capacity(u.len());
    let (mut us, mut vs) = (u.chunks_exact(2), v.chunks_exact(2));
    for (u, v) in us.by_ref().zip(vs.by_ref()) {
        out.extend(sqrt_ratio(&[u[0], u[1]], &[v[0], v[1]]));
    }
    for (u, v) in us.remainder().iter().zip(vs.remainder()) {
        out.extend(sqrt_ratio(&[*u], &[*v]));
    }
    out
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn sqrt_ratio<const N: usize>(u: &Group<N>, v: &Group<N>) -> [Roots; N] {
    let (mut base, mut power) = (*u, *u);
    for i in 0..N {
        let v3 = v[i].square().mul(&v[i]);
        base[i] = u[i].mul(&v3);
        power[i] = base[i].mul(&v3.mul(&v[i])); // u v^7
    }
    let powers = pow_p58(&power);
    let i_root = Fe8::splat(&Fe::SQRT_M1);
    let mut out = [Roots { square: 0, root: *u.first().unwrap_or(&i_root) }; N];
    for i in 0..N {
        let root = base[i].mul(&powers[i]);
        let check = v[i].mul(&root.square());
        let correct = check.sub(&u[i]).zero();
        let flipped = check.add(&u[i]).zero();
        let flipped_i = check.add(&u[i].mul(&i_root)).zero();
        let root = root.or_where(flipped | flipped_i, &root.mul(&i_root));
        let root = root.negate_where(root.negative());
        out[i] = Roots { square: correct | flipped, root };
    }
    out
}

/// Inverts every element with one exponentiation; none may be zero in any lane.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(crate) fn invert_all(elements: &mut [Fe8]) {
    let mut prefix = Vec::with_capacity(elements.len());
    let mut product = Fe8::splat(&Fe::ONE);
    for e in elements.iter() {
        debug_assert_eq!(e.zero(), 0, "a zero would spoil its lane in every element");
        prefix.push(product);
        product = product.mul(e);
    }
    let [mut inverse] = invert(&[product]);
    for (e, before) in elements.iter_mut().zip(prefix).rev() {
        let result = inverse.mul(&before);
        inverse = inverse.mul(e);
        *e = result;
    }
}
