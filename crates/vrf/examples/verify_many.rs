//! Prints what verifying and proving cost a proof, in microseconds and in kilocycles of the clock that
//! a chain of dependent additions shows in the same run, with curve25519-dalek's multiplication beside.
//!
//! `cargo run --release -p tetralith-vrf --example verify_many [SUITE]...`

use curve25519_dalek::{EdwardsPoint, Scalar};
use std::hint::black_box;
use std::time::Instant;
use tetralith_vrf::{Row, SecretKey, Suite, kernel, output_many, prove_many, verify, verify_many};

/// Nanoseconds of one call, the least of 15 runs: what others do on the machine only adds.
fn nanoseconds(mut call: impl FnMut()) -> f64 {
    let mut runs: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_nanos() as f64
        })
        .collect();
    runs.sort_by(f64::total_cmp);
    runs[0]
}

/// Cycles per nanosecond.
fn clock() -> f64 {
    let mut x = black_box(1u64);
    let chain = nanoseconds(|| {
        for _ in 0..100_000 {
            for k in 0..4 {
                x = x.wrapping_add(0x9e37_79b9_7f4a_7c15).rotate_left(7 + k);
            }
        }
    });
    black_box(x);
    8e5 / chain
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let suites: Vec<Suite> = if names.is_empty() {
        Suite::ALL.into_iter().filter(|suite| suite.public_key_len() == 32).collect()
    } else {
        names.iter().map(|name| name.parse().expect("a suite's name")).collect()
    };
    let (one, two) = (pool(1), pool(2));
    let scalar = Scalar::from(12345u64).invert();
    let point = EdwardsPoint::mul_base(&scalar);
    for suite in suites {
        let owned: Vec<_> = (0..1024u32)
            .map(|i| {
                let mut seed = [7; 32];
                seed[..4].copy_from_slice(&i.to_le_bytes());
                let key = SecretKey::from_bytes(suite, &seed).expect("a seed");
                let proof = key.prove(&seed).expect("a proof");
                (key, seed, proof)
            })
            .collect();
        let public: Vec<_> = owned.iter().map(|(key, _, _)| key.public_key()).collect();
        let rows: Vec<Row<'_>> = owned
            .iter()
            .zip(&public)
            .map(|((_, alpha, proof), key)| Row {
                public_key: key.as_bytes(),
                alpha,
                proof: proof.as_bytes(),
            })
            .collect();
        let secret: Vec<(&SecretKey, &[u8])> =
            owned.iter().map(|(key, alpha, _)| (key, &alpha[..])).collect();
        println!("{suite}: microseconds and kilocycles a proof, kernel {}", kernel(suite, 64));
        let ghz = clock();
        let report = |name: &str, n: usize, ns: f64| {
            let each = ns / 1e3 / n as f64;
            println!("  {name:<38} n = {n:>4} {each:>8.2} {:>8.1}", each * ghz);
        };
        let r = &rows[0];
        let single = || drop(black_box(verify(suite, r.public_key, r.alpha, r.proof)));
        report("verify", 1, nanoseconds(single));
        for n in [2, 8, 16, 64, 200, 1024] {
            let ns =
                one.install(|| nanoseconds(|| drop(black_box(verify_many(suite, &rows[..n])))));
            report("verify_many, one thread", n, ns);
        }
        let ns = two.install(|| nanoseconds(|| drop(black_box(verify_many(suite, &rows)))));
        report("verify_many, two threads", rows.len(), ns);
        report("prove", 1, nanoseconds(|| drop(black_box(secret[0].0.prove(secret[0].1)))));
        for n in [8, 64, 200] {
            let ns = one.install(|| nanoseconds(|| drop(black_box(prove_many(&secret[..n])))));
            report("prove_many, one thread", n, ns);
        }
        let alphas: Vec<&[u8]> = owned.iter().map(|(_, alpha, _)| &alpha[..]).collect();
        let outputs = || drop(black_box(output_many(secret[0].0, &alphas[..64])));
        report("output_many, one thread", 64, one.install(|| nanoseconds(outputs)));
        let dalek = || {
            black_box(EdwardsPoint::vartime_double_scalar_mul_basepoint(&scalar, &point, &scalar));
        };
        report("curve25519-dalek, one double-base", 1, nanoseconds(dalek));
    }
}
