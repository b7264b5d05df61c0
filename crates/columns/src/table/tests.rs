#![allow(clippy::unwrap_used)]

use super::*;
use crate::{Column, Rows};

const FIELDS: [Field; 4] = [
    Field::new("row", Shape::Number),
    Field::new("ok", Shape::Flag),
    Field::new("output", Shape::Bytes),
    Field::new("error", Shape::Text),
];

fn rows() -> Vec<Vec<Cell<'static>>> {
    vec![
        vec![Cell::Number(1), Cell::Flag(true), Cell::Bytes(&[0xab, 0]), Cell::Null],
        vec![Cell::Number(2), Cell::Flag(false), Cell::Null, Cell::Text("a \"b\", c\nd")],
        vec![Cell::Number(3), Cell::Flag(true), Cell::Bytes(&[]), Cell::Null],
    ]
}

fn written(format: Format) -> Vec<u8> {
    let mut table = Table::new(format, &FIELDS, Vec::new()).unwrap();
    let rows = rows();
    table.write(&rows[..2]).unwrap();
    table.write(&[]).unwrap();
    table.write(&rows[2..]).unwrap();
    table.finish().unwrap()
}

#[test]
fn text_is_written() {
    assert_eq!(
        String::from_utf8(written(Format::Jsonl)).unwrap(),
        "{\"row\":1,\"ok\":true,\"output\":\"ab00\"}\n\
         {\"row\":2,\"ok\":false,\"error\":\"a \\\"b\\\", c\\nd\"}\n\
         {\"row\":3,\"ok\":true,\"output\":\"\"}\n"
    );
    assert_eq!(
        String::from_utf8(written(Format::Csv)).unwrap(),
        "row,ok,output,error\n1,true,ab00,\n2,false,,\"a \"\"b\"\", c\nd\"\n3,true,,\n"
    );
}

/// What was written is read again, nulls and all.
#[cfg(all(feature = "arrow", feature = "parquet"))]
#[test]
fn columns_are_written() {
    const COLUMNS: [Column; 2] =
        [Column::bytes("output").optional(), Column::text("error").optional()];
    let parquet = Rows::from_parquet(written(Format::Parquet).into(), &COLUMNS).unwrap();
    assert_eq!(parquet.total(), Some(3));
    let arrow = Rows::from_arrow(written(Format::Arrow), &COLUMNS).unwrap();
    for mut rows in [parquet, arrow] {
        let mut read = Vec::new();
        while let Some(part) = rows.next_part().unwrap() {
            let block = part.decode();
            let owned = |row: Result<[Option<&[u8]>; 2], &str>| {
                row.unwrap().map(|value| value.map(<[u8]>::to_vec))
            };
            read.extend(block.rows::<2>().map(owned));
        }
        let error = Some(b"a \"b\", c\nd".to_vec());
        assert_eq!(read, [[Some(vec![0xab, 0]), None], [None, error], [Some(vec![]), None]]);
    }
    let empty = Table::new(Format::Parquet, &FIELDS, Vec::new()).unwrap().finish().unwrap();
    assert_eq!(Rows::from_parquet(empty.into(), &COLUMNS).unwrap().total(), Some(0));
}
