#![allow(clippy::unwrap_used)]

use super::*;
use crate::{Row, SecretKey, Suite, verify_many};
use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;

/// How a file of rows is written.
#[derive(Clone, Copy)]
struct Shape {
    schema: &'static str,
    dictionary: bool,
    snappy: bool,
    version: WriterVersion,
    rows_a_group: usize,
    rows_a_page: usize,
}

const PLAIN: Shape = Shape {
    schema: "message m { required binary public_key; required binary alpha; required binary proof; }",
    dictionary: false,
    snappy: false,
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
        .set_encoding(Encoding::PLAIN)
        .set_data_page_row_count_limit(shape.rows_a_page)
        .set_write_batch_size(shape.rows_a_page)
        .set_compression(match shape.snappy {
            true => Compression::SNAPPY,
            false => Compression::UNCOMPRESSED,
        });
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
        let index = COLUMNS.iter().position(|name| descriptor.name() == *name);
        let values: Vec<Option<&Vec<u8>>> =
            rows.iter().map(|row| index.and_then(|index| row[index].as_ref())).collect();
        let levels: Vec<i16> = values
            .iter()
            .map(|v| if v.is_some() { descriptor.max_def_level() } else { 0 })
            .collect();
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

fn read(file: &[u8]) -> Result<Vec<Result<OwnedRow, RowError>>, Error> {
    let mut rows = Rows::open(Bytes::copy_from_slice(file))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next_row()? {
        all.push(row);
    }
    Ok(all)
}

fn proofs(n: u32) -> Vec<OwnedRow> {
    let key = SecretKey::from_bytes(Suite::Draft03Cardano, &[5; 32]).unwrap();
    let row = |i: u32| {
        let alpha = vec![i as u8; i as usize % 40];
        let proof = key.prove(&alpha).unwrap().as_bytes().to_vec();
        OwnedRow { public_key: key.public_key().as_bytes().to_vec(), alpha, proof }
    };
    (0..n).map(row).collect()
}

fn values(row: &OwnedRow, hex_alpha: bool) -> Values {
    let alpha = match hex_alpha {
        true => hex::encode(&row.alpha).into_bytes(),
        false => row.alpha.clone(),
    };
    [Some(row.public_key.clone()), Some(alpha), Some(row.proof.clone())]
}

#[test]
fn rows_are_read_as_they_were_written() {
    let rows = proofs(150);
    let other = Shape { schema: OTHER, ..PLAIN };
    for shape in [
        PLAIN,
        Shape { dictionary: true, ..PLAIN },
        Shape { dictionary: true, snappy: true, rows_a_group: 40, rows_a_page: 7, ..PLAIN },
        Shape { snappy: true, version: WriterVersion::PARQUET_2_0, rows_a_page: 9, ..PLAIN },
        other,
        Shape { dictionary: true, snappy: true, rows_a_group: 64, ..other },
        Shape { version: WriterVersion::PARQUET_2_0, rows_a_page: 11, ..other },
    ] {
        let written: Vec<Values> =
            rows.iter().map(|row| values(row, shape.schema == OTHER)).collect();
        let file = file(shape, &written);
        assert_eq!(Rows::open(Bytes::from(file.clone())).unwrap().total(), 150);
        let read: Vec<OwnedRow> = read(&file).unwrap().into_iter().map(Result::unwrap).collect();
        assert_eq!(read, rows);
    }
    assert_eq!(read(&file(PLAIN, &[])).unwrap(), []);
}

/// Files that another implementation wrote.
fn vector(name: &str) -> Vec<u8> {
    let path = format!("{}/../../vectors/vrf/parquet/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

#[test]
fn files_of_pyarrow_are_read() {
    let plain = read(&vector("snappy.parquet")).unwrap();
    assert_eq!(plain.len(), 12);
    assert_eq!(read(&vector("uncompressed_v2.parquet")).unwrap(), plain);
    let strings = read(&vector("hex_with_bad_rows.parquet")).unwrap();
    let rows: Vec<OwnedRow> = plain.into_iter().map(Result::unwrap).collect();
    for (i, (row, expected)) in strings.into_iter().zip(&rows).enumerate() {
        match i {
            3 => assert_eq!(row.unwrap_err().to_string(), "proof is not hex: Odd number of digits"),
            5 => assert_eq!(row.unwrap_err().to_string(), "proof is null"),
            7 => assert_ne!(row.unwrap(), *expected),
            _ => assert_eq!(row.unwrap(), *expected),
        }
    }
    let refusal = |name| read(&vector(name)).unwrap_err().to_string();
    assert_eq!(
        refusal("zstd.parquet"),
        "column public_key is compressed with ZSTD; SNAPPY and UNCOMPRESSED are read"
    );
    assert_eq!(
        refusal("delta.parquet"),
        "row 1, column alpha: encoding DELTA_BYTE_ARRAY is not read; PLAIN and dictionaries are"
    );
}

#[test]
fn bad_values_are_bad_rows() {
    let good = proofs(1).remove(0);
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
        with(&|row| row[1] = Some(b"0x".to_vec())),
        with(&|_| {}),
    ];
    let read = read(&file(Shape { schema: OTHER, ..PLAIN }, &rows)).unwrap();
    let said: Vec<String> = read
        .iter()
        .map(|row| row.as_ref().map_or_else(ToString::to_string, |_| "ok".into()))
        .collect();
    let expected = [
        "ok",
        "public_key is null",
        "proof is null",
        "alpha is not hex: Odd number of digits",
        "alpha is not hex: Invalid character 'x' at position 1",
        "ok",
    ];
    assert_eq!(said, expected);
}

#[test]
fn damaged_files_say_what_is_wrong() {
    let rows: Vec<Values> = proofs(20).iter().map(|row| values(row, false)).collect();
    let good = file(PLAIN, &rows);
    let schema = |schema| file(Shape { schema, ..PLAIN }, &[]);
    let patched = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    let end = good.len();
    // Of 2^27 - 1 bytes, and a data page of no values.
    let mut large = vec![0x15, 0xfe, 0xff, 0xff, 0x7f, 0x15, 0, 0x2c];
    large.extend([0x15, 0, 0x15, 0, 0x15, 0, 0x15, 0, 0, 0]);
    let list =
        "message m { required binary public_key; repeated binary alpha; required binary proof; }";
    let group = "message m { required binary public_key; required group g { required binary alpha; } \
        required binary proof; }";
    let number =
        "message m { required binary public_key; required int64 alpha; required binary proof; }";
    let missing = "message m { required binary public_key; required binary alpha; }";
    for (file, expected) in [
        (Vec::new(), "not a readable Parquet file"),
        (b"PAR1".to_vec(), "not a readable Parquet file"),
        (good[..end - 1].to_vec(), "not a readable Parquet file"),
        (patched(end - 8, &[0xff, 0xff, 0xff, 0x7f]), "not a readable Parquet file"),
        (patched(end - 8, &[0xff, 0xff, 0xff, 0xff]), "not a readable Parquet file"),
        (schema(missing), "no column is named proof"),
        (schema(number), "column alpha is of type INT64"),
        (schema(list), "column alpha has more than one value a row"),
        (schema(group), "no column is named alpha"),
        (patched(end - 4, b"PARE"), "not a readable Parquet file: its footer is encrypted"),
        (patched(end - 4, b"PAR2"), "not a readable Parquet file: it does not end with PAR1"),
        (patched(4, &[0]), "row 1, column public_key: page header has no type"),
        (patched(4, &[0x16]), "row 1, column public_key: page header field 1 is I64, expected I32"),
        (patched(5, &[8]), "row 1, column public_key: page header has type 4"),
        (patched(5, &[4]), "row 1, column public_key: page header lacks the part of its type"),
        (patched(6, &[0]), "row 1, column public_key: page header has no uncompressed size"),
        (
            patched(7, &[0xff, 0x0f]),
            "row 1, column public_key: page header has a negative uncompressed size",
        ),
        (
            patched(6, &large),
            "row 1, column public_key: page header has uncompressed size 134217727, at most 67108864",
        ),
    ] {
        let error = read(&file).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}, expected {expected}");
    }
    let mut many = Shape { version: WriterVersion::PARQUET_2_0, ..PLAIN };
    many.rows_a_page = 3;
    let mut cut = file(many, &rows);
    let at = cut.len() / 2;
    cut[at..at + 40].fill(0xff);
    assert!(read(&cut).is_err() || read(&cut).unwrap().len() == 20);
}

#[test]
fn values_are_not_copied_before_they_are_measured() {
    let row = |alpha: Vec<u8>| [Some(vec![1]), Some(alpha), Some(vec![2])];
    let (longest, longer) = (vec![b'0'; MAX_VALUE], vec![b'0'; MAX_VALUE + 1]);
    let rows = [row(longest.clone()), row(longer.clone()), row(Vec::new())];
    let answers = read(&file(Shape { dictionary: true, ..PLAIN }, &rows)).unwrap();
    assert_eq!(answers[0].as_ref().unwrap().alpha.len(), MAX_VALUE);
    let refusal = answers[1].as_ref().unwrap_err().to_string();
    assert_eq!(refusal, "alpha is longer than 4194304 bytes");
    assert!(answers[2].as_ref().unwrap().alpha.is_empty());
    let schema = OTHER;
    let twice = |text: &[u8]| [text, text].concat();
    let rows = [row(twice(&longest)), row(twice(&longer))];
    let rows = rows.map(|[key, alpha, _]| [key, alpha, Some(vec![0; 80])]);
    let answers = read(&file(Shape { schema, ..PLAIN }, &rows)).unwrap();
    assert_eq!(answers[0].as_ref().unwrap().alpha.len(), MAX_VALUE);
    assert_eq!(answers[1].as_ref().unwrap_err().to_string(), refusal);
}

/// A file with any one byte changed is read, or refused, in little memory and without a panic.
#[test]
fn no_damage_panics() {
    let rows: Vec<Values> = proofs(3).iter().map(|row| values(row, false)).collect();
    let shape = Shape { snappy: true, dictionary: true, rows_a_group: 2, ..PLAIN };
    let mut refused = 0;
    let good = file(shape, &rows);
    for at in 0..good.len() {
        for change in [0x01, 0x80, 0xff, 0x10] {
            let mut file = good.clone();
            file[at] ^= change;
            refused += usize::from(read(&file).is_err());
        }
        let _ = read(&good[..at]);
    }
    assert!(refused > good.len() / 4, "{refused} of {}", 4 * good.len());
}

#[test]
fn verdicts_are_written_row_by_row() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    let mut rows = proofs(5);
    rows[2].proof[40] ^= 1;
    let public: Vec<Row<'_>> = rows
        .iter()
        .map(|r| Row { public_key: &r.public_key, alpha: &r.alpha, proof: &r.proof })
        .collect();
    let verdicts: Vec<Result<crate::Output, String>> = verify_many(Suite::Draft03Cardano, &public)
        .into_iter()
        .map(|verdict| verdict.map_err(|error| error.to_string()))
        .collect();
    let mut writer = Verdicts::new(Vec::new()).unwrap();
    writer.write(&verdicts[..2]).unwrap();
    writer.write(&[]).unwrap();
    writer.write(&verdicts[2..]).unwrap();
    let file = Bytes::from(writer.finish().unwrap());
    let reader = SerializedFileReader::new(file).unwrap();
    let written: Vec<String> =
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert_eq!(written.len(), 5);
    for (i, (row, verdict)) in written.iter().zip(&verdicts).enumerate() {
        let number = i + 1;
        match verdict {
            Ok(_) => assert!(row.starts_with(&format!("{{row: {number}, ok: true, output: ["))),
            Err(error) => assert_eq!(
                *row,
                format!("{{row: {number}, ok: false, output: null, error: \"{error}\"}}")
            ),
        }
    }
    assert_eq!(reader.metadata().num_row_groups(), 2);
}
