//! Known answers: x^(2^(2^t)) mod RSA-2048, and the constants of LCS35.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::Value;
use std::ops::ControlFlow;
use tetralith_vdf::{Modulus, eval, parse_hex};

fn read(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vdf/");
    std::fs::read_to_string(format!("{folder}{name}")).unwrap()
}

fn slow() -> bool {
    std::env::var_os("TETRALITH_SLOW").is_some_and(|value| value == "1")
}

#[test]
fn squarings_of_rsa2048() {
    let vectors: Value = serde_json::from_str(&read("rsa2048_squaring.json")).unwrap();
    let modulus = Modulus::rsa2048();
    let (x, reduced) = modulus.reduce(&parse_hex(vectors["x"].as_str().unwrap(), "x").unwrap());
    assert!(!reduced);
    let mut done = 0;
    for case in vectors["cases"].as_array().unwrap() {
        let t = case["t"].as_u64().unwrap();
        if t > 20 && !slow() {
            println!("left out t = {t}: set TETRALITH_SLOW=1");
            continue;
        }
        let y = eval(&modulus, &x, 1 << t, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(y.to_string(), case["y"].as_str().unwrap(), "t = {t}");
        done += 1;
    }
    assert!(done >= 5);
}

#[test]
fn lcs35_is_the_preset() {
    let text = read("lcs35.txt");
    let line = text.lines().find_map(|line| line.strip_prefix("n = ")).unwrap();
    let preset = Modulus::lcs35();
    // n is in decimal there: its residue mod 10^18, and its number of digits.
    let low: u64 = line[line.len() - 18..].parse().unwrap();
    let bytes = preset.to_bytes();
    let m = 1_000_000_000_000_000_000u128;
    let rest = bytes.iter().fold(0u128, |r, &byte| (r * 256 + u128::from(byte)) % m);
    assert_eq!(rest, u128::from(low));
    // The whole, digit by digit.
    let mut limbs = vec![0u32; 64];
    for digit in line.bytes() {
        let mut carry = u64::from(digit - b'0');
        for limb in &mut limbs {
            let value = u64::from(*limb) * 10 + carry;
            (*limb, carry) = (value as u32, value >> 32);
        }
    }
    let decoded: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    assert_eq!(decoded, bytes);
}

#[test]
fn seeds_hash_to_the_frozen_inputs() {
    let vectors: Value = serde_json::from_str(&read("seeds.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    for case in cases {
        let text = |name: &str| case[name].as_str().unwrap();
        let modulus = Modulus::parse(text("modulus")).unwrap();
        let seed = parse_hex(text("seed_hex"), "seed").unwrap();
        let x = modulus.hash_to_element(text("iterations").parse().unwrap(), &seed);
        assert_eq!(x.to_string(), text("x"), "{case}");
    }
    assert_eq!(cases.len(), 10);
}
