//! Footers that lie, field by field: what the `parquet` crate refuses, and what is checked before.

use super::{COLUMNS, read};
use crate::Error;

/// A struct of Thrift's compact protocol, field after field.
#[derive(Clone, Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn zigzag(number: i64) -> Vec<u8> {
    varint((number << 1 ^ number >> 63) as u64)
}

fn text(text: &str) -> Vec<u8> {
    [&varint(text.len() as u64), text.as_bytes()].concat()
}

impl Struct {
    fn raw(mut self, id: u8, wire: u8, bytes: impl AsRef<[u8]>) -> Struct {
        self.bytes.push((id - self.last) << 4 | wire);
        self.bytes.extend_from_slice(bytes.as_ref());
        self.last = id;
        self
    }

    fn i32(self, id: u8, number: i64) -> Struct {
        self.raw(id, 5, zigzag(number))
    }

    fn i64(self, id: u8, number: i64) -> Struct {
        self.raw(id, 6, zigzag(number))
    }

    fn text(self, id: u8, content: &str) -> Struct {
        self.raw(id, 8, text(content))
    }

    fn inner(self, id: u8, inner: Struct) -> Struct {
        self.raw(id, 12, inner.end())
    }

    fn list(self, id: u8, elements: &[Struct]) -> Struct {
        let elements: Vec<Vec<u8>> = elements.iter().map(|element| element.clone().end()).collect();
        self.list_of(id, 12, &elements)
    }

    fn list_of(self, id: u8, wire: u8, elements: &[Vec<u8>]) -> Struct {
        let head = [vec![0xf0 | wire], varint(elements.len() as u64)].concat();
        self.raw(id, 9, [head, elements.concat()].concat())
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn group(name: &str, children: i64) -> Struct {
    Struct::default().text(4, name).i32(5, children)
}

fn leaf(name: &str, physical: i64) -> Struct {
    Struct::default().i32(1, physical).i32(3, 0).text(4, name)
}

fn schema() -> Vec<Struct> {
    let mut elements = vec![group("m", 3)];
    elements.extend(COLUMNS.map(|column| leaf(column.name, 6)));
    elements
}

/// What a row group says of a column.
fn meta(values: i64, length: i64, start: i64) -> Struct {
    Struct::default()
        .i32(1, 6)
        .list_of(2, 5, &[zigzag(0)])
        .list_of(3, 8, &[text("x")])
        .i32(4, 0)
        .i64(5, values)
        .i64(6, length)
        .i64(7, length)
        .i64(9, start)
}

fn chunk(meta: Struct) -> Struct {
    Struct::default().i64(2, 0).inner(3, meta)
}

fn row_group(rows: i64, chunks: &[Struct]) -> Struct {
    Struct::default().list(1, chunks).i64(2, 0).i64(3, rows)
}

fn footer(schema: &[Struct], rows: i64, groups: &[Struct]) -> Vec<u8> {
    Struct::default().i32(1, 2).list(2, schema).i64(3, rows).list(4, groups).end()
}

fn opened(footer: &[u8]) -> Result<usize, Error> {
    // Room for the pages that a footer speaks of, which are never read.
    let mut file = b"PAR1".to_vec();
    file.resize(64, 0);
    file.extend_from_slice(footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    crate::Rows::from_parquet(file.into(), &COLUMNS).map(|rows| rows.total().unwrap() as usize)
}

fn refusal(footer: &[u8]) -> String {
    let text = opened(footer).unwrap_err().to_string();
    text.strip_prefix("not a readable Parquet file: ").unwrap_or(&text).to_owned()
}

#[test]
fn a_plain_footer_is_read() {
    let chunks = [4, 5, 6].map(|start| chunk(meta(7, 20, start)));
    let footer = footer(&schema(), 14, &vec![row_group(7, &chunks); 2]);
    assert_eq!(opened(&footer).unwrap(), 14);
    assert!(read([b"PAR1", &footer[..], &[0; 4], b"PAR1"].concat()).is_err());
}

/// Lists and counts for which a decoder could make room, or go down, before it reads them.
#[test]
fn schemas_that_lie_are_refused() {
    let leaves = |n: usize| vec![leaf("x", 1); n];
    for schema in [
        vec![],
        vec![group("m", i64::from(i32::MAX))],
        vec![group("m", -1)],
        vec![group("m", 1 << 31)],
        [vec![group("m", 2)], leaves(1)].concat(),
        [vec![group("m", 1)], leaves(2)].concat(),
        [vec![group("m", 2), group("g", 1), group("g", 0)], leaves(2)].concat(),
        [vec![group("g", 1); 1023], leaves(1)].concat(),
        vec![Struct::default().i32(5, 0)],
        vec![Struct::default().i32(4, 0)],
        vec![group("m", 1), leaf("alpha", 99)],
        vec![group("m", 1), leaf("public_key", 99)],
        vec![group("m", 1), leaf("public_key", 7)],
    ] {
        let said = refusal(&footer(&schema, 0, &[]));
        assert!(said.starts_with("footer: ") || said.starts_with("column "), "{said}");
    }
}

#[test]
fn row_groups_that_lie_are_refused() {
    let good = || [4, 5, 6].map(|start| chunk(meta(7, 20, start)));
    let with = |rows: i64, change: &dyn Fn(&mut Vec<Struct>)| {
        let mut chunks = good().to_vec();
        change(&mut chunks);
        refusal(&footer(&schema(), 7, &[row_group(rows, &chunks)]))
    };
    let place = |meta: Struct| move |chunks: &mut Vec<Struct>| chunks[1] = chunk(meta.clone());
    let most = i64::MAX;
    for (said, expected) in [
        (with(8, &|_| ()), "row group 1: column public_key: 7 values in 8 rows"),
        (with(-1, &|_| ()), "row group 1: -1 rows"),
        (with(7, &|chunks| chunks.truncate(2)), "footer: "),
        (with(7, &|chunks| chunks.push(chunks[0].clone())), "footer: "),
        (
            with(7, &place(meta(7, 1 << 40, 4))),
            "row group 1: column alpha: 1099511627776 bytes at 4 are not all in the file",
        ),
        (
            with(7, &place(meta(7, most, most))),
            "row group 1: column alpha: 9223372036854775807 bytes at 9223372036854775807 are not all",
        ),
        (
            with(7, &place(meta(7, -1, 4))),
            "row group 1: column alpha: -1 bytes at 4 are not all in the file",
        ),
        (
            with(7, &place(meta(7, 1, -4))),
            "row group 1: column alpha: 1 bytes at -4 are not all in the file",
        ),
        (with(7, &place(meta(-7, 1, 4))), "row group 1: column alpha: -7 values in 7 rows"),
        (with(7, &place(Struct::default().i32(1, 6))), "footer: "),
        (
            with(7, &|chunks| {
                let meta = meta(7, 20, 6);
                chunks[2] = Struct::default().text(1, "other.parquet").i64(2, 0).inner(3, meta);
            }),
            "row group 1: column proof: its values are in another file",
        ),
        (with(7, &|chunks| chunks[2] = Struct::default().text(1, "other.parquet")), "footer: "),
        (refusal(&footer(&schema(), 8, &[row_group(7, &good())])), "8 rows, its row groups have 7"),
        (refusal(&footer(&schema(), 1, &[])), "1 rows, its row groups have 0"),
    ] {
        assert!(said.starts_with(expected), "{said}, expected {expected}");
    }
}

#[test]
fn other_lies_are_refused() {
    let start = || Struct::default().i32(1, 2).list(2, &schema());
    let bomb = |wire: u8, bytes: &[u8]| start().raw(5, wire, bytes).end();
    let most = [0xff, 0xff, 0xff, 0xff, 0x07];
    for footer in [
        vec![0],
        vec![],
        start().end(),
        start().list(4, &[]).end(),
        Struct::default().list(4, &[]).end(),
        Struct::default().raw(2, 9, [&[0xfc][..], &most].concat()).end(),
        start().raw(4, 9, [&[0xfc][..], &most].concat()).end(),
        // Lists of two thousand million truths, and one in the other to no end.
        bomb(9, &[&[0xf1][..], &most].concat()),
        bomb(9, &[&[0xf2][..], &most].concat()),
        bomb(9, &[0x19; 1 << 16]),
        bomb(12, &[0x1c; 1 << 16]),
        bomb(11, &[&most[..], &[0x11]].concat()),
    ] {
        let said = refusal(&footer);
        assert!(said.starts_with("footer: "), "{said}");
    }
}
