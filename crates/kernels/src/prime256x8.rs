//! Powers modulo odd numbers of 256 bits, eight of them or of their bases side by side: tests of primes.
//!
//! The portable twins take powers in a [`Ring`], one after another. What these functions say of a number
//! does not depend on how they compute it.
//!
//! # Security
//! For public numbers.

#[cfg(target_arch = "x86_64")]
mod ifma;

#[cfg(target_arch = "x86_64")]
use crate::lanes8::Lanes8;
use crate::mont::Ring;

/// Says whether numbers are worked on side by side, which pays for many candidates at a time.
#[must_use]
pub fn is_fast() -> bool {
    crate::cpu::allowed(crate::cpu::Family::Avx512)
}

/// Says of each of sixteen odd numbers of exactly 256 bits whether 2^(n − 1) ≡ 1 (mod n), as for all
/// primes and hardly any other.
#[must_use]
pub fn fermat_x16(n: &[[u64; 4]; 16]) -> [bool; 16] {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Lanes8::detect() {
        return ifma::fermat_x16(token, n);
    }
    n.each_ref().map(fermat)
}

/// Says whether an odd n of exactly 256 bits passes a round of Miller–Rabin with each of 32 bases,
/// which need not be below n; a multiple of n as base does no harm.
#[must_use]
pub fn strong_x32(n: &[u64; 4], bases: &[[u64; 4]; 32]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Lanes8::detect() {
        return ifma::strong_x32(token, n, bases);
    }
    strong(n, bases)
}

/// The ring of an odd n, and n − 1.
fn ring(n: &[u64; 4]) -> (Ring, [u64; 4]) {
    let ring = Ring::new(n).expect("an odd number of 256 bits is a modulus");
    (ring, [n[0] - 1, n[1], n[2], n[3]])
}

/// The portable twin of one lane of [`fermat_x16`].
fn fermat(n: &[u64; 4]) -> bool {
    let (ring, less) = ring(n);
    let mut two = ring.one().to_vec();
    ring.double(&mut two);
    ring.pow_vartime(&two, &less) == ring.one()
}

/// The portable twin of [`strong_x32`], for any number of bases.
fn strong(n: &[u64; 4], bases: &[[u64; 4]]) -> bool {
    let (ring, less) = ring(n);
    // n − 1 = odd·2^twos, and twos is at least 1.
    let twos = (1..255).find(|&i| less[i / 64] >> (i % 64) & 1 == 1).unwrap_or(255);
    let limb = |i: usize| u128::from(less.get(i).copied().unwrap_or(0));
    let odd: [u64; 4] = core::array::from_fn(|i| {
        let at = i + twos / 64;
        ((limb(at) | limb(at + 1) << 64) >> (twos % 64)) as u64
    });
    let minus_one = ring.enter(&less);
    bases.iter().all(|base| {
        let reduced = if base.iter().rev().lt(n.iter().rev()) { *base } else { subtract(base, n) };
        let mut power = ring.pow_vartime(&ring.enter(&reduced), &odd);
        let mut passed = reduced == [0; 4] || power == ring.one() || power == minus_one;
        for _ in 1..twos {
            power = ring.mul(&power, &power);
            passed |= power == minus_one;
        }
        passed
    })
}

/// a − b mod 2^256.
fn subtract(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    core::array::from_fn(|i| {
        let (once, first) = a[i].overflowing_sub(b[i]);
        let (twice, second) = once.overflowing_sub(u64::from(borrow));
        borrow = first | second;
        twice
    })
}

#[cfg(test)]
mod tests;
