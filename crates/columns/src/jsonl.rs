//! Lines of JSON objects.

use crate::Column;
use crate::block::{Block, PART_BYTES, PART_ROWS, Part, Raw, Value};
use crate::error::Error;
use crate::rows::{MAX_LINE, Parts};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, Read};

/// Lines being read, in bounded memory: of a line that is too long, nothing is kept.
pub(crate) struct Lines<R> {
    reader: R,
    columns: &'static [Column],
    /// Blank lines that were read: rows with a fault if another line follows, else the file's end.
    blank: u64,
    /// The line after them.
    next: Option<Result<Vec<u8>, String>>,
    is_first: bool,
    /// What comes after the lines that were read.
    fault: Option<Error>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R, columns: &'static [Column]) -> Lines<R> {
        Lines { reader, columns, blank: 0, next: None, is_first: true, fault: None }
    }

    fn next_line(&mut self) -> Result<Option<Result<Vec<u8>, String>>, Error> {
        while self.next.is_none() {
            match self.read_line().map_err(Error::read)? {
                None => return Ok(None),
                Some(Ok(line)) if line.trim_ascii().is_empty() => self.blank += 1,
                line => self.next = line,
            }
        }
        if self.blank > 0 {
            self.blank -= 1;
            return Ok(Some(Err("the line is blank, expected a JSON object".into())));
        }
        Ok(self.next.take())
    }

    /// Reads one line without its end.
    fn read_line(&mut self) -> std::io::Result<Option<Result<Vec<u8>, String>>> {
        let mut line = Vec::new();
        self.reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() > MAX_LINE {
            self.reader.skip_until(b'\n')?;
            return Ok(Some(Err(format!("line is longer than {MAX_LINE} bytes"))));
        }
        if std::mem::take(&mut self.is_first) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        Ok(Some(Ok(line)))
    }
}

impl<R: BufRead + Send> Parts for Lines<R> {
    fn next_part(&mut self) -> Result<Option<Part>, Error> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < PART_ROWS && bytes < PART_BYTES && self.fault.is_none() {
            match self.next_line() {
                Ok(Some(line)) => {
                    bytes += line.as_ref().map_or(0, Vec::len);
                    lines.push(line);
                }
                Ok(None) => break,
                Err(fault) => self.fault = Some(fault),
            }
        }
        if let Some(fault) = self.fault.take_if(|_| lines.is_empty()) {
            return Err(fault);
        }
        Ok((!lines.is_empty()).then_some(Part(Raw::Lines(lines, self.columns))))
    }
}

/// Decodes lines into rows.
pub(crate) fn decode(lines: &[Result<Vec<u8>, String>], columns: &'static [Column]) -> Block {
    let mut block = Block::new(columns.len());
    for line in lines {
        match line.as_ref().map_err(Clone::clone).and_then(|line| parse(line, columns)) {
            Ok(fields) => block.push(columns, |i| fields[i].value()),
            Err(fault) => block.push_fault(&fault),
        }
    }
    block
}

/// Reads an object. The position in a fault is one in the row, which is one line of many.
fn parse<'de>(line: &'de [u8], columns: &[Column]) -> Result<Vec<Field<'de>>, String> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(format!("the line is not a JSON object, expected one with {}", names(columns)));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    Row(columns)
        .deserialize(&mut deserializer)
        .and_then(|fields| deserializer.end().map(|()| fields))
        .map_err(|error| error.to_string().replace(" at line 1 column", " at column"))
}

/// The names of the columns that must be there.
fn names(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().filter(|c| c.required).map(|c| c.name).collect();
    names.join(", ")
}

/// A field's value.
#[derive(Clone)]
enum Field<'de> {
    Missing,
    Null,
    Text(Cow<'de, str>),
    Wrong(&'static str),
}

impl Field<'_> {
    fn value(&self) -> Value<'_> {
        match self {
            Field::Missing => Value::Missing,
            Field::Null => Value::Null,
            Field::Text(text) => Value::Text(text.as_bytes()),
            Field::Wrong(found) => Value::Wrong(found),
        }
    }
}

/// Finds the columns among an object's fields and passes over the others.
struct Row<'a>(&'a [Column]);

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = Vec<Field<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = Vec<Field<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = vec![Field::Missing; self.0.len()];
        while let Some(name) = map.next_key_seed(Name)? {
            let Some(at) = self.0.iter().position(|column| column.name == name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if !matches!(fields[at], Field::Missing) {
                return Err(A::Error::custom(format_args!("{name} is there twice")));
            }
            fields[at] = map.next_value_seed(AnyField)?;
        }
        Ok(fields)
    }
}

/// A field's name, copied only where it has escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// A value of any type, of which only strings are kept.
struct AnyField;

impl<'de> DeserializeSeed<'de> for AnyField {
    type Value = Field<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyField {
    type Value = Field<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Field::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Field::Wrong("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Field::Wrong("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Field::Wrong("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Field::Wrong("a number"))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Field::Wrong("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Field::Wrong("an object"))
    }
}
