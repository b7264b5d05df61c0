//! Verifiable random functions, one proof or columns of them.

use crate::memory::{bytes, numbers, write};
use crate::status::{Failed, argument, guarded};
use tetralith_vrf::{Error, Row, SecretKey, Suite};

/// `draft03-cardano`.
pub const TETRALITH_VRF_DRAFT03_CARDANO: i32 = 0;
/// `draft03-algorand`.
pub const TETRALITH_VRF_DRAFT03_ALGORAND: i32 = 1;
/// `draft13-batchcompat`.
pub const TETRALITH_VRF_DRAFT13_BATCHCOMPAT: i32 = 2;
/// `rfc9381-edwards25519-sha512-tai`.
pub const TETRALITH_VRF_EDWARDS25519_TAI: i32 = 3;
/// `rfc9381-edwards25519-sha512-ell2`.
pub const TETRALITH_VRF_EDWARDS25519_ELL2: i32 = 4;
/// `rfc9381-p256-sha256-tai`.
pub const TETRALITH_VRF_P256_TAI: i32 = 5;
/// `rfc9381-p256-sha256-sswu`.
pub const TETRALITH_VRF_P256_SSWU: i32 = 6;
/// `secp256k1-sha256-tai`.
pub const TETRALITH_VRF_SECP256K1_TAI: i32 = 7;

const SUITES: [Suite; 8] = [
    Suite::Draft03Cardano,
    Suite::Draft03Algorand,
    Suite::Draft13BatchCompat,
    Suite::Edwards25519Tai,
    Suite::Edwards25519Ell2,
    Suite::P256Tai,
    Suite::P256Sswu,
    Suite::Secp256k1Tai,
];

fn suite(number: i32) -> Result<Suite, Failed> {
    let suite = usize::try_from(number).ok().and_then(|number| SUITES.get(number));
    suite.copied().ok_or_else(|| argument(format!("no suite has the number {number}")))
}

/// Writes the lengths in bytes of a suite's public keys, proofs and outputs; a place may be NULL.
///
/// # Safety
/// Each pointer is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vrf_sizes(
    suite: i32,
    public_key: *mut usize,
    proof: *mut usize,
    output: *mut usize,
) -> i32 {
    guarded(|| {
        let suite = self::suite(suite)?;
        let sizes = [
            (public_key, suite.public_key_len()),
            (proof, suite.proof_len()),
            (output, suite.output_len()),
        ];
        for (place, size) in sizes.into_iter().filter(|(place, _)| !place.is_null()) {
            // SAFETY: not NULL, and the caller vouches that it may be written.
            unsafe { place.write(size) };
        }
        Ok(())
    })
}

/// Verifies a proof and writes its output, or with `output` NULL only verifies.
///
/// `TETRALITH_NOT_VALID` for a well-formed proof that is not valid, `TETRALITH_MALFORMED` for other
/// input. Variable time: all is public. RFC 9381 §5.3.
///
/// # Safety
/// The pointers point to as many bytes as their lengths say, those of `output` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vrf_verify(
    suite: i32,
    public_key: *const u8,
    public_key_len: usize,
    alpha: *const u8,
    alpha_len: usize,
    proof: *const u8,
    proof_len: usize,
    output: *mut u8,
    output_len: usize,
) -> i32 {
    guarded(|| {
        let suite = self::suite(suite)?;
        // SAFETY: the caller vouches for the bytes.
        let public_key = unsafe { bytes("public_key", public_key, public_key_len) }?;
        // SAFETY: as above.
        let alpha = unsafe { bytes("alpha", alpha, alpha_len) }?;
        // SAFETY: as above.
        let proof = unsafe { bytes("proof", proof, proof_len) }?;
        let result = tetralith_vrf::verify(suite, public_key, alpha, proof)?;
        if output.is_null() && output_len == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { write("output", output, output_len, result.as_bytes()) }
    })
}

/// Writes the public key of a 32-byte secret key.
///
/// # Safety
/// The pointers point to as many bytes as their lengths say, those of `public_key` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vrf_public_key(
    suite: i32,
    secret_key: *const u8,
    secret_key_len: usize,
    public_key: *mut u8,
    public_key_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let secret = unsafe { bytes("secret_key", secret_key, secret_key_len) }?;
        let key = SecretKey::from_bytes(self::suite(suite)?, secret)?.public_key();
        // SAFETY: as above.
        unsafe { write("public_key", public_key, public_key_len, key.as_bytes()) }
    })
}

/// Makes a proof with a 32-byte secret key. Constant time in the key. RFC 9381 §5.1.
///
/// # Safety
/// The pointers point to as many bytes as their lengths say, those of `proof` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vrf_prove(
    suite: i32,
    secret_key: *const u8,
    secret_key_len: usize,
    alpha: *const u8,
    alpha_len: usize,
    proof: *mut u8,
    proof_len: usize,
) -> i32 {
    guarded(|| {
        let suite = self::suite(suite)?;
        // SAFETY: the caller vouches for the bytes.
        let secret = unsafe { bytes("secret_key", secret_key, secret_key_len) }?;
        // SAFETY: as above.
        let alpha = unsafe { bytes("alpha", alpha, alpha_len) }?;
        let made = SecretKey::from_bytes(suite, secret).and_then(|key| key.prove(alpha));
        // SAFETY: as above.
        unsafe { write("proof", proof, proof_len, made?.as_bytes()) }
    })
}

/// Verifies `count` proofs on all cores and writes a status for each to `verdicts`.
///
/// Keys, proofs and outputs stand one after the other, each as long as the suite says. The input of row
/// i is bytes `offsets[i]` to `offsets[i + 1]` of `alphas`, so that there are `count + 1` offsets.
/// `outputs` may be NULL; a row that is not valid has an output of zeros. Each verdict is that of
/// `tetralith_vrf_verify`; the call returns `TETRALITH_OK` if all rows have one.
///
/// # Safety
/// The pointers point to as many bytes and numbers as follow from `count`, the suite and `alphas_len`;
/// those of `verdicts` and `outputs` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vrf_verify_many(
    suite: i32,
    count: usize,
    public_keys: *const u8,
    alphas: *const u8,
    alphas_len: usize,
    offsets: *const u64,
    proofs: *const u8,
    verdicts: *mut u8,
    outputs: *mut u8,
) -> i32 {
    guarded(|| {
        let suite = self::suite(suite)?;
        if count == 0 {
            return Ok(());
        }
        let width = suite.public_key_len().max(suite.proof_len()).max(suite.output_len());
        if count > isize::MAX as usize / width || verdicts.is_null() {
            return Err(argument("count is impossible, or verdicts is NULL".into()));
        }
        let (key_len, proof_len) = (suite.public_key_len(), suite.proof_len());
        // SAFETY: the caller vouches for the bytes, and their count does not overflow.
        let keys = unsafe { bytes("public_keys", public_keys, count * key_len) }?;
        // SAFETY: as above.
        let proofs = unsafe { bytes("proofs", proofs, count * proof_len) }?;
        // SAFETY: as above.
        let alphas = unsafe { bytes("alphas", alphas, alphas_len) }?;
        // SAFETY: as above.
        let offsets = unsafe { numbers("offsets", offsets, count + 1) }?;
        let alpha = |i: usize| {
            let range = usize::try_from(offsets[i]).ok()?..usize::try_from(offsets[i + 1]).ok()?;
            alphas.get(range)
        };
        let rows = keys.chunks(key_len).zip(proofs.chunks(proof_len)).enumerate();
        let rows = rows.map(|(i, (public_key, proof))| {
            let alpha = alpha(i).ok_or_else(|| argument(format!("offset {i} is out of range")))?;
            Ok(Row { public_key, alpha, proof })
        });
        let results = tetralith_vrf::verify_many(suite, &rows.collect::<Result<Vec<_>, Failed>>()?);
        let statuses: Vec<u8> = results
            .iter()
            .map(|result| result.as_ref().map_or_else(Error::exit_code, |_| 0))
            .collect();
        // SAFETY: the caller vouches for `count` writable bytes.
        unsafe { write("verdicts", verdicts, count, &statuses) }?;
        if outputs.is_null() {
            return Ok(());
        }
        let mut all = vec![0; count * suite.output_len()];
        for (place, result) in all.chunks_mut(suite.output_len()).zip(&results) {
            if let Ok(output) = result {
                place.copy_from_slice(output.as_bytes());
            }
        }
        // SAFETY: the caller vouches for `count` outputs.
        unsafe { write("outputs", outputs, all.len(), &all) }
    })
}
