//! Eight proofs on P-256 at a time, one in each lane.
//!
//! The steps of [`crate::sec1::verify`], each for all rows of a chunk before the next. Rows that are not
//! well formed, and those that meet an exception of the formulas in lanes, are given to
//! [`crate::verify()`].
//!
//! RFC 9381 §5.3

use super::Row;
use crate::error::Error;
use crate::proof::Output;
use crate::sec1::{P256, Sec1, challenge, proof_to_hash};
use crate::suite::{Sec1Map, Suite};
use tetralith_kernels::lanes8::Lanes8;
use tetralith_kernels::p256x8::{
    DoubleMul, Lane, Points, decode_vartime, double_mul_vartime, encode_all,
};

/// What is read of a row whose lengths are right.
#[derive(Clone, Copy)]
struct Parsed {
    key: [u8; 33],
    gamma: [u8; 33],
    c: [u8; 16],
    s: [u8; 32],
    /// H, where it has been found.
    h: [u8; 33],
    h_point: Lane,
    /// Whether all is well so far.
    good: bool,
}

/// Counters that try-and-increment goes through here; the rest is left to the verifier of one.
const TRIES: u8 = 32;

/// Verifies rows, in order.
pub(super) fn verify(
    lanes: Lanes8,
    suite: Suite,
    map: Sec1Map,
    rows: &[Row<'_>],
) -> Vec<Result<Output, Error>> {
    let mut parsed: Vec<Parsed> = rows.iter().map(Parsed::new).collect();
    let keys = decode_part(lanes, &mut parsed, |row| row.key);
    let gammas = decode_part(lanes, &mut parsed, |row| row.gamma);
    match map {
        Sec1Map::TryAndIncrement => try_and_increment(lanes, rows, &mut parsed),
        Sec1Map::Sswu => sswu(lanes, rows, &mut parsed),
    }
    let commitments = commitments(lanes, &mut parsed, &keys, &gammas);
    let verdict = |((row, parsed), [u, v]): ((&Row<'_>, &Parsed), &[[u8; 33]; 2])| {
        if !parsed.good {
            return crate::verify(suite, row.public_key, row.alpha, row.proof);
        }
        let Parsed { key, gamma, c, h, .. } = parsed;
        if challenge::<P256>(map, key, h, gamma, u, v) != *c {
            return Err(Error::Invalid);
        }
        Ok(Output::new(suite, &proof_to_hash::<P256>(map, gamma)))
    };
    rows.iter().zip(&parsed).zip(&commitments).map(verdict).collect()
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    core::array::from_fn(|i| bytes[at + i])
}

impl Parsed {
    /// Cuts a row into its parts. RFC 9381 §5.4.4
    fn new(row: &Row<'_>) -> Parsed {
        let mut parsed = Parsed {
            key: [0; 33],
            gamma: [0; 33],
            c: [0; 16],
            s: [0; 32],
            h: [0; 33],
            h_point: Lane::default(),
            good: false,
        };
        if (row.public_key.len(), row.proof.len()) == (33, 81) {
            parsed.key = take(row.public_key, 0);
            parsed.gamma = take(row.proof, 0);
            (parsed.c, parsed.s) = (take(row.proof, 33), take(row.proof, 49));
            parsed.good = P256::scalar(&parsed.s).is_some();
        }
        parsed
    }
}

/// A part of eight rows from `start` on; missing rows are like the last one.
fn gather<T>(rows: &[Parsed], start: usize, part: impl Fn(&Parsed) -> T) -> [T; 8] {
    core::array::from_fn(|lane| part(&rows[(start + lane).min(rows.len() - 1)]))
}

/// Decodes a point of every row, and marks those where there is none.
fn decode_part(
    lanes: Lanes8,
    rows: &mut [Parsed],
    part: impl Fn(&Parsed) -> [u8; 33],
) -> Vec<Points> {
    (0..rows.len())
        .step_by(8)
        .map(|start| {
            let (points, good) = decode_vartime(lanes, &gather(rows, start, &part));
            for (lane, row) in rows[start..].iter_mut().take(8).enumerate() {
                row.good &= good >> lane & 1 == 1;
            }
            points
        })
        .collect()
}

/// Rows that have no point yet try the next counter, together. RFC 9381 §5.4.1.1
fn try_and_increment(lanes: Lanes8, rows: &[Row<'_>], parsed: &mut [Parsed]) {
    let mut missing: Vec<usize> = (0..rows.len()).filter(|&i| parsed[i].good).collect();
    for counter in 0..TRIES {
        let mut missed = Vec::new();
        for eight in missing.chunks(8) {
            let candidates: [[u8; 33]; 8] = core::array::from_fn(|lane| {
                let row = eight[lane.min(eight.len() - 1)];
                crate::hash_to_curve::sec1_candidate::<P256>(
                    &parsed[row].key,
                    rows[row].alpha,
                    counter,
                )
            });
            let (points, good) = decode_vartime(lanes, &candidates);
            for (lane, &row) in eight.iter().enumerate() {
                if good >> lane & 1 == 1 {
                    parsed[row].h = candidates[lane];
                    parsed[row].h_point = points.lane(lanes, lane);
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
fn sswu(lanes: Lanes8, rows: &[Row<'_>], parsed: &mut [Parsed]) {
    for (row, parsed) in rows.iter().zip(parsed.iter_mut()).filter(|(_, parsed)| parsed.good) {
        match P256::map_sswu(&[&parsed.key, row.alpha]) {
            Ok(point) => parsed.h = P256::encode(&point),
            Err(_) => parsed.good = false,
        }
    }
    let points = decode_part(lanes, parsed, |row| row.h);
    for (i, row) in parsed.iter_mut().enumerate() {
        row.h_point = points[i / 8].lane(lanes, i % 8);
    }
}

/// The encodings of U = s B - c Y and V = s H - c Γ of every row; rows are marked where these were not
/// found.
fn commitments(
    lanes: Lanes8,
    rows: &mut [Parsed],
    keys: &[Points],
    gammas: &[Points],
) -> Vec<[[u8; 33]; 2]> {
    let mut points = Vec::with_capacity(2 * keys.len());
    for (group, (y, gamma)) in keys.iter().zip(gammas).enumerate() {
        let start = 8 * group;
        let (s, c) = (gather(rows, start, |row| row.s), gather(rows, start, |row| row.c));
        let h = Points::from_lanes(lanes, &gather(rows, start, |row| row.h_point));
        let sums = [
            DoubleMul { s: &s, p: None, c: &c, q: y },
            DoubleMul { s: &s, p: Some(&h), c: &c, q: gamma },
        ];
        for (sum, good) in double_mul_vartime(lanes, &sums) {
            points.push(sum);
            for (lane, row) in rows[start..].iter_mut().take(8).enumerate() {
                row.good &= good >> lane & 1 == 1;
            }
        }
    }
    let encodings = encode_all(lanes, &points);
    let of_row = |i: usize| [0, 1].map(|k| encodings[2 * (i / 8) + k][i % 8]);
    (0..rows.len()).map(of_row).collect()
}
