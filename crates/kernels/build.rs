//! Generates the AVX-512 IFMA squaring kernels, one text of assembly per size class.
//!
//! The order of the steps decides the speed (by a third), and no compiler keeps it: so the order is
//! data (`build/orders.rs`), the steps are written once for all sizes (`build/squaring.rs`), and
//! registers are given and bounds checked by a hundred lines each (`build/machine.rs`).

#![allow(unreachable_pub)] // the modules below are shared with nobody

#[path = "build/machine.rs"]
mod machine;
#[path = "build/orders.rs"]
mod orders;
#[path = "build/squaring.rs"]
mod squaring;

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let out = std::env::var_os("OUT_DIR").expect("cargo says where to write");
    for (blocks, words, order) in orders::ORDERS {
        let text = squaring::kernel(squaring::Size::new(blocks, words), order);
        let file = Path::new(&out).join(format!("ifma_{blocks}.s"));
        std::fs::write(&file, text).expect("the output directory can be written");
    }
}
