//! Exponentiations of several vectors in step.

use super::Fe4;

/// Squares several vectors n times, so that one does not wait for another.
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn square_times<const N: usize>(x: &[Fe4; N], n: u32) -> [Fe4; N] {
    let mut r = *x;
    for _ in 0..n {
        for one in &mut r {
            *one = one.square();
        }
    }
    r
}

#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn mul_each<const N: usize>(a: &[Fe4; N], b: &[Fe4; N]) -> [Fe4; N] {
    let mut r = *a;
    for i in 0..N {
        r[i] = a[i].mul(&b[i]);
    }
    r
}

/// x^((p-5)/8) of each, which are at most 1, by the portable code's chain.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn pow_p58<const N: usize>(x: &[Fe4; N]) -> [Fe4; N] {
    let x2 = square_times(x, 1);
    let x9 = mul_each(&square_times(&x2, 2), x);
    let x11 = mul_each(&x9, &x2);
    let e5 = mul_each(&square_times(&x11, 1), &x9);
    let e10 = mul_each(&square_times(&e5, 5), &e5);
    let e20 = mul_each(&square_times(&e10, 10), &e10);
    let e40 = mul_each(&square_times(&e20, 20), &e20);
    let e50 = mul_each(&square_times(&e40, 10), &e10);
    let e100 = mul_each(&square_times(&e50, 50), &e50);
    let e200 = mul_each(&square_times(&e100, 100), &e100);
    let e250 = mul_each(&square_times(&e200, 50), &e50);
    mul_each(&square_times(&e250, 2), x)
}
