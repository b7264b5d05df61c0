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
fn bases_in_lanes_are_those_of_all_kernels() {
    let n = [5, 6, 7, 1 << 63 | 8];
    let hash = hashed_bases(&n);
    for rounds in [0..28, 0..3, 0..32, 32..40, 0..70] {
        let made = bases(&n, rounds.clone());
        for (base, round) in made.iter().zip(rounds.start..) {
            let want = if rounds.contains(&round) { limbs(&hash(round)) } else { [1, 0, 0, 0] };
            assert_eq!(*base, want, "{rounds:?} {round}");
        }
    }
}

/// Odd numbers from one on.
struct Odd([u64; 4]);

impl Candidates for Odd {
    fn one(&self, counter: u64) -> [u64; 4] {
        let mut n = self.0;
        n[0] = n[0].wrapping_add(2 * counter);
        n
    }

    fn sixteen(&self, first: u64) -> [[u32; 16]; 8] {
        side_by_side(self, first)
    }
}

fn side_by_side(candidates: &impl Candidates, first: u64) -> [[u32; 16]; 8] {
    let word = |t: usize, lane: u64| {
        (candidates.one(first + lane)[3 - t / 2] >> (32 * (1 - t % 2))) as u32
    };
    std::array::from_fn(|t| std::array::from_fn(|lane| word(t, lane as u64)))
}

/// A number before others.
struct Before([u64; 4], Odd);

impl Candidates for Before {
    fn one(&self, counter: u64) -> [u64; 4] {
        counter.checked_sub(1).map_or(self.0, |counter| self.1.one(counter))
    }

    fn sixteen(&self, first: u64) -> [[u32; 16]; 8] {
        side_by_side(self, first)
    }
}

/// Numbers p·(2p − 1) with p = 1 mod 4, which pass Fermat's test with base 2.
#[test]
fn pseudoprimes_are_no_primes() {
    for digits in [
        "87570fe49b2ec1af9c532a89401f16991744f1f77ff1d26e388db792a376ace9",
        "92adeb9bc771fd28e9c6693b9fd4afe344dfbe1bf21e5a34df751cff14292175",
    ] {
        let n = limbs(&hex::decode(digits).unwrap().try_into().unwrap());
        let want = first_portable(&Odd([5, 6, 7, 1 << 63]), 28);
        for rounds in [8, 28] {
            let candidates = Before(n, Odd([5, 6, 7, 1 << 63]));
            assert_eq!(first_probable_prime(&candidates, rounds), want, "{rounds}");
        }
    }
}

#[test]
fn the_first_prime_is_the_same_in_lanes() {
    let mut state = 9u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state ^ state >> 33
    };
    for _ in 0..20 {
        let candidates = Odd([next() | 1, next(), next(), next() | 1 << 63]);
        let one_by_one = |n: &[u64; 4]| !has_small_factor(n) && passes_256_portable(*n, 28);
        let want = (0..).map(|i| candidates.one(i)).find(one_by_one).unwrap();
        assert_eq!(first_probable_prime(&candidates, 28), want);
        assert_eq!(first_portable(&candidates, 28), want);
        // Already the first.
        assert_eq!(first_probable_prime(&Odd(want), 28), want);
        assert!([1, 3, 16, 17, 28, 32, 33, 70].iter().all(|&rounds| passes_256(want, rounds)));
    }
}

/// Two numbers p·(2p − 1), which pass for some bases: as many are asked with every kernel.
#[test]
fn every_kernel_asks_the_same_bases() {
    for (digits, passed) in [
        ("d26c5d6129318a8df92509e42d343c1771aea7b21f6f2ea3b52651b869c83afb", 3),
        ("93ca5fbf6dccd7b6145edce5cbddc3001514702d20bf30eb51f3e06cf52fb84b", 2),
    ] {
        let n = limbs(&hex::decode(digits).unwrap().try_into().unwrap());
        for rounds in 1..20 {
            assert_eq!(passes_256_portable(n, rounds), rounds <= passed, "{rounds}");
            assert_eq!(passes_256(n, rounds), rounds <= passed, "{rounds}");
        }
    }
}

#[test]
fn random_primes_have_their_size() {
    let mut rng = chacha20::ChaCha20Rng::seed_from_u64(1);
    for bits in [64, 96, 512, 1024] {
        let primes = two_primes(bits, &mut rng);
        assert_ne!(primes[0], primes[1]);
        for p in primes {
            assert_eq!(nat::bit_len(&p), u64::from(bits));
            assert_eq!(p[0] & 3, 3);
            assert!(is_probable_prime(&p, 16));
        }
    }
}

#[test]
fn the_sieve_leaves_what_no_small_prime_divides() {
    let base = [0x9e37_79b9_7f4a_7c17, 0xffff_ffff_ffff_1234];
    let composite = sieve(&base);
    for (i, &composite) in composite.iter().enumerate() {
        let mut n = base;
        nat::add(&mut n, &[4 * i as u64]);
        let divided = primes_below(SIEVING).any(|p| nat::rem_small(&n, p) == 0);
        assert_eq!(composite, divided, "{i}");
    }
    // The search ends where the size does.
    assert!(prime_from(&[u64::MAX]).is_none());
}
