//! Sequential squaring, proofs of it, and time-locks.

use crate::errors::{Failure, Kind};
use crate::system_rng;
use std::ops::ControlFlow;
use tetralith_vdf::timelock::{self, Header};
use tetralith_vdf::{Error, Modulus, Options, Progress, Proof, Prover, Residue, System};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The object with a method `step` that the package's files pass.
    pub type Watch;

    /// Returns whether to go on. The package's files keep what the user's function throws.
    #[wasm_bindgen(method)]
    fn step(this: &Watch, done: f64, iterations: f64) -> bool;
}

impl Watch {
    fn tell(&self, now: &Progress) -> ControlFlow<()> {
        match self.step(now.done as f64, now.iterations as f64) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// What is squared: the element that the seed is hashed to, or the number that it is.
fn input(modulus: &Modulus, seed: &[u8], raw: bool, iterations: u64) -> Residue {
    if raw { modulus.reduce(seed).0 } else { modulus.hash_to_element(iterations, seed) }
}

/// The number of bits of a modulus, given as a preset's name or hexadecimal digits.
#[wasm_bindgen(js_name = modulusBits)]
pub fn modulus_bits(modulus: &str) -> Result<u32, Failure> {
    Ok(Modulus::parse(modulus)?.bits() as u32)
}

#[wasm_bindgen(js_name = modulusBytes)]
pub fn modulus_bytes(modulus: &str) -> Result<Vec<u8>, Failure> {
    Ok(Modulus::parse(modulus)?.to_bytes())
}

#[wasm_bindgen(js_name = hashToElement)]
pub fn hash_to_element(modulus: &str, seed: &[u8], iterations: u64) -> Result<Vec<u8>, Failure> {
    Ok(Modulus::parse(modulus)?.hash_to_element(iterations, seed).to_bytes())
}

#[wasm_bindgen]
pub fn evaluate(
    modulus: &str,
    seed: &[u8],
    raw: bool,
    iterations: u64,
    watch: &Watch,
) -> Result<Vec<u8>, Failure> {
    let modulus = Modulus::parse(modulus)?;
    let x = input(&modulus, seed, raw, iterations);
    let y = tetralith_vdf::eval(&modulus, &x, iterations, &mut |now| watch.tell(&now))?;
    Ok(y.to_bytes())
}

fn system(name: &str) -> Result<System, Failure> {
    let all = [System::Wesolowski, System::Segmented, System::Pietrzak];
    all.into_iter().find(|system| system.name() == name).ok_or_else(|| {
        let message = format!("no proof system is called {name:?}");
        Failure::new(Kind::Malformed, "usage.arguments", message)
            .hint("use wesolowski, n-wesolowski or pietrzak")
    })
}

/// y and the proof, one after the other; y is as wide as N.
#[wasm_bindgen]
pub fn prove(
    modulus: &str,
    seed: &[u8],
    raw: bool,
    iterations: u64,
    system_name: &str,
    memory: u32,
    watch: &Watch,
) -> Result<Vec<u8>, Failure> {
    let system = system(system_name)?;
    let modulus = Modulus::parse(modulus)?;
    let x = input(&modulus, seed, raw, iterations);
    let options = Options { memory: memory.into(), threads: 1, ..Options::default() };
    let mut prover = Prover::new(system, &modulus, &x, iterations, options)?;
    let (y, proof) = prover.run(&mut |now| watch.tell(&now))?;
    Ok([y.to_bytes(), proof.to_bytes()].concat())
}

/// Checks a proof and that it is of the expected statement.
#[wasm_bindgen(js_name = vdfVerify)]
pub fn verify(
    proof: &[u8],
    modulus: &str,
    seed: &[u8],
    raw: bool,
    iterations: u64,
    y: Option<Vec<u8>>,
) -> Result<(), Failure> {
    let modulus = Modulus::parse(modulus)?;
    let x = input(&modulus, seed, raw, iterations);
    let y = y.map(|y| modulus.decode(&y, "y")).transpose()?;
    let proof = Proof::from_bytes_modulo(proof, &modulus)?;
    proof.expect_input(&x)?;
    proof.expect_iterations(iterations)?;
    if let Some(y) = y {
        proof.expect_output(&y)?;
    }
    Ok(proof.verify()?)
}

#[wasm_bindgen]
pub fn seal(data: &[u8], iterations: u64, bits: u32) -> Result<Vec<u8>, Failure> {
    let mut sealed = Vec::new();
    timelock::seal(&mut &*data, &mut sealed, iterations, bits, &mut system_rng())?;
    Ok(sealed)
}

#[wasm_bindgen]
pub fn open(sealed: &[u8], watch: &Watch) -> Result<Vec<u8>, Failure> {
    let mut chunks = sealed;
    let header = Header::read(&mut chunks)?;
    header.file_len(sealed.len() as u64)?;
    let mut evaluation = header.evaluation()?;
    loop {
        if let Some(y) = evaluation.result() {
            let mut file = Vec::new();
            header.open(&y, &mut chunks, &mut file)?;
            return Ok(file);
        }
        let now = evaluation.advance(tetralith_vdf::eval::CHECK_EVERY)?;
        if watch.tell(&now).is_break() {
            return Err(Error::Cancelled.into());
        }
    }
}

#[wasm_bindgen(js_name = sealedIterations)]
pub fn sealed_iterations(sealed: &[u8]) -> Result<u64, Failure> {
    Ok(Header::read(&mut &*sealed)?.iterations())
}
