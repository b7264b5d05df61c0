//! Verifying many proofs, each with exactly the verdict that [`crate::verify`] gives.
//!
//! Nothing is combined between proofs, so a bad one neither spoils nor saves its neighbours, no
//! randomness is needed, and torsion has nowhere to hide. Where the CPU has AVX-512 IFMA, eight
//! proofs on edwards25519 are verified side by side, one in each lane of its vectors; proofs that
//! are not well formed are left to [`crate::verify`], which says what is wrong with them.
//!
//! Work is spread over the current rayon thread pool.

#[cfg(target_arch = "x86_64")]
mod lanes;

use crate::error::Error;
use crate::proof::Output;
use crate::suite::{Group, Suite};
use crate::verify;
use rayon::prelude::*;

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

/// Rows that one task verifies: enough for one inversion to serve many, few enough for the cache.
const CHUNK: usize = 128;

/// Fewer rows than this are faster one by one.
const LEAST: usize = 2;

/// Verifies rows of one suite; the verdicts are in the rows' order.
///
/// # Security
/// Variable time: keys, inputs and proofs are public.
#[must_use]
pub fn verify_many(suite: Suite, rows: &[Row<'_>]) -> Vec<Result<Output, Error>> {
    #[cfg(target_arch = "x86_64")]
    if rows.len() >= LEAST
        && let Group::Edwards25519(rules) = suite.group()
        && let Some(lanes) = tetralith_kernels::lanes8::Lanes8::detect()
    {
        let chunks = rows.par_chunks(chunk_len(rows.len(), rayon::current_num_threads()));
        return chunks.flat_map_iter(|rows| lanes::verify(lanes, suite, rules, rows)).collect();
    }
    let one = |row: &Row<'_>| verify(suite, row.public_key, row.alpha, row.proof);
    rows.par_iter().map(one).collect()
}

/// Names the kernel that proves and verifies for a suite here, for benchmarks and messages.
#[must_use]
pub fn kernel(suite: Suite) -> &'static str {
    let edwards = matches!(suite.group(), Group::Edwards25519(_));
    let lanes = tetralith_kernels::lanes8::Lanes8::detect().is_some();
    if edwards && lanes { "avx512" } else { "portable" }
}

/// Whole groups of eight, at most [`CHUNK`], and no fewer chunks than threads if that can be.
fn chunk_len(rows: usize, threads: usize) -> usize {
    rows.div_ceil(threads).next_multiple_of(8).clamp(8, CHUNK)
}

#[cfg(test)]
mod tests;
