use super::*;

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    match *state >> 60 {
        0 => u64::MAX,
        1 => 0,
        _ => *state ^ *state >> 33,
    }
}

fn odd(state: &mut u64) -> [u64; 4] {
    [next(state) | 1, next(state), next(state), next(state) | 1 << 63]
}

/// 2^255 + 95, 2^256 − 189, and 2^255 + 2^41 + 1, from which 41 factors of two are taken.
const PRIMES: [[u64; 4]; 3] = [
    [95, 0, 0, 1 << 63],
    [u64::MAX - 188, u64::MAX, u64::MAX, u64::MAX],
    [1 << 41 | 1, 0, 0, 1 << 63],
];

#[test]
fn tests_match_the_portable_ring() {
    let mut state = 5;
    for round in 0..30 {
        let mut n: [[u64; 4]; 16] = core::array::from_fn(|_| odd(&mut state));
        // Every lane has its turn with a prime; and numbers that end in many zeros and a one.
        n[round % 16] = PRIMES[round % 3];
        n[(round + 5) % 16][0] = 1;
        n[(round + 6) % 16] = [u64::MAX; 4];
        n[(round + 7) % 16] = [1, 0, 0, 1 << 63];
        let mut bases: [[u64; 4]; 32] =
            core::array::from_fn(|_| [next(&mut state), next(&mut state), 0, next(&mut state)]);
        bases[round % 32] = [0; 4];
        let got = fermat_x16(&n);
        for lane in 0..16 {
            if round % 2 == 1 {
                bases[(round + 1) % 32] = n[lane];
            }
            let (fermat, strong) = (fermat(&n[lane]), strong(&n[lane], &bases));
            assert_eq!(got[lane], fermat, "{:x?}", n[lane]);
            assert_eq!(strong_x32(&n[lane], &bases), strong, "{:x?}", n[lane]);
        }
        assert!(got[round % 16] && strong(&n[round % 16], &bases));
    }
}

#[test]
fn one_bad_base_is_enough() {
    // A square of a prime of 128 bits, of which p + 1 is a base that passes no round, and 1 and
    // n − 1 pass all.
    let p = u128::MAX - 158;
    let ring = Ring::new(&[u64::MAX; 5]).unwrap();
    let limbs = [p as u64, (p >> 64) as u64, 0, 0, 0];
    let square = ring.leave(&ring.mul(&ring.enter(&limbs), &ring.enter(&limbs)));
    let n: [u64; 4] = square[..4].try_into().unwrap();
    let less = [n[0] - 1, n[1], n[2], n[3]];
    for lane in 0..32 {
        let mut bases = [[1, 0, 0, 0], less].repeat(16);
        assert!(strong_x32(&n, bases[..].try_into().unwrap()) && strong(&n, &bases));
        bases[lane] = [limbs[0] + 1, limbs[1], 0, 0];
        assert!(!strong_x32(&n, bases[..].try_into().unwrap()), "{lane}");
        assert!(!strong(&n, &bases), "{lane}");
    }
}
