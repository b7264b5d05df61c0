//! The footer of a file: where each column's bytes are.
//!
//! Only what three columns need is kept, so that a footer of many megabytes holds no more memory than its
//! row groups: at most [`MAX_GROUPS`] of some hundred bytes.
//!
//! Apache Parquet format 2.11, `parquet.thrift`: FileMetaData, SchemaElement, RowGroup, ColumnChunk,
//! ColumnMetaData

use super::pages::Source;
use super::thrift::{Fault, Field, Reader, Result, bad};
use super::values::Kind;
use super::{COLUMNS, Column, MAX_PAGE, ParquetError};
use ::parquet::file::reader::ChunkReader;

/// The most elements of a schema.
const MAX_ELEMENTS: usize = 1024;
/// The most row groups.
const MAX_GROUPS: usize = 1 << 16;
/// The most rows of a row group.
pub(super) const MAX_GROUP_ROWS: u64 = 1 << 26;

/// What a file's footer says.
#[derive(Debug)]
pub(super) struct Footer {
    pub(super) columns: [Column; 3],
    pub(super) groups: Vec<Group>,
}

/// A row group: how many rows, and where the columns are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) rows: u64,
    pub(super) chunks: [Place; 3],
}

/// Where a column of a row group is in the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) codec: i32,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Why a footer is refused.
enum Refusal {
    Column(ParquetError),
    Footer(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Footer(fault)
    }
}

impl Footer {
    /// Reads the end of a file.
    ///
    /// # Errors
    /// It is damaged, or its columns are not as they should be.
    pub(super) fn read<R: ChunkReader>(source: &Source<R>) -> Result<Footer, ParquetError> {
        let bytes = footer_bytes(source).map_err(ParquetError::Footer)?;
        Footer::decode(&bytes, source.len()).map_err(|refusal| match refusal {
            Refusal::Column(error) => error,
            Refusal::Footer(fault) => {
                ParquetError::Footer(format!("footer: {}", String::from(fault)))
            }
        })
    }

    fn decode(bytes: &[u8], file: u64) -> Result<Footer, Refusal> {
        let mut reader = Reader::new(bytes);
        let (mut schema, mut groups, mut total) = (None, None, None);
        reader.fields(|reader, field| {
            match field.id {
                2 => schema = Some(Schema::read(reader, field)?),
                3 => total = Some(reader.i64(field)?),
                4 => {
                    let Some(schema) = &schema else { return bad("row groups before the schema") };
                    groups = Some(read_groups(reader, field, schema, file)?);
                }
                8 => return bad("columns are encrypted"),
                _ => reader.skip(field)?,
            }
            Ok(())
        })?;
        if reader.left() > 0 {
            bad(format!("{} bytes after its end", reader.left()))?;
        }
        let columns = required(schema, "schema")?.columns.map_err(Refusal::Column)?;
        let groups: Vec<Group> = required(groups, "row groups")?;
        let (rows, total) =
            (groups.iter().map(|group| group.rows).sum(), required(total, "number of rows")?);
        if u64::try_from(total) != Ok(rows) {
            bad(format!("{total} rows, its row groups have {rows}"))?;
        }
        Ok(Footer { columns, groups })
    }
}

/// Before the last eight bytes, which are the footer's length and a mark.
fn footer_bytes<R: ChunkReader>(source: &Source<R>) -> Result<bytes::Bytes, String> {
    let length = source.len();
    let start = length.checked_sub(12).ok_or_else(|| format!("{length} bytes"))? + 4;
    let tail = source.read(start, 8)?;
    match &tail[4..] {
        b"PAR1" => {}
        b"PARE" => return Err("its footer is encrypted".into()),
        _ => return Err("it does not end with PAR1".into()),
    }
    let size = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    if size as usize > MAX_PAGE {
        return Err(format!("footer of {size} bytes, at most {MAX_PAGE}"));
    }
    let Some(start) = start.checked_sub(u64::from(size)).filter(|&start| start >= 4) else {
        return Err(format!("footer of {size} bytes in a file of {length}"));
    };
    source.read(start, size as usize)
}

fn required<T>(value: Option<T>, what: &str) -> Result<T> {
    value.map_or_else(|| bad(format!("no {what}")), Ok)
}

/// The columns that are read, or why they cannot be; and what holds for every row group.
struct Schema {
    columns: Result<[Column; 3], ParquetError>,
    /// How many leaves there are, each of which has a chunk in each row group.
    leaves: usize,
}

/// An element of a schema: a column, or a group of `children` that follow it.
struct Element {
    name: Vec<u8>,
    physical: Option<i32>,
    length: i32,
    repetition: i32,
    children: Option<usize>,
    is_text: bool,
}

/// The schema's numbers for what is looked at.
const REQUIRED: i32 = 0;
const OPTIONAL: i32 = 1;
const REPEATED: i32 = 2;
const BYTE_ARRAY: i32 = 6;
const FIXED_LEN_BYTE_ARRAY: i32 = 7;
const TYPES: [&str; 8] =
    ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"];

impl Schema {
    /// Elements are in depth-first order, each before its children.
    fn read(reader: &mut Reader<'_>, field: Field) -> Result<Schema> {
        let count = reader.structs(field)?;
        if !(1..=MAX_ELEMENTS).contains(&count) {
            return bad(format!("schema of {count} elements, from 1 to {MAX_ELEMENTS}"));
        }
        let elements: Vec<Element> =
            (0..count).map(|_| Element::read(reader)).collect::<Result<_>>()?;
        let mut found = [const { None }; 3];
        // How many children are still to come of the root, and of the group in it that is open.
        let mut open = vec![elements[0].children.unwrap_or(0)];
        let mut leaves = 0;
        for element in &elements[1..] {
            while open.last() == Some(&0) {
                open.pop();
            }
            let depth = open.len();
            let Some(left) = open.last_mut() else {
                return bad("schema of more elements than its groups have children");
            };
            *left -= 1;
            let name = COLUMNS.iter().position(|name| name.as_bytes() == element.name);
            match (element.children, name) {
                (Some(children), _) => open.push(children),
                (None, Some(which)) if depth == 1 && found[which].is_none() => {
                    found[which] = Some(element.column(COLUMNS[which], leaves));
                }
                _ => {}
            }
            leaves += usize::from(element.children.is_none());
        }
        if open.iter().any(|&left| left > 0) {
            return bad("schema of fewer elements than its groups have children");
        }
        let columns = |[a, b, c]: [Option<_>; 3]| {
            let column = |column: Option<_>, which: usize| {
                column.unwrap_or(Err(ParquetError::MissingColumn(COLUMNS[which])))
            };
            Ok([column(a, 0)?, column(b, 1)?, column(c, 2)?])
        };
        Ok(Schema { columns: columns(found), leaves })
    }
}

impl Element {
    fn read(reader: &mut Reader<'_>) -> Result<Element> {
        let (mut name, mut physical, mut length, mut repetition) = (None, None, 0, REQUIRED);
        let (mut children, mut is_text) = (None, false);
        reader.fields(|reader, field| {
            match field.id {
                1 => physical = Some(reader.i32(field)?),
                2 => length = reader.i32(field)?,
                3 => repetition = reader.i32(field)?,
                4 => name = Some(reader.binary(field)?.to_vec()),
                5 => children = Some(reader.i32(field)?),
                6 => is_text |= reader.i32(field)? == 0,
                10 => {
                    // A union, of which the first is of strings.
                    reader.structure(field)?;
                    reader.fields(|reader, field| {
                        is_text |= field.id == 1;
                        reader.skip(field)
                    })?;
                }
                _ => reader.skip(field)?,
            }
            Ok(())
        })?;
        let children = match (children, physical) {
            (Some(0) | None, Some(_)) => None,
            (children, _) => match usize::try_from(children.unwrap_or(0)) {
                Ok(children) => Some(children),
                Err(_) => return bad("a group of a negative number of children"),
            },
        };
        let name = required(name, "name of a schema element")?;
        Ok(Element { name, physical, length, repetition, children, is_text })
    }

    fn column(&self, name: &'static str, index: usize) -> Result<Column, ParquetError> {
        let refused = |got: String| Err(ParquetError::ColumnType { column: name, got });
        let fixed = match self.physical.unwrap_or_default() {
            BYTE_ARRAY => None,
            FIXED_LEN_BYTE_ARRAY => match usize::try_from(self.length) {
                Ok(length) if length > 0 => Some(length),
                _ => return refused(format!("FIXED_LEN_BYTE_ARRAY of length {}", self.length)),
            },
            other => {
                let known = usize::try_from(other).ok().and_then(|other| TYPES.get(other));
                return refused(known.map_or_else(|| other.to_string(), |name| (*name).to_owned()));
            }
        };
        let optional = match self.repetition {
            REQUIRED => false,
            OPTIONAL => true,
            REPEATED => return Err(ParquetError::Nested(name)),
            other => return refused(format!("an unknown repetition, {other}")),
        };
        Ok(Column { name, index, kind: Kind { fixed, optional }, is_hex: self.is_text })
    }
}

fn read_groups(
    reader: &mut Reader<'_>,
    field: Field,
    schema: &Schema,
    file: u64,
) -> Result<Vec<Group>> {
    let count = reader.structs(field)?;
    if count > MAX_GROUPS {
        return bad(format!("{count} row groups, at most {MAX_GROUPS}"));
    }
    let Ok(columns) = &schema.columns else {
        (0..count).try_for_each(|_| reader.skip_struct())?;
        return Ok(Vec::new());
    };
    let group = |number| {
        Group::read(reader, columns, schema.leaves, file).map_err(|fault| match fault {
            Fault::Short => Fault::Short,
            Fault::Bad(reason) => Fault::Bad(format!("row group {number}: {reason}")),
        })
    };
    (1..=count).map(group).collect()
}

impl Group {
    fn read(
        reader: &mut Reader<'_>,
        columns: &[Column; 3],
        leaves: usize,
        file: u64,
    ) -> Result<Group> {
        let (mut chunks, mut rows) = ([None; 3], None);
        reader.fields(|reader, field| match field.id {
            1 => read_chunks(reader, field, columns, leaves, &mut chunks),
            3 => {
                rows = Some(reader.i64(field)?);
                Ok(())
            }
            _ => reader.skip(field),
        })?;
        let rows = required(rows, "number of rows")?;
        let Some(rows) = u64::try_from(rows).ok().filter(|&rows| rows <= MAX_GROUP_ROWS) else {
            return bad(format!("{rows} rows, from 0 to {MAX_GROUP_ROWS}"));
        };
        let mut places = [Place::default(); 3];
        for ((place, chunk), column) in places.iter_mut().zip(chunks).zip(columns) {
            let chunk = chunk.ok_or_else(|| Fault::Bad("no columns".into()))?;
            *place = chunk.place(column, rows, file)?;
        }
        Ok(Group { rows, chunks: places })
    }
}

fn read_chunks(
    reader: &mut Reader<'_>,
    field: Field,
    columns: &[Column; 3],
    leaves: usize,
    chunks: &mut [Option<Chunk>; 3],
) -> Result<()> {
    let count = reader.structs(field)?;
    if count != leaves {
        return bad(format!("{count} columns, the schema has {leaves}"));
    }
    for index in 0..count {
        match columns.iter().position(|column| column.index == index) {
            Some(which) => chunks[which] = Some(Chunk::read(reader)?),
            None => reader.skip_struct()?,
        }
    }
    Ok(())
}

/// What a footer says of a column in a row group.
#[derive(Clone, Copy, Default)]
struct Chunk {
    physical: Option<i32>,
    codec: Option<i32>,
    values: Option<i64>,
    length: Option<i64>,
    data: Option<i64>,
    dictionary: Option<i64>,
}

impl Chunk {
    fn read(reader: &mut Reader<'_>) -> Result<Chunk> {
        let mut chunk = Chunk::default();
        reader.fields(|reader, field| match field.id {
            1 => bad("its values are in another file"),
            3 => {
                reader.structure(field)?;
                reader.fields(|reader, field| chunk.read_field(reader, field))
            }
            8 | 9 => bad("its values are encrypted"),
            _ => reader.skip(field),
        })?;
        Ok(chunk)
    }

    fn read_field(&mut self, reader: &mut Reader<'_>, field: Field) -> Result<()> {
        match field.id {
            1 => self.physical = Some(reader.i32(field)?),
            4 => self.codec = Some(reader.i32(field)?),
            5 => self.values = Some(reader.i64(field)?),
            7 => self.length = Some(reader.i64(field)?),
            9 => self.data = Some(reader.i64(field)?),
            11 => self.dictionary = Some(reader.i64(field)?),
            _ => reader.skip(field)?,
        }
        Ok(())
    }

    /// A dictionary comes before the data; where its offset is not there, it is zero from some writers.
    fn place(self, column: &Column, rows: u64, file: u64) -> Result<Place> {
        let wrong = |reason: String| bad(format!("column {}: {reason}", column.name));
        let [values, length, data] =
            [(self.values, "values"), (self.length, "length"), (self.data, "offset")]
                .map(|(number, what)| required(number, what));
        let (values, length, data) = (values?, length?, data?);
        let expected = column.kind.fixed.map_or(BYTE_ARRAY, |_| FIXED_LEN_BYTE_ARRAY);
        if self.physical != Some(expected) {
            return wrong("is not of its type in the schema".into());
        }
        if u64::try_from(values) != Ok(rows) {
            return wrong(format!("{values} values in {rows} rows"));
        }
        let start = self.dictionary.filter(|at| (1..data).contains(at)).unwrap_or(data);
        let end = u64::try_from(start)
            .ok()
            .zip(u64::try_from(length).ok())
            .and_then(|(start, length)| Some((start, start.checked_add(length)?)));
        match end {
            Some((start, end)) if end <= file => {
                Ok(Place { codec: required(self.codec, "codec")?, start, end })
            }
            _ => wrong(format!("{length} bytes at {start} are not all in the file")),
        }
    }
}

#[cfg(test)]
mod tests;
