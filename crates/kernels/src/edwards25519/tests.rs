use super::*;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;

fn stream(seed: u64) -> impl FnMut() -> [u8; 32] {
    let mut state = seed;
    move || {
        core::array::from_fn(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        })
    }
}

fn dalek(p: &Point) -> EdwardsPoint {
    CompressedEdwardsY(p.encode()).decompress().expect("an encoded point decodes")
}

fn on_curve(p: &Point) -> bool {
    let (x2, y2, z2) = (p.x.square(), p.y.square(), p.z.square());
    let equation = y2.sub(&x2).mul(&z2).ct_eq(&z2.square().add(&Fe::D.mul(&x2).mul(&y2)));
    (equation & p.x.mul(&p.y).ct_eq(&p.z.mul(&p.t))).into()
}

/// Points of the whole curve, torsion parts and all.
pub(crate) fn points() -> Vec<Point> {
    let mut next = stream(1);
    let mut all: Vec<Point> =
        (0..60).filter_map(|_| Point::decode(&next(), NegativeZero::Refuse).ok()).collect();
    all.push(Point::IDENTITY);
    for torsion in curve25519_dalek::constants::EIGHT_TORSION {
        let p = Point::decode(&torsion.compress().to_bytes(), NegativeZero::Refuse).unwrap();
        all.push(all[0].add(&p));
        all.push(p);
    }
    all
}

#[test]
fn decoding_agrees_with_dalek() {
    let mut next = stream(2);
    let mut decoded = 0;
    for _ in 0..300 {
        let mut bytes = next();
        bytes[31] &= 0xbf; // no non-canonical one by chance
        let expected = CompressedEdwardsY(bytes).decompress();
        match Point::decode(&bytes, NegativeZero::Refuse) {
            Ok(p) => {
                assert!(on_curve(&p));
                assert_eq!(p.encode(), bytes);
                assert!(expected.is_some());
                decoded += 1;
            }
            Err(e) => {
                assert_eq!(e, DecodeError::NotOnCurve);
                assert!(expected.is_none());
            }
        }
    }
    assert!(decoded > 100);
}

#[test]
fn strange_encodings_have_their_errors() {
    let mut identity = [0; 32];
    (identity[0], identity[31]) = (1, 0x80);
    assert_eq!(
        Point::decode(&identity, NegativeZero::Refuse).unwrap_err(),
        DecodeError::NegativeZero
    );
    let p = Point::decode(&identity, NegativeZero::Accept).unwrap();
    assert!(bool::from(p.is_identity()));
    for low in 0xed..=0xffu8 {
        for high in [0x7f, 0xff] {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (low, high);
            assert_eq!(
                Point::decode(&bytes, NegativeZero::Accept).unwrap_err(),
                DecodeError::NonCanonical
            );
        }
    }
}

#[test]
fn group_operations_agree_with_dalek() {
    let all = points();
    for p in &all {
        assert!(on_curve(p) && on_curve(&p.double()));
        assert_eq!(dalek(&p.double()), dalek(p) + dalek(p));
        assert_eq!(dalek(&p.mul_by_cofactor()), dalek(p).mul_by_cofactor());
        assert_eq!(bool::from(p.is_small_order()), dalek(p).is_small_order());
        assert_eq!(bool::from(p.is_identity()), dalek(p).is_identity());
        for q in &all {
            assert!(on_curve(&p.add(q)));
            assert_eq!(dalek(&p.add(q)), dalek(p) + dalek(q));
            assert_eq!(dalek(&p.sub(q)), dalek(p) - dalek(q));
        }
    }
    let four = [all[0], all[1], all[0].double(), Point::IDENTITY];
    assert_eq!(Point::encode_all(&four), four.map(|p| p.encode()));
}

/// Integers below 2^255, among them the group's order and its neighbours.
pub(crate) fn scalars() -> Vec<[u8; 32]> {
    let order = (-Scalar::ONE).to_bytes();
    let add = |n: u8| {
        let mut s = order;
        s[0] += n;
        s
    };
    let mut top = [0xff; 32];
    top[31] = 0x7f;
    let mut all = vec![[0; 32], add(0), add(1), add(2), add(9), top];
    for i in [0usize, 1, 2, 7, 8, 127, 128, 252, 253, 254] {
        let mut s = [0; 32];
        s[i / 8] = 1 << (i % 8);
        all.push(s);
    }
    let mut next = stream(3);
    for _ in 0..20 {
        let mut s = next();
        s[31] &= 0x7f;
        all.push(s);
    }
    all
}

/// The slow truth: bit by bit.
fn times(p: &Point, scalar: &[u8; 32]) -> Point {
    let mut r = Point::IDENTITY;
    for i in (0..256).rev() {
        r = r.double();
        if scalar[i / 8] >> (i % 8) & 1 == 1 {
            r = r.add(p);
        }
    }
    r
}

#[test]
fn multiplications_are_of_integers() {
    let all = points();
    let fixed_point = all[0].add(&all[all.len() - 1]);
    let fixed = FixedPoint::new(&fixed_point);
    for (i, s) in scalars().iter().enumerate() {
        let expected = times(&fixed_point, s);
        assert_eq!(fixed.mul(s).encode(), expected.encode());
        assert_eq!(fixed_point.mul(s).encode(), expected.encode());
        let p = &all[i % all.len()];
        let b = scalars()[(7 * i + 3) % scalars().len()];
        let expected = times(p, &b).add(&expected).encode();
        assert_eq!(p.double_mul_fixed_vartime(&b, &fixed, s).encode(), expected);
        assert_eq!(p.double_mul_vartime(&b, &fixed_point, s).encode(), expected);
    }
}

#[test]
fn the_base_point_is_the_standards() {
    let b = curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
    for s in scalars().iter().skip(6) {
        let scalar = Scalar::from_bytes_mod_order(*s);
        assert_eq!(base().mul(s).encode(), (b * scalar).compress().to_bytes());
    }
}

/// Elligator 2 step by step, with inversions, as the standard writes it.
fn elligator2_by_the_book(r: &Fe, sign: Sign) -> Point {
    let g = |x: &Fe| x.mul(&x.square().add(&Fe::A.mul(x)).add(&Fe::ONE));
    let r2 = r.square();
    let x1 = Fe::A.neg().mul(&r2.add(&r2).add(&Fe::ONE).invert());
    let x2 = x1.neg().sub(&Fe::A);
    let (square, root1) = Fe::sqrt_ratio(&g(&x1), &Fe::ONE);
    let (square2, root2) = Fe::sqrt_ratio(&g(&x2), &Fe::ONE);
    let (s, mut t) = if square.into() { (x1, root1) } else { (x2, root2) };
    assert!(bool::from(square | square2));
    let wanted = sign == Sign::Rfc9380 && bool::from(square);
    if bool::from(t.is_negative()) != wanted {
        t = t.neg();
    }
    let denominator = t.mul(&s.add(&Fe::ONE));
    if denominator.is_zero().into() {
        return Point::IDENTITY;
    }
    let mut x = elligator2::SQRT_MINUS_A_2.mul(&s).mul(&t.invert());
    let y = s.sub(&Fe::ONE).mul(&s.add(&Fe::ONE).invert());
    if sign == Sign::EvenX && bool::from(x.is_negative()) {
        x = x.neg();
    }
    let p = Point { x, y, z: Fe::ONE, t: x.mul(&y) };
    assert!(on_curve(&p));
    p.mul_by_cofactor()
}

#[test]
fn elligator2_agrees_with_the_book() {
    let c = elligator2::SQRT_MINUS_A_2;
    let a2 = Fe([486664, 0, 0, 0, 0]);
    assert!(bool::from(c.square().ct_eq(&a2.neg())) && !bool::from(c.is_negative()));
    let mut next = stream(4);
    let mut inputs = vec![[0; 32]; 2];
    inputs[1][0] = 1;
    inputs.extend((0..100).map(|_| next()));
    for bytes in inputs {
        let r = Fe::from_bytes(&bytes);
        for sign in [Sign::Rfc9380, Sign::EvenX] {
            let p = map_to_curve_elligator2(&r, sign);
            assert!(on_curve(&p));
            assert_eq!(p.encode(), elligator2_by_the_book(&r, sign).encode());
            assert!(dalek(&p).is_torsion_free());
        }
    }
    let zero = map_to_curve_elligator2(&Fe::ZERO, Sign::EvenX);
    assert!(bool::from(zero.is_identity()));
}
