#![allow(clippy::unwrap_used)]

mod footer;

use crate::{Column, Error, MAX_VALUE, Rows};
use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;
use std::sync::Arc;

const COLUMNS: [Column; 3] =
    [Column::bytes("public_key"), Column::bytes("alpha"), Column::bytes("proof")];

/// How a file of rows is written.
#[derive(Clone, Copy)]
struct Shape {
    schema: &'static str,
    dictionary: bool,
    encoding: Encoding,
    codec: Compression,
    version: WriterVersion,
    rows_a_group: usize,
    rows_a_page: usize,
}

const PLAIN: Shape = Shape {
    schema: "message m { required binary public_key; required binary alpha; required binary proof; }",
    dictionary: false,
    encoding: Encoding::PLAIN,
    codec: Compression::UNCOMPRESSED,
    version: WriterVersion::PARQUET_1_0,
    rows_a_group: 1000,
    rows_a_page: 1000,
};
/// Other columns in between, values that may be missing, fixed lengths, and hex.
const OTHER: &str = "message m { required int32 slot; optional fixed_len_byte_array(80) proof; \
    required binary alpha (STRING); optional group pool { optional binary name (STRING); } \
    optional binary public_key; }";

type Values = [Option<Vec<u8>>; 3];

/// Writes rows: of any other column, nothing or zeros.
fn file(shape: Shape, rows: &[Values]) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(shape.dictionary)
        .set_writer_version(shape.version)
        .set_encoding(shape.encoding)
        .set_column_encoding("slot".into(), Encoding::PLAIN)
        .set_data_page_row_count_limit(shape.rows_a_page)
        .set_write_batch_size(shape.rows_a_page)
        .set_compression(shape.codec);
    let schema = Arc::new(parse_message_type(shape.schema).unwrap());
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    for rows in rows.chunks(shape.rows_a_group) {
        write_group(&mut writer, rows);
    }
    writer.into_inner().unwrap()
}

fn write_group(writer: &mut SerializedFileWriter<Vec<u8>>, rows: &[Values]) {
    let descriptors = writer.schema_descr().columns().to_vec();
    let mut group = writer.next_row_group().unwrap();
    for descriptor in descriptors {
        let mut column = group.next_column().unwrap().unwrap();
        let index = COLUMNS.iter().position(|column| descriptor.name() == column.name);
        let values: Vec<Option<&Vec<u8>>> =
            rows.iter().map(|row| index.and_then(|index| row[index].as_ref())).collect();
        let level = |v: &Option<&Vec<u8>>| if v.is_some() { descriptor.max_def_level() } else { 0 };
        let levels: Vec<i16> = values.iter().map(level).collect();
        let levels = (descriptor.max_def_level() > 0).then_some(&levels[..]);
        let bytes: Vec<ByteArray> =
            values.iter().flatten().map(|&value| ByteArray::from(value.clone())).collect();
        match column.untyped() {
            ColumnWriter::Int32ColumnWriter(w) => {
                w.write_batch(&vec![7; rows.len()], levels, None).unwrap();
            }
            ColumnWriter::ByteArrayColumnWriter(w) => {
                w.write_batch(&bytes, levels, None).unwrap();
            }
            ColumnWriter::FixedLenByteArrayColumnWriter(w) => {
                let bytes: Vec<_> = bytes.into_iter().map(Into::into).collect();
                w.write_batch(&bytes, levels, None).unwrap();
            }
            _ => panic!("a column of the tests"),
        }
        column.close().unwrap();
    }
    group.close().unwrap();
}

type Row = Result<[Vec<u8>; 3], String>;

/// All rows, and what ended the reading.
fn read_up_to_fault(file: Vec<u8>) -> (Vec<Row>, Option<Error>) {
    let mut all = Vec::new();
    let mut rows = match Rows::from_parquet(Bytes::from(file), &COLUMNS) {
        Ok(rows) => rows,
        Err(fault) => return (all, Some(fault)),
    };
    loop {
        match rows.next_part() {
            Ok(None) => return (all, None),
            Err(fault) => {
                assert_eq!(rows.next_part().unwrap_err(), fault);
                return (all, Some(fault));
            }
            Ok(Some(part)) => {
                let owned = |row: Result<[Option<&[u8]>; 3], &str>| match row {
                    Ok(values) => Ok(values.map(|value| value.unwrap().to_vec())),
                    Err(fault) => Err(fault.to_owned()),
                };
                all.extend(part.decode().rows::<3>().map(owned));
            }
        }
    }
}

fn read(file: Vec<u8>) -> Result<Vec<Row>, Error> {
    match read_up_to_fault(file) {
        (rows, None) => Ok(rows),
        (_, Some(fault)) => Err(fault),
    }
}

/// Rows that have the lengths of keys, inputs and proofs.
fn some_rows(n: u32) -> Vec<[Vec<u8>; 3]> {
    let row = |i: u32| {
        let byte = |j: u32| (i.wrapping_mul(0x9e37_79b9).wrapping_add(j * j) >> 3) as u8;
        let bytes = |n| (0..n).map(byte).collect::<Vec<u8>>();
        [bytes(32), bytes(i % 40), bytes(80)]
    };
    (0..n).map(row).collect()
}

fn values(row: &[Vec<u8>; 3], hex_alpha: bool) -> Values {
    let [key, alpha, proof] = row.clone();
    let alpha = if hex_alpha { hex::encode(alpha).into_bytes() } else { alpha };
    [Some(key), Some(alpha), Some(proof)]
}

#[test]
fn rows_are_read_as_they_were_written() {
    let rows = some_rows(1500);
    let other = Shape { schema: OTHER, ..PLAIN };
    let snappy = Compression::SNAPPY;
    let second = WriterVersion::PARQUET_2_0;
    let mut shapes = vec![
        PLAIN,
        Shape { dictionary: true, ..PLAIN },
        Shape { dictionary: true, codec: snappy, rows_a_group: 40, rows_a_page: 7, ..PLAIN },
        Shape { codec: snappy, version: second, rows_a_page: 9, ..PLAIN },
        other,
        Shape { dictionary: true, codec: snappy, rows_a_group: 64, ..other },
        Shape { version: second, rows_a_page: 11, ..other },
        Shape { encoding: Encoding::DELTA_BYTE_ARRAY, rows_a_page: 300, ..PLAIN },
        Shape { encoding: Encoding::DELTA_LENGTH_BYTE_ARRAY, version: second, ..PLAIN },
    ];
    for codec in [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
    ] {
        shapes.push(Shape { codec, ..other });
        shapes.push(Shape { codec, dictionary: true, version: second, rows_a_page: 100, ..other });
    }
    for shape in shapes {
        let written: Vec<Values> =
            rows.iter().map(|row| values(row, shape.schema == OTHER)).collect();
        let file = file(shape, &written);
        let total = Rows::from_parquet(Bytes::from(file.clone()), &COLUMNS).unwrap().total();
        assert_eq!(total, Some(1500));
        let read: Vec<_> = read(file).unwrap().into_iter().map(Result::unwrap).collect();
        assert_eq!(read, rows, "{:?} {:?}", shape.codec, shape.encoding);
    }
    assert_eq!(read(file(PLAIN, &[])).unwrap(), []);
}

/// Files that another implementation wrote.
fn vector(name: &str) -> Vec<u8> {
    let path = format!("{}/../../vectors/vrf/parquet/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

#[test]
fn files_of_pyarrow_are_read() {
    let plain = read(vector("snappy.parquet")).unwrap();
    assert_eq!(plain.len(), 12);
    for name in [
        "uncompressed_v2.parquet",
        "zstd.parquet",
        "delta.parquet",
        "gzip.parquet",
        "lz4.parquet",
        "checksums.parquet",
    ] {
        assert_eq!(read(vector(name)).unwrap(), plain, "{name}");
    }
    let strings = read(vector("hex_with_bad_rows.parquet")).unwrap();
    for (i, (row, expected)) in strings.into_iter().zip(&plain).enumerate() {
        match i {
            3 => assert!(row.unwrap_err().starts_with("proof is not hex: ")),
            5 => assert_eq!(row.unwrap_err(), "proof is null"),
            7 => assert_ne!(row, *expected),
            _ => assert_eq!(row, *expected),
        }
    }
    assert_eq!(
        read(vector("brotli.parquet")).unwrap_err().to_string(),
        "column public_key is compressed with BROTLI, expected UNCOMPRESSED, SNAPPY, GZIP, LZ4, LZ4_RAW or ZSTD"
    );
}

/// Any changed byte of a page is found where the file has checksums.
#[test]
fn page_checksums_are_verified() {
    let good = vector("checksums.parquet");
    let (mut found, mut same) = (0, 0);
    let plain = read(good.clone()).unwrap();
    // The last page's bytes are before the footer.
    let size = u32::from_le_bytes(good[good.len() - 8..][..4].try_into().unwrap()) as usize;
    let pages = good.len() - 8 - size;
    for at in pages - 200..pages {
        let mut bad = good.clone();
        bad[at] ^= 0x04;
        match read(bad) {
            Ok(rows) => {
                assert_eq!(rows, plain);
                same += 1;
            }
            Err(error) => {
                found += usize::from(error.to_string().contains("Page CRC checksum mismatch"));
            }
        }
    }
    assert!(found >= 150, "{found} of 200 changes were found, {same} changed nothing");
}

#[test]
fn bad_values_are_bad_rows() {
    let good = some_rows(1).remove(0);
    let with = |change: &dyn Fn(&mut Values)| {
        let mut row = values(&good, true);
        change(&mut row);
        row
    };
    let rows = [
        with(&|_| {}),
        with(&|row| row[0] = None),
        with(&|row| row[2] = None),
        with(&|row| row[1] = Some(b"0".to_vec())),
        with(&|row| row[1] = Some(b"0x0x".to_vec())),
        with(&|row| row[1] = Some(b"0x".to_vec())),
    ];
    let read = read(file(Shape { schema: OTHER, ..PLAIN }, &rows)).unwrap();
    let said: Vec<&str> =
        read.iter().map(|row| row.as_ref().map_or_else(String::as_str, |_| "ok")).collect();
    let expected = [
        "ok",
        "public_key is null",
        "proof is null",
        "alpha is not hex: 1 digits, an odd number",
        "alpha is not hex: 'x' at position 3",
        "ok",
    ];
    assert_eq!(said, expected);
}

#[test]
fn wrong_columns_are_named() {
    let refusal = |schema| read(file(Shape { schema, ..PLAIN }, &[])).unwrap_err().to_string();
    let list =
        "message m { required binary public_key; repeated binary alpha; required binary proof; }";
    let group = "message m { required binary public_key; required group g { required binary alpha; } \
        required binary proof; }";
    let is_group = "message m { required binary public_key; required group alpha { \
        required binary x; } required binary proof; }";
    let number =
        "message m { required binary public_key; required int64 alpha; required binary proof; }";
    let decimal = "message m { required binary public_key; required binary alpha (DECIMAL(9, 2)); \
        required binary proof; }";
    let twice = "message m { required binary public_key; required binary alpha; \
        required binary proof; required int32 alpha; }";
    let missing = "message m { required binary public_key; required binary alpha; }";
    let expected = "BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY";
    for (schema, said) in [
        (missing, "column proof is missing; the file has public_key, alpha".to_owned()),
        (group, "column alpha is missing; the file has public_key, g, proof".into()),
        (number, format!("column alpha is of type INT64, expected {expected}")),
        (decimal, format!("column alpha is of type DECIMAL, expected {expected}")),
        (list, format!("column alpha is of type a group or list, expected {expected}")),
        (is_group, format!("column alpha is of type a group or list, expected {expected}")),
        (twice, "column alpha is there 2 times, expected once".into()),
    ] {
        assert_eq!(refusal(schema), said);
    }
}

#[test]
fn damaged_files_say_what_is_wrong() {
    let rows: Vec<Values> = some_rows(20).iter().map(|row| values(row, false)).collect();
    let good = file(PLAIN, &rows);
    let patched = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    let (end, plain) = (good.len(), read(good.clone()).unwrap());
    // Of 2^27 - 1 bytes, and a data page of no values.
    let mut large = vec![0x15, 0xfe, 0xff, 0xff, 0x7f, 0x15, 0, 0x2c];
    large.extend([0x15, 0, 0x15, 0, 0x15, 0, 0x15, 0, 0, 0]);
    let whole = "not a readable Parquet file: ";
    let page = "row 1, column public_key: ";
    for (file, expected) in [
        (Vec::new(), format!("{whole}0 bytes, expected at least 12")),
        (b"PAR1".to_vec(), format!("{whole}4 bytes, expected at least 12")),
        (good[..end - 1].to_vec(), format!("{whole}it does not end with PAR1")),
        (
            patched(end - 8, &[0xff, 0xff, 0xff, 0x7f]),
            format!("{whole}footer of 2147483647 bytes, at most 67108864"),
        ),
        (
            patched(end - 8, &[0xff, 0xff, 0xff, 0xff]),
            format!("{whole}footer of 4294967295 bytes, at most 67108864"),
        ),
        (
            patched(end - 8, &[0xff, 0xff, 0xff, 0]),
            format!("{whole}footer of 16777215 bytes in a file of {end}"),
        ),
        (patched(end - 4, b"PARE"), format!("{whole}its footer is encrypted")),
        (patched(end - 4, b"PAR2"), format!("{whole}it does not end with PAR1")),
        (patched(4, &[0]), page.to_owned()),
        (patched(4, &[0x16]), page.to_owned()),
        (patched(5, &[8]), page.to_owned()),
        (patched(5, &[4]), page.to_owned()),
        (patched(6, &[0]), page.to_owned()),
        (patched(7, &[0xff, 0x0f]), page.to_owned()),
        (patched(6, &large), page.to_owned()),
    ] {
        match read(file) {
            // A size that is not needed, of a page that is not compressed.
            Ok(rows) => assert_eq!((rows, expected), (plain.clone(), page.to_owned())),
            Err(error) => {
                let error = error.to_string();
                assert!(error.starts_with(&expected), "{error}, expected {expected}");
            }
        }
    }
    // The rows of the pages before the damage are there, of whichever column it is.
    let pages = Shape { rows_a_page: 3, ..PLAIN };
    let good = file(pages, &rows);
    let plain = read(good.clone()).unwrap();
    let mut cut = 0;
    for at in (100..good.len() / 2).step_by(97) {
        let mut bad = good.clone();
        bad[at..at + 40].fill(0xff);
        let (read, fault) = read_up_to_fault(bad);
        let Some(Error::Damaged { row, column: Some(_), .. }) = fault else { continue };
        assert_eq!(row, read.len() as u64 + 1);
        cut += usize::from((1..20).contains(&read.len()));
        assert_eq!(read.len() % 3, 0, "{read:?}");
        assert!(read.len() < plain.len());
    }
    assert!(cut > 3, "{cut}");
}

#[test]
fn values_are_not_copied_before_they_are_measured() {
    let row = |alpha: Vec<u8>| [Some(vec![1]), Some(alpha), Some(vec![2])];
    let (longest, longer) = (vec![b'0'; MAX_VALUE], vec![b'0'; MAX_VALUE + 1]);
    let rows = [row(longest.clone()), row(longer.clone()), row(Vec::new())];
    let answers = read(file(Shape { dictionary: true, ..PLAIN }, &rows)).unwrap();
    assert_eq!(answers[0].as_ref().unwrap()[1].len(), MAX_VALUE);
    let refusal = answers[1].as_ref().unwrap_err();
    assert_eq!(refusal, "alpha is longer than 4194304 bytes");
    assert!(answers[2].as_ref().unwrap()[1].is_empty());
    let twice = |text: &[u8]| [text, text].concat();
    let rows = [row(twice(&longest)), row(twice(&longer))];
    let rows = rows.map(|[key, alpha, _]| [key, alpha, Some(vec![0; 80])]);
    let answers = read(file(Shape { schema: OTHER, ..PLAIN }, &rows)).unwrap();
    assert_eq!(answers[0].as_ref().unwrap()[1].len(), MAX_VALUE);
    assert_eq!(answers[1].as_ref().unwrap_err(), refusal);
    // A value of a dictionary in many rows, in parts that stay small.
    let rows = vec![row(longest); 40];
    let file = file(Shape { dictionary: true, ..PLAIN }, &rows);
    let mut rows = Rows::from_parquet(Bytes::from(file), &COLUMNS).unwrap();
    let mut count = 0;
    while let Some(part) = rows.next_part().unwrap() {
        assert!(part.bytes() <= 2 * MAX_VALUE + 1024, "{}", part.bytes());
        count += part.len();
    }
    assert_eq!(count, 40);
}

/// A header's list that states more elements than the file has bytes ends with the file. The `parquet` crate
/// took the end of the file for elements, all 2^31 of them, which fuzzing found.
#[test]
fn a_list_without_end_ends_with_the_file() {
    let rows: Vec<Values> = some_rows(20).iter().map(|row| values(row, false)).collect();
    let mut file = file(PLAIN, &rows);
    // Of a page: type, sizes, and a field 9 that is a list of 2^31 - 1 doubles.
    let header = [0x15, 0, 0x15, 16, 0x15, 16, 0x69, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07];
    file[4..4 + header.len()].copy_from_slice(&header);
    let start = std::time::Instant::now();
    let error = read(file).unwrap_err().to_string();
    assert!(error.starts_with("row 1, column public_key: "), "{error}");
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// A file with any one byte changed is read or refused, without a panic.
#[test]
fn no_damage_panics() {
    std::panic::set_hook(Box::new(|_| {})); // those that are caught are expected
    let rows: Vec<Values> = some_rows(3).iter().map(|row| values(row, false)).collect();
    for codec in [Compression::SNAPPY, Compression::ZSTD(Default::default())] {
        let shape = Shape { codec, dictionary: true, rows_a_group: 2, ..PLAIN };
        let mut refused = 0;
        let good = file(shape, &rows);
        for at in 0..good.len() {
            for change in [0x01, 0x80, 0xff, 0x10] {
                let mut file = good.clone();
                file[at] ^= change;
                refused += usize::from(read(file).is_err());
            }
            let _ = read(good[..at].to_vec());
        }
        assert!(refused > good.len() / 4, "{refused} of {}", 4 * good.len());
    }
}
