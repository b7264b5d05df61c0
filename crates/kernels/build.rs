//! Generates the assembly of the modular kernels.
//!
//! AVX-512 IFMA: one text per size class and operation. The order of the steps decides the speed (by a
//! third), and no compiler keeps it: so the order is data (`build/orders.rs`), the steps are written once
//! for all sizes (`build/squaring.rs`), and registers are given and bounds checked by a hundred lines each
//! (`build/machine.rs`). FMA and AVX2, MULX and ADX: one text per operation, loops over blocks
//! (`build/fma.rs`, `build/mulx.rs`).

#![allow(unreachable_pub)] // the modules below are shared with nobody

#[path = "build/fma.rs"]
mod fma;
#[path = "build/machine.rs"]
mod machine;
#[path = "build/mulx.rs"]
mod mulx;
#[path = "build/orders.rs"]
mod orders;
#[path = "build/squaring.rs"]
mod squaring;
#[path = "build/steps.rs"]
mod steps;

use std::path::Path;
use steps::{Job, Size};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let out = std::env::var_os("OUT_DIR").expect("cargo says where to write");
    let write = |name: String, text: String| {
        std::fs::write(Path::new(&out).join(name), text).expect("the output directory is writable");
    };
    for (tail, name) in [(false, ""), (true, "_tail")] {
        write(format!("mulx_squarings{name}.s"), mulx::squarings(tail));
        write(format!("mulx_product{name}.s"), mulx::product(tail));
    }
    write("fma_squarings.s".into(), fma::squarings());
    write("fma_product.s".into(), fma::product());
    for (blocks, words, order) in orders::SQUARINGS {
        let size = Size::new(blocks, words, Job::Square);
        write(format!("ifma_squarings_{blocks}.s"), squaring::squarings(size, order));
    }
    for (blocks, words, order) in orders::PRODUCTS {
        let size = Size::new(blocks, words, Job::Product);
        write(format!("ifma_product_{blocks}.s"), squaring::product(size, order));
    }
}
