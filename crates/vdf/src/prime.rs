//! Primality: Miller–Rabin with bases that the caller draws, and random primes.

use crate::field256::Field256;
use crate::nat;
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use std::ops::Range;
use tetralith_kernels::mont::{FastRing, Ring};
use tetralith_kernels::prime256x8::{fermat_x16, is_fast, strong_x32};
use tetralith_kernels::sha256x16::hash_16;
use tetralith_kernels::small_factors_x16::have_small_factor_x16;
use zeroize::{Zeroize, Zeroizing};

/// The primes below `limit`, from 2.
pub(crate) fn primes_below(limit: usize) -> impl Iterator<Item = u64> {
    let mut composite = vec![false; limit];
    (2..limit).filter_map(move |p| {
        if composite[p] {
            return None;
        }
        (p * p..limit).step_by(p).for_each(|multiple| composite[multiple] = true);
        Some(p as u64)
    })
}

/// Says whether a small prime divides `n` and is not `n`.
pub(crate) fn has_small_factor(n: &[u64]) -> bool {
    has_factor_among(n, small_factors())
}

fn has_factor_among(n: &[u64], groups: &[(u64, Vec<u64>)]) -> bool {
    groups.iter().any(|(product, primes)| {
        let rest = nat::rem_small(n, *product);
        primes.iter().any(|&p| rest.is_multiple_of(p) && nat::cmp(n, &[p]).is_ne())
    })
}

/// The odd primes below 1024, in groups whose products fit 63 bits: one long division a group.
fn small_factors() -> &'static [(u64, Vec<u64>)] {
    static GROUPS: std::sync::OnceLock<Vec<(u64, Vec<u64>)>> = std::sync::OnceLock::new();
    GROUPS.get_or_init(|| {
        let mut groups = vec![(1u64, Vec::new())];
        for p in primes_below(1024).skip(1) {
            match groups.last_mut() {
                Some((product, primes)) if *product < (1 << 63) / p => {
                    *product *= p;
                    primes.push(p);
                }
                _ => groups.push((p, vec![p])),
            }
        }
        groups
    })
}

/// One round of Miller–Rabin for an odd n > 3 with a base in the form of the ring, not 0.
fn passes_round(ring: &mut FastRing, base: &[u64], odd: &[u64], twos: u32) -> bool {
    let mut minus_one = ring.ring().modulus().to_vec();
    nat::sub(&mut minus_one, &[1]);
    let mut power = ring.pow(base, odd);
    let mut passed = false;
    for i in 0..twos {
        let mut value = ring.leave(&power);
        passed |= value == minus_one || (i == 0 && nat::is_one(&value));
        value.zeroize();
        ring.square_assign(&mut power, 1);
    }
    minus_one.zeroize();
    power.zeroize();
    passed
}

/// Says whether an odd n > 3 passes Miller–Rabin with each of the bases that `bases` gives.
fn passes(n: &[u64], bases: impl Iterator<Item = Vec<u64>>) -> bool {
    let Some(mut plain) = Ring::new(n) else { return false };
    let mut ring = FastRing::new(&plain);
    plain.zeroize();
    let mut odd = Zeroizing::new(ring.ring().modulus().to_vec());
    odd[0] -= 1;
    let mut twos = 0;
    while odd[0] & 1 == 0 {
        nat::shr(&mut odd, 1);
        twos += 1;
    }
    let prime = bases.into_iter().all(|base| {
        let mut base = nat::rem(&base, ring.ring().modulus());
        let trivial = nat::is_zero(&base);
        base = ring.enter(&base);
        let passed = trivial || passes_round(&mut ring, &base, &odd, twos);
        base.zeroize();
        passed
    });
    ring.zeroize();
    prime
}

/// Says whether an odd n > 3 is a probable prime: `rounds` bases drawn by hashing n, at least one.
///
/// A composite that was itself drawn at random passes with a probability far below 4^(−rounds); one
/// that was made to pass needs about 4^rounds trials of its maker.
pub(crate) fn is_probable_prime(n: &[u64], rounds: u32) -> bool {
    let rounds = rounds.max(1);
    if has_small_factor(n) {
        return false;
    }
    if let Ok(n) = <[u64; 4]>::try_from(n)
        && n[3] >> 63 == 1
    {
        return passes_256(n, rounds);
    }
    let base = hashed_bases(n);
    passes(n, (0..rounds).map(|round| nat::from_bytes(&base(round))))
}

/// What the hashes of bases begin with, before the limbs of n.
const BASE: &[u8; 21] = b"tetralith vdf base v1";

/// Bases drawn by hashing n.
fn hashed_bases(n: &[u64]) -> impl Fn(u32) -> [u8; 32] {
    let mut seed = Sha256::new_with_prefix(BASE);
    n.iter().for_each(|limb| seed.update(limb.to_be_bytes()));
    move |round| seed.clone().chain_update(round.to_be_bytes()).finalize().into()
}

/// Odd numbers of exactly 256 bits, one for each counter, among which a prime is looked for.
pub(crate) trait Candidates {
    fn one(&self, counter: u64) -> [u64; 4];

    /// Those of sixteen counters: word t of number l, the highest first, is `words[t][l]`.
    fn sixteen(&self, first: u64) -> [[u32; 16]; 8];
}

/// The first of them that is a probable prime: that passes Fermat's test with base 2 or a round of Miller–Rabin,
/// and `rounds` of that.
pub(crate) fn first_probable_prime(candidates: &impl Candidates, rounds: u32) -> [u64; 4] {
    if is_fast() {
        return first_in_lanes(candidates, rounds);
    }
    first_portable(candidates, rounds)
}

/// The same, one after another.
fn first_portable(candidates: &impl Candidates, rounds: u32) -> [u64; 4] {
    let mut all = (0..).map(|counter| candidates.one(counter));
    all.find(|candidate| is_probable_prime(candidate, rounds))
        .expect("about one in 89 odd numbers of 256 bits is a prime")
}

/// The same, sixteen candidates at a time: Fermat's test, which no prime fails, ends nearly all composites that
/// small primes have left.
fn first_in_lanes(candidates: &impl Candidates, rounds: u32) -> [u64; 4] {
    let mut left = Vec::with_capacity(32);
    let mut counters = (0..).step_by(16);
    loop {
        while left.len() < 16 {
            let first = counters.next().expect("a prime comes long before the counters end");
            let words = candidates.sixteen(first);
            let composite = have_small_factor_x16(&words);
            let lanes = (0..16).filter(|lane| composite >> lane & 1 == 0);
            left.extend(lanes.map(|lane| number(&words, lane)));
        }
        let (sixteen, _) = left.split_first_chunk().expect("there are sixteen");
        let maybe = fermat_x16(sixteen);
        let mut survivors = sixteen.iter().zip(maybe).filter(|(_, maybe)| *maybe);
        if let Some((n, _)) = survivors.find(|(n, _)| passes_256(**n, rounds)) {
            return *n;
        }
        left.drain(..16);
    }
}

/// The number in a lane.
fn number(words: &[[u32; 16]; 8], lane: usize) -> [u64; 4] {
    let limb = |t: usize| u64::from(words[t][lane]) << 32 | u64::from(words[t + 1][lane]);
    [limb(6), limb(4), limb(2), limb(0)]
}

/// [`is_probable_prime`] for an odd n of 256 bits.
fn passes_256(n: [u64; 4], rounds: u32) -> bool {
    if is_fast() {
        let mut firsts = (0..rounds).step_by(32);
        return firsts.all(|first| strong_x32(&n, &bases(&n, first..rounds)));
    }
    passes_256_portable(n, rounds)
}

/// The first 32 bases of some rounds; what is left is ones, with which all numbers pass.
fn bases(n: &[u64; 4], rounds: Range<u32>) -> [[u64; 4]; 32] {
    let prefix = [&BASE[..], n.map(u64::to_be_bytes).as_flattened()].concat();
    let mut bases = [[1, 0, 0, 0]; 32];
    let left = bases[..rounds.len().min(32)].chunks_mut(16);
    for (first, bases) in rounds.step_by(16).zip(left) {
        let counters: [u32; 16] = std::array::from_fn(|lane| first + lane as u32);
        let words = hash_16(&prefix, &counters.map(u32::to_be_bytes));
        bases.iter_mut().enumerate().for_each(|(lane, base)| *base = number(&words, lane));
    }
    bases
}

/// The limbs of 32 bytes.
fn limbs(bytes: &[u8; 32]) -> [u64; 4] {
    let limb = |i: usize| nat::from_bytes(&bytes[8 * i..8 * i + 8]).first().copied();
    [3, 2, 1, 0].map(|i| limb(i).unwrap_or(0))
}

/// [`is_probable_prime`] for an odd n of 256 bits, one number after the other.
fn passes_256_portable(n: [u64; 4], rounds: u32) -> bool {
    let field = Field256::new(n);
    let (one, minus_one) = (field.one(), field.minus_one());
    // n − 1 = odd·2^twos, and twos is at least 1.
    let twos = (0..256).find(|&i| nat::bit(&n, i + 1)).unwrap_or(255) + 1;
    let mut odd = [0; 4];
    (twos..256).filter(|&i| nat::bit(&n, i)).for_each(|i| set_bit(&mut odd, (i - twos) as u32));
    let hash = hashed_bases(&n);
    let base = |round: u32| field.enter(&limbs(&hash(round)));
    let passed = |base: [u64; 4], mut power: [u64; 4]| {
        let mut passed = base == [0; 4] || power == one || power == minus_one;
        for _ in 1..twos {
            power = field.mul(&power, &power);
            passed |= power == minus_one;
        }
        passed
    };
    // The first round ends nearly all composites; primes go through the others four at a time.
    let first = base(0);
    passed(first, field.pow(&first, &odd))
        && (1..rounds).step_by(4).all(|round| {
            // What is left of four bases is ones, with which all numbers pass.
            let bases =
                [0, 1, 2, 3].map(|k| if round + k < rounds { base(round + k) } else { one });
            let powers = field.pow_each(&bases, &odd);
            bases.into_iter().zip(powers).all(|(base, power)| passed(base, power))
        })
}

/// Draws two different primes, each 3 mod 4, of exactly `bits` bits (at least 64), the upper two of
/// which are ones; they are searched side by side where there are threads.
///
/// # Security
/// The exponentiations take the same time for all candidates ([`FastRing::pow`]); the number of
/// candidates and the sieve do not.
pub(crate) fn two_primes(bits: u32, rng: &mut impl CryptoRng) -> [Zeroizing<Vec<u64>>; 2] {
    loop {
        let [p, q] = [start(bits, rng), start(bits, rng)];
        let search = || prime_from(&q);
        let (p, q) = std::thread::scope(|scope| {
            // Without threads, one after the other.
            match std::thread::Builder::new().spawn_scoped(scope, search) {
                Ok(helper) => {
                    let p = prime_from(&p);
                    (p, helper.join().expect("the search does not panic"))
                }
                Err(_) => (prime_from(&p), search()),
            }
        });
        // Near primes could be found by Fermat's method: the upper 64 bits must differ. A search that
        // ran out of its size begins anew.
        if let (Some(p), Some(q)) = (p, q)
            && p.last() != q.last()
        {
            return [p, q];
        }
    }
}

/// A random number of so many bits, 3 mod 4, whose upper two bits are ones.
fn start(bits: u32, rng: &mut impl CryptoRng) -> Zeroizing<Vec<u64>> {
    let limbs = bits.div_ceil(64) as usize;
    let top = (bits - 1) % 64;
    let mut start = Zeroizing::new(vec![0; limbs]);
    start.iter_mut().for_each(|limb| *limb = rng.next_u64());
    start[0] |= 3;
    start[limbs - 1] &= u64::MAX >> (63 - top);
    set_bit(&mut start, bits - 1);
    set_bit(&mut start, bits - 2);
    start
}

/// Candidates that are sieved at once, and the primes that sieve them.
const SIEVED: usize = 4096;
const SIEVING: usize = 8192;

/// The first prime among start, start + 4, …; `None` where the size would change before.
fn prime_from(start: &[u64]) -> Option<Zeroizing<Vec<u64>>> {
    let bits = nat::bit_len(start);
    let mut base = Zeroizing::new(start.to_vec());
    loop {
        let composite = sieve(&base);
        for i in (0..SIEVED).filter(|&i| !composite[i]) {
            let mut candidate = base.clone();
            let carry = nat::add(&mut candidate, &[4 * i as u64]);
            if carry || nat::bit_len(&candidate) > bits {
                return None;
            }
            if is_random_prime(&candidate) {
                return Some(candidate);
            }
        }
        if nat::add(&mut base, &[4 * SIEVED as u64]) {
            return None;
        }
    }
}

/// Which of base, base + 4, … an odd prime below [`SIEVING`] divides.
fn sieve(base: &[u64]) -> Vec<bool> {
    let mut composite = vec![false; SIEVED];
    for p in primes_below(SIEVING).skip(1) {
        let rest = nat::rem_small(base, p);
        // The least i with base + 4·i = 0 mod p: i = −rest/4.
        let quarter = inverse_of_four(p);
        let first = ((p - rest) * quarter % p) as usize;
        (first..SIEVED).step_by(p as usize).for_each(|i| composite[i] = true);
    }
    composite
}

/// 4^(−1) mod an odd p.
fn inverse_of_four(p: u64) -> u64 {
    if p % 4 == 3 { p.div_ceil(4) } else { p - p / 4 }
}

/// Says whether a number drawn at random is a prime: the base 2 ends nearly all that are not, and 8
/// bases hashed from it (40 below 512 bits) leave a composite a probability below 2^-100.
fn is_random_prime(n: &[u64]) -> bool {
    let rounds = if nat::bit_len(n) < 512 { 40 } else { 8 };
    let base = hashed_bases(n);
    let hashed = (0..rounds).map(|round| nat::from_bytes(&base(round)));
    passes(n, std::iter::once(vec![2]).chain(hashed))
}

fn set_bit(a: &mut [u64], i: u32) {
    a[(i / 64) as usize] |= 1 << (i % 64);
}

#[cfg(test)]
mod tests;
