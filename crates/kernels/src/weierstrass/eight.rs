//! Eight points in a group, one in each lane: the portable twin of `p256x8` and `secp256k1x8`.
//!
//! It has no lanes that lose their result: where a kernel says that it met an exception of its formulas, the
//! twin has the answer.

use super::{Affine, Prime, commitments_vartime};
use crate::lanes8::Lanes8;

/// What one group computes: s P - c Q in each lane.
#[derive(Clone, Copy, Debug)]
pub struct DoubleMul<'a, P> {
    /// s, big-endian.
    pub s: &'a [[u8; 32]; 8],
    /// P; the generator where there is none.
    pub p: Option<&'a P>,
    /// c, big-endian.
    pub c: &'a [[u8; 16]; 8],
    /// Q.
    pub q: &'a P,
}

/// A point of one lane, if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Lane<C>(Option<Affine<C>>);

impl<C> Default for Lane<C> {
    fn default() -> Self {
        Lane(None)
    }
}

/// Eight points. A lane without one has the neutral element, or what no encoding stood for.
#[derive(Clone, Copy, Debug)]
pub struct Points<C>([Lane<C>; 8]);

impl<C: Prime> Points<C> {
    /// One lane's point.
    #[must_use]
    pub fn lane(&self, _: Lanes8, lane: usize) -> Lane<C> {
        self.0[lane]
    }

    /// One point for each lane.
    #[must_use]
    pub fn from_lanes(_: Lanes8, points: &[Lane<C>; 8]) -> Points<C> {
        Points(*points)
    }

    /// The lanes that have a point, as a mask.
    fn found(&self) -> u8 {
        (0..8).fold(0, |mask, lane| mask | u8::from(self.0[lane].0.is_some()) << lane)
    }
}

/// Decodes compressed points; the mask has the lanes where that was possible.
///
/// # Security
/// Variable time: public data only.
///
/// SEC 1 §2.3.4
#[must_use]
pub fn decode_vartime<C: Prime>(_: Lanes8, encodings: &[[u8; 33]; 8]) -> (Points<C>, u8) {
    let points = Points(encodings.map(|bytes| Lane(Affine::decode_vartime(&bytes))));
    (points, points.found())
}

/// Computes s P - c Q for each group; the masks have the lanes whose results are to be used.
///
/// # Security
/// Variable time: public data only.
#[must_use]
pub fn double_mul_vartime<C: Prime>(
    _: Lanes8,
    groups: &[DoubleMul<'_, Points<C>>],
) -> Vec<(Points<C>, u8)> {
    let sum = |group: &DoubleMul<'_, Points<C>>, lane: usize| {
        let q = group.q.0[lane].0?;
        let p = match group.p {
            Some(p) => p.0[lane].0?,
            None => q,
        };
        let [of_generator, of_p] = commitments_vartime(&group.s[lane], &group.c[lane], &q, &p, &q);
        if group.p.is_some() { of_p } else { of_generator }
    };
    let group = |group: &DoubleMul<'_, Points<C>>| {
        let points = Points(core::array::from_fn(|lane| Lane(sum(group, lane))));
        (points, points.found())
    };
    groups.iter().map(group).collect()
}

/// Encodes points; a lane without one gets zeros.
///
/// SEC 1 §2.3.3
#[must_use]
pub fn encode_all<C: Prime>(_: Lanes8, groups: &[Points<C>]) -> Vec<[[u8; 33]; 8]> {
    let encoding = |lane: Lane<C>| lane.0.map_or([0; 33], |point| point.encode());
    groups.iter().map(|group| group.0.map(encoding)).collect()
}
