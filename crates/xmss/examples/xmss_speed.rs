//! Prints how long keygen, sign and verify take: a quick look beside `tetralith bench xmss`.

use std::time::Instant;
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{Derivation, Item, Params, Progress, SecretKey, Signer, verify_many};

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn time(runs: usize, mut work: impl FnMut()) -> f64 {
    median(
        (0..runs)
            .map(|_| {
                let start = Instant::now();
                work();
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect(),
    )
}

/// The clock in GHz: a chain of dependent additions takes one cycle each.
fn clock() -> f64 {
    let ns = time(5, || {
        let mut x = 1u64;
        for i in 0..10_000_000u64 {
            x = std::hint::black_box(x.wrapping_add(i));
        }
        std::hint::black_box(x);
    });
    10_000_000.0 / ns / 1e3
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or("XMSS-SHA2_10_256".into());
    let params = Params::from_name(&name).expect("a parameter set");
    let seeds = vec![7; 3 * params.n()];
    println!("store-to-load or add chain clock {:.2} G/s", clock());
    let make = || {
        SecretKey::from_seeds(params, Derivation::PrfKeygen, &seeds, &Progress::silent())
            .expect("a key")
    };
    let runs = if params.tree_height() > 10 { 1 } else { 9 };
    println!("keygen {:>12.0} µs", time(runs, || drop(make())));
    let key = make();
    let public = key.public_key();
    let mut store = Volatile::new();
    create(&mut store, &public, 0, [0; 16], 0).expect("a state");
    let mut signer = Signer::open(key, store, Holder::new("bench")).expect("a signer");
    signer.prepare(&Progress::silent()).expect("trees");
    let mut signatures = Vec::new();
    println!("sign   {:>12.1} µs", time(256, || signatures.push(signer.sign(b"m", 0).expect("s"))));
    let mut i = 0;
    println!(
        "verify {:>12.1} µs",
        time(256, || {
            public.verify(b"m", &signatures[i]).expect("valid");
            i += 1;
        })
    );
    let items: Vec<_> = signatures
        .iter()
        .map(|signature| Item { public_key: &public, message: b"m", signature })
        .collect();
    let many = time(9, || assert!(verify_many(&items).iter().all(Result::is_ok)));
    println!("verify {:>12.1} µs each of 256", many / 256.0);
}
