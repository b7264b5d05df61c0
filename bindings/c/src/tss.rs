//! Threshold signatures: one party's side of a run, as messages in and out.

use crate::memory::{array, bytes, clear, free, hand_out, hand_out_bytes, handle, set, write};
use crate::status::{Failed, argument, guarded};
use getrandom::SysRng;
use rand_core::UnwrapErr;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tetralith_tss::engine::{
    Abort, Error, Outgoing, PartyId, Recipient, Session, SessionId, Threshold,
};
use tetralith_tss::frost::{keygen::FrostKeygen, keys::FrostShare, sign::FrostSign};
use tetralith_tss::keys::KeyShare;
use tetralith_tss::sign::Signature;
use tetralith_tss::{keygen::Keygen, refresh::Refresh, sign::Sign};
use zeroize::Zeroizing;

/// ECDSA on secp256k1 by DKLs23.
pub const TETRALITH_TSS_DKLS23: i32 = 1;
/// Ed25519 by FROST. RFC 9591.
pub const TETRALITH_TSS_FROST_ED25519: i32 = 2;

/// One party's side of a run.
pub struct TssSession(Mutex<Side>);

struct Side {
    run: Box<dyn Encoded>,
    ready: VecDeque<Outgoing>,
    suspects: Vec<PartyId>,
}

/// A run of any protocol, whose output is taken encoded.
trait Encoded: Send {
    fn outgoing(&mut self) -> Vec<Outgoing>;
    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error>;
    fn waiting_for(&self) -> Vec<PartyId>;
    fn output(&mut self) -> Option<Result<Zeroizing<Vec<u8>>, Abort>>;
}

/// A run with the encoding of its output.
struct With<S: Session>(S, fn(&S::Output) -> Zeroizing<Vec<u8>>);

impl<S: Session> Encoded for With<S> {
    fn outgoing(&mut self) -> Vec<Outgoing> {
        self.0.outgoing()
    }

    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error> {
        self.0.receive(from, bytes)
    }

    fn waiting_for(&self) -> Vec<PartyId> {
        self.0.waiting_for()
    }

    fn output(&mut self) -> Option<Result<Zeroizing<Vec<u8>>, Abort>> {
        self.0.take_output().map(|output| output.map(|output| (self.1)(&output)))
    }
}

/// Hands out a run that was begun.
///
/// # Safety
/// `out` is NULL or points to a writable pointer.
unsafe fn begun<S: Session + 'static>(
    run: S,
    encode: fn(&S::Output) -> Zeroizing<Vec<u8>>,
    out: *mut *mut TssSession,
) -> Result<(), Failed> {
    let run = Box::new(With(run, encode));
    let side = Side { run, ready: VecDeque::new(), suspects: Vec::new() };
    // SAFETY: as the caller vouches.
    unsafe { hand_out(out, TssSession(Mutex::new(side))) }
}

impl TssSession {
    /// A panic of another thread leaves a run that refuses messages, which is safe to look at.
    fn side(&self) -> MutexGuard<'_, Side> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_scheme(scheme: i32) -> Failed {
    argument(format!("no threshold scheme has the number {scheme}"))
}

/// Begins to make a key of which any `t` of `n` parties can sign; the result is this party's share.
///
/// `run`: 32 bytes, the same for all parties and never used again. `me`: this party, from 1. The owner
/// carries the messages: each must reach its receiver authenticated, and those to one party confidential
/// as well, for they carry secrets.
///
/// # Safety
/// `run` points to `run_len` readable bytes, `out` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_keygen(
    scheme: i32,
    run: *const u8,
    run_len: usize,
    me: u8,
    t: u8,
    n: u8,
    out: *mut *mut TssSession,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let id = SessionId(unsafe { array("run", run, run_len) }?);
        let (me, threshold) = (PartyId::new(me)?, Threshold::new(t, n)?);
        let rng = &mut UnwrapErr(SysRng);
        match scheme {
            TETRALITH_TSS_DKLS23 => {
                let run = Keygen::new(id, me, threshold, rng)?;
                // SAFETY: the caller vouches for the pointer.
                unsafe { begun(run, KeyShare::to_bytes, out) }
            }
            TETRALITH_TSS_FROST_ED25519 => {
                let run = FrostKeygen::new(id, me, threshold, rng)?;
                // SAFETY: as above.
                unsafe { begun(run, FrostShare::to_bytes, out) }
            }
            other => Err(no_scheme(other)),
        }
    })
}

/// Begins to sign; the result is the signature.
///
/// `signers`: the parties that take part, `signer_count` numbers in ascending order. DKLs23 signs a
/// digest of 32 bytes, and its signature is r, s and a recovery number, 65 bytes. FROST signs a message
/// of any length, and its signature is RFC 8032's, 64 bytes. The caller decides what may be signed.
///
/// # Safety
/// `run`, `share`, `signers` and `message` point to as many readable bytes as their lengths say, `out` to
/// a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_sign(
    scheme: i32,
    run: *const u8,
    run_len: usize,
    share: *const u8,
    share_len: usize,
    signers: *const u8,
    signer_count: usize,
    message: *const u8,
    message_len: usize,
    out: *mut *mut TssSession,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let id = SessionId(unsafe { array("run", run, run_len) }?);
        // SAFETY: as above.
        let share = unsafe { bytes("share", share, share_len) }?;
        // SAFETY: as above.
        let signers = unsafe { bytes("signers", signers, signer_count) }?;
        let signers: Vec<_> =
            signers.iter().map(|party| PartyId::new(*party)).collect::<Result<_, _>>()?;
        // SAFETY: as above.
        let message = unsafe { bytes("message", message, message_len) }?;
        let rng = &mut UnwrapErr(SysRng);
        match scheme {
            TETRALITH_TSS_DKLS23 => {
                let share = KeyShare::from_bytes(share)?;
                let digest = message.try_into().map_err(|_| {
                    let text = format!("a digest of {} bytes, expected 32", message.len());
                    Failed::new(2, "input.length", text)
                })?;
                let run = Sign::new(id, &share, &signers, digest, rng)?;
                let encode = |signature: &Signature| Zeroizing::new(signature.to_bytes().to_vec());
                // SAFETY: the caller vouches for the pointer.
                unsafe { begun(run, encode, out) }
            }
            TETRALITH_TSS_FROST_ED25519 => {
                let share = FrostShare::from_bytes(share)?;
                let run = FrostSign::new(id, &share, &signers, message, rng)?;
                // SAFETY: as above.
                unsafe { begun(run, |signature| Zeroizing::new(signature.to_vec()), out) }
            }
            other => Err(no_scheme(other)),
        }
    })
}

/// Begins to replace all shares of a DKLs23 key, whose public key stays; all parties take part. The
/// result is this party's new share.
///
/// # Safety
/// `run` and `share` point to as many readable bytes as their lengths say, `out` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_refresh(
    run: *const u8,
    run_len: usize,
    share: *const u8,
    share_len: usize,
    out: *mut *mut TssSession,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let id = SessionId(unsafe { array("run", run, run_len) }?);
        // SAFETY: as above.
        let share = KeyShare::from_bytes(unsafe { bytes("share", share, share_len) }?)?;
        let run = Refresh::new(id, &share, &mut UnwrapErr(SysRng));
        // SAFETY: the caller vouches for the pointer.
        unsafe { begun(run, KeyShare::to_bytes, out) }
    })
}

/// Takes in a message that `from` sent: the true sender, which the owner's channel has authenticated.
///
/// `TETRALITH_MALFORMED` with `message.refused` for a message that was not accepted; the run goes on
/// unchanged. Order and duplicates do not matter. Takes some milliseconds for each other party.
///
/// # Safety
/// `session` is a handle; `message` points to `message_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_receive(
    session: *const TssSession,
    from: u8,
    message: *const u8,
    message_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let session = unsafe { handle("session", session) }?;
        // SAFETY: the caller vouches for the bytes.
        let message = unsafe { bytes("message", message, message_len) }?;
        Ok(session.side().run.receive(PartyId::new(from)?, message)?)
    })
}

/// Writes the next message that is ready to `*message`, or NULL while there is none, and its receiver to
/// `*to`: a party, or 0 for all others.
///
/// Free it with `tetralith_bytes_free`, which overwrites it: a message to one party is secret.
///
/// # Safety
/// `session` is a handle; `to`, `message` and `message_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_next_message(
    session: *const TssSession,
    to: *mut u8,
    message: *mut *mut u8,
    message_len: *mut usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(message) };
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let session = unsafe { handle("session", session) }?;
        if to.is_null() || message.is_null() || message_len.is_null() {
            return Err(argument("to, message or message_len is NULL".into()));
        }
        let mut side = session.side();
        if side.ready.is_empty() {
            let ready = side.run.outgoing();
            side.ready.extend(ready);
        }
        let Some(next) = side.ready.pop_front() else { return Ok(()) };
        let receiver = match next.to {
            Recipient::All => 0,
            Recipient::One(party) => party.get(),
        };
        // SAFETY: not NULL, and the caller vouches that it may be written.
        unsafe { set(to, receiver) };
        // SAFETY: the caller vouches for the pointers.
        unsafe { hand_out_bytes("message", message, message_len, next.bytes.to_vec()) }
    })
}

/// Writes the result to `*result` once the run has ended, and NULL before that and after it was taken.
///
/// Free it with `tetralith_bytes_free`, which overwrites it. A share is written as the nodes' encrypted
/// files hold it, but in the clear: encrypt it before you store it. `TETRALITH_PEERS` if the run was
/// aborted because of a party; `tetralith_tss_suspects` names those among which the fault lies.
///
/// # Safety
/// `session` is a handle; `result` and `result_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_result(
    session: *const TssSession,
    result: *mut *mut u8,
    result_len: *mut usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(result) };
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let session = unsafe { handle("session", session) }?;
        if result.is_null() || result_len.is_null() {
            return Err(argument("result or result_len is NULL".into()));
        }
        let mut side = session.side();
        match side.run.output() {
            None => Ok(()),
            // SAFETY: the caller vouches for the pointers.
            Some(Ok(made)) => unsafe {
                hand_out_bytes("result", result, result_len, made.to_vec())
            },
            Some(Err(abort)) => {
                side.suspects = abort.suspects();
                Err(Failed::new(abort.exit_code().into(), abort.code(), abort))
            }
        }
    })
}

/// Writes the numbers of parties to a place for 255 of them.
///
/// # Safety
/// `parties` points to 255 writable bytes, `count` may be written.
unsafe fn write_parties(
    found: &[PartyId],
    parties: *mut u8,
    count: *mut usize,
) -> Result<(), Failed> {
    if parties.is_null() || count.is_null() {
        return Err(argument("parties or count is NULL".into()));
    }
    let numbers: Vec<u8> = found.iter().map(|party| party.get()).collect();
    // SAFETY: not NULL, and the caller vouches that it may be written.
    unsafe { set(count, numbers.len()) };
    // SAFETY: there are at most 255 parties, and the caller vouches for as many bytes.
    unsafe { write("parties", parties, numbers.len(), &numbers) }
}

/// Writes the parties of which a message is missing in this round, and their number; none at the end.
///
/// # Safety
/// `session` is a handle; `parties` points to 255 writable bytes, `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_waiting_for(
    session: *const TssSession,
    parties: *mut u8,
    count: *mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let found = unsafe { handle("session", session) }?.side().run.waiting_for();
        // SAFETY: the caller vouches for the pointers.
        unsafe { write_parties(&found, parties, count) }
    })
}

/// Writes the parties among which the fault lies, once `tetralith_tss_result` returned
/// `TETRALITH_PEERS`, and their number.
///
/// # Safety
/// `session` is a handle; `parties` points to 255 writable bytes, `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_suspects(
    session: *const TssSession,
    parties: *mut u8,
    count: *mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let found = unsafe { handle("session", session) }?.side().suspects.clone();
        // SAFETY: the caller vouches for the pointers.
        unsafe { write_parties(&found, parties, count) }
    })
}

/// Frees a session and overwrites its secrets; NULL is allowed.
///
/// # Safety
/// `session` is NULL or a handle that is not freed, and no call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_session_free(session: *mut TssSession) {
    // SAFETY: the caller vouches for the handle.
    unsafe { free(session) }
}

/// Writes what is public of a share: its party, t, n, each of which may be NULL, and the group's public
/// key, 33 bytes of SEC 1 for DKLs23 and 32 bytes of RFC 8032 for FROST; NULL and 0 for no key.
///
/// # Safety
/// `share` points to `share_len` readable bytes, `key` to `key_len` writable ones; the others are NULL or
/// may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_share_info(
    scheme: i32,
    share: *const u8,
    share_len: usize,
    me: *mut u8,
    t: *mut u8,
    n: *mut u8,
    key: *mut u8,
    key_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let share = unsafe { bytes("share", share, share_len) }?;
        let (party, threshold, group_key) = match scheme {
            TETRALITH_TSS_DKLS23 => {
                let share = KeyShare::from_bytes(share)?;
                let public = share.public();
                (share.me(), public.threshold(), public.group_key().to_vec())
            }
            TETRALITH_TSS_FROST_ED25519 => {
                let share = FrostShare::from_bytes(share)?;
                let public = share.public();
                (share.me(), public.threshold(), public.group_key().to_vec())
            }
            other => return Err(no_scheme(other)),
        };
        if !key.is_null() || key_len != 0 {
            // SAFETY: the caller vouches for the bytes.
            unsafe { write("key", key, key_len, &group_key) }?;
        }
        for (place, value) in [(me, party.get()), (t, threshold.t()), (n, threshold.n())] {
            // SAFETY: the caller vouches for the pointer.
            unsafe { set(place, value) };
        }
        Ok(())
    })
}

/// Verifies a DKLs23 signature of 65 bytes for a digest of 32 bytes under a group key of 33 bytes.
///
/// A FROST signature is an Ed25519 signature, which any library verifies. Variable time: all is public.
///
/// # Safety
/// The pointers point to as many readable bytes as their lengths say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_tss_verify(
    key: *const u8,
    key_len: usize,
    digest: *const u8,
    digest_len: usize,
    signature: *const u8,
    signature_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let key = unsafe { array("key", key, key_len) }?;
        // SAFETY: as above.
        let digest = unsafe { array("digest", digest, digest_len) }?;
        // SAFETY: as above.
        let signature = unsafe { bytes("signature", signature, signature_len) }?;
        match Signature::from_bytes(signature)?.verify(&key, &digest) {
            true => Ok(()),
            false => Err(Failed::new(1, "verification.failed", "the signature does not verify")),
        }
    })
}
