//! Threshold signatures: one party's side of a run as messages in and out.

use crate::errors::{Failure, Kind};
use crate::system_rng;
use std::collections::VecDeque;
use tetralith_tss::engine::{
    Abort, Error, Outgoing, PartyId, Recipient, Session as Run, SessionId, Threshold,
};
use tetralith_tss::frost::{keygen::FrostKeygen, keys::FrostShare, sign::FrostSign};
use tetralith_tss::keys::KeyShare;
use tetralith_tss::{keygen::Keygen, refresh::Refresh, sign::Sign};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

/// A run of any protocol, whose output is taken encoded.
trait Encoded {
    fn outgoing(&mut self) -> Vec<Outgoing>;
    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error>;
    fn round(&self) -> u8;
    fn waiting_for(&self) -> Vec<PartyId>;
    fn output(&mut self) -> Option<Result<Zeroizing<Vec<u8>>, Abort>>;
}

/// A run with the encoding of its output.
struct With<S: Run>(S, fn(&S::Output) -> Zeroizing<Vec<u8>>);

impl<S: Run> Encoded for With<S> {
    fn outgoing(&mut self) -> Vec<Outgoing> {
        self.0.outgoing()
    }

    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error> {
        self.0.receive(from, bytes)
    }

    fn round(&self) -> u8 {
        self.0.round()
    }

    fn waiting_for(&self) -> Vec<PartyId> {
        self.0.waiting_for()
    }

    fn output(&mut self) -> Option<Result<Zeroizing<Vec<u8>>, Abort>> {
        self.0.take_output().map(|output| output.map(|output| (self.1)(&output)))
    }
}

/// One party's side of a run.
#[wasm_bindgen]
#[allow(missing_debug_implementations)] // A run is secret.
pub struct Session {
    run: Box<dyn Encoded>,
    ready: VecDeque<Outgoing>,
}

impl Session {
    fn of<S: Run + 'static>(
        run: Result<S, Error>,
        encode: fn(&S::Output) -> Zeroizing<Vec<u8>>,
    ) -> Result<Session, Failure> {
        Ok(Session { run: Box::new(With(run?, encode)), ready: VecDeque::new() })
    }
}

fn party(index: u8) -> Result<PartyId, Failure> {
    Ok(PartyId::new(index)?)
}

fn numbers(parties: &[PartyId]) -> Vec<u8> {
    parties.iter().map(|party| party.get()).collect()
}

fn run_id(bytes: &[u8]) -> Result<SessionId, Failure> {
    array(bytes, "a run's identity").map(SessionId)
}

fn array<const N: usize>(bytes: &[u8], what: &str) -> Result<[u8; N], Failure> {
    bytes.try_into().map_err(|_| {
        let message = format!("{what} has {} bytes, expected {N}", bytes.len());
        Failure::new(Kind::Malformed, "input.length", message)
    })
}

#[wasm_bindgen]
impl Session {
    pub fn keygen(scheme: &str, id: &[u8], me: u8, t: u8, n: u8) -> Result<Session, Failure> {
        let (id, me, threshold) = (run_id(id)?, party(me)?, Threshold::new(t, n)?);
        let rng = &mut system_rng();
        match scheme {
            "dkls23" => Self::of(Keygen::new(id, me, threshold, rng), KeyShare::to_bytes),
            _ => Self::of(FrostKeygen::new(id, me, threshold, rng), FrostShare::to_bytes),
        }
    }

    pub fn sign(
        scheme: &str,
        id: &[u8],
        share: Vec<u8>,
        signers: &[u8],
        message: &[u8],
    ) -> Result<Session, Failure> {
        let (id, rng, share) = (run_id(id)?, &mut system_rng(), Zeroizing::new(share));
        let signers = signers.iter().map(|index| party(*index)).collect::<Result<Vec<_>, _>>()?;
        if scheme == "dkls23" {
            let share = KeyShare::from_bytes(&share)?;
            let digest = array(message, "the digest")
                .map_err(|failed| failed.hint("hash the message first, for example with SHA-256"));
            let run = Sign::new(id, &share, &signers, digest?, rng);
            return Self::of(run, |signature| Zeroizing::new(signature.to_bytes().to_vec()));
        }
        let share = FrostShare::from_bytes(&share)?;
        let run = FrostSign::new(id, &share, &signers, message, rng);
        Self::of(run, |signature| Zeroizing::new(signature.to_vec()))
    }

    pub fn refresh(id: &[u8], share: Vec<u8>) -> Result<Session, Failure> {
        let share = KeyShare::from_bytes(&Zeroizing::new(share))?;
        let run = Refresh::new(run_id(id)?, &share, &mut system_rng());
        Self::of(Ok(run), KeyShare::to_bytes)
    }

    /// The recipient, 0 for all, and the bytes of the next message; empty where none is ready.
    pub fn next(&mut self) -> Vec<u8> {
        if self.ready.is_empty() {
            self.ready.extend(self.run.outgoing());
        }
        let Some(message) = self.ready.pop_front() else {
            return Vec::new();
        };
        let to = match message.to {
            Recipient::All => 0,
            Recipient::One(party) => party.get(),
        };
        [&[to][..], &message.bytes].concat()
    }

    pub fn receive(&mut self, from: u8, message: &[u8]) -> Result<(), Failure> {
        Ok(self.run.receive(party(from)?, message)?)
    }

    pub fn round(&self) -> u8 {
        self.run.round()
    }

    #[wasm_bindgen(js_name = waitingFor)]
    pub fn waiting_for(&self) -> Vec<u8> {
        numbers(&self.run.waiting_for())
    }

    /// The encoded output once, or `undefined` while there is none; throws for an abort.
    #[wasm_bindgen(js_name = takeOutput)]
    pub fn take_output(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        match self.run.output() {
            None => Ok(None),
            Some(Ok(output)) => Ok(Some(output.to_vec())),
            Some(Err(abort)) => Err(aborted(&abort)),
        }
    }
}

/// A run that ended without output, with the parties among which the fault lies.
fn aborted(abort: &Abort) -> Failure {
    let suspects = match abort {
        Abort::Blamed(blame) => numbers(&[blame.party]),
        Abort::Unattributed { suspects, .. } => numbers(suspects),
        _ => Vec::new(),
    };
    Failure::new(Kind::Peer, "peers.aborted", abort)
        .hint("start a new run without the suspects")
        .suspects(suspects)
}

/// What is public of an encoded share: party, t, n, then the group's public key.
#[wasm_bindgen(js_name = shareInfo)]
pub fn share_info(scheme: &str, share: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let share = Zeroizing::new(share);
    if scheme == "dkls23" {
        let share = KeyShare::from_bytes(&share)?;
        let threshold = share.public().threshold();
        let head = [share.me().get(), threshold.t(), threshold.n()];
        return Ok([&head[..], &share.public().group_key()].concat());
    }
    let share = FrostShare::from_bytes(&share)?;
    let threshold = share.public().threshold();
    let head = [share.me().get(), threshold.t(), threshold.n()];
    Ok([&head[..], &share.public().group_key()].concat())
}

/// Whether a 65-byte signature of DKLs23 is valid for a digest.
#[wasm_bindgen(js_name = tssVerify)]
pub fn verify(group_key: &[u8], digest: &[u8], signature: &[u8]) -> Result<bool, Failure> {
    let group_key = array(group_key, "the group's public key")?;
    let digest = array(digest, "the digest")?;
    let signature = tetralith_tss::sign::Signature::from_bytes(signature)?;
    Ok(signature.verify(&group_key, &digest))
}
