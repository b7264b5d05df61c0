//! Sequential squaring and proofs of it.

use crate::memory::{bytes, clear, free, hand_out, hand_out_bytes, handle, write};
use crate::progress::{Callback, tetralith_progress};
use crate::status::{Failed, argument, guarded};
use std::ffi::c_void;
use tetralith_vdf::{Error, Options, Proof, Prover, System};
use zeroize::Zeroize;

/// An odd modulus of 64 to 8192 bits, with its tables.
pub struct Modulus(pub(crate) tetralith_vdf::Modulus);

/// A Wesolowski proof: one group element.
pub const TETRALITH_VDF_WESOLOWSKI: i32 = 1;
/// A Wesolowski proof of consecutive segments, ready soon after the last squaring.
pub const TETRALITH_VDF_N_WESOLOWSKI: i32 = 2;
/// A Pietrzak proof: a group element for each halving of T.
pub const TETRALITH_VDF_PIETRZAK: i32 = 3;

/// The most bytes of a number: what is longer takes long to reduce, and is a mistake.
const MOST: usize = 1 << 20;

/// The proof system of a number.
pub(crate) fn system(number: i32) -> Result<System, Failed> {
    match number {
        TETRALITH_VDF_WESOLOWSKI => Ok(System::Wesolowski),
        TETRALITH_VDF_N_WESOLOWSKI => Ok(System::Segmented),
        TETRALITH_VDF_PIETRZAK => Ok(System::Pietrzak),
        other => Err(argument(format!("no proof system has the number {other}"))),
    }
}

/// The bytes of a number, refused if there are more than anybody means.
///
/// # Safety
/// As [`bytes`], if `len` is at most [`MOST`].
pub(crate) unsafe fn number<'a>(
    name: &str,
    number: *const u8,
    len: usize,
) -> Result<&'a [u8], Failed> {
    if len > MOST {
        return Err(argument(format!("{name} has more than 2^20 bytes")));
    }
    // SAFETY: as the caller vouches.
    unsafe { bytes(name, number, len) }
}

/// Prepares a modulus N of `len` bytes, and writes its handle to `*out`; NULL on failure.
///
/// # Safety
/// `modulus` points to `len` readable bytes, `out` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_new(
    modulus: *const u8,
    len: usize,
    out: *mut *mut Modulus,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let modulus = unsafe { number("modulus", modulus, len) }?;
        let modulus = tetralith_vdf::Modulus::from_bytes(modulus)?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(out, Modulus(modulus)) }
    })
}

/// The length in bytes of every number modulo N: that of N without leading zeros. 0 for NULL.
///
/// # Safety
/// `modulus` is NULL or a handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_width(modulus: *const Modulus) -> usize {
    // SAFETY: the caller vouches for a pointer that is not NULL.
    unsafe { modulus.as_ref() }.map_or(0, |modulus| modulus.0.width())
}

/// Hashes a public seed to the input x of `iterations` squarings; `x_len` is the modulus's width.
///
/// Use it: of an x that somebody chose, outputs combine, for y(18) = y(2)·y(3)^2.
///
/// # Safety
/// `modulus` is a handle; `seed` points to `seed_len` readable bytes, `x` to `x_len` writable ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_hash_to_element(
    modulus: *const Modulus,
    iterations: u64,
    seed: *const u8,
    seed_len: usize,
    x: *mut u8,
    x_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let modulus = &unsafe { handle("modulus", modulus) }?.0;
        // SAFETY: the caller vouches for the bytes.
        let seed = unsafe { bytes("seed", seed, seed_len) }?;
        // SAFETY: as above.
        unsafe { write("x", x, x_len, &modulus.hash_to_element(iterations, seed).to_bytes()) }
    })
}

/// Writes x^(2^iterations) mod N to `y`, whose length is the modulus's width.
///
/// `x` may be above N and is reduced. `progress` may be NULL. Variable time: all is public.
///
/// # Safety
/// `modulus` is a handle; `x` points to `x_len` readable bytes, `y` to `y_len` writable ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_compute(
    modulus: *const Modulus,
    x: *const u8,
    x_len: usize,
    iterations: u64,
    progress: tetralith_progress,
    user: *mut c_void,
    y: *mut u8,
    y_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let modulus = &unsafe { handle("modulus", modulus) }?.0;
        if y.is_null() || y_len != modulus.width() {
            return Err(argument(format!("y needs {} bytes", modulus.width())));
        }
        // SAFETY: the caller vouches for the bytes.
        let (x, _) = modulus.reduce(unsafe { number("x", x, x_len) }?);
        let watch = Callback(progress, user);
        let result = tetralith_vdf::eval(modulus, &x, iterations, &mut |now| {
            watch.step(now.done, now.iterations)
        });
        // SAFETY: the caller vouches for the bytes.
        unsafe { write("y", y, y_len, &result?.to_bytes()) }
    })
}

/// Writes y as `tetralith_vdf_compute` does, and a proof to `*proof` with its length to `*proof_len`.
///
/// Free the proof with `tetralith_bytes_free`. `threads` of 0 means one.
///
/// # Safety
/// As `tetralith_vdf_compute`; `proof` and `proof_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_prove(
    modulus: *const Modulus,
    x: *const u8,
    x_len: usize,
    iterations: u64,
    system: i32,
    threads: usize,
    progress: tetralith_progress,
    user: *mut c_void,
    y: *mut u8,
    y_len: usize,
    proof: *mut *mut u8,
    proof_len: *mut usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(proof) };
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let modulus = &unsafe { handle("modulus", modulus) }?.0;
        if y.is_null() || y_len != modulus.width() || proof.is_null() || proof_len.is_null() {
            return Err(argument(format!("y needs {} bytes, the proof a place", modulus.width())));
        }
        let system = self::system(system)?;
        // SAFETY: the caller vouches for the bytes.
        let (x, _) = modulus.reduce(unsafe { number("x", x, x_len) }?);
        let options = Options { threads: threads.max(1), ..Options::default() };
        let mut prover = Prover::new(system, modulus, &x, iterations, options)?;
        let watch = Callback(progress, user);
        let (result, made) = prover.run(&mut |now| watch.step(now.done, now.iterations))?;
        // SAFETY: the caller vouches for the bytes.
        unsafe { write("y", y, y_len, &result.to_bytes()) }?;
        // SAFETY: the caller vouches for the pointers.
        unsafe { hand_out_bytes("proof", proof, proof_len, made.to_bytes()) }
    })
}

/// Checks a proof that `*y` = ±x^(2^iterations) mod N; with `y` NULL and `y_len` 0 for any y.
///
/// `TETRALITH_NOT_VALID` if it is false, or of another modulus, input, number of squarings or y.
///
/// # Safety
/// `modulus` is a handle; the other pointers point to as many readable bytes as their lengths say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_verify(
    modulus: *const Modulus,
    x: *const u8,
    x_len: usize,
    iterations: u64,
    y: *const u8,
    y_len: usize,
    proof: *const u8,
    proof_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let modulus = &unsafe { handle("modulus", modulus) }?.0;
        // SAFETY: the caller vouches for the bytes.
        let (x, _) = modulus.reduce(unsafe { number("x", x, x_len) }?);
        // SAFETY: as above.
        let y = unsafe { bytes("y", y, y_len) }?;
        // SAFETY: as above.
        let proof = unsafe { bytes("proof", proof, proof_len) }?;
        let check = || -> Result<(), Error> {
            let proof = Proof::from_bytes_modulo(proof, modulus)?;
            proof.expect_input(&x)?;
            proof.expect_iterations(iterations)?;
            if !y.is_empty() {
                proof.expect_output(&modulus.decode(y, "y")?)?;
            }
            proof.verify()
        };
        Ok(check()?)
    })
}

/// Frees a modulus; NULL is allowed.
///
/// # Safety
/// `modulus` is NULL or a handle that is not freed, and no call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_free(modulus: *mut Modulus) {
    // SAFETY: the caller vouches for the handle.
    unsafe { free(modulus) }
}

/// Overwrites and frees bytes that this library allocated; NULL is allowed.
///
/// # Safety
/// `bytes` and `len` are what a function of this library wrote, not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_bytes_free(bytes: *mut u8, len: usize) {
    if !bytes.is_null() {
        let slice = std::ptr::slice_from_raw_parts_mut(bytes, len);
        // SAFETY: it came from `Box::into_raw` with this length and is freed once.
        let mut slice = unsafe { Box::from_raw(slice) };
        slice.zeroize();
    }
}
