//! The three calls of the `sqr` library, for programs that use it: `include/sqr/sqrlib.h`.
//!
//! Argument order, error numbers and hexadecimal results are those of its README. Beyond it, every odd
//! modulus of 64 to 8192 bits works, and bad arguments are refused instead of being written through.

use crate::memory::{bytes, clear, free, hand_out, handle};
use crate::status::{Failed, TETRALITH_OK, argument, guarded};
use std::ffi::{CStr, c_char};
use tetralith_vdf::{Modulus, parse_hex};

/// What `Sqr_State` is: the modulus, and its length as it was given.
#[derive(Debug)]
pub struct SqrState {
    modulus: Modulus,
    width: usize,
}

const BAD_PARAMS: i32 = 2;

/// `sqr` knows one error for wrong parameters.
fn sqr_status(work: impl FnOnce() -> Result<(), Failed>) -> i32 {
    if guarded(work) == TETRALITH_OK { 0 } else { BAD_PARAMS }
}

/// Prepares the modulus N of `len` bytes.
///
/// # Safety
/// `modulus` points to `len` readable bytes, `state` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqr_allocate_state(
    modulus: *const u8,
    len: u32,
    state: *mut *mut SqrState,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(state) };
    sqr_status(|| {
        // SAFETY: the caller vouches for the bytes.
        let modulus = unsafe { bytes("N", modulus, len as usize) }?;
        let width = modulus.len();
        let modulus = Modulus::from_bytes(modulus)?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(state, SqrState { modulus, width }) }
    })
}

/// Writes x^(2^iterations) mod N as 2·len hexadecimal digits and a NUL to `out` of `out_len` bytes.
///
/// # Safety
/// `state` is from `sqr_allocate_state`, `x` is a NUL-terminated text, `out` has `out_len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqr_calculate(
    state: *mut SqrState,
    iterations: u64,
    x: *const c_char,
    out: *mut c_char,
    out_len: u32,
) -> i32 {
    sqr_status(|| {
        // SAFETY: the caller vouches for the handle.
        let state = unsafe { handle("state", state) }?;
        if x.is_null() || out.is_null() || (out_len as usize) < 2 * state.width + 1 {
            return Err(argument(format!("x or out is NULL, or out_len {out_len} is too short")));
        }
        // SAFETY: not NULL, and the caller vouches for a NUL.
        let x = unsafe { CStr::from_ptr(x) };
        let x = parse_hex(&x.to_string_lossy(), "x")?;
        let (x, _) = state.modulus.reduce(&x);
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        let y = tetralith_vdf::eval(&state.modulus, &x, iterations, go_on)?;
        let y = y.to_bytes();
        let text = [vec![0; state.width - y.len()], y].concat();
        let text = hex::encode(text) + "\0";
        let out: *mut u8 = out.cast();
        // SAFETY: the text has 2·width + 1 bytes, and `out` at least as many.
        unsafe { out.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        Ok(())
    })
}

/// Frees a state; NULL is allowed. The name in the header of `sqr`.
///
/// # Safety
/// `state` is NULL or from `sqr_allocate_state`, and not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqr_free_state(state: *mut SqrState) -> i32 {
    // SAFETY: the caller vouches for the handle.
    unsafe { free(state) };
    0
}

/// The same; the name in the README of `sqr`.
///
/// # Safety
/// As `sqr_free_state`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqr_free(state: *mut SqrState) -> i32 {
    // SAFETY: the caller vouches for the handle.
    unsafe { sqr_free_state(state) }
}
