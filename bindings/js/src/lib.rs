//! The WebAssembly modules of the npm package `tetralith`: what the JavaScript files beside this call.
//!
//! Each feature is one module. A function takes bytes and numbers whose JavaScript types the package's
//! files have checked, and throws an `errors::Failure`, which those files turn into a
//! `TetralithError`. Documentation for users is in the package's `.d.ts` files.
#![allow(unreachable_pub)] // only public items can be exported

#[cfg(any(feature = "vrf", feature = "xmss"))]
mod columns;
mod errors;
#[cfg(feature = "xmss")]
mod signer;
#[cfg(feature = "tss")]
mod tss;
#[cfg(feature = "vdf")]
mod vdf;
#[cfg(feature = "vrf")]
mod vrf;
#[cfg(feature = "xmss")]
mod wallet;
#[cfg(feature = "xmss")]
mod xmss;

/// The host's generator. JavaScript without `crypto.getRandomValues` sees the panic as a trap; the
/// package's loader refuses to start there.
#[cfg(any(feature = "vrf", feature = "xmss", feature = "vdf", feature = "tss"))]
fn system_rng() -> impl rand_core::CryptoRng {
    rand_core::UnwrapErr(getrandom::SysRng)
}
