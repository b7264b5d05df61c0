//! Seals files with secret factors, which valgrind watches; see `crates/kernels/tests/constant_time.rs`.
//!
//! The factors are marked by the library once they are found: the search may take any time, and what
//! follows may not depend on them.

use rand_core::SeedableRng;
use std::ops::ControlFlow;
use tetralith_kernels::ct;
use tetralith_vdf::{eval::eval, timelock};

fn main() {
    println!("checked: {}", ct::is_checked());
    let mut rng = chacha20::ChaCha20Rng::seed_from_u64(11);
    // Factors of 2, 4, 5, 8 and 10 limbs: short ones are unrolled, and others are not.
    for bits in [256, 512, 640, 1024, 1280] {
        let mut sealed = Vec::new();
        let header = timelock::seal(&mut &b"a file"[..], &mut sealed, 20, bits, &mut rng)
            .expect("these are offered");
        let watch = &mut |_| ControlFlow::Continue(());
        let y = eval(header.modulus(), header.base(), 20, watch).expect("20 squarings");
        let mut file = Vec::new();
        let chunks = &mut &sealed[header.to_bytes().len()..];
        header.open(&y, chunks, &mut file).expect("it opens");
        println!("{bits}: {}", file == b"a file");
    }
}
