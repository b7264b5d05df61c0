//! Marks for a test of constant time: what is secret, and from where on it is public.
//!
//! With the feature `valgrind` these functions tell memcheck that bytes are undefined, or defined
//! again. Memcheck follows what is computed from undefined bytes, bit by bit, and reports a branch or
//! an address that depends on them: a secret marked as undefined must reach neither. Without the
//! feature, which no release has, and outside valgrind they do nothing. [`public`] stands in the
//! libraries wherever a value made of secrets is given away, with the reason beside it.

/// Marks bytes as secret.
pub fn secret(bytes: &mut [u8]) {
    mark(UNDEFINED, bytes.as_mut_ptr(), bytes.len());
}

/// Marks limbs as secret.
pub fn secret_limbs(limbs: &mut [u64]) {
    mark(UNDEFINED, limbs.as_mut_ptr().cast(), size_of_val(limbs));
}

/// Marks bytes as public, because they are about to be given away.
pub fn public_bytes(bytes: &mut [u8]) {
    mark(DEFINED, bytes.as_mut_ptr(), bytes.len());
}

/// Gives back a value that is public though it was made of secrets.
#[must_use]
pub fn public<T: Copy>(value: T) -> T {
    let mut value = value;
    mark(DEFINED, (&raw mut value).cast(), size_of::<T>());
    value
}

/// Says whether valgrind runs this process, and the feature is on.
#[must_use]
pub fn is_checked() -> bool {
    request(RUNNING, core::ptr::null_mut(), 0) != 0
}

/// How many errors valgrind has seen so far.
#[must_use]
pub fn errors() -> usize {
    request(ERRORS, core::ptr::null_mut(), 0)
}

fn mark(what: usize, at: *mut u8, len: usize) {
    request(what, at, len);
}

/// Memcheck's requests: 'M' and 'C' in the upper bytes, and a number.
const UNDEFINED: usize = 0x4d43_0001;
const DEFINED: usize = 0x4d43_0002;
/// Valgrind's own.
const RUNNING: usize = 0x1001;
const ERRORS: usize = 0x1201;

/// A client request: four rotations that together turn by 128 bits, and an exchange of a register
/// with itself, which valgrind knows and a CPU runs without effect.
#[cfg(all(feature = "valgrind", target_arch = "x86_64"))]
fn request(what: usize, at: *mut u8, len: usize) -> usize {
    let arguments = [what, at.expose_provenance(), len, 0, 0, 0];
    let mut result = 0usize;
    // SAFETY: no instruction has an effect of its own; `rdi` is as before after the rotations, and
    // valgrind reads the six words at `rax` and marks `len` bytes at `at`, which the callers own.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") result,
            options(nostack),
        );
    }
    result
}

#[cfg(not(all(feature = "valgrind", target_arch = "x86_64")))]
fn request(_: usize, _: *mut u8, _: usize) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_change_nothing() {
        let mut bytes = [1, 2, 3];
        secret(&mut bytes);
        public_bytes(&mut bytes);
        let mut limbs = [1, 2];
        secret_limbs(&mut limbs);
        assert_eq!(limbs.map(public), [1, 2]);
        assert_eq!(public(bytes), [1, 2, 3]);
        assert!(!is_checked());
        assert_eq!(errors(), 0);
    }
}
