//! Rows that differ, beside each other in all lanes: many say what one says. Rows start honest and are
//! damaged in the ways that tell verifiers apart: parts of small order, encodings that are not
//! canonical, s beyond the order, parts of other rows.

use std::sync::LazyLock;
use tetralith_kernels::edwards25519::{NegativeZero, Point};
use tetralith_vrf::{Row, SecretKey, Suite, verify, verify_many};

/// Key, input, proof.
type Owned = [Vec<u8>; 3];

static HONEST: LazyLock<Vec<Vec<Owned>>> = LazyLock::new(|| {
    let row = |suite, i: u8| {
        let key = SecretKey::from_bytes(suite, &[i + 1; 32]).expect("a key");
        let alpha = vec![i; usize::from(i) * 41 % 300];
        let proof = key.prove(&alpha).expect("a proof").as_bytes().to_vec();
        [key.public_key().as_bytes().to_vec(), alpha, proof]
    };
    Suite::ALL.iter().map(|&suite| (0..16).map(|i| row(suite, i)).collect()).collect()
});

const NEUTRAL: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    bytes
};

/// More rows than lanes, so that a batch ends in the middle of its lanes.
const MOST: usize = 11;

/// The order of the group, little-endian.
pub(crate) const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// A point of order 8; its multiples are all points of small order. L times it by a point of the curve
/// is what is left of the point.
pub(crate) static TORSION: LazyLock<Vec<Point>> = LazyLock::new(|| {
    let of_order_8 = (3u8..).find_map(|y| {
        let mut bytes = [0; 32];
        bytes[0] = y;
        let point = Point::decode(&bytes, NegativeZero::Refuse).ok()?.mul(&ORDER);
        (point.double().double().encode() != NEUTRAL).then_some(point)
    });
    let one = of_order_8.expect("every eighth point has one");
    let mut all = vec![one];
    for i in 1..8 {
        all.push(all[i - 1].add(&one));
    }
    all
});

/// Adds a point of small order to the point encoded at `at`, if there is one.
fn add_torsion(bytes: &mut [u8], at: usize, which: usize) {
    let Some(part) = bytes.get_mut(at..at + 32) else { return };
    let Ok(encoding) = <[u8; 32]>::try_from(&*part) else { return };
    if let Ok(point) = Point::decode(&encoding, NegativeZero::Accept) {
        part.copy_from_slice(&point.add(&TORSION[which % 8]).encode());
    }
}

/// Adds L to s.
fn add_order(proof: &mut [u8]) {
    let Some(at) = proof.len().checked_sub(32) else { return };
    let mut carry = 0;
    for (byte, add) in proof[at..].iter_mut().zip(ORDER) {
        carry += u16::from(*byte) + u16::from(add);
        *byte = carry as u8;
        carry >>= 8;
    }
}

fn damage(row: &mut Owned, others: &[Owned], (how, at, with): (u8, u8, u8)) {
    let part = usize::from(at) % 3;
    match how % 10 {
        0 => {
            let length = row[part].len().max(1);
            if let Some(byte) = row[part].get_mut(usize::from(with) % length) {
                *byte ^= 1 << (at >> 5);
            }
        }
        1 => add_torsion(&mut row[0], 0, usize::from(with)),
        2 => add_torsion(&mut row[2], 32 * usize::from(at % 3), usize::from(with)),
        3 => add_order(&mut row[2]),
        4 => row[part] = others[usize::from(with) % others.len()][part].clone(),
        5 => {
            let bytes = TORSION[usize::from(with) % 8].encode();
            let target = if at % 2 == 0 { &mut row[0] } else { &mut row[2] };
            if let Some(part) = target.get_mut(..32) {
                part.copy_from_slice(&bytes);
            }
        }
        6 => {
            // p + with, or with, with either sign
            let target = if at % 2 == 0 { &mut row[0] } else { &mut row[2] };
            if let Some(part) = target.get_mut(..32) {
                part.fill(if at & 2 == 0 { 0xff } else { 0 });
                part[0] = with;
                part[31] = (part[31] & 0x7f) | (at & 0x80);
            }
        }
        7 => row[part].truncate(usize::from(with)),
        8 => row[part].push(with),
        _ => {
            let top = if at % 2 == 0 { row[0].get_mut(31) } else { row[2].get_mut(31) };
            if let Some(top) = top {
                *top ^= 0x80;
            }
        }
    }
}

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some(data) = crate::read::<(u8, Vec<(u8, Vec<(u8, u8, u8)>)>)>(data) else { return };
    let (which, damages) = data;
    let which = usize::from(which) % Suite::ALL.len();
    let (suite, honest) = (Suite::ALL[which], &HONEST[which]);
    let owned: Vec<Owned> = damages
        .iter()
        .take(MOST)
        .map(|(start, damages)| {
            let mut row = honest[usize::from(*start) % honest.len()].clone();
            for &one in damages.iter().take(4) {
                damage(&mut row, honest, one);
            }
            row
        })
        .collect();
    let rows: Vec<Row<'_>> =
        owned.iter().map(|[public_key, alpha, proof]| Row { public_key, alpha, proof }).collect();
    for (row, verdict) in rows.iter().zip(verify_many(suite, &rows)) {
        assert_eq!(verdict, verify(suite, row.public_key, row.alpha, row.proof));
    }
}
