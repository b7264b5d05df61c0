//! Four proofs on edwards25519 at a time, for CPUs with AVX2 and no AVX-512 IFMA.
//!
//! The steps of [`crate::edwards::verify_encoded`], each for all rows of a chunk before the next:
//! exponentiations for square roots and the multiplications of points are done in lanes, and one
//! inversion serves all encodings of a step. A row that is not well formed is given to
//! [`crate::verify()`].
//!
//! RFC 9381 §5.3

mod prove;

pub(super) use prove::{outputs, prove};

use super::Row;
use crate::edwards::{Parsed, challenge, decode_s, negative_zero, output, take_32};
use crate::error::Error;
use crate::hash_to_curve::{Candidate, edwards_candidates, edwards_map, first_point};
use crate::proof::Output;
use crate::suite::{EdwardsRules, Format, Map, Negation, Suite};
use subtle::{Choice, ConstantTimeEq};
use tetralith_kernels::edwards25519::{PendingMap, PendingPoint, Point};
use tetralith_kernels::edwards25519x4::{DoubleMul, MinusC, double_mul_vartime, sqrt_ratios};
use tetralith_kernels::field25519::Fe;

/// A row whose square roots are still to be taken.
struct Pending {
    key: [u8; 32],
    y: PendingPoint,
    gamma: PendingPoint,
    s: [u8; 32],
    /// None for try-and-increment.
    h: Option<PendingMap>,
}

/// A row with its points.
struct Ready {
    key: [u8; 32],
    y: Point,
    parsed: Parsed,
    h: Point,
}

/// Counters that try-and-increment goes through here: none does for one input in 2^32, which is left
/// to the verifier of one.
const TRIES: u8 = 32;

/// Verifies rows, in order.
pub(super) fn verify(
    suite: Suite,
    rules: &EdwardsRules,
    rows: &[Row<'_>],
) -> Vec<Result<Output, Error>> {
    let pending: Vec<Option<Pending>> =
        rows.iter().map(|row| Pending::new(suite, rules, row)).collect();
    let ready = ready(rules, rows, &pending);
    let verdicts = verdicts(rules, rows, &ready);
    let verdict = |(row, output): (&Row<'_>, Option<Result<[u8; 64], Error>>)| match output {
        Some(output) => output.map(|output| Output::new(suite, &output)),
        None => crate::verify(suite, row.public_key, row.alpha, row.proof),
    };
    rows.iter().zip(verdicts).map(verdict).collect()
}

impl Pending {
    /// None where the row is seen to be malformed.
    fn new(suite: Suite, rules: &EdwardsRules, row: &Row<'_>) -> Option<Pending> {
        let lengths = (row.public_key.len(), row.proof.len());
        if lengths != (suite.public_key_len(), suite.proof_len()) {
            return None;
        }
        let key = take_32(row.public_key, 0);
        let has_map = rules.map != Map::TryAndIncrement;
        Some(Pending {
            key,
            y: PendingPoint::new(&key).ok()?,
            gamma: PendingPoint::new(&take_32(row.proof, 0)).ok()?,
            s: decode_s(rules, row.proof)?,
            h: has_map.then(|| edwards_map(rules, &key, row.alpha)),
        })
    }

    fn ratios(&self) -> impl Iterator<Item = (Fe, Fe)> {
        let h = self.h.as_ref().map(PendingMap::ratio);
        [self.y.ratio(), self.gamma.ratio()].into_iter().chain(h)
    }

    /// The row with its points, but for H where it is not a map's.
    fn finish(
        &self,
        rules: &EdwardsRules,
        roots: &mut impl Iterator<Item = (Choice, Fe)>,
    ) -> Option<Ready> {
        let mut next = || roots.next().expect("a root for every ratio");
        let (y, gamma) = (next(), next());
        let h = self.h.as_ref().map(|map| map.finish(next()));
        let y = self.y.finish(y, negative_zero(rules)).ok()?;
        let gamma = self.gamma.finish(gamma, negative_zero(rules)).ok()?;
        if y.is_small_order().into() {
            return None;
        }
        let parsed = Parsed { gamma, s: self.s };
        Some(Ready { key: self.key, y, parsed, h: h.unwrap_or(Point::IDENTITY) })
    }
}

/// Takes all roots; none where a row is malformed, or has no point H among the first candidates.
fn ready<'a>(
    rules: &EdwardsRules,
    rows: &'a [Row<'a>],
    pending: &[Option<Pending>],
) -> Vec<Option<Ready>> {
    let ratios: Vec<(Fe, Fe)> = pending.iter().flatten().flat_map(Pending::ratios).collect();
    let mut roots = sqrt_ratios(&ratios).into_iter();
    let mut ready: Vec<Option<Ready>> = pending
        .iter()
        .map(|row| row.as_ref().and_then(|row| row.finish(rules, &mut roots)))
        .collect();
    if rules.map == Map::TryAndIncrement {
        let input = |(row, ready): (&'a Row<'a>, &Option<Ready>)| {
            let key: &[u8; 32] = row.public_key.try_into().ok()?;
            ready.as_ref().map(|_| (key, row.alpha))
        };
        let inputs: Vec<_> = rows.iter().zip(&ready).map(input).collect();
        for (row, h) in ready.iter_mut().zip(try_and_increment(rules, &inputs)) {
            *row = row.take().zip(h).map(|(row, h)| Ready { h, ..row });
        }
    }
    ready
}

/// H of each key and input, where there is one among the first candidates. RFC 9381 §5.4.1
fn hash_to_curve(rules: &EdwardsRules, inputs: &[(&[u8; 32], &[u8])]) -> Vec<Option<Point>> {
    if rules.map == Map::TryAndIncrement {
        let inputs: Vec<_> = inputs.iter().map(|input| Some(*input)).collect();
        return try_and_increment(rules, &inputs);
    }
    let pending: Vec<PendingMap> =
        inputs.iter().map(|(key, alpha)| edwards_map(rules, key, alpha)).collect();
    let ratios: Vec<(Fe, Fe)> = pending.iter().map(PendingMap::ratio).collect();
    pending.iter().zip(sqrt_ratios(&ratios)).map(|(map, root)| Some(map.finish(root))).collect()
}

/// Inputs that have no point yet try the next counter, together. RFC 9381 §5.4.1.1
fn try_and_increment(
    rules: &EdwardsRules,
    inputs: &[Option<(&[u8; 32], &[u8])>],
) -> Vec<Option<Point>> {
    let mut h = vec![None; inputs.len()];
    let mut missing: Vec<usize> = (0..inputs.len()).collect();
    for counter in 0..TRIES {
        missing.retain(|&i| h[i].is_none() && inputs[i].is_some());
        let candidates: Vec<[Candidate; 1]> = missing
            .iter()
            .filter_map(|&i| inputs[i])
            .map(|(key, alpha)| edwards_candidates(rules, key, alpha, counter))
            .collect();
        let ratios: Vec<(Fe, Fe)> = candidates.iter().map(|[one]| one.ratio()).collect();
        let roots = sqrt_ratios(&ratios);
        for ((&i, one), root) in missing.iter().zip(&candidates).zip(roots) {
            h[i] = first_point(one, [root]);
        }
    }
    h
}

/// The outputs or refusals of the rows that are ready.
fn verdicts(
    rules: &EdwardsRules,
    rows: &[Row<'_>],
    ready: &[Option<Ready>],
) -> Vec<Option<Result<[u8; 64], Error>>> {
    let of = |row: &Option<Ready>, point: fn(&Ready) -> Point| {
        row.as_ref().map_or(Point::IDENTITY, point)
    };
    let h: Vec<Point> = ready.iter().map(|row| of(row, |row| row.h)).collect();
    let h = Point::encode_many(&h);
    let c: Vec<[u8; 16]> = (0..rows.len())
        .map(|i| match &ready[i] {
            Some(row) => read_challenge(rules, row, &h[i], rows[i].proof),
            None => [0; 16],
        })
        .collect();
    let gamma8 = ready.iter().map(|row| of(row, |row| row.parsed.gamma.mul_by_cofactor()));
    let points: Vec<Point> =
        commitments(rules, ready, &c).into_iter().flatten().chain(gamma8).collect();
    let mut encodings = Point::encode_many(&points);
    let gamma8 = encodings.split_off(2 * rows.len());
    let verdict = |(i, row): (usize, &Option<Ready>)| {
        let row = row.as_ref()?;
        let (u, v, proof) = (&encodings[2 * i], &encodings[2 * i + 1], rows[i].proof);
        let same = match rules.format {
            Format::Challenge => {
                challenge(rules, &row.key, &h[i], &take_32(proof, 0), u, v).ct_eq(&c[i])
            }
            Format::Commitments => u.ct_eq(&take_32(proof, 32)) & v.ct_eq(&take_32(proof, 64)),
        };
        Some(if bool::from(same) { Ok(output(rules, &gamma8[i])) } else { Err(Error::Invalid) })
    };
    ready.iter().enumerate().map(verdict).collect()
}

/// U = s B - c Y and V = s H - c Γ of every row; rows that are not ready have any.
fn commitments(rules: &EdwardsRules, ready: &[Option<Ready>], c: &[[u8; 16]]) -> Vec<[Point; 2]> {
    let lane = |i: usize| {
        let c = u128::from_le_bytes(c.get(i).copied().unwrap_or_default());
        let minus_c = match rules.negation {
            Negation::Integer => MinusC::integer(c),
            Negation::ModOrder => MinusC::mod_order(c),
        };
        match ready.get(i).and_then(Option::as_ref) {
            Some(Ready { y, parsed, h, .. }) => {
                DoubleMul { s: parsed.s, minus_c, y: *y, h: *h, g: parsed.gamma }
            }
            None => {
                let [y, h, g] = [Point::IDENTITY; 3];
                DoubleMul { s: [0; 32], minus_c, y, h, g }
            }
        }
    };
    let fours = (0..ready.len()).step_by(4);
    let mut all: Vec<[Point; 2]> = fours
        .flat_map(|i| double_mul_vartime(&[lane(i), lane(i + 1), lane(i + 2), lane(i + 3)]))
        .collect();
    all.truncate(ready.len());
    all
}

/// The proof's challenge, or that of its commitments.
fn read_challenge(rules: &EdwardsRules, row: &Ready, h: &[u8; 32], proof: &[u8]) -> [u8; 16] {
    match rules.format {
        Format::Challenge => core::array::from_fn(|i| proof[32 + i]),
        Format::Commitments => {
            let [gamma, u, v] = [0, 32, 64].map(|at| take_32(proof, at));
            challenge(rules, &row.key, h, &gamma, &u, &v)
        }
    }
}
