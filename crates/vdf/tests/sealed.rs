//! Sealed files: known answers of both versions, and the memory that streams take.

#![allow(clippy::unwrap_used)] // helpers of tests

use rand_core::SeedableRng;
use serde_json::Value;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use tetralith_vdf::timelock::{Header, Version, seal};
use tetralith_vdf::{Error, eval};

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vdf"))
}

#[test]
fn known_files_open() {
    let all = std::fs::read_to_string(vectors().join("sealed.json")).unwrap();
    let all: Value = serde_json::from_str(&all).unwrap();
    let mut versions = Vec::new();
    for case in all["cases"].as_array().unwrap() {
        let text = |key: &str| case[key].as_str().unwrap();
        let bytes = match case["sealed"].as_str() {
            Some(digits) => hex::decode(digits).unwrap(),
            None => std::fs::read(vectors().join(text("sealed_file"))).unwrap(),
        };
        let expected: Vec<u8> = match case["file"].as_str() {
            Some(digits) => hex::decode(digits).unwrap(),
            None => (0..case["counted"].as_u64().unwrap()).map(|i| (i % 251) as u8).collect(),
        };
        let mut source = &bytes[..];
        let header = Header::read(&mut source).unwrap();
        assert_eq!(header.to_bytes(), bytes[..bytes.len() - source.len()]);
        assert_eq!(header.iterations(), case["iterations"].as_u64().unwrap());
        assert_eq!(header.file_len(bytes.len() as u64).unwrap(), expected.len() as u64);
        let watch = &mut |_| ControlFlow::Continue(());
        let y = eval(header.modulus(), header.base(), header.iterations(), watch).unwrap();
        assert_eq!(y.to_string(), text("y"));
        let mut file = Vec::new();
        header.open(&y, &mut source, &mut file).unwrap();
        assert!(file == expected, "{}", text("name"));
        versions.push(header.version());
        // A version is part of what is authenticated.
        let mut other = bytes.clone();
        other[4] ^= 3;
        let mut source = &other[..];
        let header = Header::read(&mut source).unwrap();
        assert!(matches!(header.open(&y, &mut source, &mut file), Err(Error::Sealed)));
    }
    assert!(versions.contains(&Version::Whole) && versions.contains(&Version::Chunked));
}

/// Counts what it is given.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The most memory that this process has had, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// One process seals while the other end opens: neither holds the file.
#[test]
#[cfg(target_os = "linux")]
fn a_long_file_takes_little_memory() {
    const LEN: u64 = 128 << 20;
    let through = |len: u64| {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let sealer = std::thread::spawn(move || {
            let mut rng = chacha20::ChaCha20Rng::seed_from_u64(1);
            seal(&mut std::io::repeat(7).take(len), &mut writer, 0, 256, &mut rng).unwrap();
        });
        let header = Header::read(&mut reader).unwrap();
        let mut counter = Counter(0);
        // Without a squaring, y is a.
        assert_eq!(header.open(header.base(), &mut reader, &mut counter).unwrap(), len);
        assert_eq!(counter.0, len);
        sealer.join().unwrap();
    };
    through(1 << 20);
    let before = peak();
    through(LEN);
    let more = peak() - before;
    assert!(more < 4 << 20, "{} MiB took {more} more bytes of memory", LEN >> 20);
}
