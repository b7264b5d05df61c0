//! `tetralith bench tss`: the computation of whole key generations and signatures.
//!
//! All parties run in this thread and hand each other their messages in memory. `tss.keygen` and
//! `tss.sign` are the sum over all parties, `….party` one party's part of it (the sum divided by
//! their number); `tss.frost.…` are the sums for Ed25519. `n` is how many take part, `bytes` what one
//! party receives. Thirty parties of ECDSA, as in go-tss's published figures, take half a minute and
//! are measured only where `--only` asks for them.

use super::{Case, Runner};
use crate::failure::{Exit, Failure, Outcome};
use std::fmt::Display;
use tetralith_kernels::secp256k1::Kernel;
use tetralith_tss::engine::{PartyId, SessionId, Threshold};
use tetralith_tss::frost::keygen::FrostKeygen;
use tetralith_tss::frost::keys::FrostShare;
use tetralith_tss::frost::sign::FrostSign;
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::KeyShare;
use tetralith_tss::sign::{Sign, Signature};
use tetralith_tss::sim::{Network, Outcome as Run, rng};

const SIZES: [(u8, u8); 4] = [(2, 2), (3, 4), (7, 10), (20, 30)];

/// Measures the jobs of tss.
pub(crate) fn run(runner: &mut Runner) -> Outcome {
    ecdsa(runner)?;
    frost(runner)
}

/// Ed25519 by FROST, of all parties together.
fn frost(runner: &mut Runner) -> Outcome {
    for (t, n) in [(3, 4), (20, 30)] {
        let params = format!("{t}-of-{n}");
        if !["tss.frost.keygen", "tss.frost.sign"].iter().any(|name| runner.wants(name, &params)) {
            continue;
        }
        let threshold = Threshold::new(t, n).map_err(failure)?;
        let made = frost_keygen(threshold, 0)?;
        let bytes = made.bytes as u64 / u64::from(n);
        let shares = outputs(made)?;
        let case = |name, n: u8, bytes| {
            let n = usize::from(n);
            Case { n, bytes: Some(bytes), ..Case::new(name, params.clone(), "portable") }
        };
        let mut seed = 0;
        runner.try_measure(case("tss.frost.keygen", n, bytes), 1, || {
            seed += 1;
            frost_keygen(threshold, seed).and_then(outputs).map(drop)
        })?;
        let shares = &shares[..usize::from(t)];
        let bytes = frost_sign(shares, 0)?.bytes as u64 / u64::from(t);
        runner.try_measure(case("tss.frost.sign", t, bytes), 1, || {
            seed += 1;
            frost_sign(shares, seed).and_then(outputs).map(drop)
        })?;
    }
    Ok(())
}

fn frost_keygen(threshold: Threshold, seed: u64) -> Outcome<Run<FrostShare>> {
    let mut rng = rng(seed);
    let mut parties = Vec::new();
    for me in threshold.parties() {
        let keygen = FrostKeygen::new(session(seed), me, threshold, &mut rng);
        parties.push((me, keygen.map_err(failure)?));
    }
    Ok(Network::new(seed).run(parties))
}

fn frost_sign(shares: &[FrostShare], seed: u64) -> Outcome<Run<[u8; 64]>> {
    let mut rng = rng(seed);
    let signers: Vec<PartyId> = shares.iter().map(FrostShare::me).collect();
    let mut parties = Vec::new();
    for share in shares {
        let sign = FrostSign::new(session(seed), share, &signers, b"message", &mut rng);
        parties.push((share.me(), sign.map_err(failure)?));
    }
    Ok(Network::new(seed).run(parties))
}

/// ECDSA by DKLs23.
fn ecdsa(runner: &mut Runner) -> Outcome {
    for (t, n) in SIZES {
        let params = format!("{t}-of-{n}");
        let names = ["tss.keygen", "tss.keygen.party", "tss.sign", "tss.sign.party"];
        let unasked = n > 10 && runner.only.is_none();
        if unasked || !names.iter().any(|name| runner.wants(name, &params)) {
            continue;
        }
        let threshold = Threshold::new(t, n).map_err(failure)?;
        let made = keygen(threshold, 0)?;
        let bytes = made.bytes as u64 / u64::from(n);
        let shares = outputs(made)?;
        let signers: Vec<PartyId> = threshold.parties().take(usize::from(t)).collect();

        let case = |name, kernel, n: u8, bytes| {
            let n = usize::from(n);
            Case { n, bytes: Some(bytes), ..Case::new(name, params.clone(), kernel) }
        };
        // Points for the base transfers are computed in lanes.
        let lanes = Kernel::best().name();
        let mut seed = 0;
        let mut make = || {
            seed += 1;
            keygen(threshold, seed).and_then(outputs).map(drop)
        };
        runner.try_measure(case("tss.keygen", lanes, n, bytes), 1, &mut make)?;
        runner.try_measure(case("tss.keygen.party", lanes, n, bytes), n.into(), &mut make)?;
        let bytes = sign(&shares, &signers, 0)?.bytes as u64 / u64::from(t);
        let mut make = || {
            seed += 1;
            sign(&shares, &signers, seed).and_then(outputs).map(drop)
        };
        runner.try_measure(case("tss.sign", lanes, t, bytes), 1, &mut make)?;
        runner.try_measure(case("tss.sign.party", lanes, t, bytes), t.into(), &mut make)?;
    }
    Ok(())
}

fn keygen(threshold: Threshold, seed: u64) -> Outcome<Run<KeyShare>> {
    let mut rng = rng(seed);
    let mut parties = Vec::new();
    for me in threshold.parties() {
        parties.push((me, Keygen::new(session(seed), me, threshold, &mut rng).map_err(failure)?));
    }
    Ok(Network::new(seed).run(parties))
}

fn sign(shares: &[KeyShare], signers: &[PartyId], seed: u64) -> Outcome<Run<Signature>> {
    let mut rng = rng(seed);
    let mut parties = Vec::new();
    for share in shares.iter().filter(|share| signers.contains(&share.me())) {
        let sign = Sign::new(session(seed), share, signers, [7; 32], &mut rng).map_err(failure)?;
        parties.push((share.me(), sign));
    }
    Ok(Network::new(seed).run(parties))
}

fn session(seed: u64) -> SessionId {
    let mut name = [0; 32];
    name[..8].copy_from_slice(&seed.to_le_bytes());
    SessionId(name)
}

/// What every party got.
fn outputs<T>(run: Run<T>) -> Outcome<Vec<T>> {
    let output = |(party, result)| match result {
        Some(Ok(output)) => Ok(output),
        Some(Err(abort)) => Err(failure(abort)),
        None => Err(failure(format!("party {party} still waits"))),
    };
    run.results.into_iter().map(output).collect()
}

fn failure(error: impl Display) -> Failure {
    Failure::new(Exit::Environment, "bench.tss", error)
}
