//! Lab.
use std::ops::ControlFlow;
use std::time::Instant;
use tetralith_vdf::*;
fn main() {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"bench");
    let args: Vec<u32> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let mut one = f64::INFINITY;
    for _ in 0..8 {
        let mut e = Evaluation::new(&modulus, &x, 1 << 16).unwrap();
        let c = Instant::now();
        e.advance(1 << 16).unwrap();
        one = one.min(c.elapsed().as_nanos() as f64 / 65536.);
    }
    for &log2 in &args {
        let t = 1u64 << log2;
        let mut v = vec![];
        for _ in 0..(if log2 > 18 { 9 } else { 25 }) {
            let mut prover = Prover::new(System::Wesolowski, &modulus, &x, t, Options::default()).unwrap();
            let mut squared = Instant::now();
            let proof = prover.run(&mut |p| { if !p.proving { squared = Instant::now(); } ControlFlow::Continue(()) }).unwrap();
            v.push(squared.elapsed().as_nanos() as f64);
            drop(proof);
        }
        v.sort_by(f64::total_cmp);
        println!("2^{log2}: one {one:.1} ns; median {:.0} us {:.2} %, least {:.2} %", v[v.len() / 2] / 1e3, v[v.len() / 2] / one / t as f64 * 100., v[0] / one / t as f64 * 100.);
    }
}
