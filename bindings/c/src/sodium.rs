//! The VRF calls of Cardano's and Algorand's forks of libsodium: `include/cardano/crypto_vrf.h` and
//! `include/algorand/crypto_vrf.h`.
//!
//! Names, sizes, results (0, or −1) and the layout of keys (seed, then public key) are theirs. The two
//! forks use the same names and differ in what they accept, so Algorand's header maps the names to
//! functions of their own. One difference is on purpose: a secret key whose second half is not the
//! public key of its first is refused.

use crate::memory::{bytes, write};
use crate::status::{Failed, TETRALITH_OK, argument, guarded};
use getrandom::SysRng;
use rand_core::{Rng, UnwrapErr};
use std::ffi::{c_char, c_ulonglong};
use tetralith_vrf::{Error, Row, SecretKey, Suite};
use zeroize::Zeroizing;

/// The forks' result: 0, or −1 for everything else.
fn sodium(work: impl FnOnce() -> Result<(), Failed>) -> i32 {
    if guarded(work) == TETRALITH_OK { 0 } else { -1 }
}

fn failed(error: Error) -> Failed {
    argument(error.to_string())
}

/// # Safety
/// `bytes` points to `len` readable bytes.
unsafe fn message<'a>(message: *const u8, len: c_ulonglong) -> Result<&'a [u8], Failed> {
    let len = usize::try_from(len).map_err(|_| argument("mlen is impossible".into()))?;
    // SAFETY: as the caller vouches.
    unsafe { bytes("m", message, len) }
}

/// # Safety
/// `pk` has 32 writable bytes, `sk` 64.
unsafe fn write_pair(pk: *mut u8, sk: *mut u8, seed: &[u8]) -> Result<(), Failed> {
    let key = SecretKey::from_bytes(Suite::Draft03Cardano, seed).map_err(failed)?;
    let public = key.public_key();
    let both = Zeroizing::new([seed, public.as_bytes()].concat());
    // SAFETY: as the caller vouches.
    unsafe { write("pk", pk, 32, public.as_bytes()) }?;
    // SAFETY: as the caller vouches.
    unsafe { write("sk", sk, 64, &both) }
}

/// # Safety
/// `sk` has 64 readable bytes, `m` `len`, `proof` as many writable ones as the suite's proofs.
unsafe fn prove(
    suite: Suite,
    proof: *mut u8,
    sk: *const u8,
    m: *const u8,
    len: c_ulonglong,
) -> i32 {
    sodium(|| {
        // SAFETY: as the caller vouches.
        let (seed, public) = unsafe { bytes("sk", sk, 64) }?.split_at(32);
        let key = SecretKey::from_bytes(suite, seed).map_err(failed)?;
        if key.public_key().as_bytes() != public {
            return Err(argument("sk carries a public key that is not its own".into()));
        }
        // SAFETY: as the caller vouches.
        let made = key.prove(unsafe { message(m, len) }?).map_err(failed)?;
        // SAFETY: as the caller vouches.
        unsafe { write("proof", proof, suite.proof_len(), made.as_bytes()) }
    })
}

/// # Safety
/// `pk` has 32 readable bytes, `proof` as many as the suite's proofs, `m` `len`; `output` 64 writable.
unsafe fn verify(
    suite: Suite,
    output: *mut u8,
    pk: *const u8,
    proof: *const u8,
    m: *const u8,
    len: c_ulonglong,
) -> i32 {
    sodium(|| {
        // SAFETY: as the caller vouches.
        let pk = unsafe { bytes("pk", pk, 32) }?;
        // SAFETY: as the caller vouches.
        let proof = unsafe { bytes("proof", proof, suite.proof_len()) }?;
        // SAFETY: as the caller vouches.
        let result = tetralith_vrf::verify(suite, pk, unsafe { message(m, len) }?, proof);
        // SAFETY: as the caller vouches.
        unsafe { write("output", output, 64, result.map_err(failed)?.as_bytes()) }
    })
}

/// # Safety
/// `proof` has as many readable bytes as the suite's proofs, `hash` 64 writable.
unsafe fn proof_to_hash(suite: Suite, hash: *mut u8, proof: *const u8) -> i32 {
    sodium(|| {
        // SAFETY: as the caller vouches.
        let proof = unsafe { bytes("proof", proof, suite.proof_len()) }?;
        let output = tetralith_vrf::proof_to_hash(suite, proof).map_err(failed)?;
        // SAFETY: as the caller vouches.
        unsafe { write("hash", hash, 64, output.as_bytes()) }
    })
}

/// Sizes that are functions in the forks.
macro_rules! sizes {
    ($($name:ident = $value:expr;)*) => { $(
        #[doc = "A size in bytes."]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> usize {
            $value
        }
    )* };
}

sizes! {
    crypto_vrf_publickeybytes = 32;
    crypto_vrf_secretkeybytes = 64;
    crypto_vrf_seedbytes = 32;
    crypto_vrf_proofbytes = 80;
    crypto_vrf_outputbytes = 64;
    crypto_vrf_ietfdraft03_publickeybytes = 32;
    crypto_vrf_ietfdraft03_secretkeybytes = 64;
    crypto_vrf_ietfdraft03_seedbytes = 32;
    crypto_vrf_ietfdraft03_proofbytes = 80;
    crypto_vrf_ietfdraft03_bytes = 80;
    crypto_vrf_ietfdraft03_outputbytes = 64;
    crypto_vrf_ietfdraft13_publickeybytes = 32;
    crypto_vrf_ietfdraft13_secretkeybytes = 64;
    crypto_vrf_ietfdraft13_seedbytes = 32;
    crypto_vrf_ietfdraft13_bytes = 80;
    crypto_vrf_batchcompat_ietfdraft13_bytes = 128;
    crypto_vrf_ietfdraft13_outputbytes = 64;
}

/// The name of what `crypto_vrf_prove` and `crypto_vrf_verify` are.
#[unsafe(no_mangle)]
pub extern "C" fn crypto_vrf_primitive() -> *const c_char {
    c"ietfdraft03".as_ptr()
}

/// Makes a key pair from the system's randomness.
///
/// # Safety
/// `pk` has 32 writable bytes, `sk` 64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crypto_vrf_keypair(pk: *mut u8, sk: *mut u8) -> i32 {
    sodium(|| {
        let mut seed = Zeroizing::new([0; 32]);
        UnwrapErr(SysRng).fill_bytes(&mut seed[..]);
        // SAFETY: as the caller vouches.
        unsafe { write_pair(pk, sk, &seed[..]) }
    })
}

/// Makes a key pair from 32 bytes. The name in Cardano's fork.
///
/// # Safety
/// `pk` has 32 writable bytes, `sk` 64, `seed` 32 readable ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crypto_vrf_seed_keypair(pk: *mut u8, sk: *mut u8, seed: *const u8) -> i32 {
    sodium(|| {
        // SAFETY: as the caller vouches.
        let seed = Zeroizing::new(unsafe { bytes("seed", seed, 32) }?.to_vec());
        // SAFETY: as the caller vouches.
        unsafe { write_pair(pk, sk, &seed) }
    })
}

/// The same; the name in Algorand's fork.
///
/// # Safety
/// As `crypto_vrf_seed_keypair`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crypto_vrf_keypair_from_seed(
    pk: *mut u8,
    sk: *mut u8,
    seed: *const u8,
) -> i32 {
    // SAFETY: as the caller vouches.
    unsafe { crypto_vrf_seed_keypair(pk, sk, seed) }
}

/// 1 if the public key is canonical, on the curve and not of small order, else 0.
///
/// # Safety
/// `pk` has 32 readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crypto_vrf_is_valid_key(pk: *const u8) -> i32 {
    let status = guarded(|| {
        // SAFETY: as the caller vouches.
        let pk = unsafe { bytes("pk", pk, 32) }?;
        tetralith_vrf::validate_key(Suite::Draft03Cardano, pk).map_err(failed)
    });
    i32::from(status == TETRALITH_OK)
}

/// Copies the public key out of a secret key.
///
/// # Safety
/// `pk` has 32 writable bytes, `sk` 64 readable ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crypto_vrf_sk_to_pk(pk: *mut u8, sk: *const u8) {
    guarded(|| {
        // SAFETY: as the caller vouches.
        let public = unsafe { bytes("sk", sk, 64) }?[32..].to_vec();
        // SAFETY: as the caller vouches.
        unsafe { write("pk", pk, 32, &public) }
    });
}

/// Copies the seed out of a secret key.
///
/// # Safety
/// `seed` has 32 writable bytes, `sk` 64 readable ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crypto_vrf_sk_to_seed(seed: *mut u8, sk: *const u8) {
    guarded(|| {
        // SAFETY: as the caller vouches.
        let secret = Zeroizing::new(unsafe { bytes("sk", sk, 64) }?[..32].to_vec());
        // SAFETY: as the caller vouches.
        unsafe { write("seed", seed, 32, &secret) }
    });
}

/// The three calls of one construction under their names.
macro_rules! construction {
    ($suite:expr, $prove:ident, $verify:ident, $hash:ident) => {
        /// Makes a proof. Constant time in the key.
        ///
        /// # Safety
        /// `proof` has as many writable bytes as a proof, `sk` 64 readable ones, `m` `mlen`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $prove(
            proof: *mut u8,
            sk: *const u8,
            m: *const u8,
            mlen: c_ulonglong,
        ) -> i32 {
            // SAFETY: as the caller vouches.
            unsafe { prove($suite, proof, sk, m, mlen) }
        }

        /// Verifies a proof and writes its output. Variable time: all is public.
        ///
        /// # Safety
        /// `output` has 64 writable bytes, `pk` 32 readable ones, `proof` those of a proof, `m` `mlen`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $verify(
            output: *mut u8,
            pk: *const u8,
            proof: *const u8,
            m: *const u8,
            mlen: c_ulonglong,
        ) -> i32 {
            // SAFETY: as the caller vouches.
            unsafe { verify($suite, output, pk, proof, m, mlen) }
        }

        /// Writes the output that a proof claims, without verifying it.
        ///
        /// # Safety
        /// `hash` has 64 writable bytes, `proof` the readable ones of a proof.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $hash(hash: *mut u8, proof: *const u8) -> i32 {
            // SAFETY: as the caller vouches.
            unsafe { proof_to_hash($suite, hash, proof) }
        }
    };
}

construction!(Suite::Draft03Cardano, crypto_vrf_prove, crypto_vrf_verify, crypto_vrf_proof_to_hash);
construction!(
    Suite::Draft03Cardano,
    crypto_vrf_ietfdraft03_prove,
    crypto_vrf_ietfdraft03_verify,
    crypto_vrf_ietfdraft03_proof_to_hash
);
construction!(
    Suite::Draft03Algorand,
    tetralith_algorand_vrf_prove,
    tetralith_algorand_vrf_verify,
    tetralith_algorand_vrf_proof_to_hash
);
construction!(
    Suite::Edwards25519Ell2,
    crypto_vrf_ietfdraft13_prove,
    crypto_vrf_ietfdraft13_verify,
    crypto_vrf_ietfdraft13_proof_to_hash
);
construction!(
    Suite::Draft13BatchCompat,
    crypto_vrf_ietfdraft13_prove_batchcompat,
    crypto_vrf_ietfdraft13_verify_batchcompat,
    crypto_vrf_ietfdraft13_proof_to_hash_batchcompat
);

/// Verifies `num` batch-compatible proofs; 0 and all outputs if each is valid, else −1 and none.
///
/// # Safety
/// Each array has `num` pointers, to 64 writable bytes of `output`, 32 readable ones of `pk`, 128 of
/// `proof`, and `msglen[i]` of `msg[i]`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crypto_vrf_ietfdraft13_batch_verify(
    output: *const *mut u8,
    pk: *const *const u8,
    proof: *const *const u8,
    msg: *const *const u8,
    msglen: *const c_ulonglong,
    num: usize,
) -> i32 {
    sodium(|| {
        let missing = output.is_null() || pk.is_null() || proof.is_null() || msg.is_null();
        if num > 0 && (missing || msglen.is_null()) {
            return Err(argument("an array is NULL".into()));
        }
        let row = |i: usize| {
            // SAFETY: each array is not NULL and has `num` elements, as the caller vouches.
            let pk = unsafe { pk.wrapping_add(i).read() };
            // SAFETY: as above.
            let proof = unsafe { proof.wrapping_add(i).read() };
            // SAFETY: as above.
            let msg = unsafe { msg.wrapping_add(i).read() };
            // SAFETY: as above.
            let len = unsafe { msglen.wrapping_add(i).read() };
            Ok(Row {
                // SAFETY: as the caller vouches.
                public_key: unsafe { bytes("pk", pk, 32) }?,
                // SAFETY: as the caller vouches.
                alpha: unsafe { message(msg, len) }?,
                // SAFETY: as the caller vouches.
                proof: unsafe { bytes("proof", proof, 128) }?,
            })
        };
        let rows: Vec<Row<'_>> = (0..num).map(row).collect::<Result<_, Failed>>()?;
        let outputs = tetralith_vrf::verify_many(Suite::Draft13BatchCompat, &rows);
        let outputs: Vec<_> = outputs.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        for (i, result) in outputs.iter().enumerate() {
            // SAFETY: the array is not NULL and has `num` pointers, as the caller vouches.
            let place = unsafe { output.wrapping_add(i).read() };
            // SAFETY: as the caller vouches.
            unsafe { write("output", place, 64, result.as_bytes()) }?;
        }
        Ok(())
    })
}
