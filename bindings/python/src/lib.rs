//! The native module `tetralith._tetralith`: what the Python files beside it call.
//!
//! Each function takes bytes or columns, releases the interpreter while it computes, and raises one
//! of the package's exceptions with the command's stable code. Documentation for users is in the
//! Python files.

mod columns;
mod errors;
mod kept;
mod qrl;
mod refusals;
mod signer;
mod tss;
mod vdf;
mod vrf;
mod watch;
mod xmss;

use getrandom::SysRng;
use pyo3::prelude::*;
use rand_core::{CryptoRng, UnwrapErr};

/// The system's generator. It panics, which Python sees as an exception, if the system has none.
fn system_rng() -> impl CryptoRng {
    UnwrapErr(SysRng)
}

#[pymodule]
fn _tetralith(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    columns::register(module)?;
    vrf::register(module)?;
    xmss::register(module)?;
    signer::register(module)?;
    qrl::register(module)?;
    vdf::register(module)?;
    tss::register(module)
}
