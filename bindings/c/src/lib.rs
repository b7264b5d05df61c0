//! The C interface: `include/tetralith.h` says what callers may rely on.
//!
//! Three calls do the work, allocate for N, compute, free, and one tells how long a result is. A call
//! returns a code and writes its result only where that is zero; a panic is caught and becomes
//! `TETRALITH_INTERNAL`. No pointer is kept but the context's own.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tetralith_vdf::{Error, Modulus, eval};

/// What is prepared for one modulus; opaque to C.
pub struct Context {
    modulus: Modulus,
}

const OK: i32 = 0;
const NULL: i32 = 1;
const MODULUS: i32 = 2;
const LENGTH: i32 = 3;
const ITERATIONS: i32 = 4;
const FAULTY: i32 = 5;
const INTERNAL: i32 = 6;

/// The most bytes of a number: what is longer takes long to reduce, and is a mistake.
const MOST: usize = 1 << 20;

fn code(error: &Error) -> i32 {
    match error {
        Error::ModulusZero
        | Error::ModulusOne
        | Error::ModulusEven
        | Error::ModulusSize { .. }
        | Error::ModulusPrime
        | Error::ModulusPower { .. } => MODULUS,
        Error::TooManySquarings(_) => ITERATIONS,
        Error::Faulty(_) => FAULTY,
        _ => INTERNAL,
    }
}

/// Runs what must not panic into C.
fn guarded(work: impl FnOnce() -> Result<(), i32>) -> i32 {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => OK,
        Ok(Err(code)) => code,
        Err(_) => INTERNAL,
    }
}

/// The bytes that C points to; NULL is allowed for none.
///
/// # Safety
/// `bytes` is NULL or points to `len` readable bytes that nobody writes while the result lives.
unsafe fn bytes<'a>(bytes: *const u8, len: usize) -> Result<&'a [u8], i32> {
    if len == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() || len > isize::MAX as usize {
        return Err(NULL);
    }
    // SAFETY: not NULL, and the caller vouches for `len` bytes.
    Ok(unsafe { std::slice::from_raw_parts(bytes, len) })
}

/// Prepares a modulus; see the header.
///
/// # Safety
/// `modulus` is NULL or points to `len` readable bytes, `out` is NULL or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_new(
    modulus: *const u8,
    len: usize,
    out: *mut *mut Context,
) -> i32 {
    if out.is_null() {
        return NULL;
    }
    // SAFETY: not NULL, and the caller vouches that it may be written.
    unsafe { out.write(std::ptr::null_mut()) };
    guarded(|| {
        if len > MOST {
            return Err(MODULUS);
        }
        // SAFETY: the caller vouches for the bytes.
        let modulus = unsafe { bytes(modulus, len) }?;
        let modulus = Modulus::from_bytes(modulus).map_err(|error| code(&error))?;
        let context = Box::into_raw(Box::new(Context { modulus }));
        // SAFETY: as above.
        unsafe { out.write(context) };
        Ok(())
    })
}

/// The bytes of a result; see the header.
///
/// # Safety
/// `context` is NULL or what [`tetralith_vdf_new`] wrote, and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_width(context: *const Context) -> usize {
    // SAFETY: the caller vouches for a pointer that is not NULL.
    let context = unsafe { context.as_ref() };
    context.map_or(0, |context| context.modulus.width())
}

/// Computes x^(2^iterations) mod N; see the header.
///
/// # Safety
/// `context` is NULL or what [`tetralith_vdf_new`] wrote, not freed, and no other call uses it; `x` is
/// NULL or points to `x_len` readable bytes, `y` is NULL or points to `y_len` writable ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_compute(
    context: *mut Context,
    x: *const u8,
    x_len: usize,
    iterations: u64,
    y: *mut u8,
    y_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for a pointer that is not NULL.
        let Context { modulus } = unsafe { context.as_ref() }.ok_or(NULL)?;
        if y.is_null() {
            return Err(NULL);
        }
        if y_len != modulus.width() || x_len > MOST {
            return Err(LENGTH);
        }
        // SAFETY: the caller vouches for the bytes.
        let (x, _) = modulus.reduce(unsafe { bytes(x, x_len) }?);
        let result = eval(modulus, &x, iterations, &mut |_| ControlFlow::Continue(()));
        let result = result.map_err(|error| code(&error))?.to_bytes();
        // SAFETY: `y` is not NULL and has `y_len` writable bytes, as many as the result; the result is a
        // new vector, which nothing of C's overlaps.
        unsafe { y.copy_from_nonoverlapping(result.as_ptr(), result.len()) };
        Ok(())
    })
}

/// Frees a context; see the header.
///
/// # Safety
/// `context` is NULL or what [`tetralith_vdf_new`] wrote, not freed before, and no call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_free(context: *mut Context) {
    if context.is_null() {
        return;
    }
    let free = || {
        // SAFETY: it came from `Box::into_raw` and is freed once, as the caller vouches.
        drop(unsafe { Box::from_raw(context) });
    };
    let _ = catch_unwind(AssertUnwindSafe(free)); // dropping numbers does not panic
}
