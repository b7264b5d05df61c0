//! Prints what the eight-lane kernels cost, in cycles per lane of the clock that a chain of
//! dependent additions shows in the same run, with curve25519-dalek beside them.
//!
//! `cargo run --release -p tetralith-kernels --example lanes8`

use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds of one call, the least of 25 runs of `calls`: what others do on the machine only adds.
fn nanoseconds(calls: u32, mut call: impl FnMut()) -> f64 {
    let mut runs: Vec<f64> = (0..25)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                call();
            }
            start.elapsed().as_nanos() as f64 / f64::from(calls)
        })
        .collect();
    runs.sort_by(f64::total_cmp);
    runs[0]
}

/// Cycles per nanosecond: a chain of rotations and additions, each waiting for the one before.
fn clock() -> f64 {
    let mut x = black_box(1u64);
    let chain = nanoseconds(1, || {
        for _ in 0..100_000 {
            x = black_box_free(x);
        }
    });
    black_box(x);
    8e5 / chain
}

/// Eight dependent operations of one cycle each.
fn black_box_free(mut x: u64) -> u64 {
    for k in 0..4 {
        x = x.wrapping_add(0x9e37_79b9_7f4a_7c15).rotate_left(7 + k);
    }
    x
}

#[cfg(target_arch = "x86_64")]
fn main() {
    use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
    use tetralith_kernels::edwards25519::Sign;
    use tetralith_kernels::edwards25519x8::*;
    use tetralith_kernels::lanes8::Lanes8;

    let Some(lanes) = Lanes8::detect() else {
        println!("this CPU has no AVX-512 IFMA, or TETRALITH_KERNEL forbids it");
        return;
    };
    let groups = 8;
    let encodings: Vec<[[u8; 32]; 8]> = (0..groups)
        .map(|i| {
            core::array::from_fn(|lane| {
                let scalar = curve25519_dalek::Scalar::from(1234567 + 8 * i as u64 + lane as u64);
                EdwardsPoint::mul_base(&scalar.invert()).compress().to_bytes()
            })
        })
        .collect();
    let points: Vec<Points> = decode_all(lanes, &encodings).iter().map(|d| d.points).collect();
    let s = [[0x0e; 32]; 8];
    let c = [[0xa5; 16]; 8];
    let jobs: Vec<DoubleMul<'_>> = (0..groups)
        .map(|i| DoubleMul { s: &s, c: &c, y: &points[i], h: &points[i], g: &points[i] })
        .collect();
    let ghz = clock();
    println!("{ghz:.2} cycles per nanosecond");
    let per = |name: &str, lanes_of_work: usize, ns: f64| {
        println!("{name:<40} {:>8.0} cycles per lane", ns * ghz / lanes_of_work as f64);
    };
    let n = 8 * groups;
    per("decode", n, nanoseconds(10, || drop(black_box(decode_all(lanes, black_box(&encodings))))));
    let one = &encodings[..1];
    per(
        "decode, one group",
        8,
        nanoseconds(50, || drop(black_box(decode_all(lanes, black_box(one))))),
    );
    for sign in [Sign::EvenX, Sign::Rfc9380] {
        per(
            "Elligator 2",
            n,
            nanoseconds(10, || {
                drop(black_box(map_to_curve_elligator2_all(lanes, black_box(&encodings), sign)));
            }),
        );
    }
    for rule in [MinusC::Integer, MinusC::ModOrder] {
        per(
            &format!("two double multiplications, {rule:?}"),
            n,
            nanoseconds(3, || {
                drop(black_box(double_mul_all_vartime(lanes, black_box(&jobs), rule)));
            }),
        );
    }
    let four: Vec<Points> = points.iter().flat_map(|p| [*p; 4]).collect();
    per(
        "encode four points",
        n,
        nanoseconds(10, || drop(black_box(encode_all(lanes, black_box(&four))))),
    );
    per(
        "times the cofactor",
        8,
        nanoseconds(100, || {
            black_box(points[0].mul_by_cofactor(lanes));
        }),
    );
    let compressed = CompressedEdwardsY(encodings[0][0]);
    let ns = nanoseconds(100, || {
        black_box(black_box(compressed).decompress());
    });
    per("curve25519-dalek: decompress", 1, ns);
    let p = compressed.decompress().expect("a point");
    let k = curve25519_dalek::Scalar::from_bytes_mod_order(encodings[0][1]);
    per(
        "curve25519-dalek: double-base, vartime",
        1,
        nanoseconds(50, || {
            black_box(EdwardsPoint::vartime_double_scalar_mul_basepoint(&k, black_box(&p), &k));
        }),
    );
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("eight-lane kernels are for x86-64");
}
