//! `tetralith bench xmss`.
//!
//! Keys are of fixed seeds, messages of 32 bytes, and the state is kept in memory, so that what is
//! measured is the processor's work; `xmss.sign` is with the tree in memory, `xmss.sign.checked` with
//! the signature verified before it is released, as the command does, and `xmss.sign.online` is what is
//! left of signing when everything was prepared that the message does not decide, indices leased too.

mod tall;

use super::{Case, Runner, figures};
use crate::failure::{Exit, Failure, Outcome};
use tetralith_xmss::qrl::Descriptor;
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{
    Derivation, HashFunction, Item, Params, Progress, PublicKey, SecretKey, Signer, kernel_name,
    verify_many,
};

/// The sets measured: each hash function, and a hypertree.
const SETS: [&str; 7] = [
    "XMSS-SHA2_10_256",
    "XMSS-SHAKE256_10_256",
    "XMSS-SHAKE_10_256",
    "XMSS-SHA2_10_192",
    "XMSS-SHA2_10_512",
    "XMSS-SHAKE_10_512",
    "XMSSMT-SHA2_20/4_256",
];
/// Signatures verified together.
const BATCH: usize = 256;
const MESSAGE: [u8; 32] = [0x25; 32];

/// Measures the jobs of xmss.
pub(crate) fn run(runner: &mut Runner) -> Outcome {
    let threads = runner.context.threads;
    let failed = |error| Failure::new(Exit::Environment, "threads.start", error);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(failed)?;
    for name in SETS {
        let names = [
            "xmss.keygen",
            "xmss.sign",
            "xmss.verify",
            "xmss.verify_many",
            "xmss.sign.online",
            "xmss.sign.checked",
        ];
        if !names.iter().any(|row| runner.wants(row, name)) {
            continue;
        }
        let params = Params::from_name(name)?;
        let case = |row| Case::new(row, name, kernel_name(params));
        let many = |row| Case { threads, ..case(row) };
        let batch = |row| Case { n: BATCH, ..case(row) };
        let keygen = Case { bytes: Some(params.public_key_bytes() as u64), ..case(names[0]) };
        one.install(|| runner.try_measure(keygen, 1, || key(params).map(drop)))?;
        if threads > 1 {
            runner.try_measure(many(names[0]), 1, || key(params).map(drop))?;
        }
        let (public, signatures) =
            one.install(|| sign(runner, params, case(names[1]), [case(names[5]), case(names[4])]))?;
        one.install(|| verify(runner, &public, &signatures, case(names[2])))?;
        let items: Vec<_> = signatures
            .iter()
            .map(|signature| Item { public_key: &public, message: &MESSAGE, signature })
            .collect();
        let mut verify_all = || match verify_many(&items).into_iter().find(Result::is_err) {
            Some(Err(error)) => Err(Failure::from(error)),
            _ => Ok(()),
        };
        let ops = BATCH as u64;
        one.install(|| runner.try_measure(batch(names[3]), ops, &mut verify_all))?;
        if threads > 1 {
            let case = Case { threads, ..batch(names[3]) };
            runner.try_measure(case, ops, &mut verify_all)?;
        }
    }
    tall::run(runner, &tall_sets(&runner.heights), &one)?;
    one.install(|| heights(runner))
}

/// The sets of the heights that were asked for, but 10, which is measured anyway.
fn tall_sets(heights: &[u8]) -> Vec<String> {
    let (heights, families) = match heights {
        [] => (&[16][..], &["SHA2"][..]),
        heights => (heights, &["SHA2", "SHAKE256", "SHAKE"][..]),
    };
    let tall = heights.iter().filter(|height| **height != 10);
    tall.flat_map(|h| families.iter().map(move |family| format!("XMSS-{family}_{h}_256"))).collect()
}

/// The heights of QRL's keys that are quick, for the plot over the height.
const HEIGHTS: [u8; 6] = [4, 6, 8, 10, 12, 14];

/// Measures QRL's keys over the height of their tree, and the lower ones without vector instructions.
fn heights(runner: &mut Runner) -> Outcome {
    let lowest = Descriptor::new(HashFunction::Sha2, HEIGHTS[0])?.params();
    let is_portable = kernel_name(lowest) == figures::PORTABLE;
    let (most, once) = if is_portable { (10, 10) } else { (14, 14) };
    for height in HEIGHTS.into_iter().filter(|height| *height <= most) {
        let params = Descriptor::new(HashFunction::Sha2, height)?.params();
        let name = format!("{QRL}{height}");
        let case = |row| Case::new(row, &*name, kernel_name(params));
        if !["xmss.keygen", "xmss.sign", "xmss.verify"].iter().any(|row| runner.wants(row, &name)) {
            continue;
        }
        let mut signer = if height < once {
            runner.try_measure(case("xmss.keygen"), 1, || key(params).map(drop))?;
            open(params)?
        } else {
            let made = runner.timed(case("xmss.keygen"), || key(params))?;
            open_key(made)?
        };
        let public = signer.public_key();
        let signatures = [signer.sign(&MESSAGE, 0)?];
        runner.try_measure(case("xmss.sign"), 1, || {
            if signer.status().left == 0 {
                // Opening a used-up key's successor is rare enough not to move the median.
                signer = open(params)?;
            }
            signer.sign(&MESSAGE, 0).map(drop).map_err(Failure::from)
        })?;
        verify(runner, &public, &signatures, case("xmss.verify"))?;
    }
    if !is_portable && runner.wants("xmss.keygen", QRL) {
        runner.portable("xmss", QRL)?;
    }
    Ok(())
}

/// What the rows over the height are called, before the height.
const QRL: &str = "QRL-SHA2-256_";

fn key(params: Params) -> Outcome<SecretKey> {
    let seeds: Vec<u8> = (0..3 * params.n()).map(|i| i as u8).collect();
    let progress = Progress::silent();
    Ok(SecretKey::from_seeds(params, Derivation::PrfKeygen, &seeds, &progress)?)
}

/// Measures signing, and returns the public key with signatures of the first indices.
fn sign(
    runner: &mut Runner,
    params: Params,
    whole: Case,
    [checked, online]: [Case; 2],
) -> Outcome<(PublicKey, Vec<Vec<u8>>)> {
    let mut signer = open(params)?;
    let public = signer.public_key();
    let mut signatures = Vec::with_capacity(BATCH);
    for _ in 0..BATCH {
        signatures.push(signer.sign(&MESSAGE, 0)?);
    }
    let bytes = Some(params.signature_bytes() as u64);
    for (case, check) in [(whole, false), (checked, true)] {
        signer.set_check(check);
        runner.try_measure(Case { bytes, ..case }, 1, || {
            if signer.status().left == 0 {
                // A thousand calls exhaust a key of height 10 once; the median does not notice.
                signer = open(params)?;
                signer.set_check(check);
            }
            signer.sign(&MESSAGE, 0)?;
            Ok(())
        })?;
    }
    if runner.wants(online.name, &online.params) {
        // More than the runner's calls; a key of height 10 has just as many.
        let mut signer = open(params)?;
        signer.reserve(1024, 0)?;
        signer.prepare_ahead(1024)?;
        runner.try_measure(Case { bytes, ..online }, 1, || {
            signer.sign(&MESSAGE, 0)?;
            Ok(())
        })?;
    }
    Ok((public, signatures))
}

/// A signer at index 0 with its state in memory and its trees computed.
fn open(params: Params) -> Outcome<Signer<Volatile>> {
    open_key(key(params)?)
}

fn open_key(key: SecretKey) -> Outcome<Signer<Volatile>> {
    let mut store = Volatile::new();
    create(&mut store, &key.public_key(), 0, [0; 16], 0).map_err(tetralith_xmss::Error::from)?;
    let mut signer = Signer::open(key, store, Holder::new("bench"))?;
    signer.set_check(false);
    signer.prepare(&Progress::silent())?;
    Ok(signer)
}

fn verify(runner: &mut Runner, public: &PublicKey, signatures: &[Vec<u8>], case: Case) -> Outcome {
    let mut next = signatures.iter().cycle();
    runner.try_measure(case, 1, || {
        let signature = next.next().map_or(&[][..], Vec::as_slice);
        Ok(public.verify(&MESSAGE, signature)?)
    })
}
