//! Four proofs on edwards25519 at a time, for CPUs with AVX2 and no AVX-512 IFMA.
//!
//! The steps of [`crate::edwards::verify_encoded`], with square roots, multiplications and encodings
//! of four rows together. A row that is not well formed is given to [`crate::verify()`].
//!
//! RFC 9381 §5.3

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
    h: PendingH,
}

enum PendingH {
    Map(PendingMap),
    Candidates([Candidate; 4]),
}

/// A row with its points.
struct Ready {
    key: [u8; 32],
    y: Point,
    parsed: Parsed,
    h: Point,
}

/// Verifies rows, in order.
pub(super) fn verify(
    suite: Suite,
    rules: &EdwardsRules,
    rows: &[Row<'_>],
) -> Vec<Result<Output, Error>> {
    rows.chunks(4).flat_map(|rows| verify_four(suite, rules, rows)).collect()
}

fn verify_four(suite: Suite, rules: &EdwardsRules, rows: &[Row<'_>]) -> Vec<Result<Output, Error>> {
    let pending: Vec<Option<Pending>> =
        rows.iter().map(|row| Pending::new(suite, rules, row)).collect();
    let ready = ready(rules, &pending);
    let outputs = outputs(rules, rows, &ready);
    let verdict = |(row, output): (&Row<'_>, Option<Result<[u8; 64], Error>>)| match output {
        Some(output) => output.map(|output| Output::new(suite, &output)),
        None => crate::verify(suite, row.public_key, row.alpha, row.proof),
    };
    rows.iter().zip(outputs).map(verdict).collect()
}

impl Pending {
    /// None where the row is seen to be malformed.
    fn new(suite: Suite, rules: &EdwardsRules, row: &Row<'_>) -> Option<Pending> {
        let lengths = (row.public_key.len(), row.proof.len());
        if lengths != (suite.public_key_len(), suite.proof_len()) {
            return None;
        }
        let key = take_32(row.public_key, 0);
        let h = if rules.map == Map::TryAndIncrement {
            PendingH::Candidates(edwards_candidates(rules, &key, row.alpha, 0))
        } else {
            PendingH::Map(edwards_map(rules, &key, row.alpha))
        };
        Some(Pending {
            key,
            y: PendingPoint::new(&key).ok()?,
            gamma: PendingPoint::new(&take_32(row.proof, 0)).ok()?,
            s: decode_s(rules, row.proof)?,
            h,
        })
    }

    fn ratios(&self) -> Vec<(Fe, Fe)> {
        let mut all = vec![self.y.ratio(), self.gamma.ratio()];
        match &self.h {
            PendingH::Map(map) => all.push(map.ratio()),
            PendingH::Candidates(all_h) => all.extend(all_h.map(|candidate| candidate.ratio())),
        }
        all
    }

    fn finish(
        &self,
        rules: &EdwardsRules,
        roots: &mut impl Iterator<Item = (Choice, Fe)>,
    ) -> Option<Ready> {
        let mut next = || roots.next().expect("a root for every ratio");
        let (y, gamma) = (next(), next());
        let h = match &self.h {
            PendingH::Map(map) => Some(map.finish(next())),
            PendingH::Candidates(all) => first_point(all, [next(), next(), next(), next()]),
        };
        let y = self.y.finish(y, negative_zero(rules)).ok()?;
        let gamma = self.gamma.finish(gamma, negative_zero(rules)).ok()?;
        if y.is_small_order().into() {
            return None;
        }
        Some(Ready { key: self.key, y, parsed: Parsed { gamma, s: self.s }, h: h? })
    }
}

/// Takes all roots; none where a row is malformed, or has no point H among the first candidates.
fn ready(rules: &EdwardsRules, pending: &[Option<Pending>]) -> Vec<Option<Ready>> {
    let ratios: Vec<(Fe, Fe)> = pending.iter().flatten().flat_map(Pending::ratios).collect();
    let mut roots = sqrt_ratios(&ratios).into_iter();
    pending.iter().map(|row| row.as_ref().and_then(|row| row.finish(rules, &mut roots))).collect()
}

/// The outputs or refusals of the rows that are ready.
fn outputs(
    rules: &EdwardsRules,
    rows: &[Row<'_>],
    ready: &[Option<Ready>],
) -> Vec<Option<Result<[u8; 64], Error>>> {
    let points = |of: fn(&Ready) -> Point| -> [Point; 4] {
        let of_row = |i: usize| ready.get(i).and_then(Option::as_ref).map_or(Point::IDENTITY, of);
        core::array::from_fn(of_row)
    };
    let h = Point::encode_all(&points(|row| row.h));
    let c: [[u8; 16]; 4] = core::array::from_fn(|i| match ready.get(i) {
        Some(Some(row)) => read_challenge(rules, row, &h[i], rows[i].proof),
        _ => [0; 16],
    });
    let (y, g, h_points) =
        (points(|row| row.y), points(|row| row.parsed.gamma), points(|row| row.h));
    let both = double_mul_vartime(&core::array::from_fn(|i| {
        let s = ready.get(i).and_then(Option::as_ref).map_or([0; 32], |row| row.parsed.s);
        let c = u128::from_le_bytes(c[i]);
        let minus_c = match rules.negation {
            Negation::Integer => MinusC::integer(c),
            Negation::ModOrder => MinusC::mod_order(c),
        };
        DoubleMul { s, minus_c, y: y[i], h: h_points[i], g: g[i] }
    }));
    let mut all = [Point::IDENTITY; 12];
    for i in 0..4 {
        (all[3 * i], all[3 * i + 1]) = (both[i][0], both[i][1]);
        all[3 * i + 2] = g[i].mul_by_cofactor();
    }
    let encodings = Point::encode_all(&all);
    let verdict = |(i, row): (usize, &Option<Ready>)| {
        let row = row.as_ref()?;
        let [u, v, gamma8] = [0, 1, 2].map(|k| &encodings[3 * i + k]);
        let proof = rows[i].proof;
        let same = match rules.format {
            Format::Challenge => {
                challenge(rules, &row.key, &h[i], &take_32(proof, 0), u, v).ct_eq(&c[i])
            }
            Format::Commitments => u.ct_eq(&take_32(proof, 32)) & v.ct_eq(&take_32(proof, 64)),
        };
        Some(if bool::from(same) { Ok(output(rules, gamma8)) } else { Err(Error::Invalid) })
    };
    ready.iter().enumerate().map(verdict).collect()
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
