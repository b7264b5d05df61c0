//! A Parquet file with bytes changed, put in or left out, a footer of any bytes, and any bytes: rows or an
//! error. Panics of the decoder are caught, and its memory is limited in the command, not here:
//! `-malloc_limit_mb` has to allow for a page that states 2 GiB.

use arbitrary::Arbitrary;
use bytes::Bytes;
use tetralith_columns::{Column, Rows};

const COLUMNS: [Column; 4] = [
    Column::bytes("public_key"),
    Column::bytes("alpha"),
    Column::bytes("proof"),
    Column::text("suite").optional(),
];

const FILES: [&[u8]; 8] = [
    include_bytes!("../../../vectors/vrf/parquet/snappy.parquet"),
    include_bytes!("../../../vectors/vrf/parquet/uncompressed_v2.parquet"),
    include_bytes!("../../../vectors/vrf/parquet/hex_with_bad_rows.parquet"),
    include_bytes!("../../../vectors/vrf/parquet/delta.parquet"),
    include_bytes!("../../../vectors/vrf/parquet/zstd.parquet"),
    include_bytes!("../../../vectors/vrf/parquet/gzip.parquet"),
    include_bytes!("../../../vectors/vrf/parquet/lz4.parquet"),
    include_bytes!("../../../vectors/vrf/parquet/checksums.parquet"),
];

/// A small footer may speak of 2^42 rows, all of them null.
const MOST: usize = 10_000;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    file: u8,
    /// Bytes to change, counted from the end, where footers are.
    changes: Vec<(u16, u8)>,
    /// How many bytes to leave out of the footer, where, and what to put there.
    at: u16,
    out: u8,
    put: &'a [u8],
    raw: Raw<'a>,
}

#[derive(Arbitrary, Debug)]
enum Raw<'a> {
    No,
    File(&'a [u8]),
    Footer(&'a [u8]),
    Pages(&'a [u8]),
}

/// A file of these pages and this footer.
fn file(pages: &[u8], footer: &[u8]) -> Vec<u8> {
    [pages, footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

fn made(input: &Input<'_>) -> Vec<u8> {
    let source = FILES[usize::from(input.file) % FILES.len()];
    let length = u32::from_le_bytes(source[source.len() - 8..][..4].try_into().unwrap()) as usize;
    let (pages, footer) = source[..source.len() - 8].split_at(source.len() - 8 - length);
    let (mut pages, mut footer) = (pages.to_vec(), footer.to_vec());
    match input.raw {
        Raw::File(bytes) => return bytes.to_vec(),
        Raw::Footer(bytes) => footer = bytes.to_vec(),
        Raw::Pages(bytes) => {
            let most = bytes.len().min(pages.len() - 4);
            pages[4..4 + most].copy_from_slice(&bytes[..most]);
        }
        Raw::No => {
            let at = usize::from(input.at) % footer.len();
            let end = (at + usize::from(input.out)).min(footer.len());
            footer.splice(at..end, input.put.iter().copied());
        }
    }
    let mut file = file(&pages, &footer);
    for &(at, byte) in &input.changes {
        let at = file.len() - 1 - usize::from(at) % file.len();
        file[at] = byte;
    }
    file
}

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some(input) = crate::read::<Input<'_>>(data) else { return };
    let Ok(mut rows) = Rows::from_parquet(Bytes::from(made(&input)), &COLUMNS) else { return };
    let mut read = 0;
    while let Ok(Some(part)) = rows.next_part() {
        read += part.decode().rows::<4>().count();
        if read > MOST {
            break;
        }
    }
}
