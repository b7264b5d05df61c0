//! Eight proofs on edwards25519 at a time, one in each lane.
//!
//! The steps of [`crate::edwards::verify`], each for all rows of a chunk before the next: rows in
//! groups of eight, a lane each. The lane of a row that is found not well formed goes on with what is
//! in it, which no other lane sees, and the row is given to [`crate::verify()`] in the end. That
//! stops where it sees the fault, so that such rows cost no more than others.
//!
//! RFC 9381 §5.3

mod hash_to_curve;
mod prove;

pub(super) use prove::{outputs, prove};

use super::Row;
use crate::edwards::{decode_s, take_32};
use crate::error::Error;
use crate::hash_to_curve::Digest64;
use crate::proof::Output;
use crate::suite::{EdwardsRules, Format, Hash, Negation, Suite};
use tetralith_kernels::edwards25519x8::{
    Decoded, DoubleMul, MinusC, Points, decode_all, double_mul_all_vartime, encode_all,
};
use tetralith_kernels::lanes8::Lanes8;
use tetralith_kernels::sha512x8::digest_8;

/// What is read of a row whose lengths are right.
#[derive(Clone, Copy, Default)]
struct Parsed {
    key: [u8; 32],
    gamma: [u8; 32],
    /// The challenge of a proof that has one.
    c: [u8; 16],
    /// U and V of a proof that has them.
    commitments: [[u8; 32]; 2],
    s: [u8; 32],
    /// Whether key and proof are well formed, as far as has been seen.
    well_formed: bool,
    /// Whether the proof verified.
    valid: bool,
}

/// Hashing in lanes copies eight messages next to each other. Longer ones, in bytes, are hashed one by
/// one from where they are: inputs may have a gibibyte.
const MOST_COPIED: usize = 16 << 10;

type Encodings = Vec<[[u8; 32]; 8]>;

/// A chunk of rows, and what all steps need.
struct Chunk<'a> {
    lanes: Lanes8,
    rules: &'static EdwardsRules,
    rows: &'a [Row<'a>],
    parsed: Vec<Parsed>,
}

/// Verifies rows, in order.
pub(super) fn verify(
    lanes: Lanes8,
    suite: Suite,
    rules: &'static EdwardsRules,
    rows: &[Row<'_>],
) -> Vec<Result<Output, Error>> {
    let parsed = rows.iter().map(|row| Parsed::new(suite, rules, row)).collect();
    let mut chunk = Chunk { lanes, rules, rows, parsed };
    let outputs = chunk.verify();
    let verdict = |((row, parsed), output): ((&Row<'_>, &Parsed), &[u8; 64])| match (
        parsed.well_formed,
        parsed.valid,
    ) {
        (true, true) => Ok(Output::new(suite, output)),
        (true, false) => Err(Error::Invalid),
        (false, _) => crate::verify(suite, row.public_key, row.alpha, row.proof),
    };
    rows.iter().zip(&chunk.parsed).zip(&outputs).map(verdict).collect()
}

impl Parsed {
    /// Cuts a row into its parts. RFC 9381 §5.4.4
    fn new(suite: Suite, rules: &EdwardsRules, row: &Row<'_>) -> Parsed {
        let proof = row.proof;
        let lengths = (row.public_key.len(), proof.len());
        if lengths != (suite.public_key_len(), suite.proof_len()) {
            return Parsed::default();
        }
        let Some(s) = decode_s(rules, proof) else {
            return Parsed::default();
        };
        let (key, gamma) = (take_32(row.public_key, 0), take_32(proof, 0));
        let mut parsed = Parsed { key, gamma, s, well_formed: true, ..Parsed::default() };
        match rules.format {
            Format::Challenge => parsed.c.copy_from_slice(&proof[32..48]),
            Format::Commitments => parsed.commitments = [take_32(proof, 32), take_32(proof, 64)],
        }
        parsed
    }
}

impl Chunk<'_> {
    /// Goes through all steps; gives the outputs, which mean something where rows are valid.
    fn verify(&mut self) -> Vec<[u8; 64]> {
        let keys = self.gather(|p| p.key);
        let gammas = self.gather(|p| p.gamma);
        let key_points = self.decode(&keys);
        let gamma_points = self.decode(&gammas);
        for (group, decoded) in key_points.iter().enumerate() {
            self.refuse(group, decoded.points.small_order(self.lanes));
        }
        let h_points = self.hash_to_curve();
        let gamma8: Vec<Points> =
            gamma_points.iter().map(|gamma| gamma.points.mul_by_cofactor(self.lanes)).collect();
        let [h, gamma8, u, v] = match self.rules.format {
            Format::Challenge => {
                let [u, v] = self.commitments(&key_points, &h_points, &gamma_points);
                self.encode([&h_points, &gamma8, &u, &v])
            }
            Format::Commitments => {
                let [h, gamma8] = self.encode([&h_points, &gamma8]);
                let given = [0, 1].map(|i| self.gather(|p| p.commitments[i]));
                let c = self.challenges(&keys, &h, &gammas, &given[0], &given[1]);
                for (parsed, c) in self.parsed.iter_mut().zip(c.as_flattened()) {
                    parsed.c = *c;
                }
                let [u, v] = self.commitments(&key_points, &h_points, &gamma_points);
                let [u, v] = self.encode([&u, &v]);
                [h, gamma8, u, v]
            }
        };
        self.compare(&keys, &h, &gammas, &u, &v);
        self.outputs(&gamma8)
    }

    /// One part of every row, in groups; missing rows are like the last one.
    fn gather<T: Copy>(&self, part: impl Fn(&Parsed) -> T) -> Vec<[T; 8]> {
        let last = self.parsed.len() - 1;
        let group = |start: usize| {
            core::array::from_fn(|lane| part(&self.parsed[(start + lane).min(last)]))
        };
        (0..self.parsed.len()).step_by(8).map(group).collect()
    }

    /// Marks the lanes of `mask` as not well formed.
    fn refuse(&mut self, group: usize, mask: u8) {
        for (lane, parsed) in self.parsed[8 * group..].iter_mut().take(8).enumerate() {
            parsed.well_formed &= mask >> lane & 1 == 0;
        }
    }

    fn decode(&mut self, encodings: &[[[u8; 32]; 8]]) -> Vec<Decoded> {
        let all = decode_all(self.lanes, encodings);
        for (group, d) in all.iter().enumerate() {
            self.refuse(group, d.non_canonical | d.not_on_curve | d.negative_zero);
        }
        all
    }

    /// The encodings of points of some kinds, at the price of one inversion.
    fn encode<const N: usize>(&self, points: [&[Points]; N]) -> [Encodings; N] {
        let mut encodings = encode_all(self.lanes, &points.concat());
        points.map(|kind| encodings.drain(..kind.len()).collect())
    }

    /// U = s B - c Y and V = s H - c Γ.
    fn commitments(&self, y: &[Decoded], h: &[Points], gamma: &[Decoded]) -> [Vec<Points>; 2] {
        let (s, c) = (self.gather(|p| p.s), self.gather(|p| p.c));
        let group = |i: usize| DoubleMul {
            s: &s[i],
            c: &c[i],
            y: &y[i].points,
            h: &h[i],
            g: &gamma[i].points,
        };
        let groups: Vec<DoubleMul<'_>> = (0..s.len()).map(group).collect();
        let minus_c = match self.rules.negation {
            Negation::Integer => MinusC::Integer,
            Negation::ModOrder => MinusC::ModOrder,
        };
        let both = double_mul_all_vartime(self.lanes, &groups, minus_c);
        [0, 1].map(|k| both.iter().map(|sums| sums[k]).collect())
    }

    /// The challenges. RFC 9381 §5.4.3
    fn challenges(
        &self,
        y: &Encodings,
        h: &Encodings,
        gamma: &Encodings,
        u: &Encodings,
        v: &Encodings,
    ) -> Vec<[[u8; 16]; 8]> {
        let prefix = [self.rules.suite_string, 2];
        let group = |i: usize| {
            let points = |lane: usize| [h, gamma, u, v].map(|part| &part[i][lane][..]);
            let digests = if self.rules.domain_separated {
                self.digests(|lane| {
                    let [h, gamma, u, v] = points(lane);
                    [&prefix[..], &y[i][lane], h, gamma, u, v, &[0]]
                })
            } else {
                self.digests(|lane| {
                    let [h, gamma, u, v] = points(lane);
                    [&prefix[..], h, gamma, u, v]
                })
            };
            digests.map(|digest| core::array::from_fn(|j| digest[j]))
        };
        (0..y.len()).map(group).collect()
    }

    /// Marks the rows whose challenge, or whose U and V, are what was computed.
    fn compare(
        &mut self,
        y: &Encodings,
        h: &Encodings,
        gamma: &Encodings,
        u: &Encodings,
        v: &Encodings,
    ) {
        match self.rules.format {
            Format::Challenge => {
                let c = self.challenges(y, h, gamma, u, v);
                for (parsed, c) in self.parsed.iter_mut().zip(c.as_flattened()) {
                    parsed.valid = parsed.c == *c;
                }
            }
            Format::Commitments => {
                let computed = u.as_flattened().iter().zip(v.as_flattened());
                for (parsed, (u, v)) in self.parsed.iter_mut().zip(computed) {
                    parsed.valid = parsed.commitments == [*u, *v];
                }
            }
        }
    }

    /// The outputs from the encodings of 8 Γ. RFC 9381 §5.2
    fn outputs(&self, gamma8: &Encodings) -> Vec<[u8; 64]> {
        let prefix = [self.rules.suite_string, 3];
        let group = |encodings: &[[u8; 32]; 8]| {
            self.digests(|lane| [&prefix[..], &encodings[lane], self.end()])
        };
        gamma8.iter().flat_map(group).collect()
    }

    /// The byte after a hash's input, where the suite has one.
    fn end(&self) -> &'static [u8] {
        if self.rules.domain_separated { &[0] } else { &[] }
    }

    /// Hashes eight messages, given in parts.
    fn digests<'m, const N: usize>(&self, parts: impl Fn(usize) -> [&'m [u8]; N]) -> [[u8; 64]; 8] {
        let messages: [[&[u8]; N]; 8] = core::array::from_fn(parts);
        let length = |parts: &[&[u8]; N]| parts.iter().map(|part| part.len()).sum::<usize>();
        let longest = messages.iter().map(length).max().unwrap_or(0);
        if self.rules.hash == Hash::Blake2b || longest > MOST_COPIED {
            return messages.map(|parts| Digest64::of(self.rules.hash, &parts));
        }
        let mut buffer = Vec::with_capacity(8 * longest);
        let mut ends = [0; 9];
        for (lane, parts) in messages.iter().enumerate() {
            parts.iter().for_each(|part| buffer.extend_from_slice(part));
            ends[lane + 1] = buffer.len();
        }
        digest_8(&core::array::from_fn(|lane| &buffer[ends[lane]..ends[lane + 1]]))
    }
}
