//! `tetralith vrf bench`: the columns of the published study of VRF verification, measured here.
//!
//! One row an iteration, as the study's `Results.csv`: another key and input of 128 bytes each, seconds
//! of wall time; and in two more columns its batches of 1024 proofs, seconds a proof. docs/vrf.md says what each column is.
//!
//! Badertscher, Gaži, Querejeta-Azurmendi, Russell, "On UC-Secure Range Extension and Batch Verification
//! for ECVRF", and its authors' benchmarks

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use serde_json::json;
use sha2::{Digest, Sha512};
use std::fmt::Write;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;
use tetralith_kernels::edwards25519::{NegativeZero, Point, Sign, base, map_to_curve_elligator2};
use tetralith_kernels::edwards25519x2::{double_mul_base_and_vartime, encode, mul_pair};
use tetralith_kernels::field25519::Fe;
use tetralith_vrf::{Row, SecretKey, Suite, kernel, prove_many, verify, verify_many};

/// The study's columns, and the means it published, in seconds.
const COLUMNS: [(&str, f64); 8] = [
    ("verif", 201e-6),
    ("verif_opt", 142e-6),
    ("verif_opt_blake", 142e-6),
    ("verif_try_inc", 135e-6),
    ("batch_compatible", 124e-6),
    ("api_mul", 90e-6),
    ("internal_mul", 51e-6),
    ("single_multi", 84e-6),
];

/// The study's rows of batches of 1024 proofs, the last two columns of the file: our suites next to them,
/// and the times it published, in seconds a proof. The second is its batch-compatible format with
/// try-and-increment, of which there is no suite here.
const BATCHES: [(&str, Suite, f64); 2] =
    [("batch", Suite::Draft13BatchCompat, 75e-6), ("batch_try_inc", Suite::Draft03Tai, 62e-6)];

/// How many proofs a batch has, and how often one is verified.
const BATCH: usize = 1024;
const BATCH_RUNS: usize = 5;

/// What to measure.
#[derive(clap::Args, Debug)]
pub(crate) struct Bench {
    /// Write a line an iteration to this file, which is replaced where it exists
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// How many iterations
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    rows: u32,
}

/// Seconds, by column.
type Times = [f64; COLUMNS.len()];

pub(super) fn run(context: Context, command: &Bench) -> Outcome {
    let progress = context.progress("vrf bench", command.rows.into(), "rows");
    black_box(Inputs::new(0)?.measure()); // makes tables, which later rows find made
    let mut rows = Vec::new();
    for i in 0..command.rows {
        rows.push(Inputs::new(i)?.measure());
        progress.set(u64::from(i) + 1);
    }
    progress.finish();
    let mut batches = Vec::new();
    for (_, suite, _) in BATCHES {
        batches.push(measure_batch(suite)?);
    }
    if let Some(path) = &command.csv {
        let text = csv(&rows, &batches);
        crate::io::write(path, text.as_bytes(), crate::io::Access::Public, true)?;
    }
    answer(context, &rows, &batches)
}

/// Seconds a proof of several batches, on one thread.
fn measure_batch(suite: Suite) -> Outcome<Vec<f64>> {
    let keys = (0..BATCH).map(|i| {
        let seed: [u8; 32] = take(&Sha512::digest(i.to_be_bytes()), 0);
        Ok(SecretKey::from_bytes(suite, &seed)?)
    });
    let keys = keys.collect::<Outcome<Vec<SecretKey>>>()?;
    let alphas: Vec<[u8; 64]> =
        (0..BATCH).map(|i| Sha512::digest((BATCH + i).to_be_bytes()).into()).collect();
    let inputs: Vec<(&SecretKey, &[u8])> =
        keys.iter().zip(&alphas).map(|(key, alpha)| (key, &alpha[..])).collect();
    let proofs = prove_many(&inputs).into_iter().collect::<Result<Vec<_>, _>>()?;
    let publics: Vec<_> = keys.iter().map(SecretKey::public_key).collect();
    let rows: Vec<Row<'_>> = (0..BATCH)
        .map(|i| Row {
            public_key: publics[i].as_bytes(),
            alpha: &alphas[i],
            proof: proofs[i].as_bytes(),
        })
        .collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| Failure::new(Exit::Environment, "io.threads", error))?;
    let run = || {
        let time = seconds(|| {
            let verdicts = verify_many(suite, black_box(&rows));
            assert!(verdicts.iter().all(Result::is_ok), "honest proofs");
        });
        time / BATCH as f64
    };
    Ok(pool.install(|| (0..BATCH_RUNS).map(|_| run()).collect()))
}

/// A batch is measured fewer times than a proof, so its cells are empty after that: pandas leaves them out
/// of means and deviations. Where there are fewer rows than batches, further rows hold batches only.
fn csv(rows: &[Times], batches: &[Vec<f64>]) -> String {
    let names = COLUMNS.iter().map(|(name, _)| *name).chain(BATCHES.iter().map(|(name, ..)| *name));
    let mut text = names.collect::<Vec<_>>().join(",") + "\n";
    let runs = batches.iter().map(Vec::len).max().unwrap_or(0);
    for i in 0..rows.len().max(runs) {
        let single = (0..COLUMNS.len()).map(|column| rows.get(i).map(|row| row[column]));
        let batch = batches.iter().map(|times| times.get(i).copied());
        let cell = |seconds: Option<f64>| seconds.map_or(String::new(), |s| format!("{s:.9}"));
        text += &(single.chain(batch).map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

/// Prints the least time of each row, for a machine adds to times and takes nothing off; means and
/// deviations; and ratios to the first row, beside those of the study.
fn answer(context: Context, rows: &[Times], batches: &[Vec<f64>]) -> Outcome {
    let kernel = kernel(Suite::Draft03Cardano, 1);
    let n = rows.len();
    let column = |i: usize| rows.iter().map(|row| row[i]).collect::<Vec<f64>>();
    let single =
        COLUMNS.iter().enumerate().map(|(i, (name, published))| (*name, column(i), *published));
    let batch = BATCHES
        .iter()
        .zip(batches)
        .map(|((name, _, published), times)| (*name, times.clone(), *published));
    let (first, published_first) = (least(&column(0)), COLUMNS[0].1);
    let mut text = format!("{n} rows, kernel {kernel}; microseconds\n{:17}", "column");
    text += "       least       mean  deviation  to verif  published  to verif\n";
    let mut columns = Vec::new();
    for (name, times, published) in single.chain(batch) {
        let (least, mean, deviation) = (least(&times), mean(&times), deviation(&times));
        let (ratio, published_ratio) = (least / first, published / published_first);
        let _ = writeln!(
            text,
            "{name:17}{:12.2} {:10.2} {:10.2} {ratio:9.2} {:10.0} {published_ratio:9.2}",
            least * 1e6,
            mean * 1e6,
            deviation * 1e6,
            published * 1e6,
        );
        columns.push(json!({
            "column": name, "least_s": least, "mean_s": mean, "deviation_s": deviation,
            "ratio": ratio, "published_s": published, "published_ratio": published_ratio,
        }));
    }
    context.answer(text.trim_end(), json!({ "rows": n, "kernel": kernel, "columns": columns }))
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// Of a sample, as the study's tool takes it: over one less than the number of rows.
fn deviation(times: &[f64]) -> f64 {
    let mean = mean(times);
    let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
    (squares / (times.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// A key and an input, and proofs of them.
struct Inputs {
    key: [u8; 32],
    alpha: [u8; 128],
    /// Of the suites of [`SUITES`].
    proofs: [Vec<u8>; 4],
    y: Point,
    h: Point,
    gamma: Point,
}

const SUITES: [Suite; 4] =
    [Suite::Draft03Cardano, Suite::Draft03Blake2b, Suite::Draft03Tai, Suite::Draft13BatchCompat];

/// The order of the group, little-endian. RFC 8032 §5.1
const L: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    core::array::from_fn(|i| bytes[at + i])
}

fn decode(bytes: &[u8; 32]) -> Point {
    Point::decode(bytes, NegativeZero::Refuse).expect("honest keys and proofs decode")
}

/// Seconds of one call.
fn seconds<T>(call: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(call());
    start.elapsed().as_secs_f64()
}

impl Inputs {
    fn new(i: u32) -> Outcome<Inputs> {
        let block = |salt: u8| -> [u8; 64] {
            Sha512::digest([&i.to_be_bytes()[..], &[salt]].concat()).into()
        };
        let seed: [u8; 32] = take(&block(0), 0);
        let alpha: [u8; 128] = take(&[block(1), block(2)].concat(), 0);
        let mut proofs = SUITES.map(|_| Vec::new());
        for (proof, suite) in proofs.iter_mut().zip(SUITES) {
            let key = SecretKey::from_bytes(suite, &seed)?;
            *proof = key.prove(&alpha)?.as_bytes().to_vec();
        }
        let secret = SecretKey::from_bytes(SUITES[0], &seed)?;
        let key: [u8; 32] = take(secret.public_key().as_bytes(), 0);
        let (y, gamma) = (decode(&key), decode(&take(&proofs[0], 0)));
        Ok(Inputs { key, alpha, h: draft03_h(&key, &alpha), proofs, y, gamma })
    }

    fn measure(&self) -> Times {
        let verified = |i: usize| {
            seconds(|| {
                let verdict = verify(SUITES[i], black_box(&self.key), &self.alpha, &self.proofs[i]);
                assert!(verdict.is_ok(), "an honest proof");
            })
        };
        let (c, s) = self.scalars();
        [
            seconds(|| self.verify_plainly()),
            verified(0),
            verified(1),
            verified(2),
            verified(3),
            seconds(|| checked_mul(black_box(&self.key), &s)),
            seconds(|| mul_pair(&decode(black_box(&self.key)), &s, &s)),
            seconds(|| {
                let points = [self.y.neg(), self.gamma.neg()];
                double_mul_base_and_vartime(black_box(&c), &points, &s, &self.h)
            }),
        ]
    }

    /// c and s of the first proof.
    fn scalars(&self) -> ([u8; 32], [u8; 32]) {
        let mut c = [0; 32];
        c[..16].copy_from_slice(&self.proofs[0][32..48]);
        (c, take(&self.proofs[0], 48))
    }

    /// Verifies as libsodium's fork did when the study began: four multiplications in constant time,
    /// each on its own, with portable code.
    fn verify_plainly(&self) {
        let (c, s) = self.scalars();
        let gamma: [u8; 32] = take(&self.proofs[0], 0);
        let (y, gamma_point) = (decode(&self.key), decode(&gamma));
        assert!(!bool::from(y.is_small_order()), "an honest key");
        let h = draft03_h(&self.key, &self.alpha);
        let u = base().mul(&s).sub(&y.mul(&c));
        let v = h.mul(&s).sub(&gamma_point.mul(&c));
        let points = [h, u, v, gamma_point.mul_by_cofactor()];
        let [h, u, v, gamma8] = points.map(|point| point.encode());
        let challenge = Sha512::digest([&[4, 2], &h[..], &gamma, &u, &v].concat());
        assert_eq!(challenge[..16], c[..16], "an honest proof");
        black_box(Sha512::digest([&[4, 3], &gamma8[..]].concat()));
    }
}

/// draft-irtf-cfrg-vrf-03 §5.4.1.2
fn draft03_h(key: &[u8; 32], alpha: &[u8]) -> Point {
    let hash = Sha512::digest([&[4, 1], &key[..], alpha].concat());
    let mut r: [u8; 32] = take(&hash, 0);
    r[31] &= 0x7f;
    map_to_curve_elligator2(&Fe::from_bytes(&r), Sign::EvenX)
}

/// A multiplication from bytes to bytes that refuses what a library's caller may get wrong: points of
/// small order and outside the group of order L, and a neutral result.
fn checked_mul(point: &[u8; 32], scalar: &[u8; 32]) -> [u8; 32] {
    let point = decode(point);
    assert!(!bool::from(point.is_small_order()), "an honest key");
    let [product, zero] = mul_pair(&point, scalar, &L);
    assert!(bool::from(zero.is_identity()), "a point of the group");
    assert!(!bool::from(product.is_identity()), "no multiple of L");
    let [bytes] = encode(&[product]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_columns_of_the_study() {
        let inputs = Inputs::new(7).expect("inputs");
        let rows = [inputs.measure(), Inputs::new(8).expect("inputs").measure()];
        assert!(rows.iter().flatten().all(|&seconds| seconds > 0.0));
        let text = csv(&rows, &[vec![1e-5, 2e-5, 3e-5], vec![4e-5, 5e-5, 6e-5]]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "verif,verif_opt,verif_opt_blake,verif_try_inc,batch_compatible,api_mul,internal_mul,\
             single_multi,batch,batch_try_inc"
        );
        assert!(lines.len() == 4 && lines.iter().all(|line| line.split(',').count() == 10));
        assert!(lines[1].ends_with(",0.000010000,0.000040000"), "{}", lines[1]);
        assert_eq!(lines[3], ",,,,,,,,0.000030000,0.000060000");
        let times = [3.0, 1.0, 5.0];
        assert!((mean(&times) - 3.0).abs() < 1e-12 && (deviation(&times) - 2.0).abs() < 1e-12);
        assert!((least(&times) - 1.0).abs() < 1e-12);
    }
}
