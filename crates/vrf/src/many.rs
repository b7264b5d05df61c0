//! Verifying many proofs, each with exactly the verdict that [`crate::verify`] gives.
//!
//! Nothing is combined between proofs, so a bad one neither spoils nor saves its neighbours, no
//! randomness is needed, and torsion has nowhere to hide.

use crate::error::Error;
use crate::proof::Output;
use crate::suite::Suite;
use crate::verify;

/// One proof to verify, as it came.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The public key.
    pub public_key: &'a [u8],
    /// The input.
    pub alpha: &'a [u8],
    /// The proof.
    pub proof: &'a [u8],
}

/// Verifies rows of one suite; the verdicts are in the rows' order.
#[must_use]
pub fn verify_many(suite: Suite, rows: &[Row<'_>]) -> Vec<Result<Output, Error>> {
    rows.iter().map(|row| verify(suite, row.public_key, row.alpha, row.proof)).collect()
}
