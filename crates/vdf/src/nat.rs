//! Natural numbers as little-endian slices of 64-bit limbs: the few things that are done once a run.
//!
//! # Security
//! [`mul`], [`add`] and [`sub`] take time by length alone; all else is for public numbers.

use std::cmp::Ordering;

/// Limbs of a big-endian number, without leading zero limbs.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    let mut limbs: Vec<u64> = bytes
        .rchunks(8)
        .map(|chunk| chunk.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte)))
        .collect();
    trim(&mut limbs);
    limbs
}

/// The number in big-endian bytes, `width` of them; the number must fit.
pub(crate) fn to_bytes(a: &[u64], width: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = a.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    debug_assert!(bytes.iter().skip(width).all(|&byte| byte == 0));
    bytes.resize(width, 0);
    bytes.reverse();
    bytes
}

/// Drops leading zero limbs.
pub(crate) fn trim(a: &mut Vec<u64>) {
    while a.last() == Some(&0) {
        a.pop();
    }
}

/// The number of bits, 0 for zero.
pub(crate) fn bit_len(a: &[u64]) -> u64 {
    match a.iter().rposition(|&limb| limb != 0) {
        Some(top) => 64 * top as u64 + 64 - u64::from(a[top].leading_zeros()),
        None => 0,
    }
}

/// Bit `i`, zero beyond the end.
pub(crate) fn bit(a: &[u64], i: u64) -> bool {
    a.get((i / 64) as usize).is_some_and(|limb| limb >> (i % 64) & 1 == 1)
}

/// Compares two numbers of any lengths.
pub(crate) fn cmp(a: &[u64], b: &[u64]) -> Ordering {
    let len = a.len().max(b.len());
    let limb = |a: &[u64], i: usize| a.get(i).copied().unwrap_or(0);
    (0..len)
        .rev()
        .map(|i| limb(a, i).cmp(&limb(b, i)))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

pub(crate) fn is_zero(a: &[u64]) -> bool {
    a.iter().all(|&limb| limb == 0)
}

pub(crate) fn is_one(a: &[u64]) -> bool {
    a.first() == Some(&1) && is_zero(&a[1..])
}

/// a += b, `b` no longer than `a`; returns the carry.
pub(crate) fn add(a: &mut [u64], b: &[u64]) -> bool {
    let mut carry = 0;
    for i in 0..a.len() {
        let sum = u128::from(a[i]) + u128::from(b.get(i).copied().unwrap_or(0)) + u128::from(carry);
        (a[i], carry) = (sum as u64, (sum >> 64) as u64);
    }
    carry == 1
}

/// a −= b, `b` no longer than `a`; returns the borrow.
pub(crate) fn sub(a: &mut [u64], b: &[u64]) -> bool {
    let mut borrow = 0;
    for i in 0..a.len() {
        let b = u128::from(b.get(i).copied().unwrap_or(0)) + u128::from(borrow);
        let difference = u128::from(a[i]).wrapping_sub(b);
        (a[i], borrow) = (difference as u64, (difference >> 64) as u64 & 1);
    }
    borrow == 1
}

/// a·b, as long as both together.
pub(crate) fn mul(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; a.len() + b.len()];
    for (i, &b) in b.iter().enumerate() {
        let mut carry = 0;
        for (j, &a) in a.iter().enumerate() {
            let p = u128::from(a) * u128::from(b) + u128::from(out[i + j]) + carry;
            (out[i + j], carry) = (p as u64, p >> 64);
        }
        out[i + a.len()] = carry as u64;
    }
    out
}

/// a mod m, for m below 2^63.
pub(crate) fn rem_small(a: &[u64], m: u64) -> u64 {
    a.iter()
        .rev()
        .fold(0, |r, &limb| ((u128::from(r) << 64 | u128::from(limb)) % u128::from(m)) as u64)
}

/// a·2^k in place; what leaves the top is lost.
pub(crate) fn shl(a: &mut [u64], k: u32) {
    debug_assert!((1..64).contains(&k));
    for i in (1..a.len()).rev() {
        a[i] = a[i] << k | a[i - 1] >> (64 - k);
    }
    a[0] <<= k;
}

/// a/2^k in place, rounded down.
pub(crate) fn shr(a: &mut [u64], k: u32) {
    debug_assert!((1..64).contains(&k));
    for i in 0..a.len() {
        a[i] = a[i] >> k | a.get(i + 1).map_or(0, |next| next << (64 - k));
    }
}

/// a mod n, as long as `n`, whose top limb is not zero.
///
/// Both are shifted so that n's top bit is set; each limb of the quotient, from the highest down, is then
/// guessed from the top two limbs of what is left and the top of n, one or two too large at most, and made
/// right by the next limb or, rarely, by adding n back.
///
/// D. E. Knuth, The Art of Computer Programming, volume 2, §4.3.1, Algorithm D
pub(crate) fn rem(a: &[u64], n: &[u64]) -> Vec<u64> {
    let (len, shift) = (n.len(), n[n.len() - 1].leading_zeros());
    let (mut rest, mut n) = ([a, &[0]].concat(), n.to_vec());
    rest.resize(rest.len().max(len + 1), 0);
    if shift > 0 {
        shl(&mut n, shift);
        shl(&mut rest, shift);
    }
    for j in (0..rest.len() - len).rev() {
        let part = &mut rest[j..=j + len];
        let guess = quotient_limb(part, &n);
        if sub_multiple(part, &n, guess) {
            let (low, top) = part.split_at_mut(len);
            top[0] = top[0].wrapping_add(u64::from(add(low, &n)));
        }
    }
    rest.truncate(len);
    if shift > 0 {
        shr(&mut rest, shift);
    }
    rest
}

/// The quotient of `part`, a limb longer than `n` and below n·2^64, by `n` of which the top bit is set; or one
/// more.
fn quotient_limb(part: &[u64], n: &[u64]) -> u64 {
    let (len, top) = (n.len(), u128::from(n[n.len() - 1]));
    let high = u128::from(part[len]) << 64 | u128::from(part[len - 1]);
    let (mut guess, mut left) = (high / top, high % top);
    let Some(second) = len.checked_sub(2) else { return guess as u64 };
    let (second, next) = (u128::from(n[second]), u128::from(part[second]));
    while guess >> 64 != 0 || guess * second > (left << 64 | next) {
        guess -= 1;
        left += top;
        if left >> 64 != 0 {
            break;
        }
    }
    guess as u64
}

/// a − q·n in place, for `a` a limb longer than `n`; says whether that was negative and 2^64 of the top limb
/// was borrowed.
fn sub_multiple(a: &mut [u64], n: &[u64], q: u64) -> bool {
    let mut carry = 0u128;
    for (a, &n) in a.iter_mut().zip(n) {
        let product = u128::from(q) * u128::from(n) + carry;
        let (difference, borrow) = a.overflowing_sub(product as u64);
        *a = difference;
        carry = (product >> 64) + u128::from(borrow);
    }
    let top = &mut a[n.len()];
    let (difference, borrow) = top.overflowing_sub(carry as u64);
    *top = difference;
    borrow
}

/// The greatest common divisor of `a` and an odd `n`.
///
/// The binary algorithm on words that hold the lowest 31 and the highest 33 bits of both numbers: 31
/// of its steps become one linear map, which is then applied to the whole numbers. Where the word's
/// middle misleads it about which number is larger, the map's result is negative, and its sign is
/// turned (T. Pornin, Optimized binary GCD for modular inversion, 2020/972, §3).
pub(crate) fn gcd_odd(a: &[u64], n: &[u64]) -> Vec<u64> {
    let len = a.len().max(n.len()) + 1;
    let (mut a, mut n) = (a.to_vec(), n.to_vec());
    a.resize(len, 0);
    n.resize(len, 0);
    while !is_zero(&a) {
        let bits = bit_len(&a).max(bit_len(&n)).max(64);
        let [f0, g0, f1, g1] = gcd_steps(window(&a, bits), window(&n, bits));
        let first = combine(&a, &n, f0, g0);
        let second = combine(&a, &n, f1, g1);
        (a, n) = (first, second);
    }
    trim(&mut n);
    n
}

/// The highest 33 of so many bits above the lowest 31; all of a number of 64 bits.
fn window(a: &[u64], bits: u64) -> u64 {
    let at = bits - 33;
    let (limb, shift) = ((at / 64) as usize, at % 64);
    let high = if shift == 0 { 0 } else { a.get(limb + 1).map_or(0, |next| next << (64 - shift)) };
    let top = (a[limb] >> shift | high) & ((1 << 33) - 1);
    top << 31 | a[0] & ((1 << 31) - 1)
}

/// 31 steps: where a is odd, the smaller is taken from the larger; then a is halved. Returns f0, g0,
/// f1, g1 with a' = (a·f0 + n·g0)/2^31 and n' = (a·f1 + n·g1)/2^31.
fn gcd_steps(mut a: u64, mut n: u64) -> [i64; 4] {
    let (mut f0, mut g0, mut f1, mut g1) = (1i64, 0i64, 0i64, 1i64);
    for _ in 0..31 {
        if a & 1 == 1 {
            if a < n {
                (a, n) = (n, a);
                (f0, f1) = (f1, f0);
                (g0, g1) = (g1, g0);
            }
            a -= n;
            f0 -= f1;
            g0 -= g1;
        }
        a >>= 1;
        f1 <<= 1;
        g1 <<= 1;
    }
    [f0, g0, f1, g1]
}

/// |(a·f + n·g)/2^31|, for f and g of at most 31 bits and a sign.
fn combine(a: &[u64], n: &[u64], f: i64, g: i64) -> Vec<u64> {
    let mut out = vec![0; a.len()];
    let mut carry = 0i128;
    for (out, (&a, &n)) in out.iter_mut().zip(a.iter().zip(n)) {
        let sum = i128::from(a) * i128::from(f) + i128::from(n) * i128::from(g) + carry;
        *out = sum as u64;
        carry = sum >> 64;
    }
    let last = out.len() - 1;
    if carry < 0 {
        // Two's complement: all bits turned, and one added.
        let mut plus = true;
        for limb in &mut out {
            (*limb, plus) = (!*limb).overflowing_add(u64::from(plus));
        }
    }
    // The topmost limb is spare, so nothing is lost above it.
    debug_assert!(out[0] & ((1 << 31) - 1) == 0 && out[last] < 1 << 32);
    shr(&mut out, 31);
    out
}

/// Divides by the largest power of two that divides `a`, not zero, and returns its exponent mod 2.
fn strip_twos(a: &mut Vec<u64>) -> u32 {
    let zeros = a.iter().take_while(|&&limb| limb == 0).count();
    a.drain(..zeros);
    let k = a[0].trailing_zeros();
    if k > 0 {
        shr(a, k);
    }
    trim(a);
    k & 1
}

/// The Jacobi symbol (a/n) for an odd n: −1, 0 or 1.
pub(crate) fn jacobi(a: &[u64], n: &[u64]) -> i8 {
    let (mut a, mut n) = (rem(a, n), n.to_vec());
    trim(&mut a);
    trim(&mut n);
    let mut negative = false;
    while !is_zero(&a) {
        // (2/n) = −1 where n = 3 or 5 mod 8.
        if strip_twos(&mut a) == 1 && matches!(n[0] & 7, 3 | 5) {
            negative = !negative;
        }
        if cmp(&a, &n).is_lt() {
            // (a/n) = (n/a), with the sign turned where both are 3 mod 4.
            negative ^= a[0] & n[0] & 2 == 2;
            std::mem::swap(&mut a, &mut n);
        }
        sub(&mut a, &n);
        trim(&mut a);
    }
    match (is_one(&n), negative) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => -1,
    }
}

/// Says whether base^exponent = n.
fn is_power(base: &[u64], exponent: u32, n: &[u64]) -> std::cmp::Ordering {
    let mut product = vec![1];
    for _ in 0..exponent {
        product = mul(&product, base);
        trim(&mut product);
        if bit_len(&product) > bit_len(n) {
            return Ordering::Greater;
        }
    }
    cmp(&product, n)
}

/// Says whether `n` is the `k`th power of a whole number, by bisection on the bits of the root.
pub(crate) fn has_root(n: &[u64], k: u32) -> bool {
    let bits = bit_len(n).div_ceil(u64::from(k));
    let mut root = vec![0; bits.div_ceil(64) as usize];
    for i in (0..bits).rev() {
        root[(i / 64) as usize] |= 1 << (i % 64);
        match is_power(&root, k, n) {
            Ordering::Equal => return true,
            Ordering::Greater => root[(i / 64) as usize] &= !(1 << (i % 64)),
            Ordering::Less => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
