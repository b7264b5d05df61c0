//! A Parquet file with bytes changed, and any bytes: rows or an error, in bounded memory.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tetralith_vrf::parquet::Rows;

const FILES: [&[u8]; 4] = [
    include_bytes!("../../vectors/vrf/parquet/snappy.parquet"),
    include_bytes!("../../vectors/vrf/parquet/uncompressed_v2.parquet"),
    include_bytes!("../../vectors/vrf/parquet/hex_with_bad_rows.parquet"),
    include_bytes!("../../vectors/vrf/parquet/delta.parquet"),
];

/// A footer may speak of 2^63 rows, all of them null.
const MOST: usize = 10_000;

fuzz_target!(|data: (u8, Vec<(u16, u8)>, Vec<u8>)| {
    let (which, changes, raw) = data;
    let mut file = match FILES.get(usize::from(which) % (FILES.len() + 1)) {
        Some(file) => file.to_vec(),
        None => raw,
    };
    for (at, byte) in changes {
        let length = file.len().max(1);
        if let Some(old) = file.get_mut(usize::from(at) % length) {
            *old = byte;
        }
    }
    let Ok(mut rows) = Rows::open(Bytes::from(file)) else { return };
    for _ in 0..MOST {
        if !matches!(rows.next_row(), Ok(Some(_))) {
            break;
        }
    }
});
