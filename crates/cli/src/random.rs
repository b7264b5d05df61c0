//! The operating system's random generator, which the libraries take as a parameter.

use getrandom::SysRng;
use rand_core::{CryptoRng, UnwrapErr};

/// The system's generator; it panics where the system has no randomness, for nothing can go on.
pub(crate) fn system() -> impl CryptoRng {
    UnwrapErr(SysRng)
}
