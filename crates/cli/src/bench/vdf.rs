//! `tetralith bench vdf`: squarings a kernel and a size, and proofs over 2^14 squarings.

use super::{Case, Runner};
use crate::failure::Outcome;
use crate::vdf::any_modulus;
use std::hint::black_box;
use std::ops::ControlFlow;
use tetralith_kernels::mont::{Kernel, Squarer};
use tetralith_vdf::timelock::{self, SEAL_BITS};
use tetralith_vdf::{Evaluation, Modulus, Options, Proof, Prover, System};

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
    let mut rng = crate::random::system();
    runner.try_measure(Case::new("vdf.seal", "2048", "portable"), 1, || {
        black_box(timelock::seal(b"a short file", PROVED, SEAL_BITS, &mut rng)?);
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
