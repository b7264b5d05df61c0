use super::*;
use crate::edwards25519::{self, NegativeZero, Point, Sign, base};
use crate::edwards25519x8::{DoubleMul, MinusC, TwoMul};
use curve25519_dalek::constants::EIGHT_TORSION;

fn stream(seed: u64) -> impl FnMut() -> [u8; 32] {
    let mut state = seed;
    move || {
        core::array::from_fn(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        })
    }
}

fn lanes8() -> Option<Lanes8> {
    let lanes = Lanes8::detect();
    if lanes.is_none() {
        println!("left out: this CPU has no AVX-512 IFMA, or TETRALITH_KERNEL forbids it");
    }
    lanes
}

/// Encodings of all kinds: good, torsion, both, off the curve, not canonical, negative zeros.
fn encodings() -> Vec<[u8; 32]> {
    let mut next = stream(1);
    let mut all: Vec<[u8; 32]> = (0..40).map(|_| next()).collect();
    let good: Vec<Point> =
        all.iter().filter_map(|b| Point::decode(b, NegativeZero::Refuse).ok()).collect();
    for torsion in EIGHT_TORSION {
        let bytes = torsion.compress().to_bytes();
        let point = Point::decode(&bytes, NegativeZero::Refuse).unwrap();
        all.push(bytes);
        all.push(good[0].add(&point).encode());
    }
    for low in [0, 1, 0xec, 0xed, 0xee, 0xf0, 0xff] {
        for high in [0x7f, 0xff] {
            let mut b = [0xff; 32];
            (b[0], b[31]) = (low, high);
            all.push(b);
        }
        let mut b = [0; 32];
        (b[0], b[31]) = (low, 0x80);
        all.push(b);
    }
    all
}

/// Groups in which every encoding comes to every lane.
fn groups() -> Vec<[[u8; 32]; 8]> {
    let all = encodings();
    (0..all.len()).map(|i| core::array::from_fn(|lane| all[(i + 5 * lane) % all.len()])).collect()
}

#[test]
fn decoding_agrees_with_portable() {
    let Some(lanes) = lanes8() else { return };
    let groups = groups();
    let decoded = decode_all(lanes, &groups);
    let points: Vec<Points> = decoded.iter().map(|d| d.points).collect();
    let encoded = encode_all(lanes, &points);
    for ((group, decoded), encoded) in groups.iter().zip(&decoded).zip(&encoded) {
        let small = decoded.points.small_order(lanes);
        for lane in 0..8 {
            let bit = |mask: u8| mask >> lane & 1 == 1;
            let strict = Point::decode(&group[lane], NegativeZero::Refuse);
            let negative_zero =
                strict.as_ref().err() == Some(&edwards25519::DecodeError::NegativeZero);
            let found = match Point::decode(&group[lane], NegativeZero::Accept) {
                Ok(point) => {
                    assert!(!bit(decoded.non_canonical) && !bit(decoded.not_on_curve));
                    assert_eq!(bit(decoded.negative_zero), negative_zero);
                    point
                }
                Err(edwards25519::DecodeError::NonCanonical) => {
                    assert!(bit(decoded.non_canonical));
                    Point::IDENTITY
                }
                Err(_) => {
                    assert!(bit(decoded.not_on_curve) && !bit(decoded.non_canonical));
                    Point::IDENTITY
                }
            };
            assert_eq!(encoded[lane], found.encode());
            assert_eq!(bit(small), bool::from(found.is_small_order()));
        }
    }
}

#[test]
fn cofactors_are_cleared_as_portable() {
    let Some(lanes) = lanes8() else { return };
    for group in groups() {
        let points = decode_all(lanes, &[group])[0].points;
        let eight = encode_all(lanes, &[points.mul_by_cofactor(lanes)])[0];
        for lane in 0..8 {
            let p = Point::decode(&group[lane], NegativeZero::Accept).unwrap_or(Point::IDENTITY);
            assert_eq!(eight[lane], p.mul_by_cofactor().encode());
        }
    }
}

#[test]
fn elligator2_agrees_with_portable() {
    let Some(lanes) = lanes8() else { return };
    let groups = groups();
    for sign in [Sign::Rfc9380, Sign::EvenX] {
        let points = map_to_curve_elligator2_all(lanes, &groups, sign);
        for (group, encoded) in groups.iter().zip(encode_all(lanes, &points)) {
            for lane in 0..8 {
                let r = Fe::from_bytes(&group[lane]);
                let expected = edwards25519::map_to_curve_elligator2(&r, sign);
                assert_eq!(encoded[lane], expected.encode());
            }
        }
    }
}

/// Scalars below 2^253, edges among them.
fn scalars() -> Vec<[u8; 32]> {
    let mut all = vec![[0; 32], [0x88; 32], [0x77; 32], [0x80; 32], [0x7f; 32], [0xff; 32]];
    for bit in [0usize, 3, 4, 127, 128, 252] {
        let mut s = [0; 32];
        s[bit / 8] = 1 << (bit % 8);
        all.push(s);
    }
    let mut next = stream(7);
    all.extend((0..12).map(|_| next()));
    all.iter_mut().for_each(|s| s[31] &= 0x1f);
    all
}

/// -c as the portable scalar multiplication takes it, of the negated point or of the point.
fn minus_c_mul(p: &Point, c: &[u8; 16], rule: MinusC) -> Point {
    let mut integer = [0; 32];
    integer[..16].copy_from_slice(c);
    match rule {
        MinusC::Integer => p.neg().mul(&integer),
        MinusC::ModOrder => {
            p.mul(&(-curve25519_dalek::Scalar::from(u128::from_le_bytes(*c))).to_bytes())
        }
    }
}

#[test]
fn double_multiplications_agree_with_portable() {
    let Some(lanes) = lanes8() else { return };
    let all: Vec<[u8; 32]> = encodings()
        .into_iter()
        .filter(|b| Point::decode(b, NegativeZero::Refuse).is_ok())
        .collect();
    let scalars = scalars();
    let n = all.len();
    let pick = |i: usize, step: usize| -> [[u8; 32]; 8] {
        core::array::from_fn(|lane| all[(i * step + 3 * lane + step) % n])
    };
    for i in 0..2 * n {
        let minus_c = if i % 2 == 0 { MinusC::ModOrder } else { MinusC::Integer };
        // One group alone, two in step, and one after those; one over the fours whose powers go together.
        let rounds: Vec<usize> = (i..i + [1, 2, 3, 5, 9][i % 5]).collect();
        let s = |i: usize| core::array::from_fn(|lane| scalars[(i + lane) % scalars.len()]);
        let c = |i: usize| -> [[u8; 16]; 8] {
            core::array::from_fn(|lane| {
                core::array::from_fn(|j| scalars[(3 * i + lane) % scalars.len()][j])
            })
        };
        let inputs: Vec<_> = rounds
            .iter()
            .map(|&i| (s(i), c(i), decode_all(lanes, &[pick(i, 1), pick(i, 5), pick(i, 7)])))
            .collect();
        let groups: Vec<DoubleMul<'_>> = inputs
            .iter()
            .map(|(s, c, p)| DoubleMul { s, c, y: &p[0].points, g: &p[1].points, h: &p[2].points })
            .collect();
        let sums = double_mul_all_vartime(lanes, &groups, minus_c);
        for ((i, (s, c, _)), sums) in rounds.into_iter().zip(&inputs).zip(&sums) {
            let encoded = encode_all(lanes, sums);
            for lane in 0..8 {
                let p = |step| Point::decode(&pick(i, step)[lane], NegativeZero::Refuse).unwrap();
                let u = base().mul(&s[lane]).add(&minus_c_mul(&p(1), &c[lane], minus_c));
                let v = p(7).mul(&s[lane]).add(&minus_c_mul(&p(5), &c[lane], minus_c));
                assert_eq!(encoded[0][lane], u.encode(), "U, round {i}, lane {lane}");
                assert_eq!(encoded[1][lane], v.encode(), "V, round {i}, lane {lane}");
            }
        }
    }
}

/// Points of all cosets of the subgroup, with Z = 1 and without.
#[test]
fn torsion_is_found() {
    let Some(lanes) = lanes8() else { return };
    let subgroup: Vec<Point> = scalars().iter().map(|s| base().mul(s)).collect();
    let mut groups = Vec::new();
    for (i, p) in subgroup.iter().enumerate() {
        let cosets: [Point; 8] = core::array::from_fn(|lane| {
            let torsion = EIGHT_TORSION[(lane + i) % 8].compress().to_bytes();
            p.add(&Point::decode(&torsion, NegativeZero::Refuse).unwrap())
        });
        groups.push(Points::from_lanes(lanes, &cosets));
        groups.push(decode_all(lanes, &[cosets.map(|p| p.encode())])[0].points);
    }
    // SAFETY: `lanes` shows that the CPU has the features that the function enables.
    let found = unsafe { subgroup::torsion_free(&groups) };
    for (i, free) in found.iter().enumerate() {
        assert_eq!(*free, 1 << ((8 - i / 2 % 8) % 8), "group {i}");
    }
    // Powers of four groups go together: fewer than that, and one over.
    for n in [1, 5, 9] {
        // SAFETY: likewise.
        assert_eq!(unsafe { subgroup::torsion_free(&groups[..n]) }, found[..n]);
    }
}

#[test]
fn secret_multiplications_agree_with_portable() {
    let Some(lanes) = lanes8() else { return };
    let (scalars, groups) = (scalars(), groups());
    for (i, group) in groups.iter().enumerate().step_by(3) {
        let points = decode_all(lanes, &[*group])[0].points;
        let pick = |step: usize| -> [[u8; 32]; 8] {
            core::array::from_fn(|lane| scalars[(i * step + lane) % scalars.len()])
        };
        let (a, b) = (pick(1), pick(5));
        let [pa, pb] = two_mul_all(lanes, &[TwoMul { scalars: [&a, &b], point: &points }])[0];
        let encoded = encode_all(lanes, &[pa, pb, mul_base_all(lanes, &[a])[0]]);
        for lane in 0..8 {
            let p = Point::decode(&group[lane], NegativeZero::Accept).unwrap_or(Point::IDENTITY);
            assert_eq!(encoded[0][lane], p.mul(&a[lane]).encode());
            assert_eq!(encoded[1][lane], p.mul(&b[lane]).encode());
            assert_eq!(encoded[2][lane], base().mul(&a[lane]).encode());
        }
    }
}

/// One scalar of any number of groups: pairs of groups go together, so one is over at odd counts.
#[test]
fn one_secret_scalar_multiplies_as_portable() {
    let Some(lanes) = lanes8() else { return };
    let encodings = groups();
    for (i, scalar) in scalars().iter().enumerate() {
        let some = &encodings[i..i + [0, 1, 2, 3, 5][i % 5]];
        let points: Vec<Points> = decode_all(lanes, some).iter().map(|d| d.points).collect();
        let multiples = mul_all(lanes, scalar, &points);
        for (group, encoded) in some.iter().zip(encode_all(lanes, &multiples)) {
            for lane in 0..8 {
                let p = Point::decode(&group[lane], NegativeZero::Accept);
                let expected = p.unwrap_or(Point::IDENTITY).mul(scalar);
                assert_eq!(encoded[lane], expected.encode(), "scalar {i}, lane {lane}");
            }
        }
        assert_eq!(multiples.len(), some.len());
    }
}
