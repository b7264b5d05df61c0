//! Bytes that open after a number of squarings.

use crate::checkpoint::Claim;
use crate::memory::{bytes, clear, hand_out_bytes, set};
use crate::progress::{Callback, tetralith_progress};
use crate::status::{Failed, argument, guarded};
use getrandom::SysRng;
use rand_core::UnwrapErr;
use std::ffi::{c_char, c_void};
use tetralith_vdf::timelock::{self, Header, SEAL_BITS};
use tetralith_vdf::{Error, eval};
use zeroize::Zeroizing;

/// Seals bytes, so that opening them takes `iterations` squarings modulo a new number of `bits` bits: a
/// multiple of 128 from 256 to 8192, or 0 for 2048. Sealing takes no squarings.
///
/// Free the result with `tetralith_bytes_free`. The command's `vdf open` opens it.
///
/// # Safety
/// `content` points to `content_len` readable bytes; `sealed` and `sealed_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_seal(
    iterations: u64,
    bits: u32,
    content: *const u8,
    content_len: usize,
    sealed: *mut *mut u8,
    sealed_len: *mut usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(sealed) };
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let mut content = unsafe { bytes("content", content, content_len) }?;
        let bits = if bits == 0 { SEAL_BITS } else { bits };
        let mut made = Vec::new();
        timelock::seal(&mut content, &mut made, iterations, bits, &mut UnwrapErr(SysRng))?;
        // SAFETY: the caller vouches for the pointers.
        unsafe { hand_out_bytes("sealed", sealed, sealed_len, made) }
    })
}

/// Writes how many squarings it takes to open sealed bytes.
///
/// # Safety
/// `sealed` points to `sealed_len` readable bytes; `iterations` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_sealed_iterations(
    sealed: *const u8,
    sealed_len: usize,
    iterations: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let header = Header::read(&mut unsafe { bytes("sealed", sealed, sealed_len) }?)?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { set(iterations, header.iterations()) };
        Ok(())
    })
}

/// Opens sealed bytes, however long that takes; `progress` may be NULL.
///
/// `checkpoint`: a file from which a later call goes on, as for `tetralith_vdf_compute_resumable`, or
/// NULL. `TETRALITH_NOT_VALID` if a byte was altered or is missing: then there is no content at all.
/// Free the content with `tetralith_bytes_free`, which overwrites it.
///
/// # Safety
/// `sealed` points to `sealed_len` readable bytes; `checkpoint` is NULL or a NUL-terminated text;
/// `content` and `content_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_open(
    sealed: *const u8,
    sealed_len: usize,
    checkpoint: *const c_char,
    progress: tetralith_progress,
    user: *mut c_void,
    content: *mut *mut u8,
    content_len: *mut usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(content) };
    guarded(|| {
        if content.is_null() || content_len.is_null() {
            return Err(argument("content or content_len is NULL".into()));
        }
        // SAFETY: the caller vouches for the bytes.
        let mut source = unsafe { bytes("sealed", sealed, sealed_len) }?;
        let header = Header::read(&mut source)?;
        // Years of squarings are not spent on bytes that were cut off.
        header.file_len(sealed_len as u64)?;
        let (modulus, base, count) = (header.modulus(), header.base(), header.iterations());
        let callback = Callback(progress, user);
        let y = if checkpoint.is_null() {
            eval(modulus, base, count, &mut |now| callback.step(now.done, now.iterations))?
        } else {
            // SAFETY: the caller vouches for the text.
            let mut claim = unsafe { Claim::of(checkpoint) }?;
            let fits = |found: &tetralith_vdf::Checkpoint| found.expect(modulus, base, count);
            claim.square(|| header.evaluation(), fits, callback)?
        };
        let mut opened = Zeroizing::new(Vec::with_capacity(sealed_len));
        let result: Result<u64, Error> = header.open(&y, &mut source, &mut *opened);
        result.map_err(Failed::from)?;
        // SAFETY: the caller vouches for the pointers.
        unsafe { hand_out_bytes("content", content, content_len, opened.to_vec()) }
    })
}
