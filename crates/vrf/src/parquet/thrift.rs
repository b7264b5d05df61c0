//! Thrift's compact protocol, as far as the headers of Parquet need it.
//!
//! Decoding is our own because these bytes are hostile: whatever they state, the work is linear in their
//! number, nothing is reserved for a list before its elements are there, and recursion has a bound.
//!
//! Apache Thrift, "Thrift Compact protocol encoding"

/// The deepest nesting of what is skipped.
const MAX_DEPTH: u8 = 16;

/// Why bytes cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// There are too few of them.
    Short,
    /// They are wrong, and how.
    Bad(String),
}

impl From<Fault> for String {
    fn from(fault: Fault) -> String {
        match fault {
            Fault::Short => "ends early".into(),
            Fault::Bad(reason) => reason,
        }
    }
}

pub(super) type Result<T, E = Fault> = core::result::Result<T, E>;

/// A [`Fault::Bad`].
pub(super) fn bad<T>(reason: impl Into<String>) -> Result<T> {
    Err(Fault::Bad(reason.into()))
}

/// The type of a value on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    True,
    False,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List,
    Set,
    Map,
    Struct,
    Uuid,
}

const WIRES: [Wire; 13] = [
    Wire::True,
    Wire::False,
    Wire::Byte,
    Wire::I16,
    Wire::I32,
    Wire::I64,
    Wire::Double,
    Wire::Binary,
    Wire::List,
    Wire::Set,
    Wire::Map,
    Wire::Struct,
    Wire::Uuid,
];

impl Wire {
    fn new(nibble: u8) -> Result<Wire> {
        let wire = usize::from(nibble).checked_sub(1).and_then(|at| WIRES.get(at));
        wire.copied().map_or_else(|| bad(format!("no type has number {nibble}")), Ok)
    }
}

/// A field of a struct, whose value comes next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) id: i16,
    wire: Wire,
}

impl Field {
    fn expect(self, wire: Wire) -> Result<()> {
        if self.wire != wire {
            return bad(format!("field {} is {:?}, expected {wire:?}", self.id, self.wire));
        }
        Ok(())
    }
}

/// Reads from the front of bytes.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Reads a struct; `field` reads or skips the value of each field.
    pub(super) fn fields(
        &mut self,
        mut field: impl FnMut(&mut Reader<'a>, Field) -> Result<()>,
    ) -> Result<()> {
        let mut last = 0;
        while let Some(next) = self.field(last)? {
            field(self, next)?;
            last = next.id;
        }
        Ok(())
    }

    fn field(&mut self, last: i16) -> Result<Option<Field>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let wire = Wire::new(head & 0x0f)?;
        let id = match head >> 4 {
            0 => i16::try_from(self.zigzag()?).ok(),
            distance => last.checked_add(i16::from(distance)),
        };
        match id {
            Some(id) => Ok(Some(Field { id, wire })),
            None => bad("the number of a field is not of 16 bits"),
        }
    }

    pub(super) fn i32(&mut self, field: Field) -> Result<i32> {
        field.expect(Wire::I32)?;
        let number = self.zigzag()?;
        i32::try_from(number)
            .or_else(|_| bad(format!("field {} is {number}, not of 32 bits", field.id)))
    }

    pub(super) fn i64(&mut self, field: Field) -> Result<i64> {
        field.expect(Wire::I64)?;
        self.zigzag()
    }

    pub(super) fn bool(&mut self, field: Field) -> Result<bool> {
        match field.wire {
            Wire::True => Ok(true),
            _ => field.expect(Wire::False).map(|()| false),
        }
    }

    pub(super) fn binary(&mut self, field: Field) -> Result<&'a [u8]> {
        field.expect(Wire::Binary)?;
        self.counted()
    }

    pub(super) fn structure(&mut self, field: Field) -> Result<()> {
        field.expect(Wire::Struct)
    }

    /// Begins a list of structs and says how many there are, which is no more than bytes are left.
    pub(super) fn structs(&mut self, field: Field) -> Result<usize> {
        field.expect(Wire::List)?;
        match self.list()? {
            (0, _) => Ok(0),
            (count, Wire::Struct) => Ok(count),
            (_, wire) => bad(format!("field {} is a list of {wire:?}, expected Struct", field.id)),
        }
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self, field: Field) -> Result<()> {
        match field.wire {
            Wire::True | Wire::False => Ok(()),
            wire => self.skip_value(wire, MAX_DEPTH),
        }
    }

    /// Passes over a struct that is an element of a list.
    pub(super) fn skip_struct(&mut self) -> Result<()> {
        self.skip_value(Wire::Struct, MAX_DEPTH)
    }

    /// # Correctness
    /// Each value that is no field has at least one byte, and a field has one before it: the work is
    /// linear in the bytes passed over.
    fn skip_value(&mut self, wire: Wire, depth: u8) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return bad(format!("values nested deeper than {MAX_DEPTH}"));
        };
        match wire {
            Wire::True | Wire::False | Wire::Byte => self.take(1).map(|_| ()),
            Wire::I16 | Wire::I32 | Wire::I64 => self.varint().map(|_| ()),
            Wire::Double => self.take(8).map(|_| ()),
            Wire::Uuid => self.take(16).map(|_| ()),
            Wire::Binary => self.counted().map(|_| ()),
            Wire::List | Wire::Set => {
                let (count, wire) = self.list()?;
                (0..count).try_for_each(|_| self.skip_value(wire, depth))
            }
            Wire::Map => self.skip_map(depth),
            Wire::Struct => self.fields(|reader, field| match field.wire {
                Wire::True | Wire::False => Ok(()),
                wire => reader.skip_value(wire, depth),
            }),
        }
    }

    fn skip_map(&mut self, depth: u8) -> Result<()> {
        let count = self.varint()?;
        if count == 0 {
            return Ok(());
        }
        let types = self.byte()?;
        let (key, value) = (Wire::new(types >> 4)?, Wire::new(types & 0x0f)?);
        for _ in 0..self.count(count)? {
            self.skip_value(key, depth)?;
            self.skip_value(value, depth)?;
        }
        Ok(())
    }

    /// The number and the type of a list's elements.
    fn list(&mut self) -> Result<(usize, Wire)> {
        let head = self.byte()?;
        if head == 0 {
            return Ok((0, Wire::Byte)); // an empty list, as some write it
        }
        let wire = Wire::new(head & 0x0f)?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        Ok((self.count(count)?, wire))
    }

    /// A number of elements, each of at least one byte.
    fn count(&self, count: u64) -> Result<usize> {
        match usize::try_from(count) {
            Ok(count) if count <= self.left() => Ok(count),
            _ => Err(Fault::Short),
        }
    }

    /// Bytes after their number.
    fn counted(&mut self) -> Result<&'a [u8]> {
        let length = self.varint()?;
        self.take(usize::try_from(length).map_err(|_| Fault::Short)?)
    }

    fn zigzag(&mut self) -> Result<i64> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        bad("a number of more than 64 bits")
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        if length > self.left() {
            return Err(Fault::Short);
        }
        let taken = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn skip_all(bytes: &[u8]) -> Result<usize> {
        let mut reader = Reader::new(bytes);
        reader.skip_struct()?;
        Ok(reader.position())
    }

    #[test]
    fn values_are_read() {
        // 1: i32 -3, 2: i64 300, 3: true, 20: "ab", 21: false, 22: two structs.
        let bytes = [
            0x15, 5, 0x16, 0xd8, 4, 0x11, 0x08, 40, 2, b'a', b'b', 0x12, 0x19, 0x2c, 0, 0x11, 0, 0,
        ];
        let mut reader = Reader::new(&bytes);
        let mut seen = Vec::new();
        let read = |reader: &mut Reader<'_>, field: Field| {
            let text = match field.id {
                1 => reader.i32(field)?.to_string(),
                2 => reader.i64(field)?.to_string(),
                3 | 21 => reader.bool(field)?.to_string(),
                20 => String::from_utf8(reader.binary(field)?.to_vec()).unwrap(),
                _ => {
                    let count = reader.structs(field)?;
                    (0..count).try_for_each(|_| reader.skip_struct())?;
                    count.to_string()
                }
            };
            seen.push(text);
            Ok(())
        };
        reader.fields(read).unwrap();
        assert_eq!(seen, ["-3", "300", "true", "ab", "false", "2"]);
        assert_eq!(reader.left(), 0);
        assert_eq!(skip_all(&bytes), Ok(bytes.len()));
        for length in 0..bytes.len() {
            assert_eq!(skip_all(&bytes[..length]), Err(Fault::Short));
        }
    }

    #[test]
    fn what_is_unknown_is_passed_over() {
        // A byte, a double, a set of true and false, a map of bytes to empty structs, a uuid, an empty
        // list of no type, an empty map.
        let mut bytes = vec![0x13, 9, 0x17];
        bytes.extend([0; 8]);
        bytes.extend([0x1a, 0x21, 1, 0, 0x1b, 2, 0x3c, 7, 0, 8, 0, 0x1d]);
        bytes.extend([0; 16]);
        bytes.extend([0x19, 0, 0x1b, 0, 0]);
        assert_eq!(skip_all(&bytes), Ok(bytes.len()));
    }

    #[test]
    fn hostile_bytes_are_refused() {
        let nested = |depth: usize| [vec![0x1c; depth], vec![0; depth + 1]].concat();
        assert!(skip_all(&nested(15)).is_ok());
        let lists = [&[0x19][..], &[0x19; 4096]].concat();
        for (bytes, expected) in [
            (nested(16), "values nested deeper than 16"),
            (nested(1 << 20), "values nested deeper than 16"),
            (lists, "values nested deeper than 16"),
            (vec![0x1e], "no type has number 14"),
            (vec![0x1f], "no type has number 15"),
            (vec![0x10], "no type has number 0"),
            (vec![0x19, 0x10], "no type has number 0"),
            // Lists and maps of more elements than bytes.
            (vec![0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0], "ends early"),
            (vec![0x19, 0xf2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0], "ends early"),
            (vec![0x1b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x11, 0], "ends early"),
            (vec![0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "ends early"),
            (
                vec![0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
                "a number of more",
            ),
            ([vec![0x16], vec![0x80; 99]].concat(), "a number of more than 64 bits"),
            (vec![0x03, 0x80, 0x80, 0x04, 0], "the number of a field is not of 16 bits"),
            (vec![0x03, 0xfe, 0xff, 0x03, 0, 0x13, 0], "the number of a field is not of 16 bits"),
        ] {
            let fault = String::from(skip_all(&bytes).unwrap_err());
            assert!(fault.starts_with(expected), "{fault}, expected {expected}");
        }
        let typed = |bytes: &[u8], read: fn(&mut Reader<'_>, Field) -> Result<()>| {
            String::from(Reader::new(bytes).fields(read).unwrap_err())
        };
        assert_eq!(typed(&[0x16, 0], |r, f| r.i32(f).map(|_| ())), "field 1 is I64, expected I32");
        assert_eq!(typed(&[0x15, 0], |r, f| r.i64(f).map(|_| ())), "field 1 is I32, expected I64");
        assert_eq!(
            typed(&[0x15, 0x80, 0x80, 0x80, 0x80, 0x10], |r, f| r.i32(f).map(|_| ())),
            "field 1 is 2147483648, not of 32 bits"
        );
        assert_eq!(
            typed(&[0x19, 0x15, 0], |r, f| r.structs(f).map(|_| ())),
            "field 1 is a list of I32, expected Struct"
        );
        assert_eq!(
            typed(&[0x12], |r, f| r.binary(f).map(|_| ())),
            "field 1 is False, expected Binary"
        );
    }
}
