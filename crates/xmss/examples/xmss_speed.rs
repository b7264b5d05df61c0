//! Prints the processor time of keygen, sign and verify on one thread: a quick look, on a busy machine
//! as well, beside `tetralith bench xmss`. Linux only.

use std::time::Instant;
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{Derivation, Item, Params, Progress, SecretKey, Signer, verify_many};

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Nanoseconds that this process's threads spent on processors, to a few milliseconds.
fn cpu_ns() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux");
    let stat = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    };
    tasks.filter_map(|task| stat(task.ok()?)).sum()
}

/// The median of several calls, in microseconds.
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

/// The clock in GHz: a chain of dependent rotations and additions, two cycles a step.
fn clock() -> f64 {
    let us = time(5, || {
        let mut x = std::hint::black_box(1u64);
        for _ in 0..10_000_000u64 {
            x = x.rotate_left(7).wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
        std::hint::black_box(x);
    });
    20_000_000.0 / us / 1e3
}

/// The least of some calls on so many threads of their own, in microseconds.
fn least_on(threads: usize, mut work: impl FnMut() + Send) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        work();
        (0..15)
            .map(|_| {
                let start = Instant::now();
                work();
                start.elapsed().as_secs_f64() * 1e6
            })
            .fold(f64::MAX, f64::min)
    })
}

/// Keygen and batch verification on one thread and on two.
fn threads(make: impl Fn() -> SecretKey + Sync, items: &[Item<'_>]) {
    let verify = || assert!(verify_many(items).iter().all(Result::is_ok));
    let keygen = [1, 2].map(|threads| least_on(threads, || drop(make())));
    let verify = [1, 2].map(|threads| least_on(threads, verify));
    for (name, [one, two]) in [("keygen", keygen), ("verify_many", verify)] {
        println!("{name:<12} {one:>9.0} µs, on two threads {two:>9.0} µs: {:.3} times", one / two);
    }
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or("XMSS-SHA2_10_256".into());
    let params = Params::from_name(&name).expect("a parameter set");
    let seeds = vec![7; 3 * params.n()];
    println!("{name}: {:.2} GHz", clock());
    let make = || {
        SecretKey::from_seeds(params, Derivation::PrfKeygen, &seeds, &Progress::silent())
            .expect("a key")
    };
    let runs = if params.tree_height() > 10 { 1 } else { 9 };
    if std::env::args().nth(2).as_deref() == Some("keys") {
        return (0..40).for_each(|_| drop(make()));
    }
    make();
    let start = cpu_ns();
    (0..runs).for_each(|_| drop(make()));
    println!("keygen {:>12.0} µs of processor time", (cpu_ns() - start) / 1e3 / f64::from(runs));
    if params.n() == 32 {
        // 64 leaves fit between two interruptions: the least of many is what the machine can do.
        let small = Params::qrl(params.hash(), 6).expect("a QRL set");
        let least = (0..200)
            .map(|_| {
                let start = Instant::now();
                let derivation = Derivation::PrfKeygen;
                drop(SecretKey::from_seeds(small, derivation, &seeds, &Progress::silent()));
                start.elapsed().as_secs_f64() * 1e6
            })
            .fold(f64::MAX, f64::min);
        println!("a leaf {:>12.2} µs at least, {:.0} for 1024", least / 64.0, least * 16.0);
    }
    let key = make();
    let public = key.public_key();
    let mut store = Volatile::new();
    create(&mut store, &public, 0, [0; 16], 0).expect("a state");
    let mut signer = Signer::open(key, store, Holder::new("bench")).expect("a signer");
    signer.set_check(false);
    signer.prepare(&Progress::silent()).expect("trees");
    let mut signatures = Vec::new();
    let sign = time(256 / 8, || {
        (0..8).for_each(|_| signatures.push(signer.sign(b"m", 0).expect("an index")));
    });
    println!("sign   {:>12.1} µs", sign / 8.0);
    // Leased, so that no commit is a part of what is measured.
    signer.reserve(256, 0).expect("indices");
    signer.prepare_ahead(256).expect("tables");
    let online = time(256 / 8, || {
        (0..8).for_each(|_| drop(signer.sign(b"m", 0).expect("an index")));
    });
    println!("online {:>12.1} µs", online / 8.0);
    let mut groups = signatures.chunks(8);
    let verify = time(256 / 8, || {
        for signature in groups.next().expect("a group") {
            public.verify(b"m", signature).expect("valid");
        }
    });
    println!("verify {:>12.1} µs", verify / 8.0);
    if std::env::args().nth(2).as_deref() == Some("one") {
        for signature in signatures.iter().cycle().take(40_000) {
            public.verify(b"m", signature).expect("valid");
        }
        return;
    }
    let items: Vec<_> = signatures
        .iter()
        .map(|signature| Item { public_key: &public, message: b"m", signature })
        .collect();
    if std::env::args().nth(2).as_deref() == Some("threads") {
        return threads(make, &items);
    }
    let rounds = if std::env::args().nth(2).is_some() { 400 } else { 40 };
    let verify = || {
        let start = Instant::now();
        assert!(verify_many(&items).iter().all(Result::is_ok));
        start.elapsed().as_secs_f64() * 1e6 / 256.0
    };
    let least = (0..rounds).map(|_| verify()).fold(f64::MAX, f64::min);
    println!("verify {least:>12.2} µs at least, each of 256; the clock now {:.2} GHz", clock());
}
