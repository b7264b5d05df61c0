//! Primality: Miller–Rabin with bases that the caller draws, and random primes.

use crate::field256::Field256;
use crate::nat;
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use tetralith_kernels::mont::Ring;
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
    small_factors().iter().any(|(product, primes)| {
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

/// One round of Miller–Rabin for an odd n > 3 with a base in Montgomery form, not 0.
fn passes_round(ring: &Ring, base: &[u64], odd: &[u64], twos: u32) -> bool {
    let mut minus_one = ring.modulus().to_vec();
    nat::sub(&mut minus_one, ring.one());
    let mut power = ring.pow(base, odd);
    if power == ring.one() || power == minus_one {
        return true;
    }
    let mut wide = vec![0; 2 * ring.len()];
    for _ in 1..twos {
        ring.square_assign(&mut power, &mut wide);
        if power == minus_one {
            return true;
        }
    }
    false
}

/// Says whether an odd n > 3 passes Miller–Rabin with each of the bases that `bases` gives.
fn passes(n: &[u64], bases: impl Iterator<Item = Vec<u64>>) -> bool {
    let Some(mut ring) = Ring::new(n) else { return false };
    let mut odd = Zeroizing::new(ring.modulus().to_vec());
    odd[0] -= 1;
    let mut twos = 0;
    while odd[0] & 1 == 0 {
        nat::shr(&mut odd, 1);
        twos += 1;
    }
    let prime = bases.into_iter().all(|base| {
        let mut base = nat::rem(&base, ring.modulus());
        let trivial = nat::is_zero(&base);
        base = ring.enter(&base);
        let passed = trivial || passes_round(&ring, &base, &odd, twos);
        base.zeroize();
        passed
    });
    ring.zeroize();
    prime
}

/// Says whether an odd n > 3 is a probable prime: `rounds` bases drawn by hashing n.
///
/// A composite that was itself drawn at random passes with a probability far below 4^(−rounds); one
/// that was made to pass needs about 4^rounds trials of its maker.
pub(crate) fn is_probable_prime(n: &[u64], rounds: u32) -> bool {
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

/// Bases drawn by hashing n.
fn hashed_bases(n: &[u64]) -> impl Fn(u32) -> [u8; 32] {
    let mut seed = Sha256::new_with_prefix(b"tetralith vdf base v1");
    n.iter().for_each(|limb| seed.update(limb.to_be_bytes()));
    move |round| seed.clone().chain_update(round.to_be_bytes()).finalize().into()
}

/// [`is_probable_prime`] for an odd n of 256 bits.
fn passes_256(n: [u64; 4], rounds: u32) -> bool {
    let field = Field256::new(n);
    let (one, minus_one) = (field.one(), field.minus_one());
    // n − 1 = odd·2^twos, and twos is at least 1.
    let twos = (0..256).find(|&i| nat::bit(&n, i + 1)).unwrap_or(255) + 1;
    let mut odd = [0; 4];
    (twos..256).filter(|&i| nat::bit(&n, i)).for_each(|i| set_bit(&mut odd, (i - twos) as u32));
    let hash = hashed_bases(&n);
    // Whatever number a hash is in Montgomery form, it is as random as its plain form.
    let base = |round: u32| {
        let bytes = hash(round);
        let limb = |i: usize| nat::from_bytes(&bytes[8 * i..8 * i + 8]).first().copied();
        field.enter(&[3, 2, 1, 0].map(|i| limb(i).unwrap_or(0)))
    };
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
            let bases = [0, 1, 2, 3].map(|k| base(round + k));
            let powers = field.pow_each(&bases, &odd);
            bases.into_iter().zip(powers).all(|(base, power)| passed(base, power))
        })
}

/// Draws a prime p = 3 mod 4 of exactly `bits` bits (at least 64), the upper two of which are ones.
///
/// # Security
/// The exponentiations take the same time for all candidates; the number of candidates and the trial
/// divisions of the ones thrown away do not.
pub(crate) fn random_prime(bits: u32, rng: &mut impl CryptoRng) -> Zeroizing<Vec<u64>> {
    let limbs = bits.div_ceil(64) as usize;
    let top = (bits - 1) % 64;
    loop {
        let mut p = Zeroizing::new(vec![0; limbs]);
        p.iter_mut().for_each(|limb| *limb = rng.next_u64());
        p[0] |= 3;
        p[limbs - 1] &= u64::MAX >> (63 - top);
        set_bit(&mut p, bits - 1);
        set_bit(&mut p, bits - 2);
        if has_small_factor(&p) {
            continue;
        }
        let mut base = || (0..limbs).map(|_| rng.next_u64()).collect::<Vec<u64>>();
        // Random candidates of 512 bits and more that pass 8 rounds are composite with a probability
        // below 2^-100; the first round ends nearly all that are composite.
        if passes(&p, (0..if bits < 512 { 40 } else { 8 }).map(|_| base())) {
            return p;
        }
    }
}

fn set_bit(a: &mut [u64], i: u32) {
    a[(i / 64) as usize] |= 1 << (i % 64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    #[test]
    fn known_primes_and_composites() {
        let m127 = [u64::MAX, u64::MAX >> 1];
        assert!(is_probable_prime(&m127, 32));
        assert!(is_probable_prime(&[0xffff_ffff_ffff_ffc5], 32));
        assert!(is_probable_prime(&[1021], 4));
        assert!(!is_probable_prime(&nat::mul(&m127, &m127), 32));
        // A Carmichael number, and a strong pseudoprime to the bases 2, 3, 5, 7, 11, 13 and 17.
        assert!(!is_probable_prime(&[561], 32));
        assert!(!is_probable_prime(&[341_550_071_728_321], 32));
        assert_eq!(primes_below(30).collect::<Vec<_>>(), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }

    #[test]
    fn random_primes_have_their_size() {
        let mut rng = chacha20::ChaCha20Rng::seed_from_u64(1);
        for bits in [64, 96, 512] {
            let p = random_prime(bits, &mut rng);
            assert_eq!(nat::bit_len(&p), u64::from(bits));
            assert_eq!(p[0] & 3, 3);
            assert!(is_probable_prime(&p, 16));
        }
    }
}
