//! The callers' memory as slices.

use crate::status::{Failed, argument};

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
