//! Columns, and rows in memory.
//!
//! A block keeps the values of all its rows in one buffer, so that it goes through a pipe in one piece.

use crate::hex::append_hex;

/// The most rows of a [`Part`].
pub const PART_ROWS: usize = 256;
/// The most bytes of a value; a row with a longer one is a row with a fault.
pub const MAX_VALUE: usize = 4 << 20;
/// A part takes no further row once it has this many bytes.
pub(crate) const PART_BYTES: usize = 4 << 20;

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes; hex digits where the file has text.
    Bytes,
    /// Text, as it stands.
    Text,
}

/// A column that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in the file.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Whether the file must have it, and each row a value.
    pub required: bool,
}

impl Column {
    /// A column of bytes that must be there.
    #[must_use]
    pub const fn bytes(name: &'static str) -> Column {
        Column { name, kind: Kind::Bytes, required: true }
    }

    /// A column of text that must be there.
    #[must_use]
    pub const fn text(name: &'static str) -> Column {
        Column { name, kind: Kind::Text, required: true }
    }

    /// The same column, which may be missing and have no value in some rows.
    #[must_use]
    pub const fn optional(self) -> Column {
        Column { required: false, ..self }
    }
}

/// A value as a file has it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    /// The row does not name it.
    Missing,
    /// The row says that there is none.
    Null,
    #[cfg_attr(not(any(feature = "arrow", feature = "parquet")), allow(dead_code))]
    Bytes(&'a [u8]),
    Text(&'a [u8]),
    /// Of another type, which is named.
    Wrong(&'static str),
}

/// Rows in memory.
///
/// # Correctness
/// `lengths` has `columns + 1` numbers a row. The first is `GOOD`, or the length of a message that says
/// why the row is bad; the others are lengths of values, `NULL` where there is none. `bytes` has these
/// messages and values one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    columns: usize,
    lengths: Vec<u32>,
    bytes: Vec<u8>,
}

const GOOD: u32 = u32::MAX;
const NULL: u32 = u32::MAX;

impl Block {
    pub(crate) fn new(columns: usize) -> Block {
        Block { columns, lengths: Vec::new(), bytes: Vec::new() }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lengths.len() / (self.columns + 1)
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// How many bytes the values have.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= PART_ROWS || self.bytes.len() >= PART_BYTES
    }

    /// Appends a row whose values are those of `columns`.
    pub(crate) fn push<'a>(
        &mut self,
        columns: &[Column],
        mut value: impl FnMut(usize) -> Value<'a>,
    ) {
        let (start, first) = (self.bytes.len(), self.lengths.len());
        self.lengths.push(GOOD);
        for (i, column) in columns.iter().enumerate() {
            if let Err(fault) = self.push_value(column, value(i)) {
                self.bytes.truncate(start);
                self.lengths.truncate(first);
                return self.push_fault(&fault);
            }
        }
    }

    fn push_value(&mut self, column: &Column, value: Value<'_>) -> Result<(), String> {
        let (name, start) = (column.name, self.bytes.len());
        match value {
            Value::Missing | Value::Null if !column.required => {
                self.lengths.push(NULL);
                return Ok(());
            }
            Value::Missing => return Err(format!("{name} is missing")),
            Value::Null => return Err(format!("{name} is null")),
            Value::Wrong(found) => {
                let expected = match column.kind {
                    Kind::Bytes => "a string of hex digits",
                    Kind::Text => "a string",
                };
                return Err(format!("{name} is {found}, expected {expected}"));
            }
            Value::Text(text) if column.kind == Kind::Bytes => {
                if text.len() > 2 * MAX_VALUE + 2 {
                    return Err(too_long(name));
                }
                append_hex(text, &mut self.bytes).map_err(|error| format!("{name} is {error}"))?;
            }
            Value::Bytes(bytes) | Value::Text(bytes) => {
                if bytes.len() > MAX_VALUE {
                    return Err(too_long(name));
                }
                if column.kind == Kind::Text && std::str::from_utf8(bytes).is_err() {
                    return Err(format!("{name} is not UTF-8"));
                }
                self.bytes.extend_from_slice(bytes);
            }
        }
        let length = self.bytes.len() - start;
        if length > MAX_VALUE {
            return Err(too_long(name));
        }
        self.lengths.push(length as u32);
        Ok(())
    }

    /// Appends a row that is bad as a whole.
    pub(crate) fn push_fault(&mut self, fault: &str) {
        self.lengths.push(fault.len() as u32);
        self.lengths.extend(std::iter::repeat_n(NULL, self.columns));
        self.bytes.extend_from_slice(fault.as_bytes());
    }

    /// The rows in order: values in the order of the columns, or what is wrong with the row.
    ///
    /// # Panics
    /// If `N` is not the number of columns that were looked for.
    pub fn rows<const N: usize>(
        &self,
    ) -> impl Iterator<Item = Result<[Option<&[u8]>; N], &str>> + use<'_, N> {
        assert_eq!(N, self.columns, "rows have another number of columns");
        let mut rest = &self.bytes[..];
        let mut take = move |length: u32| {
            let (taken, left) = rest.split_at(length as usize);
            rest = left;
            taken
        };
        self.lengths.chunks_exact(self.columns + 1).map(move |lengths| match lengths[0] {
            GOOD => Ok(std::array::from_fn(|i| match lengths[i + 1] {
                NULL => None,
                length => Some(take(length)),
            })),
            length => {
                Err(std::str::from_utf8(take(length)).unwrap_or("a row that is not readable"))
            }
        })
    }

    /// Appends the block to a buffer.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend((self.lengths.len() as u32).to_le_bytes());
        self.lengths.iter().for_each(|length| out.extend(length.to_le_bytes()));
        out.extend_from_slice(&self.bytes);
    }

    /// Reads what [`Block::encode`] wrote; none if it is something else.
    pub(crate) fn decode(columns: usize, bytes: &[u8]) -> Option<Block> {
        let (count, rest) = bytes.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        if !count.is_multiple_of(columns + 1) || count > rest.len() / 4 {
            return None;
        }
        let (lengths, bytes) = rest.split_at(4 * count);
        let lengths: Vec<u32> =
            lengths.as_chunks::<4>().0.iter().map(|&four| u32::from_le_bytes(four)).collect();
        let total: u64 = lengths.iter().filter(|&&l| l != NULL).map(|&l| u64::from(l)).sum();
        let block = Block { columns, lengths, bytes: bytes.to_vec() };
        (total == bytes.len() as u64).then_some(block)
    }
}

fn too_long(name: &str) -> String {
    format!("{name} is longer than {MAX_VALUE} bytes")
}

/// Rows as they were read, which may still have to be decoded.
#[derive(Debug)]
pub struct Part(pub(crate) Raw);

#[derive(Debug)]
pub(crate) enum Raw {
    Block(Block),
    /// Lines of JSON, or what is wrong with one, and the columns to find in them.
    Lines(Vec<Result<Vec<u8>, String>>, &'static [Column]),
}

impl Part {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Raw::Block(block) => block.len(),
            Raw::Lines(lines, _) => lines.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Raw::Block(block) => block.bytes(),
            Raw::Lines(lines, _) => lines.iter().flatten().map(Vec::len).sum(),
        }
    }

    /// Decodes the rows: work that is worth a thread for each part.
    #[must_use]
    pub fn decode(self) -> Block {
        match self.0 {
            Raw::Block(block) => block,
            Raw::Lines(lines, columns) => crate::jsonl::decode(&lines, columns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] =
        [Column::bytes("a"), Column::bytes("b").optional(), Column::text("c")];

    #[test]
    fn blocks_go_through_a_pipe() {
        let mut block = Block::new(3);
        let rows: [[Value<'_>; 3]; 5] = [
            [Value::Bytes(b"x"), Value::Text(b"0xff00"), Value::Text(b"t")],
            [Value::Bytes(b""), Value::Missing, Value::Bytes(b"")],
            [Value::Bytes(b"y"), Value::Null, Value::Null],
            [Value::Wrong("a number"), Value::Null, Value::Null],
            [Value::Bytes(b"z"), Value::Null, Value::Bytes(b"\xff")],
        ];
        for row in rows {
            block.push(&COLUMNS, |i| row[i]);
        }
        let said: Vec<_> = block.rows::<3>().collect();
        let empty = Some(&b""[..]);
        assert_eq!(said[0], Ok([Some(&b"x"[..]), Some(&[0xff, 0][..]), Some(&b"t"[..])]));
        assert_eq!(said[1], Ok([empty, None, empty]));
        assert_eq!(said[2], Err("c is null"));
        assert_eq!(said[3], Err("a is a number, expected a string of hex digits"));
        assert_eq!(said[4], Err("c is not UTF-8"));
        let mut bytes = Vec::new();
        block.encode(&mut bytes);
        assert_eq!(Block::decode(3, &bytes).as_ref(), Some(&block));
        for length in 0..bytes.len() {
            assert_eq!(Block::decode(3, &bytes[..length]), None, "{length}");
        }
    }
}
