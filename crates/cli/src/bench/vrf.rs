//! `tetralith bench vrf`: proofs under distinct keys and inputs, verified from their bytes.

use super::{Case, Runner};
use crate::failure::Outcome;
use rayon::prelude::*;
use std::hint::black_box;
use tetralith_vrf::cardano::{Header, LeaderCheck, Ratio, leader_slots, verify_headers};
use tetralith_vrf::{Row, SecretKey, Suite, kernel, prove_kernel, prove_many, verify, verify_many};

/// Measures the jobs of vrf.
pub(crate) fn run(runner: &mut Runner) -> Outcome {
    for suite in Suite::ALL {
        one(runner, suite);
        proofs(runner, suite, 64);
        many(runner, suite, 64, 1);
        many(runner, suite, 1024, 1);
        many(runner, suite, 4096, 2);
    }
    leader_schedule(runner)?;
    headers(runner, 1)?;
    headers(runner, 2)
}

/// Slots decided by one pool's key.
fn leader_schedule(runner: &mut Runner) -> Outcome {
    let suite = Suite::Draft03Cardano;
    if !runner.wants("vrf.leader_schedule", suite.name()) {
        return Ok(());
    }
    let stake: Ratio = "0.001".parse()?;
    let coefficient: Ratio = "0.05".parse()?;
    let (check, n) = (LeaderCheck::new(&stake, &coefficient)?, 512);
    let key = SecretKey::from_bytes(suite, &[7; 32])?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let case = Case::new("vrf.leader_schedule", suite.name(), prove_kernel(suite, n));
    runner.measure(Case { n, ..case }, n as u64, || {
        let led = pool.install(|| leader_slots(&key, &[5; 32], &check, 0..n as u64));
        assert!(black_box(led).is_ok());
    });
    Ok(())
}

/// Headers of today's eras decoded and verified, as `vrf verify-headers` does.
fn headers(runner: &mut Runner, threads: usize) -> Outcome {
    let suite = Suite::Draft03Cardano;
    if !runner.wants("vrf.verify_headers", suite.name()) || threads > runner.context.threads {
        return Ok(());
    }
    let bytes: &[u8] = include_bytes!("../../vectors/mainnet_babbage_7854823.header");
    let nonce = hex::decode("8dad163edf4607452fec9c5955d593fb598ca728bae162138f88da6667bba79b");
    let nonce: [u8; 32] = nonce.expect("hex").try_into().expect("32 bytes");
    let n = 4096;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let case = Case::new("vrf.verify_headers", suite.name(), kernel(suite, n));
    runner.measure(Case { n, threads, with_cpu: true, ..case }, n as u64, || {
        let valid = pool.install(|| {
            (0..n / 256).into_par_iter().all(|_| {
                let headers: Vec<Header> =
                    (0..256).map_while(|_| Header::from_cbor(black_box(bytes)).ok()).collect();
                let rows: Vec<(&Header, [u8; 32])> =
                    headers.iter().map(|header| (header, nonce)).collect();
                rows.len() == 256 && verify_headers(&rows).iter().all(Result::is_ok)
            })
        });
        assert!(valid, "a header of mainnet");
    });
    Ok(())
}

/// Keys, inputs of 32 bytes and proofs, all distinct.
fn inputs(suite: Suite, n: usize) -> Vec<(Vec<u8>, [u8; 32], Vec<u8>)> {
    let input = |i: usize| {
        let mut alpha = [0; 32];
        alpha[..8].copy_from_slice(&(i as u64).to_be_bytes());
        let mut seed = alpha;
        seed[31] = 1;
        let key = SecretKey::from_bytes(suite, &seed).expect("a small scalar is a secret key");
        let proof = key.prove(&alpha).expect("every input has a point");
        (key.public_key().as_bytes().to_vec(), alpha, proof.as_bytes().to_vec())
    };
    (0..n).map(input).collect()
}

fn one(runner: &mut Runner, suite: Suite) {
    let name = suite.name();
    if runner.wants("vrf.prove", name) {
        let key = SecretKey::from_bytes(suite, &[7; 32]).expect("a scalar below the order");
        runner.measure(Case::new("vrf.prove", name, prove_kernel(suite, 1)), 1, || {
            black_box(key.prove(black_box(&[5; 32])).is_ok());
        });
    }
    if runner.wants("vrf.verify", name) {
        let inputs = inputs(suite, 16);
        let case = Case::new("vrf.verify", name, kernel(suite, 1));
        runner.measure(case, inputs.len() as u64, || {
            for (key, alpha, proof) in &inputs {
                assert!(black_box(verify(suite, key, alpha, proof)).is_ok());
            }
        });
    }
}

fn proofs(runner: &mut Runner, suite: Suite, n: usize) {
    if !runner.wants("vrf.prove_many", suite.name()) {
        return;
    }
    let key = |i: u8| SecretKey::from_bytes(suite, &[i + 1; 32]).expect("a scalar below the order");
    let keys: Vec<SecretKey> = (0..n).map(|i| key((i % 128) as u8)).collect();
    let rows: Vec<(&SecretKey, &[u8])> = keys.iter().map(|key| (key, &[5; 32][..])).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let case = Case { n, ..Case::new("vrf.prove_many", suite.name(), prove_kernel(suite, n)) };
    runner.measure(case, n as u64, || {
        assert!(pool.install(|| prove_many(&rows)).iter().all(Result::is_ok));
    });
}

fn many(runner: &mut Runner, suite: Suite, n: usize, threads: usize) {
    let job = match suite {
        Suite::Draft13BatchCompat => "vrf.verify_batchcompat",
        _ => "vrf.verify_many",
    };
    if !runner.wants(job, suite.name()) || threads > runner.context.threads {
        return;
    }
    let inputs = inputs(suite, n);
    let rows: Vec<Row<'_>> =
        inputs.iter().map(|(public_key, alpha, proof)| Row { public_key, alpha, proof }).collect();
    let case = Case { n, threads, ..Case::new(job, suite.name(), kernel(suite, n)) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    runner.measure(case, n as u64, || {
        let verdicts = pool.install(|| verify_many(suite, &rows));
        assert!(verdicts.iter().all(Result::is_ok));
    });
}
