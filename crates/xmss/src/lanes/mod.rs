//! Many hashes at once: the fast route of key generation, signing and verification.
//!
//! An [`Engine`] holds lanes of the parameter set's hash function, wide ones for throughput and
//! narrow ones for what is left over. [`chains`] runs WOTS+ chains over them, [`trees`] hashes nodes.
//! What differs between hash functions is in `kernels`; nothing below this file knows of it.

pub(crate) mod chains;
pub(crate) mod trees;

use crate::hash::{Function, Value, rate, separator};
use crate::params::{HashFunction, MAX_N, Params};
use core::sync::atomic::{AtomicU64, Ordering};
use tetralith_kernels::{keccak, sha256, sha512};
use zeroize::Zeroizing;

/// The front of an address hash: separator, key, and the address's first half, hashed once.
#[derive(Clone)]
pub(crate) struct Prefix {
    /// Tells it from every other, so that a lane need not take it again.
    id: u64,
    words: Words,
}

#[derive(Clone)]
enum Words {
    Sha256(sha256::Prefix),
    Sha512(sha512::Prefix),
    Keccak(keccak::Prefix),
}

impl Prefix {
    fn new(p: Params, function: Function, keys: &[&[u8]], head: &[u8; 16]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut bytes = Zeroizing::new([0; 3 * MAX_N + 16]);
        let (pad, mut len) = separator(p, function);
        bytes[..len].copy_from_slice(&pad[..len]);
        for part in keys.iter().copied().chain([&head[..]]) {
            bytes[len..len + part.len()].copy_from_slice(part);
            len += part.len();
        }
        let bytes = &bytes[..len];
        let words = match p.hash() {
            HashFunction::Sha2 if p.n() == 64 => Words::Sha512(sha512::Prefix::new(bytes)),
            HashFunction::Sha2 => Words::Sha256(sha256::Prefix::new(bytes)),
            _ => Words::Keccak(keccak::Prefix::new(rate(p), bytes)),
        };
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), words }
    }

    /// The front of `PRF(key, head ‖ …)`.
    pub(crate) fn prf(p: Params, key: &[u8], head: &[u8; 16]) -> Self {
        Self::new(p, Function::Prf, &[key], head)
    }

    /// The front of `PRF_keygen(sk_seed, seed ‖ head ‖ …)`.
    pub(crate) fn prf_keygen(p: Params, sk_seed: &[u8], seed: &[u8], head: &[u8; 16]) -> Self {
        Self::new(p, Function::PrfKeygen, &[sk_seed, seed], head)
    }
}

/// Lanes of the set's hash function, and which prefix each holds.
pub(crate) struct Lanes {
    lanes: Family,
    held: Vec<u64>,
}

#[allow(clippy::large_enum_variant)] // one on the stack for a whole job
enum Family {
    Sha256(sha256::Lanes),
    Sha512(sha512::Lanes),
    Keccak(keccak::Lanes),
}

/// Runs the same expression on the lanes of whichever function this is.
macro_rules! each {
    ($lanes:expr, $m:ident => $do:expr) => {
        match $lanes {
            Family::Sha256($m) => $do,
            Family::Sha512($m) => $do,
            Family::Keccak($m) => $do,
        }
    };
}

impl Lanes {
    /// The lanes with the highest throughput, or those for a few hashes.
    fn new(p: Params, wide: bool) -> Self {
        let lanes = match p.hash() {
            HashFunction::Sha2 if p.n() == 64 => {
                use sha512::{Kernel, Lanes};
                let kernel = if wide { Kernel::wide() } else { Kernel::narrow() };
                Family::Sha512(Lanes::new(kernel, p.n()))
            }
            HashFunction::Sha2 => {
                use sha256::{Kernel, Lanes};
                let kernel = if wide { Kernel::wide() } else { Kernel::narrow() };
                Family::Sha256(Lanes::new(kernel, p.n()))
            }
            _ => {
                use keccak::{Kernel, Lanes};
                let kernel = if wide { Kernel::wide() } else { Kernel::narrow() };
                Family::Keccak(Lanes::new(kernel, p.n(), rate(p)))
            }
        };
        let width = each!(&lanes, m => m.width());
        Self { lanes, held: vec![0; width] }
    }

    pub(crate) fn width(&self) -> usize {
        self.held.len()
    }

    /// Gives a lane its prefix, unless it has it. A prefix of another hash function leaves the lane as
    /// it was, which cannot happen: both are made from one parameter set.
    fn set_prefix(&mut self, lane: usize, prefix: &Prefix) {
        if self.held[lane] == prefix.id {
            return;
        }
        self.held[lane] = prefix.id;
        match (&mut self.lanes, &prefix.words) {
            (Family::Sha256(m), Words::Sha256(prefix)) => m.set_prefix(lane, prefix),
            (Family::Sha512(m), Words::Sha512(prefix)) => m.set_prefix(lane, prefix),
            (Family::Keccak(m), Words::Keccak(prefix)) => m.set_prefix(lane, prefix),
            _ => debug_assert!(false, "prefix and lanes are of one parameter set"),
        }
    }

    fn set_tail(&mut self, lane: usize, tail: [u32; 4]) {
        each!(&mut self.lanes, m => m.set_tail(lane, tail));
    }

    fn put(&mut self, lane: usize, right: bool, value: &[u8]) {
        each!(&mut self.lanes, m => m.put(lane, right, value));
    }

    fn take(&self, lane: usize, value: &mut [u8]) {
        each!(&self.lanes, m => m.take(lane, value));
    }

    fn prf(&mut self) {
        each!(&mut self.lanes, m => m.prf());
    }

    fn prf_long(&mut self) {
        each!(&mut self.lanes, m => m.prf_long());
    }

    /// `count` steps of the lanes' chains.
    fn steps(&mut self, count: u32) {
        each!(&mut self.lanes, m => m.steps(count));
    }

    /// `H` in the first `used` lanes.
    fn h(&mut self, used: usize) {
        if used == 1 {
            each!(&mut self.lanes, m => m.pair_first());
        } else {
            each!(&mut self.lanes, m => m.pair());
        }
    }
}

/// The name of the kernel that hashes most of a parameter set's work on this machine.
#[must_use]
pub fn kernel_name(p: Params) -> &'static str {
    match p.hash() {
        HashFunction::Sha2 if p.n() == 64 => sha512::Kernel::wide().name(),
        HashFunction::Sha2 => sha256::Kernel::wide().name(),
        _ => keccak::Kernel::wide().name(),
    }
}

/// All lanes that a job needs.
pub(crate) struct Engine {
    pub(crate) params: Params,
    wide: Lanes,
    narrow: Lanes,
    /// Up to so many hashes are sooner done in the narrow lanes.
    few: usize,
}

impl Engine {
    pub(crate) fn new(params: Params) -> Self {
        let (wide, narrow) = (Lanes::new(params, true), Lanes::new(params, false));
        // A call of 32 AVX-512 lanes takes as long as two and a third of four SHA-NI lanes.
        let few = if wide.width() == 32 { 3 * narrow.width() } else { narrow.width() };
        Self { params, wide, narrow, few }
    }

    /// Hashes `prefix ‖ tail` for many tails into consecutive values of `n` bytes; `long` says that
    /// the prefix is one of `PRF_keygen`.
    pub(crate) fn prf_many(
        &mut self,
        prefix: &Prefix,
        long: bool,
        tails: impl ExactSizeIterator<Item = [u32; 4]>,
        out: &mut [u8],
    ) {
        let n = self.params.n();
        let few = tails.len() <= self.few;
        let lanes = if few { &mut self.narrow } else { &mut self.wide };
        for lane in 0..lanes.width() {
            lanes.set_prefix(lane, prefix);
        }
        let mut tails = tails;
        for group in out.chunks_mut(n * lanes.width()) {
            for (lane, tail) in tails.by_ref().take(group.len() / n).enumerate() {
                lanes.set_tail(lane, tail);
            }
            if long {
                lanes.prf_long()
            } else {
                lanes.prf()
            }
            for (lane, value) in group.chunks_mut(n).enumerate() {
                lanes.take(lane, value);
            }
        }
    }
}

/// Copies `n` bytes into a value.
pub(crate) fn value(bytes: &[u8]) -> Value {
    let mut value = [0; MAX_N];
    value[..bytes.len()].copy_from_slice(bytes);
    value
}
