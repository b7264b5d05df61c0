//! Which code runs here.

use std::ffi::c_char;
use tetralith_xmss::{Params, kernel_name};

/// Writes the name of the fastest kernels that run here, such as `avx512`, and returns its length
/// without the final NUL.
///
/// The text is cut to `len` bytes with its NUL; nothing is written if `len` is 0.
///
/// # Safety
/// `buffer` is NULL or points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_kernel(buffer: *mut c_char, len: usize) -> usize {
    let name = kernel_name(Params::XMSS_SHA2_10_256);
    if !buffer.is_null() && len > 0 {
        let cut = name.len().min(len - 1);
        let out: *mut u8 = buffer.cast();
        // SAFETY: `cut` is below `len`, and the caller vouches for `len` writable bytes.
        unsafe { out.copy_from_nonoverlapping(name.as_ptr(), cut) };
        // SAFETY: as above.
        unsafe { out.wrapping_add(cut).write(0) };
    }
    name.len()
}
