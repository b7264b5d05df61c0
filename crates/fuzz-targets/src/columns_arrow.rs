//! An Arrow file or stream with bytes changed, and any bytes: rows or an error. Panics of the decoder are
//! caught, and its memory is limited in the command, not here.

use crate::changes;
use tetralith_columns::{Column, Rows};

const COLUMNS: [Column; 4] = [
    Column::bytes("public_key"),
    Column::bytes("alpha"),
    Column::bytes("proof"),
    Column::text("suite").optional(),
];

pub(crate) const FILES: [&[u8]; 3] = [
    include_bytes!("../../../vectors/vrf/arrow/binary.arrow"),
    include_bytes!("../../../vectors/vrf/arrow/text_lz4.arrows"),
    include_bytes!("../../../vectors/vrf/arrow/zstd_with_null.arrow"),
];

/// A small file may speak of any number of rows.
const MOST: usize = 10_000;

/// Runs one input: which file and its changes, or the file itself.
pub(crate) fn run(data: &[u8]) {
    let Some((&which, rest)) = data.split_first() else { return };
    let file = match FILES.get(usize::from(which) % (FILES.len() + 1)) {
        Some(file) => {
            let mut file = file.to_vec();
            changes::apply(rest, &mut file);
            file
        }
        None => rest.to_vec(),
    };
    let Ok(mut rows) = Rows::from_arrow(file, &COLUMNS) else { return };
    let mut read = 0;
    while let Ok(Some(part)) = rows.next_part() {
        read += part.decode().rows::<4>().count();
        if read > MOST {
            break;
        }
    }
}
