//! Block headers from Shelley on, read from CBOR.
//!
//! `header = [header_body, body_signature]`. The body has 15 fields from Shelley to Alonzo, with two
//! VRF proofs (TPraos), and 10 from Babbage on, with one (Praos). Arrays may have an indefinite length
//! wherever the ledger's decoder takes one, which is everywhere but in the pairs of output and proof:
//! those it reads with `enforceSize` before Dijkstra.
//!
//! The VRF proofs are verified; the operational certificate and the KES signature are read and not
//! verified, and neither is the issuer's stake.
//!
//! cardano-ledger, `Cardano.Protocol.{TPraos,Praos}.BlockHeader`, `eras/*/impl/cddl-files`

use super::cbor::Reader;
use super::wrapper::{Form, Wrapped};
use super::{CardanoError, Era, blake2b_256, slot_input, tpraos_input, vrf_key_hash};
use crate::{Error, Row, Suite, verify_many};
use blake2::digest::consts::U28;
use blake2::{Blake2b, Digest};
use core::fmt;
use minicbor::data::Type;

/// A decoded block header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// What the header was found in.
    pub form: Form,
    /// The era, where a wrapper says it.
    pub era: Option<Era>,
    /// The hash of the header, which is its block's.
    pub hash: [u8; 32],
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
    /// The VRF outputs and proofs.
    pub vrf: HeaderVrf,
    /// The size of the block's body in bytes.
    pub body_size: u32,
    /// The hash of the block's body.
    pub body_hash: [u8; 32],
    /// The operational certificate.
    pub certificate: OperationalCertificate,
    /// The protocol's version, major and minor.
    pub protocol: (u64, u64),
    /// The KES signature of the header's body.
    pub kes_signature: [u8; 448],
}

/// The VRF outputs and proofs of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderVrf {
    /// From Babbage on, one for both uses.
    Praos(CertifiedVrf),
    /// From Shelley to Alonzo, one for each.
    TPraos {
        /// What the block gives to the next epoch's nonce.
        nonce: CertifiedVrf,
        /// What decides whether the issuer leads the slot.
        leader: CertifiedVrf,
    },
}

/// A VRF output as a header states it, and its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedVrf {
    /// The output stated.
    pub output: [u8; 64],
    /// The proof.
    pub proof: [u8; 80],
}

/// The cold key's delegation to a KES key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationalCertificate {
    /// The KES key.
    pub hot_key: [u8; 32],
    /// The certificate's number.
    pub number: u64,
    /// The KES period that it starts in.
    pub kes_period: u64,
    /// The cold key's signature.
    pub signature: [u8; 64],
}

/// What a header's VRF proof is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VrfUse {
    /// Nonce and leadership both, from Babbage on.
    Both,
    /// The next epoch's nonce, before Babbage.
    Nonce,
    /// Leadership, before Babbage.
    Leader,
}

impl fmt::Display for VrfUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VrfUse::Both => "VRF proof",
            VrfUse::Nonce => "nonce VRF proof",
            VrfUse::Leader => "leader VRF proof",
        })
    }
}

/// One output and proof of a header, and what is proved.
struct Claim<'h> {
    usage: VrfUse,
    input: [u8; 32],
    certified: &'h CertifiedVrf,
}

impl Header {
    /// Decodes a header; alone, in its block, or in one of the node's wrappers around either, as
    /// [`Form`] lists them.
    ///
    /// # Errors
    /// Says which field is wrong, and how; [`CardanoError::Byron`] for what has no VRF proof.
    pub fn from_cbor(bytes: &[u8]) -> Result<Header, CardanoError> {
        Header::of(&Wrapped::find(bytes)?)
    }

    /// Decodes a header that has been found.
    pub(super) fn of(found: &Wrapped<'_>) -> Result<Header, CardanoError> {
        if found.era == Some(Era::Byron) {
            return Err(CardanoError::Byron);
        }
        let mut r = Reader::new(found.header);
        let header = r.record(("header", 2), |r| {
            let mut header = match r.array("header body")? {
                None => {
                    let header = body(r, found)?;
                    r.end("header body", header.vrf.fields())?;
                    header
                }
                Some(12) => return Err(CardanoError::Leios),
                Some(got) => {
                    if !matches!(got, 10 | 15) {
                        let (field, expected) = ("header body", 10);
                        return Err(CardanoError::Elements { field, expected, got });
                    }
                    let header = body(r, found)?;
                    let expected = header.vrf.fields();
                    if got != expected {
                        let field = "header body";
                        return Err(CardanoError::Elements { field, expected, got });
                    }
                    header
                }
            };
            header.kes_signature = r.bytes("KES signature")?;
            Ok(header)
        })?;
        match found.header.len() - r.position() {
            0 => Ok(header),
            trailing => Err(CardanoError::TrailingBytes(trailing)),
        }
    }

    /// The eras that the header may be of, for messages.
    #[must_use]
    pub fn era_name(&self) -> &'static str {
        match (self.era, &self.vrf) {
            (Some(era), _) => era.name(),
            (None, HeaderVrf::Praos(_)) => "Babbage or later",
            (None, HeaderVrf::TPraos { .. }) => "Shelley to Alonzo",
        }
    }

    /// Verifies the header's one or two VRF proofs for its slot and an epoch's nonce, and that the
    /// outputs are those stated. Nothing else of the header is verified.
    ///
    /// # Errors
    /// [`CardanoError::InvalidProof`], [`CardanoError::OutputMismatch`], and what is malformed.
    pub fn verify_vrf(&self, nonce: &[u8; 32]) -> Result<(), Error> {
        self.claims(nonce).iter().try_for_each(|claim| {
            let CertifiedVrf { proof, .. } = claim.certified;
            claim.judge(crate::verify(Suite::Draft03Cardano, &self.vrf_key, &claim.input, proof))
        })
    }

    /// The number, big-endian, that decides whether the issuer leads the slot, from the output that
    /// the header states: below 2^256 from Babbage on, below 2^512 before.
    #[must_use]
    pub fn leader_value(&self) -> Vec<u8> {
        match &self.vrf {
            HeaderVrf::Praos(both) => blake2b_256(&[b"L", &both.output]).to_vec(),
            HeaderVrf::TPraos { leader, .. } => leader.output.to_vec(),
        }
    }

    /// What the block gives to the next epoch's nonce, from the output that the header states.
    #[must_use]
    pub fn nonce_value(&self) -> [u8; 32] {
        match &self.vrf {
            HeaderVrf::Praos(both) => blake2b_256(&[&blake2b_256(&[b"N", &both.output])]),
            HeaderVrf::TPraos { nonce, .. } => blake2b_256(&[&nonce.output]),
        }
    }

    /// The hash that the pool's registration has of the VRF key.
    #[must_use]
    pub fn vrf_key_hash(&self) -> [u8; 32] {
        vrf_key_hash(&self.vrf_key)
    }

    /// The issuer's pool: the hash of its cold key.
    #[must_use]
    pub fn pool_id(&self) -> [u8; 28] {
        Blake2b::<U28>::digest(self.issuer_key).into()
    }

    fn claims(&self, nonce: &[u8; 32]) -> Vec<Claim<'_>> {
        match &self.vrf {
            HeaderVrf::Praos(certified) => {
                let input = slot_input(self.slot, nonce);
                vec![Claim { usage: VrfUse::Both, input, certified }]
            }
            HeaderVrf::TPraos { nonce: eta, leader } => {
                let claim = |usage, certified| {
                    let input = tpraos_input(usage == VrfUse::Leader, self.slot, nonce);
                    Claim { usage, input, certified }
                };
                vec![claim(VrfUse::Nonce, eta), claim(VrfUse::Leader, leader)]
            }
        }
    }
}

impl Claim<'_> {
    fn judge(&self, verdict: Result<crate::Output, Error>) -> Result<(), Error> {
        match verdict {
            Ok(output) if output.as_bytes() == self.certified.output => Ok(()),
            Ok(_) => Err(CardanoError::OutputMismatch(self.usage).into()),
            Err(Error::Invalid) => Err(CardanoError::InvalidProof(self.usage).into()),
            Err(malformed) => Err(malformed),
        }
    }
}

/// Verifies the VRF proofs of many headers, each with the nonce of its epoch; the verdicts, in the
/// headers' order, are those of [`Header::verify_vrf`].
///
/// # Security
/// As [`verify_many`].
#[must_use]
pub fn verify_headers(headers: &[(&Header, [u8; 32])]) -> Vec<Result<(), Error>> {
    let claims: Vec<(usize, Claim<'_>)> = headers
        .iter()
        .enumerate()
        .flat_map(|(i, (header, nonce))| {
            header.claims(nonce).into_iter().map(move |claim| (i, claim))
        })
        .collect();
    let rows: Vec<Row<'_>> = claims
        .iter()
        .map(|(i, claim)| Row {
            public_key: &headers[*i].0.vrf_key,
            alpha: &claim.input,
            proof: &claim.certified.proof,
        })
        .collect();
    let mut verdicts = vec![Ok(()); headers.len()];
    for ((i, claim), verdict) in claims.iter().zip(verify_many(Suite::Draft03Cardano, &rows)) {
        if verdicts[*i].is_ok() {
            verdicts[*i] = claim.judge(verdict);
        }
    }
    verdicts
}

impl HeaderVrf {
    /// How many fields the header's body has.
    fn fields(&self) -> u64 {
        match self {
            HeaderVrf::Praos(_) => 10,
            HeaderVrf::TPraos { .. } => 15,
        }
    }
}

/// The fields of the header's body, after its array; without the KES signature.
fn body(r: &mut Reader<'_>, found: &Wrapped<'_>) -> Result<Header, CardanoError> {
    let block_number = r.number("block number")?;
    let slot = r.number("slot")?;
    let previous_hash = r.bytes_or_null("previous hash")?;
    let issuer_key = r.bytes("issuer key")?;
    let vrf_key = r.bytes("VRF key")?;
    let first = certified(r, found.era)?;
    let vrf = match r.kind("body size")? {
        Type::Array | Type::ArrayIndef => {
            HeaderVrf::TPraos { nonce: first, leader: certified(r, found.era)? }
        }
        _ => HeaderVrf::Praos(first),
    };
    let (proofs, praos) = match &vrf {
        HeaderVrf::Praos(_) => (1, true),
        HeaderVrf::TPraos { .. } => (2, false),
    };
    if let Some(era) = found.era.filter(|era| era.is_praos() != praos) {
        return Err(CardanoError::EraMismatch { era, proofs });
    }
    let body_size = r.small_number("body size")?;
    let body_hash = r.bytes("body hash")?;
    // Before Babbage, certificate and version are not arrays but fields of the body.
    let (certificate, protocol) = if praos {
        let certificate = r.record(("operational certificate", 4), certificate)?;
        (certificate, r.record(("protocol version", 2), protocol_version)?)
    } else {
        (certificate(r)?, protocol_version(r)?)
    };
    Ok(Header {
        form: found.form,
        era: found.era,
        hash: blake2b_256(&[found.header]),
        block_number,
        slot,
        previous_hash,
        issuer_key,
        vrf_key,
        vrf,
        body_size,
        body_hash,
        certificate,
        protocol,
        kes_signature: [0; 448],
    })
}

fn certified(r: &mut Reader<'_>, era: Option<Era>) -> Result<CertifiedVrf, CardanoError> {
    let pair = |r: &mut Reader<'_>| {
        Ok(CertifiedVrf { output: r.bytes("VRF output")?, proof: r.bytes("VRF proof")? })
    };
    if era >= Some(Era::Dijkstra) {
        return r.record(("VRF result", 2), pair);
    }
    r.definite("VRF result", 2)?;
    pair(r)
}

fn certificate(r: &mut Reader<'_>) -> Result<OperationalCertificate, CardanoError> {
    Ok(OperationalCertificate {
        hot_key: r.bytes("operational certificate's KES key")?,
        number: r.number("operational certificate's number")?,
        kes_period: r.number("operational certificate's KES period")?,
        signature: r.bytes("operational certificate's signature")?,
    })
}

fn protocol_version(r: &mut Reader<'_>) -> Result<(u64, u64), CardanoError> {
    Ok((r.number("protocol version")?, r.number("protocol version")?))
}
