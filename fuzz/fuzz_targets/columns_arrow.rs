//! An Arrow file or stream with bytes changed, and any bytes: rows or an error. Panics of the decoder are
//! caught, and its memory is limited in the command, not here.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_columns::{Column, Rows};

const COLUMNS: [Column; 3] =
    [Column::bytes("public_key"), Column::bytes("alpha"), Column::bytes("proof")];

const FILES: [&[u8]; 3] = [
    include_bytes!("../../vectors/vrf/arrow/binary.arrow"),
    include_bytes!("../../vectors/vrf/arrow/text_lz4.arrows"),
    include_bytes!("../../vectors/vrf/arrow/zstd_with_null.arrow"),
];

/// A small file may speak of many rows, all of them null.
const MOST: usize = 10_000;

fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})), // a panic that is caught is no crash
    |input: (u8, Vec<(u16, u8)>, &[u8])| {
        let (which, changes, raw) = input;
        let mut file = match FILES.get(usize::from(which) % 4) {
            Some(file) => file.to_vec(),
            None => raw.to_vec(),
        };
        for (at, byte) in changes {
            let length = file.len().max(1);
            if let Some(changed) = file.get_mut(usize::from(at) % length) {
                *changed = byte;
            }
        }
        let Ok(mut rows) = Rows::from_arrow(file, &COLUMNS) else { return };
        let mut read = 0;
        while let Ok(Some(part)) = rows.next_part() {
            read += part.decode().rows::<3>().count();
            if read > MOST {
                break;
            }
        }
    }
);
