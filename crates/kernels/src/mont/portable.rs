//! Products and Montgomery reduction of limb slices, in plain Rust.
//!
//! Rows are taken two at a time: the carry of one row is a chain of an addition and an addition with
//! carry a limb, and two rows side by side hide each other's latency.
//!
//! # Correctness
//! A step computes p = a·b + t + c with a, b, t, c ≤ 2^64 − 1, so
//! p ≤ (2^64 − 1)² + 2·(2^64 − 1) = 2^128 − 1: no step overflows its 128 bits.

/// Returns (low, high) of a·b + t + c.
#[inline(always)]
fn mac(a: u64, b: u64, t: u64, c: u64) -> (u64, u64) {
    let p = u128::from(a) * u128::from(b) + u128::from(t) + u128::from(c);
    (p as u64, (p >> 64) as u64)
}

/// Adds a·b to `t`, as long as `a`, and returns the limb carried out.
#[inline(always)]
fn add_row(t: &mut [u64], a: &[u64], b: u64) -> u64 {
    let mut c = 0;
    for (t, &a) in t.iter_mut().zip(a) {
        (*t, c) = mac(a, b, *t, c);
    }
    c
}

/// Adds a·(b0 + b1·2^64) to `t`, one limb longer than `a`, and `carry` (0 or 1) to its last limb;
/// returns what is carried out.
///
/// # Correctness
/// After step j the two carries stand at t[j + 1] (of row 0) and t[j + 2] (of row 1); row 1 works one
/// limb behind row 0, on the limb that row 0 has just finished. The sum is below
/// 2^(64·(l + 2)) + 2·2^(64·(l + 1)), so the carry out is at most 2^64 + 1, and below 2^64 where t[l]
/// and `carry` were zero.
#[inline(always)]
fn add_two_rows(t: &mut [u64], a: &[u64], b0: u64, b1: u64, carry: u64) -> u128 {
    let l = a.len();
    let t = &mut t[..=l];
    let (mut c0, mut c1) = (0, 0);
    (t[0], c0) = mac(a[0], b0, t[0], c0);
    for j in 1..l {
        let low;
        (low, c0) = mac(a[j], b0, t[j], c0);
        (t[j], c1) = mac(a[j - 1], b1, low, c1);
    }
    let last = u128::from(t[l]) + u128::from(c0) + u128::from(carry);
    (t[l], c1) = mac(a[l - 1], b1, last as u64, c1);
    u128::from(c1) + (last >> 64)
}

/// Writes a·b to `wide`, which is as long as both together.
pub(super) fn mul_wide(wide: &mut [u64], a: &[u64], b: &[u64]) {
    let l = a.len();
    wide.fill(0);
    let mut i = 0;
    while i + 1 < b.len() {
        // Limb i + l is still zero, so the carry is one limb.
        wide[i + l + 1] = add_two_rows(&mut wide[i..=i + l], a, b[i], b[i + 1], 0) as u64;
        i += 2;
    }
    if i < b.len() {
        wide[i + l] = add_row(&mut wide[i..i + l], a, b[i]);
    }
}

/// Writes a² to `wide`, twice as long as `a`.
///
/// The products a[i]·a[j], i < j, are summed once, then doubled while the squares are added.
pub(super) fn sqr_wide(wide: &mut [u64], a: &[u64]) {
    let l = a.len();
    let wide = &mut wide[..2 * l];
    wide.fill(0);
    let mut i = 0;
    // Rows i and i + 1: a[i]·a[i+1] first, then both with a[i+2..].
    while i + 2 < l {
        let (low, carry) = mac(a[i], a[i + 1], wide[2 * i + 1], 0);
        wide[2 * i + 1] = low;
        let t = &mut wide[2 * i + 2..=i + l];
        let (sum, over) = t[0].overflowing_add(carry);
        t[0] = sum;
        propagate(&mut t[1..], over);
        // As in `mul_wide`, limb i + l was zero.
        let high = add_two_rows(&mut wide[2 * i + 2..=i + l], &a[i + 2..], a[i], a[i + 1], 0);
        wide[i + l + 1] = high as u64;
        i += 2;
    }
    if i + 1 < l {
        let (low, carry) = mac(a[i], a[i + 1], wide[2 * i + 1], 0);
        wide[2 * i + 1] = low;
        wide[2 * i + 2] += carry; // still zero: no earlier row reaches limb 2·l − 2
    }
    double_and_add_squares(wide, a);
}

/// Carries one into `t`, upwards; the caller knows that the sum has room.
#[inline(always)]
fn propagate(t: &mut [u64], mut carry: bool) {
    for limb in t {
        if !carry {
            break;
        }
        (*limb, carry) = limb.overflowing_add(1);
    }
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
pub(super) fn redc(out: &mut [u64], wide: &mut [u64], n: &[u64], n0: u64) {
    let l = n.len();
    let wide = &mut wide[..2 * l];
    let mut carry = 0u64;
    let mut i = 0;
    while i + 1 < l {
        let q0 = wide[i].wrapping_mul(n0);
        // What limb i + 1 will be once q0's row is in: that decides q1.
        let (_, c) = mac(n[0], q0, wide[i], 0);
        let q1 = mac(n[1], q0, wide[i + 1], c).0.wrapping_mul(n0);
        let high = add_two_rows(&mut wide[i..=i + l], n, q0, q1, carry);
        carry = add_carry(&mut wide[i + l + 1], high, 0);
        i += 2;
    }
    if i < l {
        let q = wide[i].wrapping_mul(n0);
        let high = add_row(&mut wide[i..i + l], n, q);
        carry = add_carry(&mut wide[i + l], u128::from(high), carry);
    }
    subtract_once(out, &wide[l..], n, carry);
}

/// Adds `high` and `carry` to a limb and returns the carry.
///
/// # Correctness
/// Up to this limb, k limbs, what stood in `wide` is below 2^(64·k) and the multiples of n added to it
/// are too, so the carry is 0 or 1.
#[inline(always)]
fn add_carry(limb: &mut u64, high: u128, carry: u64) -> u64 {
    let sum = u128::from(*limb) + high + u128::from(carry);
    *limb = sum as u64;
    (sum >> 64) as u64
}

/// out = a + carry·2^(64·L) − n where that is not negative, else a; in constant time.
pub(super) fn subtract_once(out: &mut [u64], a: &[u64], n: &[u64], carry: u64) {
    let mut borrow = 0;
    for ((out, &a), &n) in out.iter_mut().zip(a).zip(n) {
        let difference = u128::from(a).wrapping_sub(u128::from(n) + u128::from(borrow));
        *out = difference as u64;
        borrow = (difference >> 64) as u64 & 1;
    }
    let keep = 0u64.wrapping_sub(borrow & (carry ^ 1));
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
