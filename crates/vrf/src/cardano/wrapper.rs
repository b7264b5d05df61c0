//! Where a header is found: alone, in its block, and in the node's wrappers around either.
//!
//! ouroboros-consensus, `Ouroboros.Consensus.HardFork.Combinator.Serialisation`; golden files in
//! `ouroboros-consensus-cardano/golden/cardano`

use super::cbor::{Reader, end_of_item};
use super::{CardanoError, Era, Header};
use minicbor::data::Type;

/// What a header was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The header alone.
    Header,
    /// A header in the wrapper of the node-to-node protocol: `[era, 24(bytes)]`.
    WrappedHeader,
    /// A block alone, an array that begins with its header.
    Block,
    /// A block in the wrapper of the hard-fork combinator, as on a node's disk: `[era, block]`.
    EraBlock,
    /// The same as encoded CBOR, as nodes send it to each other: `24(bytes)`.
    EncodedBlock,
}

/// A header that has been found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapped<'b> {
    pub(super) form: Form,
    /// What the wrapper says.
    pub(super) era: Option<Era>,
    pub(super) header: &'b [u8],
}

impl<'b> Wrapped<'b> {
    /// Finds the header of one whole item.
    pub(super) fn find(bytes: &'b [u8]) -> Result<Wrapped<'b>, CardanoError> {
        // A bare header is left to its own reader, whose errors name fields.
        if looks_like_a_header(bytes) {
            return Ok(Wrapped { form: Form::Header, era: None, header: bytes });
        }
        match bytes.len() - end_of_item(bytes, 0)? {
            0 => Wrapped::find_in_item(bytes),
            trailing => Err(CardanoError::TrailingBytes(trailing)),
        }
    }

    /// The same where the bytes are known to be one whole item.
    pub(super) fn find_in_item(bytes: &'b [u8]) -> Result<Wrapped<'b>, CardanoError> {
        let mut r = Reader::new(bytes);
        match r.kind("wrapper")? {
            Type::Tag => {
                let encoded = r.encoded("wrapper")?;
                let inner = Wrapped::find(encoded)?;
                match inner.form {
                    Form::EraBlock => Ok(Wrapped { form: Form::EncodedBlock, ..inner }),
                    _ => Err(CardanoError::Form("CBOR tag 24 holds something else than a block")),
                }
            }
            Type::Array | Type::ArrayIndef => {
                r.array("wrapper")?;
                match r.kind("wrapper")? {
                    Type::U8 | Type::U16 | Type::U32 | Type::U64 => of_era(bytes),
                    Type::Array | Type::ArrayIndef => {
                        let header = header_at(bytes, r.position())?;
                        Ok(Wrapped { form: Form::Block, era: None, header })
                    }
                    _ => Err(CardanoError::Form("the first element is neither array nor number")),
                }
            }
            _ => Err(CardanoError::Form("the item is neither an array nor CBOR tag 24")),
        }
    }
}

/// Says whether bytes begin like a bare header: two arrays and then no third, with which a block would
/// begin.
fn looks_like_a_header(bytes: &[u8]) -> bool {
    let mut r = Reader::new(bytes);
    let arrays = r.array("header").is_ok() && r.array("header body").is_ok();
    arrays && !matches!(r.kind("block number"), Ok(Type::Array | Type::ArrayIndef))
}

/// The header of `[era, block]` or `[era, 24(header)]`. Eras have other numbers in each.
fn of_era(bytes: &[u8]) -> Result<Wrapped<'_>, CardanoError> {
    let mut r = Reader::new(bytes);
    r.definite("wrapper", 2)?;
    let number = r.number("wrapper's era")?;
    match r.kind("wrapper")? {
        Type::Tag => {
            let era = Some(Era::of_header(number)?);
            let header = r.encoded("wrapper")?;
            Ok(Wrapped { form: Form::WrappedHeader, era, header })
        }
        // Byron's headers say in a further wrapper which kind they are.
        Type::Array if number == 0 && is_wrapped_byron_header(bytes, r.position()) => {
            Ok(Wrapped { form: Form::WrappedHeader, era: Some(Era::Byron), header: &[] })
        }
        Type::Array | Type::ArrayIndef => {
            let era = Era::of_block(number)?;
            if era == Era::Byron {
                return Ok(Wrapped { form: Form::EraBlock, era: Some(era), header: &[] });
            }
            r.array("block")?;
            let header = header_at(bytes, r.position())?;
            Ok(Wrapped { form: Form::EraBlock, era: Some(era), header })
        }
        _ => Err(CardanoError::Form("the wrapper holds neither a block nor CBOR tag 24")),
    }
}

/// `[[kind, size], 24(header)]`
fn is_wrapped_byron_header(bytes: &[u8], at: usize) -> bool {
    let mut r = Reader::new(&bytes[at..]);
    r.definite("wrapper", 2).is_ok()
        && r.definite("wrapper", 2).is_ok()
        && r.number("wrapper").is_ok()
        && r.number("wrapper").is_ok()
        && matches!(r.kind("wrapper"), Ok(Type::Tag))
}

fn header_at(bytes: &[u8], at: usize) -> Result<&[u8], CardanoError> {
    Ok(&bytes[at..end_of_item(bytes, at)?])
}

/// The blocks of an ImmutableDB chunk file, one after the other.
///
/// A block that is whole and has a fault in its header is one faulty block; where the bytes are no whole
/// item, the next block cannot be found, and the iterator ends after the error.
#[derive(Clone, Debug)]
pub struct Chunk<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// A block of a chunk.
#[derive(Clone, Debug)]
pub struct ChunkBlock {
    /// Where it begins, in bytes from the chunk's first.
    pub offset: usize,
    /// Its header, or what is wrong; [`CardanoError::Byron`] for blocks without a VRF proof.
    pub header: Result<Header, CardanoError>,
}

impl<'b> Chunk<'b> {
    /// Begins with the first block.
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> Chunk<'b> {
        Chunk { bytes, at: 0 }
    }
}

impl Iterator for Chunk<'_> {
    type Item = Result<ChunkBlock, CardanoError>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.at;
        if offset == self.bytes.len() {
            return None;
        }
        match end_of_item(self.bytes, offset) {
            Err(error) => {
                self.at = self.bytes.len();
                Some(Err(error))
            }
            Ok(end) => {
                self.at = end;
                let header = Wrapped::find_in_item(&self.bytes[offset..end]);
                let header = header.and_then(|found| match found.form {
                    Form::EraBlock => Header::of(&found),
                    _ => Err(CardanoError::Form("a chunk holds blocks, [era, block]")),
                });
                Some(Ok(ChunkBlock { offset, header }))
            }
        }
    }
}
