//! Evaluation: any odd modulus, faults found and mended, checkpoints that survive.

#![allow(clippy::unwrap_used)] // helpers of tests

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd};
use proptest::prelude::*;
use std::ops::ControlFlow;
use tetralith_vdf::{Checkpoint, Error, Evaluation, Modulus, Residue, eval};

fn go_on() -> impl FnMut(tetralith_vdf::Progress) -> ControlFlow<()> {
    |_| ControlFlow::Continue(())
}

/// x^(2^t) mod n by crypto-bigint.
fn oracle(n: &[u8], x: &[u8], t: u64) -> Vec<u8> {
    let bits = (n.len() as u32 * 8).next_multiple_of(64);
    let n_int = BoxedUint::from_be_slice(n, bits).unwrap();
    let params = BoxedMontyParams::new_vartime(Odd::new(n_int).unwrap());
    let mut value = BoxedMontyForm::new(BoxedUint::from_be_slice(x, bits).unwrap(), &params);
    for _ in 0..t {
        value = value.square();
    }
    let bytes = value.retrieve().to_be_bytes();
    bytes[bytes.len() - n.len()..].to_vec()
}

fn modulus_bytes() -> impl Strategy<Value = Vec<u8>> {
    let any_size = (8usize..=1024).prop_flat_map(|len| prop::collection::vec(any::<u8>(), len));
    let sizes = prop::sample::select(vec![8, 9, 16, 128, 129, 256, 257, 384, 512, 1024]);
    // All ones but for the low bytes: moduli next to a power of two.
    let near = (sizes, any::<u32>()).prop_map(|(len, low)| {
        let mut bytes = vec![0xff; len];
        bytes[len - 4..].copy_from_slice(&low.to_be_bytes());
        bytes
    });
    prop_oneof![any_size, near].prop_map(|mut bytes| {
        bytes[0] |= 0x80;
        *bytes.last_mut().unwrap() |= 1;
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn agrees_with_crypto_bigint(n in modulus_bytes(), seed: [u8; 32], t in 0u64..40) {
        let Ok(modulus) = Modulus::from_bytes(&n) else { return Ok(()) };
        let (x, _) = modulus.reduce(&seed.repeat(n.len() / 32 + 1));
        let y = eval(&modulus, &x, t, &mut go_on()).unwrap();
        prop_assert_eq!(y.to_bytes(), oracle(&n, &x.to_bytes(), t));
    }
}

fn input() -> (Modulus, Residue) {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"an input");
    (modulus, x)
}

#[test]
fn none_and_one() {
    let (modulus, x) = input();
    assert_eq!(eval(&modulus, &x, 0, &mut go_on()).unwrap(), x);
    for small in [0u8, 1] {
        let (value, _) = modulus.reduce(&[small]);
        assert_eq!(eval(&modulus, &value, 1000, &mut go_on()).unwrap(), value);
    }
    let (value, _) = modulus.reduce(&[2]);
    assert_eq!(eval(&modulus, &value, 3, &mut go_on()).unwrap(), modulus.reduce(&[1, 0]).0);
    assert!(matches!(
        eval(&modulus, &x, 1 + (1 << 63), &mut go_on()),
        Err(Error::TooManySquarings(_))
    ));
}

#[test]
fn large_inputs_are_reduced() {
    let (modulus, x) = input();
    let mut sum = modulus.to_bytes();
    let mut carry = 0u16;
    for (a, b) in sum.iter_mut().zip(x.to_bytes()).rev() {
        carry += u16::from(*a) + u16::from(b);
        *a = carry as u8;
        carry >>= 8;
    }
    sum.insert(0, carry as u8);
    assert_eq!(modulus.reduce(&sum), (x, true));
}

#[test]
fn cancelling_stops() {
    let (modulus, x) = input();
    let mut calls = 0;
    let stopped = eval(&modulus, &x, 1 << 40, &mut |progress| {
        calls += 1;
        assert_eq!(progress.iterations, 1 << 40);
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(Error::Cancelled)));
    assert_eq!(calls, 1);
}

#[test]
fn a_flipped_bit_is_found_and_mended() {
    let (modulus, x) = input();
    let right = eval(&modulus, &x, 3000, &mut go_on()).unwrap();
    for bit in [0, 1, 63, 64, 1000, 2047, 2060] {
        let mut evaluation = Evaluation::new(&modulus, &x, 3000).unwrap();
        evaluation.advance(1000).unwrap();
        let (first, fault) = evaluation.checkpoint().unwrap();
        assert_eq!((first.done(), fault), (1000, None));
        evaluation.advance(500).unwrap();
        evaluation.inject_fault(bit);
        let progress = evaluation.advance(5000).unwrap();
        let fault = progress.fault.expect("the fault is found at the end");
        assert_eq!((fault.found_at, fault.back_to, progress.done), (3000, 1000, 1000), "{bit}");
        let (again, _) = evaluation.checkpoint().unwrap();
        assert_eq!(again, first);
        evaluation.advance(5000).unwrap();
        assert_eq!(evaluation.result(), Some(right.clone()));
    }
}

/// A flipped constant of the kernel makes every squaring wrong until it is computed again.
#[test]
fn a_flipped_constant_of_the_kernel_ends_no_run() {
    let (modulus, x) = input();
    let right = eval(&modulus, &x, 3000, &mut go_on()).unwrap();
    let mut evaluation = Evaluation::new(&modulus, &x, 3000).unwrap();
    evaluation.advance(1000).unwrap();
    evaluation.checkpoint().unwrap();
    evaluation.advance(500).unwrap();
    evaluation.inject_kernel_fault();
    let fault = evaluation.advance(5000).unwrap().fault.expect("the fault is found at the end");
    assert_eq!((fault.found_at, fault.back_to), (3000, 1000));
    assert_eq!(evaluation.advance(5000).unwrap().fault, None);
    assert_eq!(evaluation.result(), Some(right));
}

#[test]
fn a_fault_is_not_saved() {
    let (modulus, x) = input();
    let mut evaluation = Evaluation::new(&modulus, &x, 3000).unwrap();
    evaluation.advance(700).unwrap();
    evaluation.inject_fault(77);
    let (checkpoint, fault) = evaluation.checkpoint().unwrap();
    assert_eq!(checkpoint.done(), 0);
    assert_eq!(fault.map(|fault| (fault.found_at, fault.back_to)), Some((700, 0)));
}

#[test]
fn a_machine_that_keeps_failing_is_given_up() {
    let (modulus, x) = input();
    let mut evaluation = Evaluation::new(&modulus, &x, 100).unwrap();
    let outcome = (0..20).try_for_each(|_| {
        evaluation.advance(50)?;
        evaluation.inject_fault(3);
        evaluation.advance(50).map(|_| ())
    });
    assert!(matches!(outcome, Err(Error::Faulty(8))));
}

#[test]
fn checkpoints_resume() {
    let (modulus, x) = input();
    let right = eval(&modulus, &x, 2000, &mut go_on()).unwrap();
    let mut evaluation = Evaluation::new(&modulus, &x, 2000).unwrap();
    loop {
        evaluation.advance(333).unwrap();
        let (checkpoint, _) = evaluation.checkpoint().unwrap();
        let read = Checkpoint::from_bytes(&checkpoint.to_bytes()).unwrap();
        assert_eq!(read, checkpoint);
        evaluation = Evaluation::resume(&read).unwrap();
        if let Some(result) = evaluation.result() {
            assert_eq!(result, right);
            break;
        }
    }
}

#[test]
fn every_flipped_bit_of_a_checkpoint_is_found() {
    let modulus = Modulus::parse("80000000000000000000000000000057").unwrap();
    let (x, _) = modulus.reduce(&[9]);
    let mut evaluation = Evaluation::new(&modulus, &x, 2000).unwrap();
    evaluation.advance(500).unwrap();
    let bytes = evaluation.checkpoint().unwrap().0.to_bytes();
    for bit in 0..8 * bytes.len() {
        let mut altered = bytes.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        assert!(Checkpoint::from_bytes(&altered).is_err(), "bit {bit}");
    }
    for len in 0..bytes.len() {
        assert!(Checkpoint::from_bytes(&bytes[..len]).is_err(), "{len} bytes");
    }
    assert!(matches!(
        Checkpoint::from_bytes(&[&bytes[..], &[0]].concat()),
        Err(Error::Length { .. })
    ));
}

#[test]
fn checkpoints_of_other_runs() {
    let (modulus, x) = input();
    let checkpoint = Evaluation::new(&modulus, &x, 9).unwrap().checkpoint().unwrap().0;
    checkpoint.expect(&modulus, &x, 9).unwrap();
    let other = |result: Result<(), Error>| match result {
        Err(Error::CheckpointOther(what)) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(other(checkpoint.expect(&Modulus::lcs35(), &x, 9)), "modulus");
    assert_eq!(other(checkpoint.expect(&modulus, &modulus.reduce(&[1]).0, 9)), "input");
    assert_eq!(other(checkpoint.expect(&modulus, &x, 10)), "number of squarings");
}

#[test]
fn the_previous_checkpoint_is_the_fallback() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    assert!(Checkpoint::load(&path).unwrap().is_none());
    let (modulus, x) = input();
    let mut evaluation = Evaluation::new(&modulus, &x, 900).unwrap();
    let mut saved = Vec::new();
    for _ in 0..3 {
        evaluation.advance(100).unwrap();
        let (checkpoint, _) = evaluation.checkpoint().unwrap();
        checkpoint.save(&path).unwrap();
        saved.push(checkpoint);
    }
    let (loaded, problem) = Checkpoint::load(&path).unwrap().unwrap();
    assert_eq!(loaded, saved[2]);
    assert!(problem.is_none());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[300] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let (loaded, problem) = Checkpoint::load(&path).unwrap().unwrap();
    assert_eq!(loaded, saved[1]);
    assert!(matches!(problem, Some(Error::CheckpointDamaged(_))));
    // Killed between the two renames.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap().unwrap().0, saved[1]);
    // A folder that cannot be written to: the error is reported and nothing is lost.
    let nowhere = folder.path().join("missing").join("run.checkpoint");
    assert!(matches!(saved[0].save(&nowhere), Err(Error::Io(_))));
}
