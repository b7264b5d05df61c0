//! The values of a page, one by one: bytes as they are or by dictionary, and whether they are there.
//!
//! Nothing is copied but the values that are asked for: a page states lengths, and bytes are counted
//! against each before it is believed.
//!
//! Apache Parquet format: Encodings.md, "PLAIN", "Dictionary Encoding" and "RLE / Bit-Packing Hybrid"

use bytes::Bytes;
use core::fmt;
use core::ops::Range;

/// What a page says that is not so.
type Fault = String;

/// What a column's pages hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// The length of values that all have the same.
    pub(super) fixed: Option<usize>,
    /// Whether values may be missing.
    pub(super) optional: bool,
}

/// The number of an encoding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Encoding(pub(super) u32);

const PLAIN: Encoding = Encoding(0);
const PLAIN_DICTIONARY: Encoding = Encoding(2);
const RLE: Encoding = Encoding(3);
const RLE_DICTIONARY: Encoding = Encoding(8);
const ENCODINGS: [&str; 10] = [
    "PLAIN",
    "1",
    "PLAIN_DICTIONARY",
    "RLE",
    "BIT_PACKED",
    "DELTA_BINARY_PACKED",
    "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BYTE_ARRAY",
    "RLE_DICTIONARY",
    "BYTE_STREAM_SPLIT",
];

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ENCODINGS.get(self.0 as usize) {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

/// The distinct values of a column's chunk.
#[derive(Default)]
pub(super) struct Dictionary {
    plain: Plain,
    count: usize,
    /// Where each begins, of values that have a length of their own.
    starts: Vec<u32>,
}

impl Dictionary {
    /// # Errors
    /// It is of an encoding that is not read, or has fewer values than it states.
    pub(super) fn new(
        kind: Kind,
        bytes: Bytes,
        count: u32,
        encoding: Encoding,
    ) -> Result<Dictionary, Fault> {
        if !matches!(encoding, PLAIN | PLAIN_DICTIONARY) {
            return Err(not_read(encoding));
        }
        let count = count as usize;
        if count > bytes.len() / kind.fixed.unwrap_or(4) {
            return Err(short());
        }
        let mut plain = Plain { bytes, at: 0, fixed: kind.fixed };
        let mut starts = Vec::new();
        if kind.fixed.is_none() {
            starts.reserve_exact(count);
            for _ in 0..count {
                starts.push(plain.at as u32); // a page is shorter than 2^32 bytes
                plain.next()?;
            }
        }
        Ok(Dictionary { plain, count, starts })
    }

    /// # Correctness
    /// `new` has read every value, or counted the bytes of all.
    fn value(&mut self, index: u32) -> Result<Bytes, Fault> {
        let at = index as usize;
        if at >= self.count {
            return Err(format!("no value {index} in the dictionary"));
        }
        self.plain.at = match self.plain.fixed {
            Some(length) => at * length,
            None => self.starts[at] as usize,
        };
        self.plain.next()
    }
}

/// Where a page says which of its values are there.
#[derive(Clone, Copy)]
pub(super) enum Levels {
    /// At the front of what is unpacked, after their length, in this encoding.
    Counted(Encoding),
    /// After `before` bytes, not compressed.
    Apart { before: usize, length: usize },
}

/// What is left of a data page.
pub(super) struct DataPage {
    left: u32,
    levels: Option<Hybrid>,
    values: Values,
}

enum Values {
    Plain(Plain),
    Indices(Hybrid),
}

impl DataPage {
    /// # Errors
    /// It is of an encoding that is not read, or its parts do not fit in it.
    pub(super) fn new(
        kind: Kind,
        bytes: Bytes,
        levels: Levels,
        count: u32,
        encoding: Encoding,
    ) -> Result<DataPage, Fault> {
        let mut rest = bytes;
        let levels = match levels {
            Levels::Counted(_) if !kind.optional => Bytes::new(),
            Levels::Counted(RLE) => {
                let length = split(&mut rest, 4)?;
                split(&mut rest, little_endian(&length) as usize)?
            }
            Levels::Counted(other) => return Err(not_read(other)),
            Levels::Apart { before, length } => {
                split(&mut rest, before)?;
                split(&mut rest, length)?
            }
        };
        let values = match encoding {
            PLAIN => Values::Plain(Plain { bytes: rest, at: 0, fixed: kind.fixed }),
            PLAIN_DICTIONARY | RLE_DICTIONARY => {
                let width = if rest.is_empty() { 0 } else { split(&mut rest, 1)?[0] };
                Values::Indices(Hybrid::new(rest, width)?)
            }
            other => return Err(not_read(other)),
        };
        let levels = if kind.optional { Some(Hybrid::new(levels, 1)?) } else { None };
        Ok(DataPage { left: count, levels, values })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The next value, none if it is missing.
    ///
    /// # Errors
    /// The page ends early, or speaks of a value that the dictionary lacks.
    pub(super) fn next(&mut self, dictionary: &mut Dictionary) -> Result<Option<Bytes>, Fault> {
        self.left = self.left.checked_sub(1).ok_or_else(short)?;
        if let Some(levels) = &mut self.levels
            && levels.next()? == 0
        {
            return Ok(None);
        }
        match &mut self.values {
            Values::Plain(plain) => plain.next().map(Some),
            Values::Indices(indices) => dictionary.value(indices.next()?).map(Some),
        }
    }
}

fn not_read(encoding: Encoding) -> Fault {
    format!("encoding {encoding} is not read; PLAIN and dictionaries are")
}

fn short() -> Fault {
    "page ends early".into()
}

/// Takes bytes off the front.
fn split(bytes: &mut Bytes, length: usize) -> Result<Bytes, Fault> {
    if length > bytes.len() {
        return Err(short());
    }
    Ok(bytes.split_to(length))
}

/// At most four bytes.
fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Values one after the other, each after its length where it has one of its own.
#[derive(Default)]
struct Plain {
    bytes: Bytes,
    at: usize,
    fixed: Option<usize>,
}

impl Plain {
    fn next(&mut self) -> Result<Bytes, Fault> {
        let length = match self.fixed {
            Some(length) => length,
            None => {
                let range = self.take(4)?;
                little_endian(&self.bytes[range]) as usize
            }
        };
        let range = self.take(length)?;
        Ok(self.bytes.slice(range))
    }

    fn take(&mut self, length: usize) -> Result<Range<usize>, Fault> {
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        let range = self.at..end.ok_or_else(short)?;
        self.at = range.end;
        Ok(range)
    }
}

/// Small numbers of one width: runs of the same, and runs of packed bits.
struct Hybrid {
    bytes: Bytes,
    at: usize,
    width: u8,
    run: Run,
}

enum Run {
    Repeated {
        value: u32,
        left: u32,
    },
    /// The next number's first bit, counted from the front of the bytes, and where the run ends.
    Packed {
        bit: usize,
        end: usize,
    },
}

impl Hybrid {
    fn new(bytes: Bytes, width: u8) -> Result<Hybrid, Fault> {
        if width > 32 {
            return Err(format!("numbers of {width} bits"));
        }
        Ok(Hybrid { bytes, at: 0, width, run: Run::Repeated { value: 0, left: 0 } })
    }

    fn next(&mut self) -> Result<u32, Fault> {
        loop {
            match &mut self.run {
                Run::Repeated { value, left } if *left > 0 => {
                    *left -= 1;
                    return Ok(*value);
                }
                Run::Packed { bit, end } if *bit < *end => {
                    let first = *bit;
                    *bit += usize::from(self.width);
                    return self.bits(first);
                }
                _ => self.next_run()?,
            }
        }
    }

    /// # Correctness
    /// The last run may end before its last group of eight is complete; what is read must be there.
    fn bits(&self, first: usize) -> Result<u32, Fault> {
        let bit = |i: usize| {
            let byte = self.bytes.get((first + i) / 8).ok_or_else(short)?;
            Ok::<u32, Fault>(u32::from(byte >> ((first + i) % 8) & 1) << i)
        };
        (0..usize::from(self.width)).try_fold(0, |number, i| Ok(number | bit(i)?))
    }

    fn next_run(&mut self) -> Result<(), Fault> {
        let header = self.header()?;
        let width = usize::from(self.width);
        if header >> 1 == 0 {
            return Err("a run of nothing".into());
        }
        if header & 1 == 0 {
            let end = self.at + width.div_ceil(8);
            let value = little_endian(self.bytes.get(self.at..end).ok_or_else(short)?);
            self.at = end;
            self.run = Run::Repeated { value, left: header >> 1 };
            return Ok(());
        }
        // Numbers of no bits are zeros, of which a run may have any number.
        let groups = header >> 1;
        self.run = match width {
            0 => Run::Repeated { value: 0, left: groups.saturating_mul(8) },
            _ => {
                let rest = (self.bytes.len() - self.at) / width + 1;
                let bit = 8 * self.at;
                let length = width * rest.min(groups as usize);
                self.at = (self.at + length).min(self.bytes.len());
                Run::Packed { bit, end: bit + 8 * length }
            }
        };
        Ok(())
    }

    /// A number in base 128, least significant first.
    fn header(&mut self) -> Result<u32, Fault> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(short)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| "a run that is too long".into());
            }
        }
        Err("a run that is too long".into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn runs_are_read() {
        // Three times 5; eight packed numbers of three bits, 0 to 7, as in the format's text.
        let bytes = Bytes::from_static(&[6, 5, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        let mut hybrid = Hybrid::new(bytes, 3).unwrap();
        let read: Vec<u32> = (0..11).map(|_| hybrid.next().unwrap()).collect();
        assert_eq!(read, [5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(hybrid.next().is_err());
        for bad in [&[0][..], &[1], &[6], &[3], &[0xff; 6], &[3, 0xff]] {
            let mut hybrid = Hybrid::new(Bytes::copy_from_slice(bad), 12).unwrap();
            assert!((0..9).any(|_| hybrid.next().is_err()), "{bad:?}");
        }
        assert!(Hybrid::new(Bytes::new(), 33).is_err());
    }
}
