//! Block headers from Babbage on, read from CBOR.
//!
//! `header = [header_body, body_signature]`, all arrays of definite length as every producer writes
//! them. The VRF proof is verified; the operational certificate and the KES signature are read and
//! not verified, which is not a VRF's business.
//!
//! cardano-ledger, `eras/conway/impl/cddl-files/conway.cddl`

use super::{CardanoError, slot_input};
use crate::{Error, Output, Suite, verify};
use minicbor::Decoder;
use minicbor::data::Type;

/// A decoded block header, Babbage or later.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The block's number.
    pub block_number: u64,
    /// The slot it was made in.
    pub slot: u64,
    /// The hash of the block before; none for the first.
    pub previous_hash: Option<[u8; 32]>,
    /// The issuer's cold key.
    pub issuer_key: [u8; 32],
    /// The issuer's VRF key.
    pub vrf_key: [u8; 32],
    /// The VRF output, as the header states it.
    pub vrf_output: [u8; 64],
    /// The VRF proof.
    pub vrf_proof: [u8; 80],
    /// The size of the block's body in bytes.
    pub body_size: u32,
    /// The hash of the block's body.
    pub body_hash: [u8; 32],
    /// The operational certificate's KES key.
    pub hot_key: [u8; 32],
    /// The operational certificate's number.
    pub certificate_number: u64,
    /// The KES period that the certificate starts in.
    pub kes_period: u64,
    /// The cold key's signature of the certificate.
    pub certificate_signature: [u8; 64],
    /// The protocol's version, major and minor.
    pub protocol: (u64, u64),
    /// The KES signature of the header's body.
    pub kes_signature: [u8; 448],
}

impl Header {
    /// Decodes a header.
    ///
    /// # Errors
    /// Says which field is wrong, and how.
    pub fn from_cbor(bytes: &[u8]) -> Result<Header, CardanoError> {
        let mut r = Reader(Decoder::new(bytes));
        r.array("header", 2)?;
        r.body_array()?;
        let block_number = r.number("block number")?;
        let slot = r.number("slot")?;
        let previous_hash = r.bytes_or_null("previous hash")?;
        let issuer_key = r.bytes("issuer key")?;
        let vrf_key = r.bytes("VRF key")?;
        r.array("VRF result", 2)?;
        let vrf_output = r.bytes("VRF output")?;
        let vrf_proof = r.bytes("VRF proof")?;
        let body_size = r.small_number("body size")?;
        let body_hash = r.bytes("body hash")?;
        r.array("operational certificate", 4)?;
        let hot_key = r.bytes("operational certificate's KES key")?;
        let certificate_number = r.number("operational certificate's number")?;
        let kes_period = r.number("operational certificate's KES period")?;
        let certificate_signature = r.bytes("operational certificate's signature")?;
        r.array("protocol version", 2)?;
        let protocol = (r.number("protocol version")?, r.number("protocol version")?);
        let kes_signature = r.bytes("KES signature")?;
        match bytes.len() - r.0.position() {
            0 => {}
            trailing => return Err(CardanoError::TrailingBytes(trailing)),
        }
        Ok(Header {
            block_number,
            slot,
            previous_hash,
            issuer_key,
            vrf_key,
            vrf_output,
            vrf_proof,
            body_size,
            body_hash,
            hot_key,
            certificate_number,
            kes_period,
            certificate_signature,
            protocol,
            kes_signature,
        })
    }

    /// Verifies the VRF proof for the header's slot and an epoch nonce, and that the output is the
    /// one stated.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a proof that is not valid, [`CardanoError::OutputMismatch`] for a
    /// false output, and what is malformed.
    pub fn verify_vrf(&self, nonce: &[u8; 32]) -> Result<Output, Error> {
        let alpha = slot_input(self.slot, nonce);
        let output = verify(Suite::Draft03Cardano, &self.vrf_key, &alpha, &self.vrf_proof)?;
        if output.as_bytes() != self.vrf_output {
            return Err(CardanoError::OutputMismatch.into());
        }
        Ok(output)
    }
}

/// A decoder whose errors name fields.
struct Reader<'b>(Decoder<'b>);

impl Reader<'_> {
    fn fail(field: &'static str) -> impl Fn(minicbor::decode::Error) -> CardanoError {
        move |error| CardanoError::Cbor { field, reason: error.to_string() }
    }

    fn length(&mut self, field: &'static str) -> Result<u64, CardanoError> {
        let length = self.0.array().map_err(Self::fail(field))?;
        length.ok_or(CardanoError::Cbor { field, reason: "array of indefinite length".into() })
    }

    fn array(&mut self, field: &'static str, expected: u64) -> Result<(), CardanoError> {
        match self.length(field)? {
            got if got == expected => Ok(()),
            got => Err(CardanoError::Elements { field, expected, got }),
        }
    }

    fn body_array(&mut self) -> Result<(), CardanoError> {
        match self.length("header body")? {
            10 => Ok(()),
            15 => Err(CardanoError::OlderEra),
            got => Err(CardanoError::Elements { field: "header body", expected: 10, got }),
        }
    }

    fn number(&mut self, field: &'static str) -> Result<u64, CardanoError> {
        self.0.u64().map_err(Self::fail(field))
    }

    fn small_number(&mut self, field: &'static str) -> Result<u32, CardanoError> {
        self.0.u32().map_err(Self::fail(field))
    }

    fn bytes<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], CardanoError> {
        let bytes = self.0.bytes().map_err(Self::fail(field))?;
        bytes.try_into().map_err(|_| CardanoError::Length { field, expected: N, got: bytes.len() })
    }

    fn bytes_or_null(&mut self, field: &'static str) -> Result<Option<[u8; 32]>, CardanoError> {
        if self.0.datatype().map_err(Self::fail(field))? == Type::Null {
            self.0.null().map_err(Self::fail(field))?;
            return Ok(None);
        }
        self.bytes(field).map(Some)
    }
}
