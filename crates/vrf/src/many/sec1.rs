//! Eight proofs on P-256 or secp256k1 at a time, one in each lane.
//!
//! The steps of [`crate::sec1::verify`], each for all rows of a chunk before the next. Rows that are not
//! well formed, and those that meet an exception of the formulas in lanes, are given to
//! [`crate::verify()`].
//!
//! RFC 9381 §5.3

use super::Row;
use crate::error::Error;
use crate::proof::Output;
use crate::sec1::{K256, P256, Sec1, challenge, proof_to_hash};
use crate::suite::{Sec1Map, Suite};
use tetralith_kernels::lanes8::Lanes8;
use tetralith_kernels::{p256x8, secp256k1x8};

/// A curve that has its points in lanes.
pub(super) trait Eight: Sec1 {
    /// Eight points.
    type Points: Copy;
    /// One of them.
    type Lane: Copy + Default;

    /// Decodes points; the mask has the lanes where that was possible.
    fn decode_eight(lanes: Lanes8, encodings: &[[u8; 33]; 8]) -> (Self::Points, u8);
    /// Encodes points.
    fn encode_all(lanes: Lanes8, points: &[Self::Points]) -> Vec<[[u8; 33]; 8]>;
    /// s B - c Y and s H - c G of y, h and g; the masks have the lanes where they were found.
    fn commitments(
        lanes: Lanes8,
        scalars: (&[[u8; 32]; 8], &[[u8; 16]; 8]),
        points: [&Self::Points; 3],
    ) -> Vec<(Self::Points, u8)>;
    fn lane(lanes: Lanes8, points: &Self::Points, lane: usize) -> Self::Lane;
    fn from_lanes(lanes: Lanes8, points: &[Self::Lane; 8]) -> Self::Points;
}

macro_rules! eight {
    ($curve:ident, $kernel:ident) => {
        impl Eight for $curve {
            type Points = $kernel::Points;
            type Lane = $kernel::Lane;

            fn decode_eight(lanes: Lanes8, encodings: &[[u8; 33]; 8]) -> (Self::Points, u8) {
                $kernel::decode_vartime(lanes, encodings)
            }

            fn encode_all(lanes: Lanes8, points: &[Self::Points]) -> Vec<[[u8; 33]; 8]> {
                $kernel::encode_all(lanes, points)
            }

            fn commitments(
                lanes: Lanes8,
                (s, c): (&[[u8; 32]; 8], &[[u8; 16]; 8]),
                [y, h, g]: [&Self::Points; 3],
            ) -> Vec<(Self::Points, u8)> {
                let u = $kernel::DoubleMul { s, p: None, c, q: y };
                let v = $kernel::DoubleMul { s, p: Some(h), c, q: g };
                $kernel::double_mul_vartime(lanes, &[u, v])
            }

            fn lane(lanes: Lanes8, points: &Self::Points, lane: usize) -> Self::Lane {
                points.lane(lanes, lane)
            }

            fn from_lanes(lanes: Lanes8, points: &[Self::Lane; 8]) -> Self::Points {
                Self::Points::from_lanes(lanes, points)
            }
        }
    };
}

eight!(P256, p256x8);
eight!(K256, secp256k1x8);

/// What is read of a row whose lengths are right.
#[derive(Clone, Copy)]
struct Parsed<C: Eight> {
    key: [u8; 33],
    gamma: [u8; 33],
    c: [u8; 16],
    s: [u8; 32],
    /// H, where it has been found.
    h: [u8; 33],
    h_point: C::Lane,
    /// Whether all is well so far.
    good: bool,
}

/// Counters that try-and-increment goes through here; the rest is left to the verifier of one.
const TRIES: u8 = 32;

/// Verifies rows, in order.
pub(super) fn verify<C: Eight>(
    lanes: Lanes8,
    suite: Suite,
    map: Sec1Map,
    rows: &[Row<'_>],
) -> Vec<Result<Output, Error>> {
    let mut parsed: Vec<Parsed<C>> = rows.iter().map(Parsed::new).collect();
    let keys = decode_part(lanes, &mut parsed, |row| row.key);
    let gammas = decode_part(lanes, &mut parsed, |row| row.gamma);
    match map {
        Sec1Map::TryAndIncrement => try_and_increment(lanes, rows, &mut parsed),
        Sec1Map::Sswu => sswu(lanes, rows, &mut parsed),
    }
    let commitments = commitments(lanes, &mut parsed, &keys, &gammas);
    let verdict = |((row, parsed), [u, v]): ((&Row<'_>, &Parsed<C>), &[[u8; 33]; 2])| {
        if !parsed.good {
            return crate::verify(suite, row.public_key, row.alpha, row.proof);
        }
        let Parsed { key, gamma, c, h, .. } = parsed;
        if challenge::<C>(map, key, h, gamma, u, v) != *c {
            return Err(Error::Invalid);
        }
        Ok(Output::new(suite, &proof_to_hash::<C>(map, gamma)))
    };
    rows.iter().zip(&parsed).zip(&commitments).map(verdict).collect()
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    core::array::from_fn(|i| bytes[at + i])
}

impl<C: Eight> Parsed<C> {
    /// Cuts a row into its parts. RFC 9381 §5.4.4
    fn new(row: &Row<'_>) -> Parsed<C> {
        let mut parsed = Parsed {
            key: [0; 33],
            gamma: [0; 33],
            c: [0; 16],
            s: [0; 32],
            h: [0; 33],
            h_point: C::Lane::default(),
            good: false,
        };
        if (row.public_key.len(), row.proof.len()) == (33, 81) {
            parsed.key = take(row.public_key, 0);
            parsed.gamma = take(row.proof, 0);
            (parsed.c, parsed.s) = (take(row.proof, 33), take(row.proof, 49));
            parsed.good = C::scalar(&parsed.s).is_some();
        }
        parsed
    }
}

/// A part of eight rows from `start` on; missing rows are like the last one.
fn gather<C: Eight, T>(rows: &[Parsed<C>], start: usize, part: impl Fn(&Parsed<C>) -> T) -> [T; 8] {
    core::array::from_fn(|lane| part(&rows[(start + lane).min(rows.len() - 1)]))
}

/// Decodes a point of every row, and marks those where there is none.
fn decode_part<C: Eight>(
    lanes: Lanes8,
    rows: &mut [Parsed<C>],
    part: impl Fn(&Parsed<C>) -> [u8; 33],
) -> Vec<C::Points> {
    (0..rows.len())
        .step_by(8)
        .map(|start| {
            let (points, good) = C::decode_eight(lanes, &gather(rows, start, &part));
            for (lane, row) in rows[start..].iter_mut().take(8).enumerate() {
                row.good &= good >> lane & 1 == 1;
            }
            points
        })
        .collect()
}

/// Rows that have no point yet try the next counter, together. RFC 9381 §5.4.1.1
fn try_and_increment<C: Eight>(lanes: Lanes8, rows: &[Row<'_>], parsed: &mut [Parsed<C>]) {
    let mut missing: Vec<usize> = (0..rows.len()).filter(|&i| parsed[i].good).collect();
    for counter in 0..TRIES {
        let mut missed = Vec::new();
        for eight in missing.chunks(8) {
            let candidates: [[u8; 33]; 8] = core::array::from_fn(|lane| {
                let row = eight[lane.min(eight.len() - 1)];
                crate::hash_to_curve::sec1_candidate::<C>(
                    &parsed[row].key,
                    rows[row].alpha,
                    counter,
                )
            });
            let (points, good) = C::decode_eight(lanes, &candidates);
            for (lane, &row) in eight.iter().enumerate() {
                if good >> lane & 1 == 1 {
                    parsed[row].h = candidates[lane];
                    parsed[row].h_point = C::lane(lanes, &points, lane);
                } else {
                    missed.push(row);
                }
            }
        }
        missing = missed;
    }
    for row in missing {
        parsed[row].good = false;
    }
}

/// RFC 9381 §5.4.1.2
fn sswu<C: Eight>(lanes: Lanes8, rows: &[Row<'_>], parsed: &mut [Parsed<C>]) {
    for (row, parsed) in rows.iter().zip(parsed.iter_mut()).filter(|(_, parsed)| parsed.good) {
        match C::map_sswu(&[&parsed.key, row.alpha]) {
            Ok(point) => parsed.h = C::encode(&point),
            Err(_) => parsed.good = false,
        }
    }
    let points = decode_part(lanes, parsed, |row| row.h);
    for (i, row) in parsed.iter_mut().enumerate() {
        row.h_point = C::lane(lanes, &points[i / 8], i % 8);
    }
}

/// The encodings of U = s B - c Y and V = s H - c Γ of every row; rows are marked where these were not
/// found.
fn commitments<C: Eight>(
    lanes: Lanes8,
    rows: &mut [Parsed<C>],
    keys: &[C::Points],
    gammas: &[C::Points],
) -> Vec<[[u8; 33]; 2]> {
    let mut points = Vec::with_capacity(2 * keys.len());
    for (group, (y, gamma)) in keys.iter().zip(gammas).enumerate() {
        let start = 8 * group;
        let (s, c) = (gather(rows, start, |row| row.s), gather(rows, start, |row| row.c));
        let h = C::from_lanes(lanes, &gather(rows, start, |row| row.h_point));
        for (sum, good) in C::commitments(lanes, (&s, &c), [y, &h, gamma]) {
            points.push(sum);
            for (lane, row) in rows[start..].iter_mut().take(8).enumerate() {
                row.good &= good >> lane & 1 == 1;
            }
        }
    }
    let encodings = C::encode_all(lanes, &points);
    let of_row = |i: usize| [0, 1].map(|k| encodings[2 * (i / 8) + k][i % 8]);
    (0..rows.len()).map(of_row).collect()
}
