//! The callers' memory as slices.

use crate::status::{Failed, argument};
#[cfg(not(target_family = "wasm"))]
use std::ffi::{CStr, c_char};

/// The bytes that C points to; NULL is allowed for none.
///
/// # Safety
/// `bytes` is NULL or points to `len` readable bytes that nobody writes while the result lives.
pub(crate) unsafe fn bytes<'a>(
    name: &str,
    bytes: *const u8,
    len: usize,
) -> Result<&'a [u8], Failed> {
    if len == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() || len > isize::MAX as usize {
        return Err(argument(format!("{name} is NULL, or its length is impossible")));
    }
    // SAFETY: not NULL, and the caller vouches for `len` bytes.
    Ok(unsafe { std::slice::from_raw_parts(bytes, len) })
}

/// The bytes that C points to, which are as many as the array.
///
/// # Safety
/// As [`bytes`].
#[cfg(not(target_family = "wasm"))]
pub(crate) unsafe fn array<const N: usize>(
    name: &str,
    array: *const u8,
    len: usize,
) -> Result<[u8; N], Failed> {
    // SAFETY: as the caller vouches.
    let found = unsafe { bytes(name, array, len) }?;
    let wrong = |_| argument(format!("{name} has {len} bytes, expected {N}"));
    found.try_into().map_err(wrong)
}

/// The numbers that C points to, in the same way.
///
/// # Safety
/// As [`bytes`], for `len` aligned numbers.
pub(crate) unsafe fn numbers<'a>(
    name: &str,
    numbers: *const u64,
    len: usize,
) -> Result<&'a [u64], Failed> {
    if numbers.is_null() || len > isize::MAX as usize / 8 || !numbers.is_aligned() {
        return Err(argument(format!(
            "{name} is NULL or not aligned, or its length is impossible"
        )));
    }
    // SAFETY: not NULL, aligned, and the caller vouches for `len` numbers.
    Ok(unsafe { std::slice::from_raw_parts(numbers, len) })
}

#[cfg(not(target_family = "wasm"))]
/// The text that C points to, which ends with a NUL; `None` for NULL.
///
/// # Safety
/// `text` is NULL or points to a NUL-terminated text that nobody writes while the result lives.
pub(crate) unsafe fn text<'a>(name: &str, text: *const c_char) -> Result<Option<&'a str>, Failed> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not NULL, and the caller vouches for a NUL.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| argument(format!("{name} is not UTF-8")))
}

#[cfg(not(target_family = "wasm"))]
/// A secret that may be missing: NULL is none, and an empty one is refused.
///
/// # Safety
/// As [`bytes`].
pub(crate) unsafe fn passphrase<'a>(
    secret: *const u8,
    len: usize,
) -> Result<Option<&'a [u8]>, Failed> {
    if secret.is_null() && len == 0 {
        return Ok(None);
    }
    // SAFETY: as the caller vouches.
    match unsafe { bytes("passphrase", secret, len) }? {
        [] => Err(Failed::new(2, "key.passphrase_empty", "the passphrase is empty")),
        secret => Ok(Some(secret)),
    }
}

/// Writes a value to a place that may be NULL.
///
/// # Safety
/// `place` is NULL or may be written.
pub(crate) unsafe fn set<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not NULL, and the caller vouches that it may be written.
        unsafe { place.write(value) };
    }
}

/// Hands out bytes that the caller frees with `tetralith_bytes_free`.
///
/// # Safety
/// `out` and `out_len` are NULL or may be written.
pub(crate) unsafe fn hand_out_bytes(
    name: &str,
    out: *mut *mut u8,
    out_len: *mut usize,
    result: Vec<u8>,
) -> Result<(), Failed> {
    if out.is_null() || out_len.is_null() {
        return Err(argument(format!("{name} or its length has no place")));
    }
    let result = result.into_boxed_slice();
    // SAFETY: not NULL, and the caller vouches that it may be written.
    unsafe { out_len.write(result.len()) };
    // SAFETY: as above.
    unsafe { out.write(Box::into_raw(result).cast()) };
    Ok(())
}

/// Writes a result into a buffer of exactly its length.
///
/// # Safety
/// `out` is NULL or points to `len` writable bytes.
pub(crate) unsafe fn write(
    name: &str,
    out: *mut u8,
    len: usize,
    result: &[u8],
) -> Result<(), Failed> {
    if out.is_null() || len != result.len() {
        let message = format!("{name} has {len} bytes or is NULL, expected {}", result.len());
        return Err(argument(message));
    }
    // SAFETY: `out` has `len` writable bytes, as many as the result, which is Rust's own memory.
    unsafe { out.copy_from_nonoverlapping(result.as_ptr(), result.len()) };
    Ok(())
}

/// Writes a handle, or fails if there is no place for it.
///
/// # Safety
/// `out` is NULL or points to a writable pointer.
pub(crate) unsafe fn hand_out<T>(out: *mut *mut T, value: T) -> Result<(), Failed> {
    if out.is_null() {
        return Err(argument("out is NULL".into()));
    }
    // SAFETY: not NULL, and the caller vouches that it may be written.
    unsafe { out.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// Sets a handle's place to NULL, so that a failed call leaves nothing to free.
///
/// # Safety
/// `out` is NULL or points to a writable pointer.
pub(crate) unsafe fn clear<T>(out: *mut *mut T) {
    if !out.is_null() {
        // SAFETY: not NULL, and the caller vouches that it may be written.
        unsafe { out.write(std::ptr::null_mut()) };
    }
}

/// The value of a handle.
///
/// # Safety
/// `handle` is NULL or what [`hand_out`] wrote, and not freed while the result lives.
pub(crate) unsafe fn handle<'a, T>(name: &str, handle: *const T) -> Result<&'a T, Failed> {
    // SAFETY: the caller vouches for a pointer that is not NULL.
    unsafe { handle.as_ref() }.ok_or_else(|| argument(format!("{name} is NULL")))
}

/// Frees a handle; NULL is allowed.
///
/// # Safety
/// `handle` is NULL or what [`hand_out`] wrote, not freed before, and no call uses it.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it came from `Box::into_raw` and is freed once, as the caller vouches.
        let value = unsafe { Box::from_raw(handle) };
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(value)));
    }
}
