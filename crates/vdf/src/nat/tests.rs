use super::*;

#[test]
fn bytes_round_trip() {
    let bytes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    let limbs = from_bytes(&bytes);
    assert_eq!(limbs, [0x0203_0405_0607_0809, 1]);
    assert_eq!(to_bytes(&limbs, 10), bytes);
    assert_eq!(from_bytes(&[]), [0u64; 0]);
}

#[test]
fn jacobi_matches_euler() {
    for p in [3u64, 5, 7, 11, 13, 101, 65_537, 1_000_003] {
        for a in 0..40 {
            let euler = (0..(p - 1) / 2).fold(1, |r, _| r * a % p);
            let expected = if euler == p - 1 { -1 } else { euler as i8 };
            assert_eq!(jacobi(&[a], &[p]), expected, "({a}/{p})");
        }
    }
    assert_eq!(jacobi(&[2, 5], &[15, 0, 1]), jacobi(&rem(&[2, 5], &[15, 0, 1]), &[15, 0, 1]));
    assert_eq!(jacobi(&[6], &[9]), 0);
    assert_eq!(jacobi(&[2], &[15]), 1);
    assert_eq!(jacobi(&[7], &[15]), -1);
}

/// a mod n, a bit at a time.
fn rem_by_bits(a: &[u64], n: &[u64]) -> Vec<u64> {
    let mut out = vec![0; n.len() + 1];
    for i in (0..bit_len(a)).rev() {
        shl(&mut out, 1);
        out[0] |= u64::from(bit(a, i));
        if cmp(&out, n).is_ge() {
            sub(&mut out, n);
        }
    }
    out.truncate(n.len());
    out
}

#[test]
fn remainders_are_those_of_schoolbook_division() {
    // The quotient's limb is guessed too large here, and n is added back.
    let (a, n) = ([0, 0, 1 << 63, (1 << 63) - 1], [1, 0, 1 << 63]);
    assert_eq!(rem(&a, &n), rem_by_bits(&a, &n));
    let limbs = [0, 1, 2, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
    let mut state = 1u64;
    let mut draw = |most: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % most
    };
    for _ in 0..20_000 {
        let a: Vec<u64> = (0..draw(9)).map(|_| limbs[draw(8)]).collect();
        let mut n: Vec<u64> = (0..draw(5)).map(|_| limbs[draw(8)]).collect();
        n.push(limbs[1 + draw(7)] >> draw(64) | 1);
        assert_eq!(rem(&a, &n), rem_by_bits(&a, &n), "{a:x?} mod {n:x?}");
    }
}

#[test]
fn remainders_and_divisors() {
    assert_eq!(rem(&[7, 3], &[10]), [((3u128 << 64 | 7) % 10) as u64]);
    assert_eq!(rem(&[9], &[10]), [9]);
    assert_eq!(rem(&[10], &[10]), [0]);
    assert_eq!(rem(&[], &[10]), [0]);
    assert_eq!(gcd_odd(&[48], &[45]), [3]);
    assert_eq!(gcd_odd(&[0], &[45]), [45]);
    assert_eq!(gcd_odd(&mul(&[77, 5], &[35, 9]), &mul(&[77, 5], &[3])), [77, 5]);
    assert_eq!(gcd_odd(&[], &[45]), [45]);
    assert_eq!(gcd_odd(&[45], &[45]), [45]);
}

/// Euclid's algorithm with subtractions of shifted numbers, as an oracle.
fn gcd_slowly(a: &[u64], n: &[u64]) -> Vec<u64> {
    let (mut a, mut n) = (a.to_vec(), n.to_vec());
    trim(&mut a);
    trim(&mut n);
    while !a.is_empty() {
        let mut rest = rem(&n, &a);
        trim(&mut rest);
        n = std::mem::replace(&mut a, rest);
    }
    n
}

#[test]
fn divisors_of_random_numbers() {
    let mut state = 5u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        match state >> 61 {
            0 => 0,
            1 => u64::MAX,
            _ => state ^ state >> 33,
        }
    };
    for len in 1..6 {
        for _ in 0..20 {
            let common = [next(), next() | 1];
            let mut numbers = [len, 6 - len].map(|len| {
                let mut a: Vec<u64> = (0..len).map(|_| next()).collect();
                a[0] |= 1;
                mul(&a, &common)
            });
            // Common factors stay odd, one number may be even.
            shl(&mut numbers[0], 1 + (len as u32));
            let [a, mut n] = numbers;
            n[0] |= 1;
            assert_eq!(gcd_odd(&a, &n), gcd_slowly(&a, &n));
        }
    }
}

#[test]
fn roots() {
    let square = mul(&[5, 7], &[5, 7]);
    assert!(has_root(&square, 2));
    let mut near = square.clone();
    near[0] += 1;
    assert!(!has_root(&near, 2));
    assert!(has_root(&mul(&square, &[5, 7]), 3));
    assert!(has_root(&[3u64.pow(37)], 37));
}
