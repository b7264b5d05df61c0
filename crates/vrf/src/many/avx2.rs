//! Two proofs on edwards25519 at a time: their four sums U and V, one in each lane of AVX2.
//!
//! All but those sums is done as [`crate::verify()`] does it.
//!
//! RFC 9381 §5.3

use super::Row;
use crate::edwards::{self, take_32};
use crate::error::Error;
use crate::hash_to_curve;
use crate::keys::{KeyPoint, PublicKey};
use crate::proof::{Output, Parsed, Proof};
use crate::suite::{EdwardsRules, Format, Negation, Suite};
use curve25519_dalek::Scalar;
use tetralith_kernels::edwards25519::{Point, base};
use tetralith_kernels::edwards25519x4::double_mul_4_vartime;
use tetralith_kernels::lanes4::Lanes4;

/// A row that is well formed, ready for its sums.
struct Prepared {
    key: [u8; 32],
    y: Point,
    gamma: Point,
    gamma_bytes: [u8; 32],
    h: Point,
    c: [u8; 16],
    /// U and V of a proof that has them.
    commitments: Option<[[u8; 32]; 2]>,
    s: [u8; 32],
}

/// Verifies rows, in order.
pub(super) fn verify(
    lanes: Lanes4,
    suite: Suite,
    rules: &EdwardsRules,
    rows: &[Row<'_>],
) -> Vec<Result<Output, Error>> {
    let mut verdicts = Vec::with_capacity(rows.len());
    let mut waiting: Option<(usize, Prepared)> = None;
    for (i, row) in rows.iter().enumerate() {
        verdicts.push(Err(Error::Invalid)); // until the row's turn comes
        match Prepared::new(suite, rules, row) {
            Err(error) => verdicts[i] = Err(error),
            Ok(second) => match waiting.take() {
                None => waiting = Some((i, second)),
                Some((first_at, first)) => {
                    let [a, b] = verify_pair(lanes, suite, rules, [&first, &second]);
                    (verdicts[first_at], verdicts[i]) = (a, b);
                }
            },
        }
    }
    if let Some((i, last)) = waiting {
        [verdicts[i], _] = verify_pair(lanes, suite, rules, [&last, &last]);
    }
    verdicts
}

impl Prepared {
    fn new(suite: Suite, rules: &EdwardsRules, row: &Row<'_>) -> Result<Prepared, Error> {
        let public_key = PublicKey::from_bytes(suite, row.public_key)?;
        let proof = Proof::from_bytes(suite, row.proof)?;
        let (KeyPoint::Edwards(y), Parsed::Edwards(parsed)) = (&public_key.point, &proof.parsed)
        else {
            return Err(Error::Invalid);
        };
        let (key, bytes) = (take_32(row.public_key, 0), proof.as_bytes());
        let gamma_bytes = take_32(bytes, 0);
        let h = hash_to_curve::edwards(rules, &key, row.alpha)?;
        let (c, commitments) = match rules.format {
            Format::Challenge => (core::array::from_fn(|i| bytes[32 + i]), None),
            Format::Commitments => {
                let [u, v] = [take_32(bytes, 32), take_32(bytes, 64)];
                let c = edwards::challenge(rules, &key, &h.encode(), &gamma_bytes, &u, &v);
                (c, Some([u, v]))
            }
        };
        let (y, gamma, s) = (*y, parsed.gamma, parsed.s);
        Ok(Prepared { key, y, gamma, gamma_bytes, h, c, commitments, s })
    }

    /// The points and the integer by which -c is multiplied.
    fn minus_c(&self, rules: &EdwardsRules) -> ([Point; 2], [u8; 32]) {
        let c: Scalar = edwards::scalar(&self.c);
        match rules.negation {
            Negation::Integer => ([self.y.neg(), self.gamma.neg()], c.to_bytes()),
            Negation::ModOrder => ([self.y, self.gamma], (-c).to_bytes()),
        }
    }

    /// The verdict, from the encodings of U, V, H and 8 Γ.
    fn verdict(
        &self,
        suite: Suite,
        rules: &EdwardsRules,
        [u, v, h, gamma8]: [&[u8; 32]; 4],
    ) -> Result<Output, Error> {
        let same = match &self.commitments {
            Some(given) => [u, v] == given.each_ref(),
            None => edwards::challenge(rules, &self.key, h, &self.gamma_bytes, u, v) == self.c,
        };
        if same {
            Ok(Output::new(suite, &edwards::output(rules, gamma8)))
        } else {
            Err(Error::Invalid)
        }
    }
}

fn verify_pair(
    lanes: Lanes4,
    suite: Suite,
    rules: &EdwardsRules,
    pair: [&Prepared; 2],
) -> [Result<Output, Error>; 2] {
    let [(p0, c0), (p1, c1)] = pair.map(|row| row.minus_c(rules));
    let scalars = [[c0, c0, c1, c1], [pair[0].s, pair[0].s, pair[1].s, pair[1].s]];
    let b = *base().point();
    let points = [[p0[0], p0[1], p1[0], p1[1]], [b, pair[0].h, b, pair[1].h]];
    let sums = double_mul_4_vartime(lanes, &scalars[0], &points[0], &scalars[1], &points[1]);
    let others = pair.map(|row| [row.h, row.gamma.mul_by_cofactor()]);
    let [u0, v0, u1, v1] = sums;
    let [[h0, g0], [h1, g1]] = others;
    let e = Point::encode_all(&[u0, v0, h0, g0, u1, v1, h1, g1]);
    [
        pair[0].verdict(suite, rules, [&e[0], &e[1], &e[2], &e[3]]),
        pair[1].verdict(suite, rules, [&e[4], &e[5], &e[6], &e[7]]),
    ]
}
