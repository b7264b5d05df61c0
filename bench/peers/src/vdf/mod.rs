//! Squarings modulo N, one chain on one core.
//!
//! Each peer does the best that its public interface offers for a long chain: a Montgomery squaring
//! that stays in Montgomery form, or one exponentiation by 2^T. Before anything is timed, all results
//! for 1024 squarings must be equal, and equal to the known answer at 2048 bits.

mod chiavdf;
#[cfg(feature = "crypto-bigint")]
mod crypto_bigint;
#[cfg(feature = "gmp")]
mod gmp;
#[cfg(feature = "malachite")]
mod malachite;
#[cfg(feature = "num-bigint-dig")]
mod num_bigint_dig;
#[cfg(feature = "openssl")]
mod openssl;

use crate::measure::{Case, Runner};
use sha2::{Digest, Sha256};

/// The sizes that are measured.
pub const BITS: [usize; 4] = [1024, 2048, 3072, 4096];
/// Squarings in one measured call.
pub const SQUARINGS: usize = 1024;

/// A chain of squarings that a peer has prepared.
pub trait Chain {
    /// Squares [`SQUARINGS`] times from where the chain stands, or from its start.
    fn run(&mut self);
    /// Where the chain stands, big-endian, as wide as the modulus.
    fn value(&self) -> Vec<u8>;
}

/// A peer's way to prepare a chain for a modulus and an element, both big-endian.
type Prepare = fn(&[u8], &[u8]) -> Box<dyn Chain>;

fn peers() -> Vec<(String, Prepare)> {
    vec![
        #[cfg(feature = "openssl")]
        (format!("{} BN_mod_mul_montgomery", openssl::version()), openssl::montgomery as Prepare),
        #[cfg(feature = "openssl")]
        (format!("{} BN_mod_exp", openssl::version()), openssl::power as Prepare),
        #[cfg(feature = "gmp")]
        (format!("GMP {} mpz_powm (rug)", gmp::version()), gmp::power as Prepare),
        #[cfg(feature = "crypto-bigint")]
        ("crypto-bigint 0.7.10".to_owned(), crypto_bigint::fixed as Prepare),
        #[cfg(feature = "malachite")]
        ("malachite 0.14.0".to_owned(), malachite::power as Prepare),
        #[cfg(feature = "num-bigint-dig")]
        ("num-bigint-dig 0.9.1".to_owned(), num_bigint_dig::power as Prepare),
    ]
}

/// Checks the peers against each other, then measures them.
pub fn run(runner: &mut Runner) -> Result<(), String> {
    for bits in BITS {
        let (modulus, x) = (modulus(bits), element(bits));
        let mut expected = (bits == 2048).then(known_answer);
        for (peer, prepare) in peers() {
            if !runner.wants("vdf.square", &bits.to_string(), &peer) {
                continue;
            }
            let mut chain = prepare(&modulus, &x);
            chain.run();
            let y = wide(&chain.value(), bits / 8);
            match &expected {
                Some(expected) if *expected != y => {
                    return Err(format!("{peer}: wrong square modulo {bits} bits"));
                }
                _ => expected = Some(y),
            }
            let case = Case::new("vdf.square", bits.to_string(), &peer);
            runner.measure(case, SQUARINGS as u64, || chain.run());
        }
    }
    chiavdf::run(runner);
    Ok(())
}

/// Pads with leading zeros.
fn wide(value: &[u8], width: usize) -> Vec<u8> {
    let value = &value[value.iter().position(|&byte| byte != 0).unwrap_or(value.len())..];
    [vec![0; width - value.len()], value.to_vec()].concat()
}

/// The RSA-2048 challenge at 2048 bits, else a fixed odd number with its top bit set: the time of a
/// squaring does not depend on which.
fn modulus(bits: usize) -> Vec<u8> {
    if bits == 2048 {
        return hex::decode(RSA2048).expect("the constant is hex");
    }
    let mut bytes: Vec<u8> = (0..bits / 256)
        .flat_map(|block| Sha256::digest(format!("tetralith modulus {bits} {block}")).to_vec())
        .collect();
    bytes[0] |= 0x80;
    *bytes.last_mut().expect("a modulus has bytes") |= 1;
    bytes
}

fn vectors() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../../vectors/vdf/rsa2048_squaring.json"))
        .expect("the vectors are JSON")
}

/// The element x of the known answers, as wide as the modulus.
fn element(bits: usize) -> Vec<u8> {
    let vectors = vectors();
    wide(&hex::decode(vectors["x"].as_str().expect("x is hex")).expect("x is hex"), bits / 8)
}

/// x^(2^1024) modulo RSA-2048, from `vectors/vdf/rsa2048_squaring.json`.
fn known_answer() -> Vec<u8> {
    let vectors = vectors();
    let cases = vectors["cases"].as_array().expect("the vectors have cases");
    let case = cases.iter().find(|case| case["t"] == 10).expect("t = 10 is among them");
    hex::decode(case["y"].as_str().expect("y is hex")).expect("y is hex")
}

/// 2^[`SQUARINGS`] as big-endian bytes, for the peers that are measured by an exponentiation.
#[allow(dead_code)] // unused only where every such peer is left out
fn exponent() -> Vec<u8> {
    [vec![1], vec![0; SQUARINGS / 8]].concat()
}

const RSA2048: &str = "\
c7970ceedcc3b0754490201a7aa613cd73911081c790f5f1a8726f463550bb5b7ff0db8e1ea1189ec72f93d1650011bd\
721aeeacc2acde32a04107f0648c2813a31f5b0b7765ff8b44b4b6ffc93384b646eb09c7cf5e8592d40ea33c80039f35\
b4f14a04b51f7bfd781be4d1673164ba8eb991c2c4d730bbbe35f592bdef524af7e8daefd26c66fc02c479af89d64d37\
3f442709439de66ceb955f3ea37d5159f6135809f85334b5cb1813addc80cd05609f10ac6a95ad65872c909525bdad32\
bc729592642920f24c61dc5b3c3b7923e56b16a4d9d373d8721f24a3fc0f1b3131f55615172866bccc30f95054c824e7\
33a5eb6817f7bc16399d48c6361cc7e5";
