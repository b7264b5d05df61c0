//! Hashing inputs to points, eight at a time.
//!
//! RFC 9381 §5.4.1, RFC 9380 §5

use super::Chunk;
use crate::hash_to_curve::reduce_48;
use crate::suite::Map;
use tetralith_kernels::edwards25519::{Point, Sign};
use tetralith_kernels::edwards25519x8::{Points, decode_all, map_to_curve_elligator2_all};

impl Chunk<'_> {
    /// H of every row, in groups; missing rows are like the last one.
    pub(super) fn hash_to_curve(&mut self) -> Vec<Points> {
        match self.rules.map {
            Map::TryAndIncrement => self.try_and_increment(),
            Map::Elligator2Draft03 => {
                let elements = self.each_group(|chunk, start| chunk.draft03_uniform(start));
                map_to_curve_elligator2_all(self.lanes, &elements, Sign::EvenX)
            }
            Map::Elligator2Rfc => {
                let elements = self.each_group(|chunk, start| chunk.rfc9380_uniform(start));
                map_to_curve_elligator2_all(self.lanes, &elements, Sign::Rfc9380)
            }
        }
    }

    fn each_group<T>(&self, group: impl Fn(&Self, usize) -> T) -> Vec<T> {
        (0..self.rows.len()).step_by(8).map(|start| group(self, start)).collect()
    }

    /// The row of a lane of the group that starts at `start`.
    fn row_at(&self, start: usize, lane: usize) -> usize {
        (start + lane).min(self.rows.len() - 1)
    }

    /// draft-irtf-cfrg-vrf-03 §5.4.1.2, steps 1 to 4
    fn draft03_uniform(&self, start: usize) -> [[u8; 32]; 8] {
        let prefix = [self.rules.suite_string, 1];
        let hashes = self.digests(|lane| {
            let row = self.row_at(start, lane);
            [&prefix[..], &self.parsed[row].key, self.rows[row].alpha]
        });
        hashes.map(|hash| {
            let mut r = crate::edwards::take_32(&hash, 0);
            r[31] &= 0x7f;
            r
        })
    }

    /// expand_message_xmd with SHA-512 of 48 bytes, mod p. RFC 9380 §5.2 and §5.3.1
    fn rfc9380_uniform(&self, start: usize) -> [[u8; 32]; 8] {
        let tag = crate::hash_to_curve::rfc9380_tag(self.rules.suite_string);
        let b0 = self.digests(|lane| {
            let row = self.row_at(start, lane);
            [&[0; 128][..], &self.parsed[row].key, self.rows[row].alpha, &[0, 48, 0], &tag]
        });
        let b1 = self.digests(|lane| [&b0[lane][..], &[1], &tag]);
        b1.map(|b1| reduce_48(&core::array::from_fn(|i| b1[i])).to_bytes())
    }

    /// Rows that have no point yet try the next counter, together in groups. RFC 9381 §5.4.1.1
    fn try_and_increment(&mut self) -> Vec<Points> {
        let mut pending: Vec<usize> = (0..self.rows.len()).collect();
        let mut found = vec![Point::IDENTITY; self.rows.len()];
        for counter in 0..=255 {
            let candidates: Vec<[[u8; 32]; 8]> =
                pending.chunks(8).map(|rows| self.tai_candidates(rows, counter)).collect();
            let decoded = decode_all(self.lanes, &candidates);
            let mut missed = Vec::new();
            for (rows, decoded) in pending.chunks(8).zip(&decoded) {
                let bad = decoded.non_canonical
                    | decoded.not_on_curve
                    | decoded.negative_zero
                    | decoded.points.small_order(self.lanes);
                let h = decoded.points.mul_by_cofactor(self.lanes);
                for (lane, &row) in rows.iter().enumerate() {
                    match bad >> lane & 1 {
                        0 => found[row] = h.lane(self.lanes, lane),
                        _ => missed.push(row),
                    }
                }
            }
            pending = missed;
            if pending.is_empty() {
                break;
            }
        }
        for row in pending {
            self.parsed[row].well_formed = false; // to be told by the verifier of one
        }
        self.each_group(|chunk, start| {
            let row = |lane| found[chunk.row_at(start, lane)];
            Points::from_lanes(chunk.lanes, &core::array::from_fn(row))
        })
    }

    fn tai_candidates(&self, rows: &[usize], counter: u8) -> [[u8; 32]; 8] {
        let (prefix, counter) = ([self.rules.suite_string, 1], [counter]);
        let hashes = self.digests(|lane| {
            let row = rows[lane.min(rows.len() - 1)];
            let (key, alpha) = (&self.parsed[row].key, self.rows[row].alpha);
            [&prefix[..], key, alpha, &counter, self.end()]
        });
        hashes.map(|hash| crate::edwards::take_32(&hash, 0))
    }
}
