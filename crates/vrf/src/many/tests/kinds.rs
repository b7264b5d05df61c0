//! Rows to verify of every kind: honest, forged, malformed, and with points of small order.

use super::super::Row;
use crate::sec1::{self, K256, P256, Sec1};
use crate::suite::{EdwardsRules, Format, Group, Negation, Sec1Map, Suite};
use crate::{SecretKey, edwards, hash_to_curve};
use curve25519_dalek::Scalar;
use curve25519_dalek::constants::EIGHT_TORSION;
use tetralith_kernels::edwards25519::{NegativeZero, Point, base};

pub(super) const EDWARDS: [Suite; 8] = [
    Suite::Draft03Cardano,
    Suite::Draft03Algorand,
    Suite::Draft13BatchCompat,
    Suite::Edwards25519Tai,
    Suite::Edwards25519Ell2,
    Suite::Draft03Blake2b,
    Suite::Draft03Tai,
    Suite::Draft03Blake2bTai,
];

/// A row that owns its bytes: key, input, proof.
#[derive(Clone, Debug)]
pub(super) struct Owned(pub(super) Vec<u8>, pub(super) Vec<u8>, pub(super) Vec<u8>);

pub(super) fn rules(suite: Suite) -> &'static EdwardsRules {
    match suite.group() {
        Group::Edwards25519(rules) => rules,
        _ => panic!("a suite on edwards25519"),
    }
}

pub(super) fn honest(suite: Suite, i: u8) -> Owned {
    let key = SecretKey::from_bytes(suite, &[i.wrapping_add(1); 32]).unwrap();
    let alpha = vec![i; 37 * usize::from(i) % 301];
    let proof = key.prove(&alpha).unwrap().as_bytes().to_vec();
    Owned(key.public_key().as_bytes().to_vec(), alpha, proof)
}

fn torsion(i: usize) -> Point {
    Point::decode(&EIGHT_TORSION[i].compress().to_bytes(), NegativeZero::Refuse).unwrap()
}

/// What a prover may do who adds points of small order to the key and to Γ: he takes `guess` times them
/// off U and V. Returns also whether that is right.
fn with_torsion(suite: Suite, seed: u8, on: [usize; 2], k: u64, guess: u64) -> (Owned, bool) {
    let rules = rules(suite);
    let x = Scalar::from_bytes_mod_order([seed; 32]);
    let y = base().mul(&x.to_bytes()).add(&torsion(on[0])).encode();
    let alpha = vec![seed; 9];
    let h = hash_to_curve::edwards(rules, &y, &alpha).unwrap();
    let gamma = h.mul(&x.to_bytes()).add(&torsion(on[1])).encode();
    let k = Scalar::from(k);
    let minus = |i: usize| torsion((8 - guess as usize) * i % 8);
    let u = base().mul(&k.to_bytes()).add(&minus(on[0])).encode();
    let v = h.mul(&k.to_bytes()).add(&minus(on[1])).encode();
    let c = edwards::challenge(rules, &y, &h.encode(), &gamma, &u, &v);
    let s = (k + edwards::scalar(&c) * x).to_bytes();
    let proof = match rules.format {
        Format::Challenge => [&gamma[..], &c, &s].concat(),
        Format::Commitments => [gamma, u, v, s].concat(),
    };
    // The verifier takes off c times them, or c − L times; L is 5 mod 8.
    let times = match rules.negation {
        Negation::Integer => u64::from(c[0]),
        Negation::ModOrder => u64::from(c[0]) + 3,
    };
    let right = on.iter().all(|&i| ((times + 8 - guess) * i as u64).is_multiple_of(8));
    (Owned(y.to_vec(), alpha, proof), right)
}

/// The same with the nonce tried until the guess is right, or is wrong: that it can be where a point is
/// added.
pub(super) fn ground(suite: Suite, seed: u8, on: [usize; 2], accepted: bool) -> Owned {
    let trials = (1000..).map(|k| with_torsion(suite, seed, on, k, k % 8));
    trials.filter(|(_, right)| *right == accepted).map(|(row, _)| row).next().unwrap()
}

/// A proof whose challenge, or whose U for a proof that carries U and V, has one wrong byte, and whose s
/// is made to fit: every other check of the verifier holds.
pub(super) fn near_miss(suite: Suite, byte: usize) -> Owned {
    let alpha = vec![9; 9];
    match suite.group() {
        Group::Edwards25519(rules) => edwards_near_miss(rules, alpha, byte),
        Group::P256(map) => sec1_near_miss::<P256>(map, alpha, byte),
        Group::Secp256k1(map) => sec1_near_miss::<K256>(map, alpha, byte),
    }
}

fn edwards_near_miss(rules: &EdwardsRules, alpha: Vec<u8>, byte: usize) -> Owned {
    let (x, k) = (Scalar::from(7u8), Scalar::from(11u8));
    let y = base().mul(&x.to_bytes()).encode();
    let h = hash_to_curve::edwards(rules, &y, &alpha).unwrap();
    let gamma = h.mul(&x.to_bytes()).encode();
    let mut u = base().mul(&k.to_bytes()).encode();
    let v = h.mul(&k.to_bytes()).encode();
    let mut c = edwards::challenge(rules, &y, &h.encode(), &gamma, &u, &v);
    match rules.format {
        Format::Challenge => c[byte % 16] ^= 1,
        Format::Commitments => {
            u[byte % 32] ^= 1;
            c = edwards::challenge(rules, &y, &h.encode(), &gamma, &u, &v);
        }
    }
    let s = (k + edwards::scalar(&c) * x).to_bytes();
    let proof = match rules.format {
        Format::Challenge => [&gamma[..], &c, &s].concat(),
        Format::Commitments => [gamma, u, v, s].concat(),
    };
    Owned(y.to_vec(), alpha, proof)
}

fn sec1_near_miss<C: Sec1>(map: Sec1Map, alpha: Vec<u8>, byte: usize) -> Owned {
    let number = |n: u8| C::scalar_reduced(&core::array::from_fn(|i| if i == 31 { n } else { 0 }));
    let (x, k) = (number(7), number(11));
    let y = C::encode(&C::mul_base(&x));
    let h_point = hash_to_curve::sec1::<C>(map, &y, &alpha).unwrap();
    let [h, gamma, v] = [number(1), x, k].map(|n| C::encode(&C::mul(&h_point, &n)));
    let u = C::encode(&C::mul_base(&k));
    let mut c = sec1::challenge::<C>(map, &y, &h, &gamma, &u, &v);
    c[byte % 16] ^= 1;
    let wide = core::array::from_fn(|i| if i < 16 { 0 } else { c[i - 16] });
    let s = C::scalar_bytes(&C::mul_add(&k, &C::scalar_reduced(&wide), &x));
    Owned(y.to_vec(), alpha, [&gamma[..], &c, &s].concat())
}

/// One bit of something changed.
pub(super) fn forged(suite: Suite, i: u8) -> Owned {
    let Owned(mut key, mut alpha, mut proof) = honest(suite, i);
    let n = proof.len();
    match i % 6 {
        0 => proof[n - 32] ^= 1,
        1 => proof[32] ^= 0x40,
        2 => proof[5] ^= 1, // half of these leave the curve
        3 => alpha.push(0),
        4 => key[7] ^= 2,
        _ => proof[47] ^= 0x80,
    }
    Owned(key, alpha, proof)
}

/// Encodings that are not well formed, and points that are not what they should be.
fn strange(suite: Suite) -> Vec<Owned> {
    let mut all = Vec::new();
    let with = |i: u8, change: &dyn Fn(&mut Owned)| {
        let mut row = honest(suite, i);
        change(&mut row);
        row
    };
    for low in [0xec, 0xed, 0xee, 0xff] {
        for high in [0x7f, 0xff] {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (low, high);
            all.push(with(low, &|row| row.0.copy_from_slice(&bytes)));
            all.push(with(high, &|row| row.2[..32].copy_from_slice(&bytes)));
        }
    }
    for first in [0, 1, 2] {
        for last in [0, 0x80] {
            let mut bytes = [0; 32];
            (bytes[0], bytes[31]) = (first, last);
            all.push(with(first, &|row| row.0.copy_from_slice(&bytes)));
            all.push(with(last, &|row| row.2[..32].copy_from_slice(&bytes)));
        }
    }
    for point in EIGHT_TORSION {
        let bytes = point.compress().to_bytes();
        all.push(with(3, &|row| row.0.copy_from_slice(&bytes)));
        all.push(with(4, &|row| row.2[..32].copy_from_slice(&bytes)));
    }
    for length in [0, 31, 33] {
        all.push(with(5, &|row| row.0.resize(length, 1)));
    }
    for length in [0, 79, 81, 128, 127] {
        all.push(with(6, &|row| row.2.resize(length, 1)));
    }
    all.push(with(7, &|row| row.2.fill(0xff)));
    all.push(with(7, &|row| row.2[32..].fill(0))); // c = 0 and s = 0
    all.push(with(8, &|row| add_order(&mut row.2, 1)));
    all.push(with(9, &|row| add_order(&mut row.2, 8)));
    all.push(with(9, &|row| add_order(&mut row.2, 14)));
    all
}

/// Adds a multiple of L to s, which leaves it s mod L.
fn add_order(proof: &mut [u8], times: u32) {
    let at = proof.len() - 32;
    for _ in 0..times {
        let order_minus_1 = (-Scalar::ONE).to_bytes();
        let mut carry = 1u16;
        for (byte, add) in proof[at..].iter_mut().zip(order_minus_1) {
            carry += u16::from(*byte) + u16::from(add);
            *byte = carry as u8;
            carry >>= 8;
        }
    }
}

/// Every kind of row on edwards25519.
pub(super) fn all_kinds(suite: Suite) -> Vec<Owned> {
    let mut all: Vec<Owned> = (0..24).map(|i| honest(suite, i)).collect();
    all.extend((0..24).map(|i| forged(suite, i)));
    all.extend(strange(suite));
    for i in 0..64u8 {
        let on = [i % 8, i / 8].map(usize::from);
        all.push(ground(suite, i + 1, on, (on[0] + on[1]) % 2 == 0));
    }
    all.extend((0..16).map(|i| with_torsion(suite, 77, [4 * (i as usize & 1), 4], i, i % 8).0));
    all
}

/// Every kind of row on P-256 and secp256k1: also sums that are neutral, and points that the formulas
/// add to themselves.
pub(super) fn sec1_kinds(suite: Suite) -> Vec<Owned> {
    let mut all: Vec<Owned> = (0..24).flat_map(|i| [honest(suite, i), forged(suite, i)]).collect();
    let mut with = |i: u8, change: &dyn Fn(&mut Owned)| {
        let mut row = honest(suite, i);
        change(&mut row);
        all.push(row);
    };
    for tag in [0, 1, 4, 5, 0xff] {
        with(tag & 7, &|row| row.0[0] = tag);
        with(tag & 7, &|row| row.2[0] = tag);
    }
    for fill in [0, 1, 0xff] {
        with(fill & 7, &|row| row.0[1..].fill(fill));
        with(fill & 7, &|row| row.2[1..33].fill(fill));
        with(fill & 7, &|row| row.2[33..49].fill(fill));
        with(fill & 7, &|row| row.2[49..].fill(fill));
        with(fill & 7, &|row| row.2[33..].fill(fill));
    }
    for length in [0, 32, 80, 82] {
        with(7, &|row| row.0.resize(length, 2));
        with(8, &|row| row.2.resize(length, 2));
    }
    let mut one = [0; 32];
    one[31] = 1; // x = 1: Y is the generator
    let key = SecretKey::from_bytes(suite, &one).unwrap();
    for (s, c) in [(0, 0), (1, 1), (2, 1), (1, 0), (0, 1), (16, 8), (9, 1), (200, 100)] {
        let mut proof = key.prove(b"x").unwrap().as_bytes().to_vec();
        proof[33..].fill(0);
        (proof[48], proof[80]) = (c, s);
        all.push(Owned(key.public_key().as_bytes().to_vec(), b"x".to_vec(), proof));
    }
    all
}

pub(super) fn rows(owned: &[Owned]) -> Vec<Row<'_>> {
    owned.iter().map(|o| Row { public_key: &o.0, alpha: &o.1, proof: &o.2 }).collect()
}

/// Orders in which every row of `n` comes into every lane of eight and of four, and others in which
/// its neighbours are others.
pub(super) fn orders(n: usize) -> impl Iterator<Item = Vec<usize>> {
    let turned = (0..8).map(move |by| (0..n).map(|i| (i + by) % n).collect());
    let mixed = (1..6).map(move |by| (0..n).map(|i| (i * (2 * by + 1) + 5 * by) % n).collect());
    turned.chain(mixed)
}
