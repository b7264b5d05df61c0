//! `tetralith bench vdf`: squarings a kernel and a size, and proofs over 2^14 squarings.

use super::{Case, Runner};
use crate::failure::Outcome;
use crate::vdf::any_modulus;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;
use tetralith_kernels::mont::{Kernel, Squarer};
use tetralith_vdf::timelock::{self, SEAL_BITS};
use tetralith_vdf::{Evaluation, Modulus, Options, Proof, Prover, Residue, System};

/// Squarings of one call, and T of the proofs: `n` of these rows.
const BLOCK: u64 = 1 << 12;
const PROVED: u64 = 1 << 14;

/// Measures the jobs of vdf.
pub(crate) fn run(runner: &mut Runner) -> Outcome {
    for bits in [1024u16, 2048, 3072, 4096] {
        for kernel in Kernel::ALL {
            square(runner, bits, kernel);
        }
    }
    for (system, prove, verify) in [
        (System::Wesolowski, "vdf.wesolowski.prove", "vdf.wesolowski.verify"),
        (System::Segmented, "vdf.n-wesolowski.prove", "vdf.n-wesolowski.verify"),
        (System::Pietrzak, "vdf.pietrzak.prove", "vdf.pietrzak.verify"),
    ] {
        proofs(runner, system, prove, verify)?;
    }
    for (system, name) in [
        (System::Wesolowski, "vdf.wesolowski.proving"),
        (System::Segmented, "vdf.n-wesolowski.proving"),
        (System::Pietrzak, "vdf.pietrzak.proving"),
    ] {
        proving(runner, system, name)?;
    }
    many(runner)?;
    let mut rng = crate::random::system();
    runner.try_measure(Case::new("vdf.seal", "2048", "portable"), 1, || {
        let mut sealed = Vec::new();
        timelock::seal(&mut &b"a short file"[..], &mut sealed, PROVED, SEAL_BITS, &mut rng)?;
        black_box(sealed);
        Ok(())
    })
}

/// `vdf.square`: one squaring, of a block that is entered once.
fn square(runner: &mut Runner, bits: u16, kernel: Kernel) {
    let modulus = any_modulus(bits);
    let params = bits.to_string();
    if !runner.wants("vdf.square", &params) {
        return;
    }
    let Some(mut squarer) = Squarer::with_kernel(kernel, &modulus) else { return };
    let mut start = vec![0; modulus.len()];
    start[0] = 3;
    squarer.set(&start);
    let case = Case::new("vdf.square", params, kernel.name());
    runner.measure(case, BLOCK, || squarer.square(BLOCK));
    black_box(squarer.value());
}

/// T of the rows that tell what a proof costs once y is there.
const OVER: [u32; 4] = [16, 18, 20, 22];

/// `vdf.….proving`: the time from the last squaring to the proof, as a share of what T squarings that are not
/// recorded take just before.
fn proving(runner: &mut Runner, system: System, name: &'static str) -> Outcome {
    if !runner.wants(name, "2048") {
        return Ok(());
    }
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"bench");
    let most = runner.context.threads;
    // One thread alone is no use for n-Wesolowski: its point is what the second does meanwhile.
    let counts = match system {
        System::Segmented => vec![most],
        _ if most > 1 => vec![1, most],
        _ => vec![1],
    };
    for (threads, log2) in counts.into_iter().flat_map(|count| OVER.map(|log2| (count, log2))) {
        let iterations = 1u64 << log2;
        let options = Options { threads, ..Options::default() };
        let case = Case { threads, n: iterations as usize, ..Case::new(name, "2048", "auto") };
        runner.measure_share(case, || {
            let squarings = iterations as f64 * squaring_time(&modulus, &x)?;
            let mut prover = Prover::new(system, &modulus, &x, iterations, options)?;
            let mut squared = Instant::now();
            let proof = prover.run(&mut |progress| {
                if !progress.proving {
                    squared = Instant::now();
                }
                ControlFlow::Continue(())
            })?;
            let ns = squared.elapsed().as_nanos() as f64;
            black_box(proof);
            Ok([ns, squarings])
        })?;
    }
    Ok(())
}

/// Nanoseconds of a squaring of an evaluation.
fn squaring_time(modulus: &Modulus, x: &Residue) -> Outcome<f64> {
    let count = 1u64 << 14;
    let mut evaluation = Evaluation::new(modulus, x, count)?;
    let clock = Instant::now();
    evaluation.advance(count)?;
    Ok(clock.elapsed().as_nanos() as f64 / count as f64)
}

/// `vdf.wesolowski.verify_many`: one of many proofs modulo one number, verified together; and beside it
/// `vdf.wesolowski.verify_each`, the same proofs one by one.
fn many(runner: &mut Runner) -> Outcome {
    const MANY: usize = 64;
    let (name, each) = ("vdf.wesolowski.verify_many", "vdf.wesolowski.verify_each");
    if !runner.wants(name, "2048") && !runner.wants(each, "2048") {
        return Ok(());
    }
    let modulus = Modulus::rsa2048();
    let mut proofs = Vec::new();
    for i in 0..MANY {
        let (x, _) = modulus.reduce(&[b'b', i as u8]);
        let mut prover = Prover::new(System::Wesolowski, &modulus, &x, 1000, Options::default())?;
        proofs.push(prover.run(&mut |_| ControlFlow::Continue(()))?.1);
    }
    let case = Case { n: MANY, ..Case::new(each, "2048", "auto") };
    runner.try_measure(case, MANY as u64, || Ok(proofs.iter().try_for_each(Proof::verify)?))?;
    let threads = runner.context.threads;
    for threads in if threads > 1 { vec![1, threads] } else { vec![1] } {
        let case = Case { threads, n: MANY, ..Case::new(name, "2048", "auto") };
        runner.try_measure(case, MANY as u64, || {
            let right = Proof::verify_many(&proofs, threads).iter().all(Result::is_ok);
            if right { Ok(()) } else { Err(tetralith_vdf::Error::Invalid.into()) }
        })?;
    }
    Ok(())
}

/// One proof with its squarings, and one verification.
fn proofs(
    runner: &mut Runner,
    system: System,
    prove: &'static str,
    verify: &'static str,
) -> Outcome {
    if !runner.wants(prove, "2048") && !runner.wants(verify, "2048") {
        return Ok(());
    }
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"bench");
    let kernel = Evaluation::new(&modulus, &x, 0)?.kernel();
    let threads = runner.context.threads;
    let options = Options { threads, ..Options::default() };
    let make = || -> Outcome<Proof> {
        let mut prover = Prover::new(system, &modulus, &x, PROVED, options)?;
        Ok(prover.run(&mut |_| ControlFlow::Continue(()))?.1)
    };
    let proof = make()?;
    let bytes = Some(proof.to_bytes().len() as u64);
    let n = PROVED as usize;
    let case = Case { threads, n, bytes, ..Case::new(prove, "2048", kernel) };
    runner.try_measure(case, 1, || make().map(|proof| drop(black_box(proof))))?;
    let case = Case { n, bytes, ..Case::new(verify, "2048", "portable") };
    runner.try_measure(case, 1, || Ok(proof.verify()?))
}
