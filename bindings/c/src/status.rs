//! What calls return, and what the last failure of a thread was.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Success; of a verification: valid.
pub const TETRALITH_OK: i32 = 0;
/// Well formed, and not valid.
pub const TETRALITH_NOT_VALID: i32 = 1;
/// The input is malformed.
pub const TETRALITH_MALFORMED: i32 = 2;
/// The machine or the system failed, or the caller stopped the work.
pub const TETRALITH_ENVIRONMENT: i32 = 3;
/// The durable state refuses.
pub const TETRALITH_STATE: i32 = 4;
/// Another party failed.
pub const TETRALITH_PEERS: i32 = 5;
/// A pointer is NULL that must not be, or a buffer has the wrong length.
pub const TETRALITH_ARGUMENT: i32 = 64;
/// A fault of this library.
pub const TETRALITH_INTERNAL: i32 = 70;

/// The version of this interface: programs built for another do not fit.
pub const TETRALITH_ABI_VERSION: u32 = 1;

/// A failure: its status, the command's stable dotted code, and a sentence.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) status: i32,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Failed {
    pub(crate) fn new(status: i32, code: &'static str, message: impl ToString) -> Self {
        Failed { status, code, message: message.to_string() }
    }
}

/// A library's error: its exit codes are the statuses from 1 to 5.
macro_rules! errors {
    ($($error:ty),*) => { $(
        impl From<$error> for Failed {
            fn from(error: $error) -> Self {
                Failed::new(error.exit_code().into(), error.code(), error)
            }
        }
    )* };
}

#[cfg(not(target_family = "wasm"))]
errors!(tetralith_keyring::Error, tetralith_tss::engine::Error);
errors!(tetralith_vdf::Error, tetralith_vrf::Error, tetralith_xmss::Error);

/// A wrong argument of the caller's program.
pub(crate) fn argument(message: String) -> Failed {
    Failed::new(TETRALITH_ARGUMENT, "usage.arguments", message)
}

thread_local! {
    static LAST: RefCell<Option<Failed>> = const { RefCell::new(None) };
}

/// Runs what must not panic into C, and keeps what failed for [`tetralith_last_error`].
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failed>) -> i32 {
    let failed = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return TETRALITH_OK,
        Ok(Err(failed)) => failed,
        Err(_) => Failed::new(TETRALITH_INTERNAL, "internal", "a fault of this library"),
    };
    let status = failed.status;
    LAST.with(|last| last.replace(Some(failed)));
    status
}

/// Writes what failed last on this thread as `code: message`, and returns its length without the
/// final NUL.
///
/// The text is cut to `len` bytes with its NUL; nothing is written if `len` is 0. The length is 0 if
/// nothing failed yet.
///
/// # Safety
/// `buffer` is NULL or points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_last_error(buffer: *mut c_char, len: usize) -> usize {
    let text = LAST.with(|last| {
        let last = last.borrow();
        last.as_ref().map(|failed| format!("{}: {}", failed.code, failed.message))
    });
    let text = text.unwrap_or_default();
    if !buffer.is_null() && len > 0 {
        let mut cut = text.len().min(len - 1);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        let out: *mut u8 = buffer.cast();
        // SAFETY: `cut` is below `len`, and the caller vouches for `len` writable bytes.
        unsafe { out.copy_from_nonoverlapping(text.as_ptr(), cut) };
        // SAFETY: as above.
        unsafe { out.wrapping_add(cut).write(0) };
    }
    text.len()
}

/// The version of this interface, to be compared with `TETRALITH_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn tetralith_abi_version() -> u32 {
    TETRALITH_ABI_VERSION
}

/// The version of the library, such as `0.1.0`; a constant.
#[unsafe(no_mangle)]
pub extern "C" fn tetralith_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no NUL"),
        };
    VERSION.as_ptr()
}
