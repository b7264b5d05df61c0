//! Every kernel of the hash lanes against plain hashing: each job, each length of values and prefixes, each
//! number of lanes in use, and every lane of them.

#![allow(clippy::unwrap_used)]

use sha2::{Digest, Sha256, Sha512};
use tetralith_kernels::{keccak, sha256, sha512};

/// Bytes that differ with the salt.
fn bytes(salt: &mut u64, len: usize) -> Vec<u8> {
    (0..len)
        .map(|_| {
            *salt = salt.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*salt >> 56) as u8
        })
        .collect()
}

fn pad(number: u8, len: usize) -> Vec<u8> {
    let mut pad = vec![0; len];
    pad[len - 1] = number;
    pad
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// One lane's inputs and what the three jobs must make of them.
struct Case {
    prefix: Vec<u8>,
    long: Vec<u8>,
    tail: [u32; 4],
    x: Vec<u8>,
    y: Vec<u8>,
    prf: Vec<u8>,
    prf_long: Vec<u8>,
    masked: Vec<u8>,
    pair: Vec<u8>,
}

fn case(salt: &mut u64, n: usize, hash: &dyn Fn(&[u8]) -> Vec<u8>) -> Case {
    let p = if n == 24 { 4 } else { n };
    let prefix = [pad(3, p), bytes(salt, n + 16)].concat();
    let long = [pad(4, p), bytes(salt, 2 * n + 16)].concat();
    let mut tail: [u32; 4] =
        std::array::from_fn(|_| u32::from_be_bytes(bytes(salt, 4).try_into().unwrap()));
    tail[2] = 1 + tail[2] % 0xff_ffff;
    tail[3] = 0;
    let (x, y) = (bytes(salt, n), bytes(salt, n));
    let with = |prefix: &[u8], last: u32| {
        let tail = [tail[0], tail[1], tail[2], last].map(u32::to_be_bytes).concat();
        hash(&[prefix, &tail].concat())
    };
    let [key, b, c] = [0, 1, 2].map(|last| with(&prefix, last));
    let masked = hash(&[pad(0, p), key.clone(), xor(&x, &b)].concat());
    let pair = hash(&[pad(1, p), key.clone(), xor(&x, &b), xor(&y, &c)].concat());
    let prf_long = with(&long, 0);
    Case { prefix, long, tail, x, y, prf: key, prf_long, masked, pair }
}

/// The test, for any family's lanes.
macro_rules! check {
    ($lanes:expr, $prefix:expr, $n:expr, $hash:expr, $what:expr) => {
        let mut lanes = $lanes;
        let mut salt = 1 + $n as u64;
        for count in 1..=lanes.width() {
            let cases: Vec<_> = (0..count).map(|_| case(&mut salt, $n, &$hash)).collect();
            let mut out = vec![0; $n];
            for job in ["prf", "prf_long", "masked", "steps", "pair", "pair_first"] {
                for (lane, case) in cases.iter().enumerate() {
                    let prefix = if job == "prf_long" { &case.long } else { &case.prefix };
                    lanes.set_prefix(lane, &$prefix(prefix));
                    let mut tail = case.tail;
                    tail[2] = tail[2].wrapping_sub(1);
                    lanes.set_tail(lane, tail);
                    lanes.put(lane, false, &case.x);
                    lanes.put(lane, true, &case.y);
                }
                lanes.advance();
                match job {
                    "prf" => lanes.prf(),
                    "prf_long" => lanes.prf_long(),
                    "masked" => lanes.masked(),
                    "steps" => lanes.steps(1),
                    "pair" => lanes.pair(),
                    _ => lanes.pair_first(),
                }
                let used = if job == "pair_first" { 1 } else { cases.len() };
                for (lane, case) in cases.iter().enumerate().take(used) {
                    lanes.take(lane, &mut out);
                    let expected = match job {
                        "prf" => &case.prf,
                        "prf_long" => &case.prf_long,
                        "masked" | "steps" => &case.masked,
                        _ => &case.pair,
                    };
                    assert_eq!(&out, expected, "{} n={} {job} lane {lane} of {count}", $what, $n);
                }
            }
        }
    };
}

/// What other machines are emulated for is not left out there in silence.
#[test]
fn the_target_has_its_kernels() {
    if std::env::var_os("TETRALITH_KERNEL").is_some() {
        return;
    }
    if cfg!(target_arch = "aarch64") {
        assert_eq!(sha256::Kernel::wide(), sha256::Kernel::ArmSha);
        assert_eq!(sha512::Kernel::wide(), sha512::Kernel::ArmSha);
    }
    if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
        assert_eq!(sha256::Kernel::wide(), sha256::Kernel::Simd128);
        assert_eq!(sha512::Kernel::wide(), sha512::Kernel::Simd128);
        assert_eq!(keccak::Kernel::wide(), keccak::Kernel::Simd128);
    }
}

#[test]
fn sha256_lanes_hash_as_sha256() {
    for kernel in sha256::Kernel::ALL.iter().copied().filter(|kernel| kernel.allowed()) {
        for n in [24, 32] {
            let hash = |m: &[u8]| Sha256::digest(m)[..n].to_vec();
            let name = format!("sha256 {}", kernel.name());
            check!(sha256::Lanes::new(kernel, n), sha256::Prefix::new, n, hash, name);
        }
    }
}

#[test]
fn sha512_lanes_hash_as_sha512() {
    for kernel in sha512::Kernel::ALL.iter().copied().filter(|kernel| kernel.allowed()) {
        let hash = |m: &[u8]| Sha512::digest(m).to_vec();
        let name = format!("sha512 {}", kernel.name());
        check!(sha512::Lanes::new(kernel, 64), sha512::Prefix::new, 64, hash, name);
    }
}

#[test]
fn keccak_lanes_hash_as_shake() {
    for kernel in keccak::Kernel::ALL.iter().copied().filter(|kernel| kernel.allowed()) {
        let sets = [
            (24, keccak::RATE_256),
            (32, keccak::RATE_256),
            (64, keccak::RATE_256),
            (32, keccak::RATE_128),
        ];
        for (n, rate) in sets {
            let hash = |m: &[u8]| {
                let mut out = vec![0; n];
                keccak::shake(rate, &[m], &mut out);
                out
            };
            let prefix = |bytes: &Vec<u8>| keccak::Prefix::new(rate, bytes);
            let name = format!("keccak rate {rate} {}", kernel.name());
            check!(keccak::Lanes::new(kernel, n, rate), prefix, n, hash, name);
        }
    }
}

/// FIPS 202 examples and the published digests of the empty message.
#[test]
fn shake_is_shake() {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut out = [0; 32];
    keccak::shake(keccak::RATE_128, &[], &mut out);
    assert_eq!(hex(&out), "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26");
    keccak::shake(keccak::RATE_256, &[], &mut out);
    assert_eq!(hex(&out), "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f");
    let long: Vec<u8> = (0..1000u32).map(|i| i as u8).collect();
    let mut parts = [0; 300];
    keccak::shake(keccak::RATE_128, &[&long[..7], &long[7..500], &long[500..]], &mut parts);
    let mut whole = [0; 300];
    keccak::shake(keccak::RATE_128, &[&long], &mut whole);
    assert_eq!(parts, whole);
}

/// Wherever a message is cut, in or between words and blocks, its hash is the whole's.
#[test]
fn shake_takes_parts_of_any_length() {
    let message: Vec<u8> = (0..400u32).map(|i| (i * 7) as u8).collect();
    for rate in [keccak::RATE_128, keccak::RATE_256] {
        let mut whole = [0; 32];
        keccak::shake(rate, &[&message], &mut whole);
        for first in 0..=20 {
            for second in (first..=message.len()).step_by(3) {
                let mut shake = keccak::Shake::new(rate);
                shake.absorb(&message[..first]);
                shake.absorb(&message[first..second]);
                shake.clone().absorb(b"another message");
                shake.absorb(&message[second..]);
                let mut parts = [0; 32];
                shake.finish(&mut parts);
                assert_eq!(parts, whole, "{first} {second}");
            }
        }
    }
}
