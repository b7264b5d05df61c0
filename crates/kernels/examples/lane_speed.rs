//! Prints what one call of each SHA-2 kernel's jobs costs, in cycles of the clock as it runs meanwhile.

use std::time::Instant;
use tetralith_kernels::{sha256, sha512};

fn seconds(times: u32, job: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..times).for_each(|_| job());
    start.elapsed().as_secs_f64() / f64::from(times)
}

/// A cycle: half of a rotation and an addition that wait for each other.
fn cycle() -> f64 {
    let steps = 3000;
    let mut chain = || {
        let mut x = std::hint::black_box(1u64);
        for _ in 0..steps {
            x = x.rotate_left(7).wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
        std::hint::black_box(x);
    };
    seconds(1, &mut chain) / f64::from(2 * steps)
}

/// The lower quartile of many short runs, each beside the clock.
fn cycles(job: &mut dyn FnMut()) -> f64 {
    let mut runs: Vec<f64> = (0..400)
        .map(|_| {
            let before = cycle();
            seconds(20, job) / before.min(cycle())
        })
        .collect();
    runs.sort_by(f64::total_cmp);
    runs[runs.len() / 4]
}

macro_rules! print {
    ($function:ident, $n:literal) => {
        use $function::{Kernel, Lanes, Prefix};
        for kernel in Kernel::ALL.iter().copied().filter(|kernel| kernel.allowed()) {
            let mut lanes = Lanes::new(kernel, $n);
            let prefix = Prefix::new(&[3; 2 * $n + 16]);
            (0..lanes.width()).for_each(|lane| lanes.set_prefix(lane, &prefix));
            let prf = cycles(&mut || lanes.prf());
            let masked = cycles(&mut || lanes.masked());
            let pair = cycles(&mut || lanes.pair());
            println!(
                "{} {:9} prf {prf:7.0} masked {masked:7.0} pair {pair:7.0}; a compression {:.1}",
                stringify!($function),
                kernel.name(),
                masked / 4.0 / lanes.width() as f64
            );
        }
    };
}

fn main() {
    {
        print!(sha256, 32);
    }
    print!(sha512, 64);
}
