use super::super::Portable;
use super::*;
use crate::weierstrass::{Affine, commitments_vartime};

fn groups(n: usize, mut next: impl FnMut() -> u8) -> Vec<[[u8; 33]; 8]> {
    let mut point = || loop {
        let mut bytes: [u8; 33] = core::array::from_fn(|_| next());
        bytes[0] = 2 + (bytes[0] & 1);
        if Affine::<Portable>::decode_vartime(&bytes).is_some() {
            return bytes;
        }
    };
    (0..n).map(|_| core::array::from_fn(|_| point())).collect()
}

fn random() -> impl FnMut() -> u8 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    }
}

fn affine(bytes: &[u8; 33]) -> Affine<Portable> {
    Affine::decode_vartime(bytes).unwrap()
}

#[test]
fn eight_agree_with_portable() {
    let Some(lanes) = Lanes8::detect() else {
        println!("left out, for want of AVX-512 IFMA");
        return;
    };
    let mut next = random();
    for round in 0..12 {
        let points = groups(3, &mut next);
        let decoded = [0, 1, 2].map(|i| decode_vartime(lanes, &points[i]));
        assert!(decoded.iter().all(|(_, good)| *good == 0xff));
        let [y, h, q] = decoded.map(|(point, _)| point);
        assert_eq!(encode_all(lanes, &[y, h, q]), points);
        let mut s: [[u8; 32]; 8] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
        let mut c: [[u8; 16]; 8] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
        if round > 5 {
            s[round - 6] =
                core::array::from_fn(|i| if round % 2 == 0 { 0xff } else { (i / 31) as u8 });
            c[(round + 1) % 8] = [if round % 2 == 0 { 0xff } else { 0x88 }; 16];
        }
        let both = double_mul_vartime(
            lanes,
            &[
                DoubleMul { s: &s, p: None, c: &c, q: &y },
                DoubleMul { s: &s, p: Some(&h), c: &c, q: &q },
            ],
        );
        let encoded = encode_all(lanes, &[both[0].0, both[1].0]);
        for lane in 0..8 {
            let [y, h, q] = [0, 1, 2].map(|i: usize| affine(&points[i][lane]));
            let expected = commitments_vartime(&s[lane], &c[lane], &y, &h, &q);
            for k in 0..2 {
                assert!(both[k].1 >> lane & 1 == 1);
                assert_eq!(
                    Some(encoded[k][lane]),
                    expected[k].map(|p| p.encode()),
                    "{round} {lane}"
                );
            }
        }
    }
}

#[test]
fn exceptions_are_told() {
    let Some(lanes) = Lanes8::detect() else { return };
    let mut next = random();
    let points = groups(1, &mut next);
    let (p, _) = decode_vartime(lanes, &points[0]);
    let small = |n: u8| -> [u8; 32] { core::array::from_fn(|i| if i == 31 { n } else { 0 }) };
    let short = |n: u8| -> [u8; 16] { core::array::from_fn(|i| if i == 15 { n } else { 0 }) };
    // n P − n P, P − 0, 0 − P, 3 P − P, 0 − 0, and 16 P − 8 P, where 8 P is what is added to 16 P.
    let pairs = [(1, 1), (1, 0), (0, 1), (3, 1), (0, 0), (16, 8), (200, 200), (200, 100)];
    let (s, c) = (pairs.map(|(s, _)| small(s)), pairs.map(|(_, c)| short(c)));
    let sums = double_mul_vartime(lanes, &[DoubleMul { s: &s, p: Some(&p), c: &c, q: &p }]);
    let encoded = encode_all(lanes, &[sums[0].0]);
    let q = affine(&points[0][0]);
    for (lane, (a, b)) in pairs.into_iter().enumerate() {
        let good = sums[0].1 >> lane & 1 == 1;
        assert!(good || a == b || a == 0 || b == 0 || a == 2 * b, "{a} {b}");
        assert!(a != b || !good);
        let p = affine(&points[0][lane]);
        let [_, expected] = commitments_vartime(&small(a), &short(b), &q, &p, &p);
        if good {
            assert_eq!(Some(encoded[0][lane]), expected.map(|p| p.encode()), "{a} {b}");
        }
    }
}

#[test]
fn bad_encodings_are_told() {
    let Some(lanes) = Lanes8::detect() else { return };
    let mut next = random();
    for _ in 0..20 {
        let mut bytes: [[u8; 33]; 8] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
        for (i, bytes) in bytes.iter_mut().enumerate() {
            bytes[0] = if i == 7 { bytes[0] } else { 2 + (bytes[0] & 1) };
        }
        bytes[6][1..].copy_from_slice(&PRIME);
        bytes[5][1..].fill(0xff);
        bytes[4][1..].fill(0);
        let (points, good) = decode_vartime(lanes, &bytes);
        let encoded = encode_all(lanes, &[points]);
        for lane in 0..8 {
            let expected = Affine::<Portable>::decode_vartime(&bytes[lane]);
            assert_eq!(good >> lane & 1 == 1, expected.is_some());
            if expected.is_some() {
                assert_eq!(encoded[0][lane], bytes[lane]);
            }
        }
    }
}

/// The portable twin of the room gives the same results where the kernel has one.
#[test]
fn the_twin_gives_the_same() {
    use crate::weierstrass::eight;
    let Some(lanes) = Lanes8::detect() else { return };
    let mut next = random();
    for _ in 0..4 {
        let mut bytes = groups(2, &mut next);
        bytes[1][3][1..].fill(0xff);
        let [(p, p_good), (q, q_good)] = [0, 1].map(|i| decode_vartime(lanes, &bytes[i]));
        let twins = [0, 1].map(|i| eight::decode_vartime::<Portable>(lanes, &bytes[i]));
        assert_eq!([p_good, q_good], twins.map(|(_, good)| good));
        let s: [[u8; 32]; 8] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
        let c: [[u8; 16]; 8] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
        for with_p in [false, true] {
            let sums = double_mul_vartime(
                lanes,
                &[DoubleMul { s: &s, p: with_p.then_some(&p), c: &c, q: &q }],
            );
            let (twin_p, twin_q) = (&twins[0].0, &twins[1].0);
            let twin = eight::double_mul_vartime(
                lanes,
                &[DoubleMul { s: &s, p: with_p.then_some(twin_p), c: &c, q: twin_q }],
            );
            let encoded = encode_all(lanes, &[sums[0].0])[0];
            let expected = eight::encode_all(lanes, &[twin[0].0])[0];
            for lane in (0..8).filter(|lane| q_good >> lane & 1 == 1) {
                assert_eq!(encoded[lane], expected[lane], "{with_p} {lane}");
                assert!((sums[0].1 & twin[0].1) >> lane & 1 == 1);
            }
            let moved = Points::from_lanes(
                lanes,
                &core::array::from_fn(|lane| sums[0].0.lane(lanes, 7 - lane)),
            );
            let twin = eight::Points::from_lanes(
                lanes,
                &core::array::from_fn(|lane| twin[0].0.lane(lanes, 7 - lane)),
            );
            let (moved, twin) =
                (encode_all(lanes, &[moved])[0], eight::encode_all(lanes, &[twin])[0]);
            for lane in (0..8).filter(|lane| q_good >> (7 - lane) & 1 == 1) {
                assert_eq!(moved[lane], twin[lane]);
            }
        }
    }
}
