//! The fuzz targets as functions of bytes.
//!
//! Each module is a target: `run` takes any bytes and panics where a property is broken. The binaries of
//! `fuzz/` give these functions to libFuzzer. Ordinary tests run them too, on the inputs of `fuzz/corpus`
//! and on the seeds made here, with the stable toolchain: so every target compiles, and a defect that the
//! fuzzer found once is found by `make test` from then on.

#![allow(clippy::unwrap_used)] // a target's fixtures

use arbitrary::{Arbitrary, Unstructured};

mod changes;
#[cfg(feature = "columns")]
mod columns_arrow;
#[cfg(feature = "columns")]
mod columns_parquet;
#[cfg(feature = "columns")]
mod columns_text;
mod edwards25519_lanes;
mod keyfile_text;
#[cfg(feature = "node")]
mod node_config;
#[cfg(feature = "node")]
mod node_wire;
mod seeds;
mod tss_encodings;
mod tss_messages;
mod tss_points;
mod vdf_checkpoint;
mod vdf_kept;
mod vdf_modulus;
mod vdf_proof;
#[cfg(feature = "node")]
mod vdf_request;
mod vdf_sealed;
mod vrf_header;
mod vrf_many;
mod vrf_prove;
mod vrf_verify;
mod xmss_aidos;
mod xmss_partial;
mod xmss_public_key;
mod xmss_state;
mod xmss_verify;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
}

impl Target {
    /// The target with this name.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let found = TARGETS.iter().find(|target| target.name == name);
        *found.unwrap_or_else(|| panic!("no fuzz target is called {name}"))
    }

    /// Inputs that get through the doors: known answers, and what the libraries themselves write.
    #[must_use]
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        seeds::of(self.name)
    }
}

macro_rules! targets {
    ($($(#[$condition:meta])? $name:ident)*) => {
        /// All targets.
        pub const TARGETS: &[Target] =
            &[$($(#[$condition])? Target { name: stringify!($name), run: $name::run }),*];
    };
}

targets! {
    #[cfg(feature = "columns")] columns_arrow
    #[cfg(feature = "columns")] columns_parquet
    #[cfg(feature = "columns")] columns_text
    edwards25519_lanes
    keyfile_text
    #[cfg(feature = "node")] node_config
    #[cfg(feature = "node")] node_wire
    #[cfg(feature = "node")] vdf_request
    tss_encodings tss_messages tss_points vdf_checkpoint vdf_kept vdf_modulus vdf_proof vdf_sealed
    vrf_header vrf_many vrf_prove vrf_verify xmss_aidos xmss_partial xmss_public_key xmss_state
    xmss_verify
}

/// Reads a structured input from bytes.
fn read<'a, T: Arbitrary<'a>>(data: &'a [u8]) -> Option<T> {
    T::arbitrary_take_rest(Unstructured::new(data)).ok()
}
