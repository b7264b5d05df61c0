//! CBOR as the ledger reads it: where an item ends, and a reader whose errors name fields.
//!
//! RFC 8949 §3

use super::CardanoError;
use minicbor::Decoder;
use minicbor::data::Type;

/// Items that are nested deeper are refused: a block of 90 kB cannot hold them.
const MAX_DEPTH: usize = 1 << 17;

/// What is open around an item.
enum Open {
    /// An array or map of known length: items left, at least one.
    Items(u64),
    /// An array of indefinite length.
    Array,
    /// A map of indefinite length, and whether a key waits for its value.
    Map { value_next: bool },
    /// A byte or text string of indefinite length, of this major type.
    Chunks(u8),
}

/// Where the item ends that starts at `start`; it is well formed and whole.
pub(super) fn end_of_item(bytes: &[u8], start: usize) -> Result<usize, CardanoError> {
    let mut at = start;
    let mut open: Vec<Open> = Vec::new();
    loop {
        let head_at = at;
        let fail = |reason| CardanoError::Item { at: head_at, reason };
        let head = *bytes.get(at).ok_or_else(|| fail("the input ends inside an item"))?;
        at += 1;
        let (major, info) = (head >> 5, head & 31);
        let argument = argument(bytes, &mut at, info).map_err(fail)?;
        if let Some(Open::Chunks(string)) = open.last()
            && head != 0xff
            && (major != *string || argument.is_none())
        {
            return Err(fail("a string of indefinite length holds something else"));
        }
        let opened = match (major, argument) {
            (0 | 1, Some(_)) => None,
            (2 | 3, Some(length)) => {
                let left = bytes.len() - at;
                let length = usize::try_from(length).ok().filter(|length| *length <= left);
                at += length.ok_or_else(|| fail("the input ends inside a string"))?;
                None
            }
            (2 | 3, None) => Some(Open::Chunks(major)),
            (4 | 5, Some(items)) => {
                let items = items.checked_mul(u64::from(major) - 3);
                match items.filter(|items| *items <= (bytes.len() - at) as u64) {
                    Some(0) => None,
                    Some(items) => Some(Open::Items(items)),
                    None => return Err(fail("more elements than bytes are left")),
                }
            }
            (4, None) => Some(Open::Array),
            (5, None) => Some(Open::Map { value_next: false }),
            // The tagged item follows; it cannot be a break, which is checked where the tag stands.
            (6, Some(_)) if bytes.get(at) == Some(&0xff) => {
                return Err(fail("a tag without an item"));
            }
            (6, Some(_)) => continue,
            (7, Some(_)) => None,
            (7, None) => match open.pop() {
                Some(Open::Array | Open::Chunks(_) | Open::Map { value_next: false }) => None,
                _ => return Err(fail("a break where no array, map or string is open")),
            },
            _ => return Err(fail("a length is missing")),
        };
        if let Some(opened) = opened {
            if open.len() == MAX_DEPTH {
                return Err(fail("nested too deeply"));
            }
            open.push(opened);
            continue;
        }
        if close(&mut open) {
            return Ok(at);
        }
    }
}

/// Counts an item that is whole, and what is whole with it; says whether nothing is open.
fn close(open: &mut Vec<Open>) -> bool {
    loop {
        match open.last_mut() {
            None => return true,
            Some(Open::Items(1)) => {
                open.pop();
            }
            Some(Open::Items(left)) => {
                *left -= 1;
                return false;
            }
            Some(Open::Map { value_next }) => {
                *value_next = !*value_next;
                return false;
            }
            Some(Open::Array | Open::Chunks(_)) => return false,
        }
    }
}

/// The number in a head or after it; none for indefinite lengths and breaks.
fn argument(bytes: &[u8], at: &mut usize, info: u8) -> Result<Option<u64>, &'static str> {
    let length = match info {
        0..=23 => return Ok(Some(info.into())),
        24..=27 => 1usize << (info - 24),
        31 => return Ok(None),
        _ => return Err("a reserved length"),
    };
    let number = bytes.get(*at..*at + length).ok_or("the input ends inside a number")?;
    *at += length;
    Ok(Some(number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))))
}

/// A decoder whose errors name fields.
pub(super) struct Reader<'b>(Decoder<'b>);

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader(Decoder::new(bytes))
    }

    fn fail(field: &'static str) -> impl Fn(minicbor::decode::Error) -> CardanoError {
        move |error| CardanoError::Cbor { field, reason: error.to_string() }
    }

    /// How many bytes have been read.
    pub(super) fn position(&self) -> usize {
        self.0.position()
    }

    /// The type of what follows.
    pub(super) fn kind(&mut self, field: &'static str) -> Result<Type, CardanoError> {
        self.0.datatype().map_err(Self::fail(field))
    }

    /// An array's length; none where it is indefinite.
    pub(super) fn array(&mut self, field: &'static str) -> Result<Option<u64>, CardanoError> {
        self.0.array().map_err(Self::fail(field))
    }

    /// An array of so many elements, whose length may be indefinite, as the ledger's
    /// `decodeRecordNamed` reads it.
    pub(super) fn record<T>(
        &mut self,
        (field, expected): (&'static str, u64),
        elements: impl FnOnce(&mut Self) -> Result<T, CardanoError>,
    ) -> Result<T, CardanoError> {
        match self.array(field)? {
            Some(got) if got != expected => Err(CardanoError::Elements { field, expected, got }),
            Some(_) => elements(self),
            None => {
                let read = elements(self)?;
                self.end(field, expected)?;
                Ok(read)
            }
        }
    }

    /// The break that ends an array of indefinite length.
    pub(super) fn end(&mut self, field: &'static str, expected: u64) -> Result<(), CardanoError> {
        if self.kind(field)? != Type::Break {
            return Err(CardanoError::MoreElements { field, expected });
        }
        self.0.set_position(self.0.position() + 1);
        Ok(())
    }

    /// An array of so many elements, whose length must be definite, as `enforceSize` reads it.
    pub(super) fn definite(
        &mut self,
        field: &'static str,
        expected: u64,
    ) -> Result<(), CardanoError> {
        match self.array(field)? {
            Some(got) if got == expected => Ok(()),
            Some(got) => Err(CardanoError::Elements { field, expected, got }),
            None => Err(CardanoError::IndefiniteLength(field)),
        }
    }

    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, CardanoError> {
        self.0.u64().map_err(Self::fail(field))
    }

    pub(super) fn small_number(&mut self, field: &'static str) -> Result<u32, CardanoError> {
        self.0.u32().map_err(Self::fail(field))
    }

    /// A byte string of any length.
    pub(super) fn slice(&mut self, field: &'static str) -> Result<&'b [u8], CardanoError> {
        self.0.bytes().map_err(Self::fail(field))
    }

    /// The byte string of encoded CBOR, `24(bytes)`. RFC 8949 §3.4.5.1
    pub(super) fn encoded(&mut self, field: &'static str) -> Result<&'b [u8], CardanoError> {
        if self.0.tag().map_err(Self::fail(field))?.as_u64() != 24 {
            return Err(CardanoError::Form("its CBOR tag is not 24"));
        }
        self.slice(field)
    }

    pub(super) fn bytes<const N: usize>(
        &mut self,
        field: &'static str,
    ) -> Result<[u8; N], CardanoError> {
        let bytes = self.slice(field)?;
        bytes.try_into().map_err(|_| CardanoError::Length { field, expected: N, got: bytes.len() })
    }

    pub(super) fn bytes_or_null(
        &mut self,
        field: &'static str,
    ) -> Result<Option<[u8; 32]>, CardanoError> {
        if self.kind(field)? == Type::Null {
            self.0.null().map_err(Self::fail(field))?;
            return Ok(None);
        }
        self.bytes(field).map(Some)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn end(hex: &str) -> Result<usize, &'static str> {
        end_of_item(&hex::decode(hex).unwrap(), 0).map_err(|error| match error {
            CardanoError::Item { reason, .. } => reason,
            _ => "another error",
        })
    }

    #[test]
    fn items_end_where_they_end() {
        for whole in [
            "00",
            "1818",
            "1b0000000000000001",
            "20",
            "40",
            "43010203",
            "5f4101420203ff",
            "7f6161ff",
            "80",
            "820102",
            "9f01ff",
            "9fff",
            "82019f02ff",
            "a0",
            "a10102",
            "bf0102ff",
            "bfff",
            "c100",
            "d8184101",
            "d8189f01ff",
            "f4",
            "f6",
            "f820",
            "f90000",
            "fb0000000000000000",
            "8281818181a1018041ff",
            "5fff",
        ] {
            let expected = Ok(whole.len() / 2);
            assert_eq!(end(whole), expected, "{whole}");
            assert_eq!(end(&format!("{whole}00")), expected, "{whole}");
            for cut in 0..whole.len() / 2 {
                assert!(end(&whole[..2 * cut]).is_err(), "{whole} cut to {cut}");
            }
        }
        for bad in [
            "ff",
            "81ff",
            "a1ff00",
            "a101ff",
            "bf01ff",
            "c1ff",
            "81c1ff",
            "1c",
            "3f",
            "1f",
            "df",
            "5f01ff",
            "5f6161ff",
            "5f5fffff",
            "9bffffffffffffffff",
            "bb8000000000000000",
            "5bffffffffffffffff",
            "8241",
        ] {
            assert!(end(bad).is_err(), "{bad}");
        }
    }

    /// Nothing hostile takes long or much memory.
    #[test]
    fn depth_is_bounded() {
        let mut deep = vec![0x9f; 1 << 20];
        assert!(end_of_item(&deep, 0).is_err());
        deep = vec![0x81; 1 << 20];
        assert!(end_of_item(&deep, 0).is_err());
        deep = vec![0x81; 60_000];
        deep.push(0);
        assert_eq!(end_of_item(&deep, 0), Ok(60_001));
    }
}
