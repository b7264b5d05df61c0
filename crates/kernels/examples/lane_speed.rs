//! Prints what one call of each SHA-256 kernel's jobs costs, in nanoseconds, at least.

use std::time::Instant;
use tetralith_kernels::sha256::{Kernel, Lanes, Prefix};

fn least(mut job: impl FnMut()) -> f64 {
    (0..300)
        .map(|_| {
            let start = Instant::now();
            (0..20).for_each(|_| job());
            start.elapsed().as_secs_f64() * 1e9 / 20.0
        })
        .fold(f64::MAX, f64::min)
}

fn main() {
    for kernel in Kernel::ALL.iter().copied().filter(|kernel| kernel.allowed()) {
        let mut lanes = Lanes::new(kernel, 32);
        let prefix = Prefix::new(&[3; 80]);
        (0..lanes.width()).for_each(|lane| lanes.set_prefix(lane, &prefix));
        let prf = least(|| lanes.prf());
        let masked = least(|| lanes.masked());
        let pair = least(|| lanes.pair());
        println!(
            "{:9} prf {prf:7.0} masked {masked:7.0} pair {pair:7.0}; a compression {:.2} ns",
            kernel.name(),
            masked / 4.0 / lanes.width() as f64
        );
    }
}
