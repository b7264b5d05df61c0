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

/// Groups whose powers are computed in step.
const ABREAST: usize = 4;

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

/// x^((p-1)/4), a fourth root of one, or zero for zero, from x and x^((p-5)/8): in canonical form.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn quartic_character(x: &Fe8, power: &Fe8) -> Fe8 {
    power.square().mul(x).canonical()
}

/// The lanes whose element is a fourth power and not zero, for each group.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(crate) fn fourth_powers(x: &[Fe8]) -> Vec<u8> {
    let one = Fe8::splat(&Fe::ONE);
    let mut out = Vec::with_capacity(x.len());
    let (mut several, rest) = (x.chunks_exact(ABREAST), x.chunks_exact(ABREAST).remainder());
    for x in several.by_ref() {
        let x: &Group<ABREAST> = x.try_into().expect("a chunk of this length");
        for (x, power) in x.iter().zip(pow_p58(x)) {
            out.push(quartic_character(x, &power).same_limbs(&one));
        }
    }
    for x in rest {
        let [power] = pow_p58(&[*x]);
        out.push(quartic_character(x, &power).same_limbs(&one));
    }
    out
}

/// Roots of u/v: see [`Fe::sqrt_ratio`], also for what becomes of zeros.
///
/// RFC 8032 §5.1.3, step 3
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(crate) fn sqrt_ratio_all(u: &[Fe8], v: &[Fe8]) -> Vec<Roots> {
    let mut out = Vec::with_capacity(u.len());
    let (mut us, mut vs) = (u.chunks_exact(ABREAST), v.chunks_exact(ABREAST));
    for (u, v) in us.by_ref().zip(vs.by_ref()) {
        let u: &Group<ABREAST> = u.try_into().expect("a chunk of this length");
        out.extend(sqrt_ratio(u, v.try_into().expect("a chunk of this length")));
    }
    for (u, v) in us.remainder().iter().zip(vs.remainder()) {
        out.extend(sqrt_ratio(&[*u], &[*v]));
    }
    out
}

/// # Correctness
/// With r = (u v^7)^((p-5)/8), the square of the root u v^3 r, times v, is u times the quartic
/// character of u v^7: the root is right for 1, to be multiplied by i for -1 and, where u/v is no
/// square, for -i.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn sqrt_ratio<const N: usize>(u: &Group<N>, v: &Group<N>) -> [Roots; N] {
    let (mut base, mut power) = (*u, *u);
    for i in 0..N {
        let v3 = v[i].square().mul(&v[i]);
        base[i] = u[i].mul(&v3);
        power[i] = base[i].mul(&v3.mul(&v[i])); // u v^7
    }
    let powers = pow_p58(&power);
    let (one, zero) = (Fe8::splat(&Fe::ONE), Fe8::splat(&Fe::ZERO));
    let i_root = Fe8::splat(&Fe::SQRT_M1);
    let (minus_one, minus_i) = (one.neg().canonical(), i_root.neg().canonical());
    let mut out = [Roots { square: 0, root: zero }; N];
    for i in 0..N {
        let character = quartic_character(&power[i], &powers[i]);
        let flipped = character.same_limbs(&minus_one);
        let mut square = character.same_limbs(&one) | flipped;
        if character.same_limbs(&zero) != 0 {
            square |= u[i].zero();
        }
        let root = base[i].mul(&powers[i]);
        let to_flip = flipped | character.same_limbs(&minus_i);
        let root = root.or_where(to_flip, &root.mul(&i_root));
        out[i] = Roots { square, root: root.negate_where(root.negative()) };
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
