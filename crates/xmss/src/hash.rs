//! The keyed hash functions, one hash at a time.
//!
//! `F` and `H` are here for the specification's route; everything that hashes much goes through
//! [`lanes`](crate::lanes). All are constant time in their inputs. RFC 8391 §5.1, SP 800-208 §5.

use crate::params::{HashFunction, MAX_N, Params};
use sha2::{Digest, Sha256, Sha512};
use tetralith_kernels::keccak::{RATE_128, RATE_256, Shake};
use zeroize::Zeroizing;

/// A hash value in its first `n` bytes.
pub(crate) type Value = [u8; MAX_N];

/// Which keyed function: the number that its input begins with.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    #[cfg(test)]
    F = 0,
    #[cfg(test)]
    H = 1,
    HMsg = 2,
    Prf = 3,
    PrfKeygen = 4,
}

/// Writes the number as a function's input begins with it: `toByte(x, padding)`.
pub(crate) fn separator(p: Params, function: Function) -> ([u8; MAX_N], usize) {
    let mut pad = [0; MAX_N];
    pad[p.padding() - 1] = function as u8;
    (pad, p.padding())
}

/// Hashes the parts, one after the other, to `n` bytes.
fn hash(p: Params, function: Function, parts: &[&[u8]]) -> Value {
    let mut hash = Hash::new(p, function);
    parts.iter().for_each(|part| hash.update(part));
    hash.finish()
}

/// One of the keyed functions, of input that comes in parts.
#[derive(Clone)]
struct Hash {
    n: usize,
    state: State,
}

#[derive(Clone)]
enum State {
    Sha256(Sha256),
    Sha512(Sha512),
    Shake(Shake),
}

impl Hash {
    fn new(p: Params, function: Function) -> Self {
        let state = match p.hash() {
            HashFunction::Sha2 if p.n() == 64 => State::Sha512(Sha512::new()),
            HashFunction::Sha2 => State::Sha256(Sha256::new()),
            HashFunction::Shake128 | HashFunction::Shake256 => State::Shake(Shake::new(rate(p))),
        };
        let mut hash = Self { n: p.n(), state };
        let (pad, len) = separator(p, function);
        hash.update(&pad[..len]);
        hash
    }

    fn update(&mut self, part: &[u8]) {
        match &mut self.state {
            State::Sha256(hash) => hash.update(part),
            State::Sha512(hash) => hash.update(part),
            State::Shake(shake) => shake.absorb(part),
        }
    }

    fn finish(self) -> Value {
        let mut out = [0; MAX_N];
        let value = &mut out[..self.n];
        match self.state {
            State::Sha256(hash) => value.copy_from_slice(&hash.finalize()[..self.n]),
            State::Sha512(hash) => value.copy_from_slice(&hash.finalize()[..self.n]),
            State::Shake(shake) => shake.finish(value),
        }
        out
    }
}

/// `H_msg` of a message that comes in parts: it needs as much memory for a long one as for a short
/// one.
///
/// A randomizer is a part of its signature, so nothing here is secret but perhaps the message.
#[derive(Clone)]
pub(crate) struct MessageHash(Hash);

impl MessageHash {
    /// Starts `H_msg(r ‖ root ‖ toByte(idx, n), m)` with an empty `m`. RFC 8391 §4.1.9.
    pub(crate) fn new(p: Params, r: &[u8], root: &[u8], index: u64) -> Self {
        let mut hash = Hash::new(p, Function::HMsg);
        let index = index_value(p, index);
        [r, root, &index[..p.n()]].into_iter().for_each(|part| hash.update(part));
        Self(hash)
    }

    /// Appends a part of the message.
    pub(crate) fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    pub(crate) fn finish(self) -> Value {
        self.0.finish()
    }
}

/// The rate of the set's SHAKE.
pub(crate) fn rate(p: Params) -> usize {
    if p.hash() == HashFunction::Shake128 { RATE_128 } else { RATE_256 }
}

/// `PRF(key, m)`. RFC 8391 §4.1.2.
pub(crate) fn prf(p: Params, key: &[u8], m: &[u8; 32]) -> Zeroizing<Value> {
    Zeroizing::new(hash(p, Function::Prf, &[key, m]))
}

/// `H_msg(r ‖ root ‖ toByte(idx, n), m)`. RFC 8391 §4.1.9.
pub(crate) fn h_msg(p: Params, r: &[u8], root: &[u8], index: u64, m: &[u8]) -> Value {
    let mut hash = MessageHash::new(p, r, root, index);
    hash.update(m);
    hash.finish()
}

/// `toByte(idx, n)`.
fn index_value(p: Params, index: u64) -> Value {
    let mut value = [0; MAX_N];
    value[p.n() - 8..p.n()].copy_from_slice(&index.to_be_bytes());
    value
}

/// `F`, `H` and `PRF_keygen` as the standards write them. RFC 8391 §2.6, SP 800-208 §6.2.
#[cfg(test)]
pub(crate) mod spec {
    use super::*;

    pub(crate) fn f(p: Params, key: &[u8], m: &[u8]) -> Value {
        hash(p, Function::F, &[key, m])
    }

    pub(crate) fn h(p: Params, key: &[u8], m: &[u8]) -> Value {
        hash(p, Function::H, &[key, m])
    }

    pub(crate) fn prf_keygen(p: Params, key: &[u8], seed: &[u8], adrs: &[u8; 32]) -> Value {
        hash(p, Function::PrfKeygen, &[key, seed, adrs])
    }
}
