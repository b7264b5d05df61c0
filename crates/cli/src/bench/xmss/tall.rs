//! Tall keys: made once, for that takes seconds or minutes; then opened, signed with and verified.
//!
//! `xmss.open` is what a signer does before its first signature where the key is decrypted already: it
//! reads the stored tree's root and one path, and checks them. All signatures here take their paths from
//! that file, as the command's do.

use super::{BATCH, MESSAGE, key};
use crate::bench::{Case, Runner};
use crate::failure::{Exit, Failure, Outcome};
use std::path::Path;
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{Item, Params, Progress, SecretKey, Signer, kernel_name, verify_many};

/// Measures a key of each of these sets, on one thread, and what is parallel on all as well.
pub(super) fn run(runner: &mut Runner, sets: &[String], one: &rayon::ThreadPool) -> Outcome {
    for name in sets {
        let rows = ["keygen", "open", "sign", "sign.online", "verify", "verify_many"];
        if rows.iter().any(|row| runner.wants(&format!("xmss.{row}"), name)) {
            set(runner, Params::from_name(name)?, one)?;
        }
    }
    Ok(())
}

fn set(runner: &mut Runner, params: Params, one: &rayon::ThreadPool) -> Outcome {
    let failed = |error: std::io::Error| Failure::new(Exit::Environment, "io.file", error);
    let threads = runner.context.threads;
    let case = |row| Case::new(row, params.to_string(), kernel_name(params));
    let keygen = Case { bytes: Some(params.public_key_bytes() as u64), ..case("xmss.keygen") };
    let made = one.install(|| runner.timed(keygen.clone(), || key(params)))?;
    if threads > 1 && runner.wants("xmss.keygen", &keygen.params) {
        runner.timed(Case { threads, ..keygen }, || key(params))?;
    }
    let folder = tempfile::tempdir().map_err(failed)?;
    let base = folder.path().join("key");
    made.save_cache(&base)?;
    let bytes = made.to_bytes();
    drop(made);
    one.install(|| {
        runner.try_measure(case("xmss.open"), 1, || open(&bytes, &base).map(drop))?;
        let signatures = sign(runner, params, &bytes, &base)?;
        let public = SecretKey::from_bytes(&bytes)?.public_key();
        super::verify(runner, &public, &signatures, case("xmss.verify"))?;
        let items: Vec<_> = signatures
            .iter()
            .map(|signature| Item { public_key: &public, message: &MESSAGE, signature })
            .collect();
        let batch = Case { n: BATCH, ..case("xmss.verify_many") };
        runner.try_measure(batch, BATCH as u64, || {
            verify_many(&items).into_iter().collect::<Result<Vec<()>, _>>()?;
            Ok(())
        })
    })
}

/// Measures signing, and returns signatures.
fn sign(runner: &mut Runner, params: Params, key: &[u8], base: &Path) -> Outcome<Vec<Vec<u8>>> {
    let bytes = Some(params.signature_bytes() as u64);
    let case = |row| Case { bytes, ..Case::new(row, params.to_string(), kernel_name(params)) };
    let mut signer = open(key, base)?;
    let signatures = (0..BATCH).map(|_| signer.sign(&MESSAGE, 0)).collect::<Result<_, _>>()?;
    let mut sign = |signer: &mut Signer<Volatile>, row| {
        runner.try_measure(case(row), 1, || {
            signer.sign(&MESSAGE, 0)?;
            Ok(())
        })
    };
    sign(&mut signer, "xmss.sign")?;
    signer.prepare_ahead(1024)?;
    sign(&mut signer, "xmss.sign.online")?;
    Ok(signatures)
}

/// Opens a key whose tree is in files.
fn open(key: &[u8], base: &Path) -> Outcome<Signer<Volatile>> {
    let key = SecretKey::from_bytes(key)?;
    let mut store = Volatile::new();
    create(&mut store, &key.public_key(), 0, [0; 16], 0).map_err(tetralith_xmss::Error::from)?;
    let mut signer = Signer::open(key, store, Holder::new("bench"))?;
    signer.set_check(false);
    signer.set_cache(base);
    signer.prepare(&Progress::silent())?;
    Ok(signer)
}
