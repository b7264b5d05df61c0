//! Proofs of blame: which public check one party's broadcasts fail in themselves.
//!
//! [`crate::engine::Evidence::Proof`] says that a party's broadcasts alone show its fault. This is
//! the check for whoever was not there: it takes the broadcasts as they were sent, without a key,
//! a share or the number of parties, and repeats what the session's parties computed.

use super::commit::{COMMITMENT, open};
use super::keygen::read_opening;
use super::sign::nonce_label;
use crate::engine::{Check, PartyId};
use crate::machine::{HASH, HEADER, MAGIC, VERSION};
use crate::wire::{POINT, Reader, SCALAR};

const KEYGEN: u8 = 1;
const SIGN: u8 = 2;
const REFRESH: u8 = 3;
const RESHARE: u8 = 6;
/// Bytes of a proof of knowledge: a point and a scalar.
const PROOF: usize = POINT + SCALAR;

/// Says which check one party's broadcasts of one session fail, if anybody can see it.
///
/// `broadcasts`: encoded messages in the order of their rounds. `None` if they are not of one
/// sender and session, pass, or need messages that are not there. Nothing that a party sends that
/// follows the protocol is refuted. Public data only, in variable time.
#[must_use]
pub fn refute(broadcasts: &[&[u8]]) -> Option<Check> {
    let messages = broadcasts.iter().map(|bytes| Broadcast::read(bytes));
    let messages: Vec<Broadcast<'_>> = messages.collect::<Option<_>>()?;
    let last = messages.last()?;
    let of_last = |m: &Broadcast<'_>| (m.protocol, m.sender, m.context);
    if messages.iter().any(|message| of_last(message) != of_last(last)) {
        return None;
    }
    let commitment = || {
        let first = messages.iter().find(|message| message.round == 1)?;
        <[u8; COMMITMENT]>::try_from(first.payload).ok()
    };
    match (last.protocol, last.round) {
        (KEYGEN | REFRESH | RESHARE, 2) => last.refute_opening(&commitment()?),
        (SIGN, 2) => last.refute_nonce(&commitment()?).err(),
        (SIGN, 3) => last.refute_shares().err(),
        _ => None,
    }
}

/// A broadcast message.
struct Broadcast<'a> {
    protocol: u8,
    round: u8,
    sender: PartyId,
    context: [u8; 32],
    /// The echo and the content.
    payload: &'a [u8],
}

impl<'a> Broadcast<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (header, payload) = bytes.split_at_checked(HEADER)?;
        let [version, protocol, round, sender, recipient] = *header[4..].first_chunk()?;
        if header[..4] != MAGIC || version != VERSION || recipient != 0 {
            return None;
        }
        let sender = PartyId::new(sender).ok()?;
        let context = header[9..].try_into().ok()?;
        Some(Self { protocol, round, sender, context, payload })
    }

    /// The content of `len` bytes behind an echo of a possible length.
    fn content(&self, len: usize) -> Option<&'a [u8]> {
        let echo = self.payload.len().checked_sub(len)?;
        (echo % HASH == 0 && (2..=255).contains(&(echo / HASH))).then(|| &self.payload[echo..])
    }

    /// Signing, round 2: the nonce's point and opening, the key share's point.
    fn refute_nonce(&self, commitment: &[u8; COMMITMENT]) -> Result<(), Check> {
        let Some(content) = self.content(POINT + COMMITMENT + POINT) else { return Ok(()) };
        let mut reader = Reader::new(content);
        let encoded = reader.slice(POINT)?;
        let opening = reader.array()?;
        reader.point()?;
        open(commitment, &nonce_label(&self.context, self.sender), encoded, &opening)?;
        Reader::new(encoded).point().map(drop)
    }

    /// Signing, round 3: the shares of numerator and denominator.
    fn refute_shares(&self) -> Result<(), Check> {
        let Some(content) = self.content(2 * SCALAR) else { return Ok(()) };
        let mut reader = Reader::new(content);
        reader.scalar()?;
        reader.scalar().map(drop)
    }

    /// Key generation, round 2: the opened polynomial and its proof.
    ///
    /// The number of parties and the threshold are not in the message, and a length may have two
    /// readings, of thresholds 32 apart. A message of an honest party passes in the right one: one
    /// that fails in all of them is refuted.
    fn refute_opening(&self, commitment: &[u8; COMMITMENT]) -> Option<Check> {
        let known = self.protocol != KEYGEN;
        let mut failed = None;
        for t in 2..=255u8 {
            let points = usize::from(t - u8::from(known)) * POINT;
            let len = points + if known { 0 } else { PROOF } + COMMITMENT;
            let parties = self.payload.len().saturating_sub(len) / HASH;
            let Some(content) = self.content(len).filter(|_| parties >= usize::from(t)) else {
                continue;
            };
            match read_opening(&self.context, self.sender, t, known, commitment, content) {
                Ok(_) => return None,
                Err(check) => failed = failed.or(Some(check)),
            }
        }
        failed
    }
}

#[cfg(test)]
mod tests;
