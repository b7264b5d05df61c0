#![allow(clippy::unwrap_used)]

use super::*;
use bytes::Bytes;

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

    fn text(self, id: u8, text: &str) -> Struct {
        self.raw(id, 8, [&varint(text.len() as u64), text.as_bytes()].concat())
    }

    fn inner(self, id: u8, inner: Struct) -> Struct {
        self.raw(id, 12, inner.end())
    }

    fn list(self, id: u8, elements: &[Struct]) -> Struct {
        let mut bytes = [vec![0xfc], varint(elements.len() as u64)].concat();
        elements.iter().for_each(|element| bytes.extend(element.clone().end()));
        self.raw(id, 9, bytes)
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
    elements.extend(COLUMNS.map(|name| leaf(name, 6)));
    elements
}

/// What a row group says of a column.
fn meta(values: i64, length: i64, start: i64) -> Struct {
    Struct::default().i32(1, 6).i32(4, 0).i64(5, values).i64(7, length).i64(9, start)
}

fn chunk(meta: Struct) -> Struct {
    Struct::default().inner(3, meta)
}

fn row_group(rows: i64, chunks: &[Struct]) -> Struct {
    Struct::default().list(1, chunks).i64(3, rows)
}

fn footer(schema: &[Struct], rows: i64, groups: &[Struct]) -> Vec<u8> {
    Struct::default().i32(1, 2).list(2, schema).i64(3, rows).list(4, groups).end()
}

fn decode(footer: &[u8]) -> Result<Footer, String> {
    let file = [b"PAR1", footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat();
    Footer::read(&Source::new(Bytes::from(file))).map_err(|error| error.to_string())
}

fn refusal(footer: &[u8]) -> String {
    let text = decode(footer).unwrap_err();
    text.strip_prefix("not a readable Parquet file: footer: ").unwrap_or(&text).to_owned()
}

#[test]
fn a_plain_footer_is_read() {
    let chunks = [4, 5, 6].map(|start| chunk(meta(7, 20, start)));
    let footer = decode(&footer(&schema(), 14, &vec![row_group(7, &chunks); 2])).unwrap();
    assert_eq!(footer.groups.len(), 2);
    assert_eq!(footer.groups[1].rows, 7);
    let places = footer.groups[1].chunks.map(|place| (place.start, place.end));
    assert_eq!(places, [(4, 24), (5, 25), (6, 26)]);
}

/// What made room for 2^31 children, or went down a million groups, before it read one.
#[test]
fn schemas_that_lie_are_refused() {
    let with = |elements: &[Struct]| refusal(&footer(elements, 0, &[]));
    let many = "schema of more elements than its groups have children";
    let few = "schema of fewer elements than its groups have children";
    let leaves = |n: usize| vec![leaf("x", 1); n];
    let chain = |depth: usize| [vec![group("g", 1); depth], leaves(1)].concat();
    for (schema, expected) in [
        (vec![], "schema of 0 elements, from 1 to 1024"),
        (
            [vec![group("m", 1024)], leaves(1024)].concat(),
            "schema of 1025 elements, from 1 to 1024",
        ),
        (vec![group("m", i64::from(i32::MAX))], few),
        (vec![group("m", -1)], "a group of a negative number of children"),
        (vec![group("m", 1 << 31)], "field 5 is 2147483648, not of 32 bits"),
        ([vec![group("m", 2)], leaves(1)].concat(), few),
        ([vec![group("m", 1)], leaves(2)].concat(), many),
        ([vec![group("m", 2), group("g", 1), group("g", 0)], leaves(2)].concat(), many),
        (chain(1023), "no column is named public_key; columns are public_key, alpha and proof"),
        (chain(1 << 16), "schema of 65537 elements, from 1 to 1024"),
        (vec![Struct::default().i32(5, 0)], "no name of a schema element"),
        (vec![Struct::default().i32(4, 0)], "field 4 is I32, expected Binary"),
        (
            vec![group("m", 1), leaf("alpha", 99)],
            "no column is named public_key; columns are public_key, alpha and proof",
        ),
        (
            vec![group("m", 1), leaf("public_key", 99)],
            "column public_key is of type 99, expected BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY",
        ),
        (
            vec![group("m", 1), leaf("public_key", 7)],
            "column public_key is of type FIXED_LEN_BYTE_ARRAY of length 0, expected BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY",
        ),
    ] {
        assert_eq!(with(&schema), expected);
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
    for (said, expected) in [
        (with(8, &|_| ()), "row group 1: column public_key: 7 values in 8 rows"),
        (with(-1, &|_| ()), "row group 1: -1 rows, from 0 to 67108864"),
        (with(1 << 27, &|_| ()), "row group 1: 134217728 rows, from 0 to 67108864"),
        (with(7, &|chunks| chunks.truncate(2)), "row group 1: 2 columns, the schema has 3"),
        (
            with(7, &|chunks| chunks.push(chunks[0].clone())),
            "row group 1: 4 columns, the schema has 3",
        ),
        (
            with(7, &place(meta(7, 1 << 40, 4))),
            "row group 1: column alpha: 1099511627776 bytes at 4 are not all in the file",
        ),
        (
            with(7, &place(meta(7, i64::MAX, i64::MAX))),
            "row group 1: column alpha: 9223372036854775807 bytes at 9223372036854775807 are not all \
             in the file",
        ),
        (
            with(7, &place(meta(7, -1, 4))),
            "row group 1: column alpha: -1 bytes at 4 are not all in the file",
        ),
        (with(7, &place(meta(-7, 1, 4))), "row group 1: column alpha: -7 values in 7 rows"),
        (with(7, &place(Struct::default().i32(1, 6))), "row group 1: no values"),
        (
            with(7, &place(Struct::default().i32(1, 7).i64(5, 7).i64(7, 1).i64(9, 4))),
            "row group 1: column alpha: is not of its type in the schema",
        ),
        (
            with(7, &|chunks| chunks[2] = Struct::default().text(1, "other.parquet")),
            "row group 1: its values are in another file",
        ),
        (
            with(7, &|chunks| chunks[2] = chunk(meta(7, 20, 6)).inner(8, Struct::default())),
            "row group 1: its values are encrypted",
        ),
        (refusal(&footer(&schema(), 8, &[row_group(7, &good())])), "8 rows, its row groups have 7"),
        (refusal(&footer(&schema(), 1, &[])), "1 rows, its row groups have 0"),
        (
            refusal(&footer(&schema(), 0, &vec![Struct::default(); MAX_GROUPS + 1])),
            "65537 row groups, at most 65536",
        ),
    ] {
        assert_eq!(said, expected);
    }
}

#[test]
fn other_lies_are_refused() {
    let start = || Struct::default().list(2, &schema());
    let bomb = |wire: u8, bytes: &[u8]| refusal(&start().raw(5, wire, bytes).end());
    let most = [0xff, 0xff, 0xff, 0xff, 0x07];
    for (said, expected) in [
        (refusal(&[0]), "no schema"),
        (refusal(&[]), "ends early"),
        (refusal(&start().end()), "no row groups"),
        (refusal(&start().list(4, &[]).end()), "no number of rows"),
        (refusal(&Struct::default().list(4, &[]).end()), "row groups before the schema"),
        (refusal(&start().inner(8, Struct::default()).end()), "columns are encrypted"),
        (refusal(&[footer(&schema(), 0, &[]), vec![0; 3]].concat()), "3 bytes after its end"),
        (refusal(&Struct::default().raw(2, 9, [&[0xfc][..], &most].concat()).end()), "ends early"),
        (refusal(&start().raw(4, 9, [&[0xfc][..], &most].concat()).end()), "ends early"),
        // Lists of two thousand million truths, and one in the other to no end.
        (bomb(9, &[&[0xf1][..], &most].concat()), "ends early"),
        (bomb(9, &[&[0xf2][..], &most].concat()), "ends early"),
        (bomb(9, &[0x19; 1 << 16]), "values nested deeper than 16"),
        (bomb(12, &[0x1c; 1 << 16]), "values nested deeper than 16"),
        (bomb(11, &[&most[..], &[0x11]].concat()), "ends early"),
    ] {
        assert_eq!(said, expected);
    }
}
