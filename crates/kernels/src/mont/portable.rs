//! Products and Montgomery reduction of limb slices, in plain Rust.
//!
//! A row, a number times a limb, is taken eight limbs at a time: their products are made first, then
//! joined, then added, each in one chain of additions with carry, which compilers keep in the carry flag.
//! That is two and a half additions a product, where one product after the other takes four. Short
//! numbers are unrolled whole.
//!
//! # What was tried
//! On a Zen 5 without MULX, in cycles a squaring at 2048 bits: this, 2980; one product after the other,
//! two rows side by side, 3690, four rows, 3400; columns, whose products need no memory between them,
//! 4760, and 6380 with three limbs a sum, for compilers make comparisons of such carries. Chunks of four
//! limbs instead of eight 3100, of sixteen 3700. At 256 bits a loop takes 120, the unrolled code 84.
//!
//! # Correctness
//! A step computes p = a·b + t + c with a, b, t, c ≤ 2^64 − 1, so
//! p ≤ (2^64 − 1)² + 2·(2^64 − 1) = 2^128 − 1: no step overflows its 128 bits.

/// Repeats a block for each limb I below L ≤ 8, a constant in it.
macro_rules! each_limb {
    ($i:ident in $l:ident $body:block) => {
        each_limb!(@ $i, $l, $body, 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident, $l:ident, $body:block, $($limb:literal)*) => {
        $({
            const $i: usize = $limb;
            if $i < $l $body
        })*
    };
}

/// Returns (low, high) of a·b + t + c.
#[inline(always)]
fn mac(a: u64, b: u64, t: u64, c: u64) -> (u64, u64) {
    let p = u128::from(a) * u128::from(b) + u128::from(t) + u128::from(c);
    (p as u64, (p >> 64) as u64)
}

/// Adds a·b to `t`, as long as `a`, and returns the limb carried out.
#[inline(always)]
fn add_row(t: &mut [u64], a: &[u64], b: u64) -> u64 {
    let (eights, t) = t.as_chunks_mut::<8>();
    let (by_eight, a) = a.as_chunks::<8>();
    let mut c = 0;
    for (t, a) in eights.iter_mut().zip(by_eight) {
        c = add_limbs(t, a, b, c);
    }
    macro_rules! rest {
        ($($k:literal)*) => {
            match t.len() {
                $($k => {
                    if let (Some(t), Some(a)) = (t.first_chunk_mut::<$k>(), a.first_chunk::<$k>()) {
                        c = add_limbs(t, a, b, c);
                    }
                })*
                _ => {}
            }
        };
    }
    rest!(1 2 3 4 5 6 7);
    c
}

/// Adds a·b + c to `t`, and returns the limb carried out.
///
/// # Correctness
/// All fits: (2^(64·W) − 1)·(2^64 − 1) + 2^(64·W) − 1 + 2^64 − 1 = 2^(64·(W + 1)) − 1.
#[inline(always)]
fn add_limbs<const W: usize>(t: &mut [u64; W], a: &[u64; W], b: u64, c: u64) -> u64 {
    let (mut low, mut high) = ([0; W], [0; W]);
    for k in 0..W {
        (low[k], high[k]) = mac(a[k], b, 0, 0);
    }
    let mut carry;
    (low[0], carry) = low[0].overflowing_add(c);
    for k in 1..W {
        (low[k], carry) = low[k].carrying_add(high[k - 1], carry);
    }
    let mut out = high[W - 1] + u64::from(carry);
    carry = false;
    for k in 0..W {
        (t[k], carry) = t[k].carrying_add(low[k], carry);
    }
    out += u64::from(carry);
    out
}

/// Calls the function for numbers of a length that the compiler knows, or the one for any.
macro_rules! of_length {
    ($length:expr, $known:ident or $any:ident $arguments:tt) => {
        of_length!(@ $length, $known, $any, $arguments, 1 2 3 4 5 6 7 8 12 16)
    };
    (@ $length:expr, $known:ident, $any:ident, $arguments:tt, $($l:literal)*) => {
        match $length {
            $($l => $known::<$l> $arguments,)*
            _ => $any $arguments,
        }
    };
}

/// Squares `a` in Montgomery form: a²·2^(−64·L) mod n, canonical, where L is the length of `n`.
///
/// `a` is below n, `wide` is scratch of 2·L limbs, `n0` = −n^(−1) mod 2^64.
pub(super) fn square(a: &mut [u64], wide: &mut [u64], n: &[u64], n0: u64) {
    of_length!(n.len(), square_known or square_any(a, wide, n, n0));
}

/// Multiplies `a` by `b` in Montgomery form; as [`square`].
pub(super) fn multiply(a: &mut [u64], b: &[u64], wide: &mut [u64], n: &[u64], n0: u64) {
    of_length!(n.len(), multiply_known or multiply_any(a, b, wide, n, n0));
}

#[inline(always)]
fn square_any(a: &mut [u64], wide: &mut [u64], n: &[u64], n0: u64) {
    sqr_wide(wide, a);
    redc(a, wide, n, n0);
}

#[inline(always)]
fn multiply_any(a: &mut [u64], b: &[u64], wide: &mut [u64], n: &[u64], n0: u64) {
    mul_wide(wide, a, b);
    redc(a, wide, n, n0);
}

/// The same as [`square_any`]; up to eight limbs without a loop, which keeps the limbs in registers.
#[inline(never)]
fn square_known<const L: usize>(a: &mut [u64], wide: &mut [u64], n: &[u64], n0: u64) {
    let (Some(a), Some(n)) = (a.first_chunk_mut::<L>(), n.first_chunk::<L>()) else { return };
    let wide = &mut wide[..2 * L];
    if L > 8 {
        return square_any(a, wide, n, n0);
    }
    wide.fill(0);
    each_limb!(I in L {
        wide[I + L] = add_row(&mut wide[2 * I + 1..I + L], &a[I + 1..], a[I]);
    });
    double_and_add_squares(wide, a);
    reduce_short(a, wide, n, n0);
}

/// The same as [`multiply_any`]; as [`square_known`].
#[inline(never)]
fn multiply_known<const L: usize>(a: &mut [u64], b: &[u64], wide: &mut [u64], n: &[u64], n0: u64) {
    let (Some(a), Some(n)) = (a.first_chunk_mut::<L>(), n.first_chunk::<L>()) else { return };
    let Some(b) = b.first_chunk::<L>() else { return };
    let wide = &mut wide[..2 * L];
    if L > 8 {
        return multiply_any(a, b, wide, n, n0);
    }
    wide.fill(0);
    each_limb!(I in L {
        wide[I + L] = add_row(&mut wide[I..I + L], &*a, b[I]);
    });
    reduce_short(a, wide, n, n0);
}

/// The same as [`redc`], of up to eight limbs.
#[inline(always)]
fn reduce_short<const L: usize>(out: &mut [u64; L], wide: &mut [u64], n: &[u64; L], n0: u64) {
    let wide = &mut wide[..2 * L];
    let mut carry = false;
    each_limb!(I in L {
        let q = wide[I].wrapping_mul(n0);
        let high = add_row(&mut wide[I..I + L], n, q);
        (wide[I + L], carry) = wide[I + L].carrying_add(high, carry);
    });
    subtract_once(out, &wide[L..2 * L], n, u64::from(carry));
}

/// Writes a·b to `wide`, which is as long as both together.
#[inline(always)]
pub(super) fn mul_wide(wide: &mut [u64], a: &[u64], b: &[u64]) {
    let l = a.len();
    wide.fill(0);
    for (i, &b) in b.iter().enumerate() {
        wide[i + l] = add_row(&mut wide[i..i + l], a, b);
    }
}

/// Writes a² to `wide`, twice as long as `a`.
///
/// The products a[i]·a[j], i < j, are summed once, then doubled while the squares are added.
#[inline(always)]
fn sqr_wide(wide: &mut [u64], a: &[u64]) {
    let l = a.len();
    let wide = &mut wide[..2 * l];
    wide.fill(0);
    for (i, &b) in a.iter().enumerate() {
        wide[i + l] = add_row(&mut wide[2 * i + 1..i + l], &a[i + 1..], b);
    }
    double_and_add_squares(wide, a);
}

/// wide = 2·wide + Σ a[i]²·2^(128·i).
#[inline(always)]
fn double_and_add_squares(wide: &mut [u64], a: &[u64]) {
    let (mut top, mut carry) = (0, 0);
    for (pair, &a) in wide.chunks_exact_mut(2).zip(a) {
        let square = u128::from(a) * u128::from(a);
        let low = u128::from(pair[0] << 1 | top) + u128::from(square as u64) + u128::from(carry);
        let high = u128::from(pair[1] << 1 | pair[0] >> 63) + (square >> 64) + (low >> 64);
        top = pair[1] >> 63;
        pair[0] = low as u64;
        pair[1] = high as u64;
        carry = (high >> 64) as u64;
    }
    debug_assert_eq!((top, carry), (0, 0));
}

/// Montgomery reduction: `out` = wide·2^(−64·L) mod n, canonical, where L is the length of `n`.
///
/// `wide` is 2·L limbs, worth less than n·2^(64·L), and is overwritten. `n0` = −n^(−1) mod 2^64.
///
/// # Correctness
/// Each quotient limb q makes one limb of wide + q·n·2^(64·i) zero. The sum of all is below
/// n·2^(64·L) + 2^(64·L)·n, so wide/2^(64·L) < 2·n fits L limbs and one bit (`carry`), and one
/// subtraction of n makes it canonical.
#[inline(always)]
pub(super) fn redc(out: &mut [u64], wide: &mut [u64], n: &[u64], n0: u64) {
    let l = n.len();
    let wide = &mut wide[..2 * l];
    let mut carry = false;
    for i in 0..l {
        let q = wide[i].wrapping_mul(n0);
        let high = add_row(&mut wide[i..i + l], n, q);
        (wide[i + l], carry) = wide[i + l].carrying_add(high, carry);
    }
    let carry = u64::from(carry);
    subtract_once(out, &wide[l..], n, carry);
}

/// out = a + carry·2^(64·L) − n where that is not negative, else a; in constant time.
#[inline(always)]
pub(super) fn subtract_once(out: &mut [u64], a: &[u64], n: &[u64], carry: u64) {
    let mut borrow = 0;
    for ((out, &a), &n) in out.iter_mut().zip(a).zip(n) {
        let difference = u128::from(a).wrapping_sub(u128::from(n) + u128::from(borrow));
        *out = difference as u64;
        borrow = (difference >> 64) as u64 & 1;
    }
    // Opaque: told that the mask is all or nothing, the compiler would branch on it.
    let keep = core::hint::black_box(0u64.wrapping_sub(borrow & (carry ^ 1)));
    for (out, &a) in out.iter_mut().zip(a) {
        *out = *out & !keep | a & keep;
    }
}

/// Returns −n^(−1) mod 2^64 of an odd limb.
pub(super) fn neg_inverse(n: u64) -> u64 {
    // n is its own inverse mod 8; each step doubles the number of right bits: 3, 6, 12, 24, 48, 96.
    let mut inverse = n;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(n.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg()
}
