//! Prints what multiplications of secp256k1's points by secrets cost in each kernel, in microseconds a point.
//!
//! `cargo run --release -p tetralith-kernels --example secp256k1`

use std::hint::black_box;
use std::time::Instant;
use tetralith_kernels::secp256k1::{Affine, Compressed, Kernel, Table, mul_table_all};

/// Points of a job, as in a base transfer.
const COUNT: usize = 128;

/// The generator.
const X: [u8; 32] = [
    0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07,
    0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98,
];
const Y: [u8; 32] = [
    0x48, 0x3a, 0xda, 0x77, 0x26, 0xa3, 0xc4, 0x65, 0x5d, 0xa4, 0xfb, 0xfc, 0x0e, 0x11, 0x08, 0xa8,
    0xfd, 0x17, 0xb4, 0x48, 0xa6, 0x85, 0x54, 0x19, 0x9c, 0x47, 0xd0, 0x8f, 0xfb, 0x10, 0xd4, 0xb8,
];

/// Microseconds of one call, the least of 25: what others do on the machine only adds.
fn microseconds(mut call: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..25 {
        let start = Instant::now();
        call();
        least = least.min(start.elapsed().as_secs_f64() * 1e6);
    }
    least
}

fn main() {
    let generator: Affine = [X, Y];
    let scalars: Vec<[u8; 32]> =
        (0..COUNT).map(|i| core::array::from_fn(|j| (i * 31 + j * 7 + 1) as u8)).collect();
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_allowed()) {
        let table = Table::with(kernel, &generator);
        let points: Vec<Compressed> = mul_table_all(&table, &scalars, &generator, &[]);
        let made = microseconds(|| drop(black_box(Table::with(kernel, black_box(&generator)))));
        let fixed = microseconds(|| {
            drop(black_box(mul_table_all(&table, black_box(&scalars), &generator, &[])));
        });
        let many = microseconds(|| {
            drop(black_box(kernel.mul_points_all(black_box(&points), &scalars[1], &generator)));
        });
        let each = |all: f64| all / COUNT as f64;
        println!(
            "{:8} table {made:6.1}; {:6.2} a scalar of one point, {:6.2} a point of one scalar",
            kernel.name(),
            each(fixed),
            each(many)
        );
    }
}
