//! Verifying many proofs, each with exactly the verdict that [`crate::verify`] gives; proving many.
//!
//! Nothing is combined between proofs, so a bad one neither spoils nor saves its neighbours, no
//! randomness is needed, and torsion has nowhere to hide. Where the CPU has AVX-512 IFMA, eight
//! proofs on edwards25519 are made or verified side by side, one in each lane of its vectors; proofs
//! that are not well formed are left to [`crate::verify`], which says what is wrong with them. With AVX2
//! alone it is four. Proofs on P-256 and secp256k1 are verified eight at a time, too.
//!
//! Work is spread over the current rayon thread pool; a forked process has one of its own.

mod four;
mod lanes;
mod sec1;

use crate::error::Error;
use crate::keys::{Secret, SecretKey};
use crate::proof::{Output, Proof};
use crate::sec1::{K256, P256};
use crate::suite::{EdwardsRules, Group, Suite};
use crate::verify;
use rayon::prelude::*;
use tetralith_kernels::threads;

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

/// Rows that one task verifies: enough for one inversion to serve many, few enough for the cache. Of draft 3
/// a proof takes 24.5 kilocycles in chunks of 32 and 23.7 of 64; of 128 it took 1.5 more than of 64.
const CHUNK: usize = 64;

/// Fewer rows than this, of a group of eight, are faster one by one.
const LEAST: usize = 4;

/// The same on P-256 and secp256k1, where one alone has no vectors' help.
const LEAST_SEC1: usize = 2;

/// Verifies rows of one suite; the verdicts are in the rows' order.
///
/// # Security
/// Variable time: keys, inputs and proofs are public.
#[must_use]
pub fn verify_many(suite: Suite, rows: &[Row<'_>]) -> Vec<Result<Output, Error>> {
    let one = |row: &Row<'_>| verify(suite, row.public_key, row.alpha, row.proof);
    if let Some(lanes) = tetralith_kernels::lanes8::Lanes8::detect() {
        let (least, eight): (_, Eight<'_>) = match suite.group() {
            Group::Edwards25519(rules) => {
                (LEAST, &move |rows| lanes::verify(lanes, suite, rules, rows))
            }
            Group::P256(map) => {
                (LEAST_SEC1, &move |rows| sec1::verify::<P256>(lanes, suite, map, rows))
            }
            Group::Secp256k1(map) => {
                (LEAST_SEC1, &move |rows| sec1::verify::<K256>(lanes, suite, map, rows))
            }
        };
        let (rows, rest) = rows.split_at(for_lanes(rows.len(), least));
        let mut verdicts = in_chunks(rows, eight);
        verdicts.extend(rest.iter().map(one));
        return verdicts;
    }
    if rows.len() >= LEAST
        && let Group::Edwards25519(rules) = suite.group()
        && tetralith_kernels::edwards25519x4::is_fast()
    {
        return in_chunks(rows, &|rows| four::verify(suite, rules, rows));
    }
    threads::install(|| rows.par_iter().map(one).collect())
}

/// Verifies rows of any suites; the verdicts are in the rows' order. Those of one suite are verified
/// together, wherever they stand.
///
/// # Security
/// As [`verify_many`].
#[must_use]
pub fn verify_mixed(rows: &[(Suite, Row<'_>)]) -> Vec<Result<Output, Error>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&i| rows[i].0);
    let mut verdicts: Vec<(usize, Result<Output, Error>)> = Vec::with_capacity(rows.len());
    for same in order.chunk_by(|&a, &b| rows[a].0 == rows[b].0) {
        let of_suite: Vec<Row<'_>> = same.iter().map(|&i| rows[i].1).collect();
        verdicts.extend(same.iter().copied().zip(verify_many(rows[same[0]].0, &of_suite)));
    }
    verdicts.sort_by_key(|&(i, _)| i);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

/// What verifies the rows of a chunk.
type Eight<'a> = &'a (dyn Fn(&[Row<'_>]) -> Vec<Result<Output, Error>> + Sync);

/// Verifies rows chunk by chunk; on this thread, where there is one chunk or one thread: to wake another
/// takes as long as some proofs.
fn in_chunks(rows: &[Row<'_>], verify: Eight<'_>) -> Vec<Result<Output, Error>> {
    let threads = rayon::current_num_threads();
    let len = chunk_len(rows.len(), threads);
    if threads == 1 || rows.len() <= len {
        return rows.chunks(len).flat_map(verify).collect();
    }
    threads::install(|| rows.par_chunks(len).flat_map_iter(verify).collect())
}

/// Proves the output of an input for each key; the proofs are in the rows' order, and are those that
/// [`SecretKey::prove`] makes. Keys may be of different suites.
///
/// # Errors
/// As [`SecretKey::prove`], for each row.
///
/// # Security
/// As [`SecretKey::prove`]: constant time in the secrets.
#[must_use]
pub fn prove_many(rows: &[(&SecretKey, &[u8])]) -> Vec<Result<Proof, Error>> {
    let chunks = rows.par_chunks(chunk_len(rows.len(), rayon::current_num_threads()));
    let chunks = chunks.flat_map_iter(|rows| {
        let same_suite = rows.chunk_by(|a, b| a.0.suite() == b.0.suite());
        same_suite.flat_map(|rows| match rows[0].0.suite().group() {
            Group::Edwards25519(rules) => prove_in_lanes(rules, rows),
            Group::P256(_) | Group::Secp256k1(_) => {
                rows.iter().map(|(key, alpha)| key.prove(alpha)).collect()
            }
        })
    });
    threads::install(|| chunks.collect())
}

/// Proves for keys of one suite, in as many lanes as the CPU has.
fn prove_in_lanes(
    rules: &'static EdwardsRules,
    rows: &[(&SecretKey, &[u8])],
) -> Vec<Result<Proof, Error>> {
    let one = |(key, alpha): &(&SecretKey, &[u8])| key.prove(alpha);
    if let Some(lanes) = tetralith_kernels::lanes8::Lanes8::detect() {
        let (rows, rest) = rows.split_at(for_lanes(rows.len(), LEAST));
        let mut proofs = lanes::prove(lanes, rules, rows);
        proofs.extend(rest.iter().map(one));
        return proofs;
    }
    if rows.len() >= LEAST && tetralith_kernels::edwards25519x4::is_fast() {
        return four::prove(rules, rows);
    }
    rows.iter().map(one).collect()
}

/// Computes the outputs of one key for many inputs, without proofs; in the inputs' order, and those that
/// [`SecretKey::output`] computes.
///
/// # Errors
/// As [`SecretKey::output`], for each input.
///
/// # Security
/// As [`SecretKey::output`]: constant time in the secret.
#[must_use]
pub fn output_many(key: &SecretKey, alphas: &[&[u8]]) -> Vec<Result<Output, Error>> {
    let one = |alpha: &&[u8]| key.output(alpha);
    let Secret::Edwards(rules, secret) = &key.secret else {
        return alphas.par_iter().map(one).collect();
    };
    let len = chunk_len(alphas.len(), rayon::current_num_threads());
    if let Some(lanes) = tetralith_kernels::lanes8::Lanes8::detect() {
        let (alphas, rest) = alphas.split_at(for_lanes(alphas.len(), LEAST));
        let in_lanes = alphas
            .par_chunks(len)
            .flat_map_iter(|alphas| lanes::outputs(lanes, rules, (key, secret), alphas));
        return in_lanes.chain(rest.par_iter().map(one)).collect();
    }
    if alphas.len() >= LEAST && tetralith_kernels::edwards25519x4::is_fast() {
        let in_lanes = alphas
            .par_chunks(len)
            .flat_map_iter(|alphas| four::outputs(rules, (key, secret), alphas));
        return in_lanes.collect();
    }
    alphas.par_iter().map(one).collect()
}

/// Names the kernel that verifies `n` proofs of a suite here, for benchmarks and messages.
#[must_use]
pub fn kernel(suite: Suite, n: usize) -> &'static str {
    let edwards = matches!(suite.group(), Group::Edwards25519(_));
    if eight_lanes() && (edwards || n >= LEAST_SEC1) {
        return "avx512";
    }
    if edwards && tetralith_kernels::edwards25519x4::is_fast() { "avx2" } else { "portable" }
}

/// Names the kernel that makes `n` proofs of a suite here, likewise; today every `n` has the same.
#[must_use]
pub fn prove_kernel(suite: Suite, _n: usize) -> &'static str {
    let four = tetralith_kernels::edwards25519x4::is_fast();
    match suite.group() {
        Group::Edwards25519(_) if eight_lanes() => "avx512",
        Group::Edwards25519(_) if four => "avx2",
        Group::Edwards25519(_) | Group::P256(_) | Group::Secp256k1(_) => "portable",
    }
}

/// Says whether this CPU works on eight lanes at a time.
fn eight_lanes() -> bool {
    tetralith_kernels::lanes8::Lanes8::detect().is_some()
}

/// How many of so many rows the lanes take: what is left over of groups, if it is worth a group.
fn for_lanes(rows: usize, least: usize) -> usize {
    if rows % 8 < least { rows - rows % 8 } else { rows }
}

/// Whole groups of eight, at most [`CHUNK`], and no fewer chunks than threads if that can be.
fn chunk_len(rows: usize, threads: usize) -> usize {
    rows.div_ceil(threads).next_multiple_of(8).clamp(8, CHUNK)
}

#[cfg(test)]
mod tests;
