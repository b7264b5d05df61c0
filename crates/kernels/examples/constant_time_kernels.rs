//! Hashes secrets in the lanes of every kernel that valgrind knows; see `tests/constant_time.rs`.
//!
//! With the argument `control` it branches on a secret instead, which valgrind must report.

use tetralith_kernels::{ct, keccak, sha256, sha512};

/// Runs every job of some lanes with secret prefixes and values.
macro_rules! jobs {
    ($lanes:expr, $prefix:expr, $n:expr) => {
        let mut lanes = $lanes;
        let pad = if $n == 24 { 4 } else { $n };
        let mut bytes = vec![7; pad + 2 * $n + 16];
        ct::secret(&mut bytes[pad..]);
        let mut out = vec![0; $n];
        for job in 0..4 {
            let len = if job == 1 { bytes.len() } else { bytes.len() - $n };
            for lane in 0..lanes.width() {
                lanes.set_prefix(lane, &$prefix(&bytes[..len]));
                lanes.set_tail(lane, [1, 2, 3, 0]);
                lanes.put(lane, false, &bytes[pad..pad + $n]);
                lanes.put(lane, true, &bytes[pad..pad + $n]);
            }
            match job {
                0 => lanes.prf(),
                1 => lanes.prf_long(),
                2 => lanes.masked(),
                _ => lanes.pair(),
            }
            lanes.take(0, &mut out);
        }
        let [byte, ..] = out[..] else { unreachable!("a hash has bytes") };
        println!("{}", ct::public(byte));
    };
}

fn main() {
    println!("checked: {}", ct::is_checked());
    if std::env::args().nth(1).as_deref() == Some("control") {
        let mut byte = [std::process::id() as u8];
        ct::secret(&mut byte);
        println!("{}", if byte[0] > 7 { "more" } else { "less" });
        return;
    }
    for kernel in sha256::Kernel::ALL.iter().copied().filter(|kernel| kernel.allowed()) {
        println!("sha256 {}", kernel.name());
        for n in [24, 32] {
            jobs!(sha256::Lanes::new(kernel, n), sha256::Prefix::new, n);
        }
    }
    for kernel in sha512::Kernel::ALL.iter().copied().filter(|kernel| kernel.allowed()) {
        println!("sha512 {}", kernel.name());
        jobs!(sha512::Lanes::new(kernel), sha512::Prefix::new, 64);
    }
    for kernel in keccak::Kernel::ALL.iter().copied().filter(|kernel| kernel.allowed()) {
        println!("keccak {}", kernel.name());
        for (n, rate) in [(24, 136), (32, 136), (64, 136), (32, 168)] {
            jobs!(
                keccak::Lanes::new(kernel, n, rate),
                |bytes: &[u8]| keccak::Prefix::new(rate, bytes),
                n
            );
        }
    }
}
