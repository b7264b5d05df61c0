//! XMSS keys on a disk, which sign by the command's rules: `docs/xmss-state.md`.

use crate::memory::{bytes, clear, free, hand_out, handle, passphrase as secret, set, text, write};
use crate::progress::{Callback, tetralith_progress};
use crate::status::{Failed, argument, guarded};
use crate::xmss::XmssPublicKey;
use getrandom::SysRng;
use rand_core::{Rng, UnwrapErr};
use std::ffi::{c_char, c_void};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tetralith_keyfile::Protection;
use tetralith_keyring::{Files, Keyring, NewKey, Options, Secret, Store};
use tetralith_xmss::{Derivation, Error, Params, Progress, SecretKey, Seeds, Signer, qrl};
use zeroize::Zeroizing;

/// A key file with its state. Opening it locks nothing.
pub struct XmssKey(Keyring);

/// A key that signs: its state is locked until the signer is freed.
pub struct XmssSigner {
    signer: Mutex<Signer<Store>>,
    signature_bytes: usize,
}

/// How a key's indices are spent.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct XmssStatus {
    /// The indices of the key.
    pub limit: u64,
    /// The first index that is not for this place: `limit`, but where a range was restored.
    pub until: u64,
    /// The indices with which something was signed.
    pub used: u64,
    /// Those that a crash or an abandoned signature spent.
    pub lost: u64,
    /// Those that are leased now.
    pub leased: u64,
    /// Those that a restored state left out.
    pub skipped: u64,
    /// Those that can still be leased here.
    pub left: u64,
    /// The next index to be leased.
    pub next: u64,
}

impl From<tetralith_xmss::state::Status> for XmssStatus {
    fn from(status: tetralith_xmss::state::Status) -> Self {
        let tetralith_xmss::state::Status { limit, until, used, lost, .. } = status;
        let tetralith_xmss::state::Status { leased, skipped, left, next, .. } = status;
        XmssStatus { limit, until, used, lost, leased, skipped, left, next }
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The key's path, and where its state is.
///
/// # Safety
/// `path` and `store` are NULL or NUL-terminated texts.
unsafe fn place<'a>(
    path: *const c_char,
    store: *const c_char,
    wait_ms: u32,
) -> Result<(&'a Path, Options), Failed> {
    // SAFETY: as the caller vouches.
    let path = unsafe { text("path", path) }?.ok_or_else(|| argument("path is NULL".into()))?;
    // SAFETY: as above.
    let store = unsafe { text("store", store) }?.map(str::to_owned);
    let wait = Duration::from_millis(wait_ms.into());
    Ok((Path::new(path), Options { store, wait, ..Options::default() }))
}

/// Makes a key that has never signed, with a state that is on the disk before the key is, and opens it.
///
/// `path`: the key file, which must not exist; its state and trees lie beside it. `store`: the URL of
/// the state, `sqlite:PATH` or `file:PATH`, or NULL for `sqlite:KEY.state`; `TETRALITH_STORE` is not
/// read. `params`: a name such as `XMSS-SHA2_10_256`, `XMSSMT-SHA2_20/4_256` or `QRL-SHAKE_10_256`. The
/// secret is encrypted under the passphrase, or with NULL kept unencrypted. `wait_ms`: how long later
/// calls wait for another process that has the state open. `progress` counts leaves, and may be NULL.
///
/// # Safety
/// `path` and `params` are NUL-terminated texts, `store` is one or NULL; `passphrase` points to
/// `passphrase_len` readable bytes, `out` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_key_create(
    path: *const c_char,
    store: *const c_char,
    params: *const c_char,
    passphrase: *const u8,
    passphrase_len: usize,
    wait_ms: u32,
    progress: tetralith_progress,
    user: *mut c_void,
    out: *mut *mut XmssKey,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the texts.
        let (path, options) = unsafe { place(path, store, wait_ms) }?;
        // SAFETY: as above.
        let params = unsafe { text("params", params) }?;
        let params = params.ok_or_else(|| argument("params is NULL".into()))?;
        // SAFETY: the caller vouches for the bytes.
        let passphrase = unsafe { secret(passphrase, passphrase_len) }?;
        if out.is_null() {
            return Err(argument("out is NULL".into()));
        }
        let params = Params::from_name(params)?;
        check_free(path)?;
        let secret = make(params, Callback(progress, user))?;
        let new = NewKey::new(&secret, passphrase.map_or(Protection::None, Protection::Passphrase));
        let keyring = Keyring::create(path, &options, new, now(), &mut UnwrapErr(SysRng))?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(out, XmssKey(keyring)) }
    })
}

/// Refuses a name that is taken, before the work; creating the key looks again.
fn check_free(path: &Path) -> Result<(), Failed> {
    let files = Files::of(path);
    if files.key().exists() {
        return Err(Failed::new(3, "io.exists", format!("{} exists", path.display())));
    }
    let partial = files.partial();
    if partial.exists() {
        let begun = "is a key that the command began: finish it with the command, or delete it";
        return Err(Failed::new(3, "key.partial", format!("{} {begun}", partial.display())));
    }
    Ok(())
}

/// Computes a new key from the system's randomness.
fn make(params: Params, callback: Callback) -> Result<Secret, Failed> {
    let len = if params.oid().is_none() { QRL_SEED } else { 3 * params.n() };
    let mut material = Zeroizing::new(vec![0; len]);
    UnwrapErr(SysRng).fill_bytes(&mut material);
    let (seeds, qrl) = match <&[u8; QRL_SEED]>::try_from(&material[..]) {
        Ok(seed) if params.oid().is_none() => {
            let height = u8::try_from(params.height()).map_err(|_| Error::TooTall(params))?;
            let descriptor = qrl::Descriptor::new(params.hash(), height)?;
            let seed = qrl::ExtendedSeed::new(descriptor, seed);
            (seed.seeds(), Some(seed))
        }
        _ => (Seeds::from_bytes(params, Derivation::PrfKeygen, &material)?, None),
    };
    let leaves = 1 << params.tree_height().min(63);
    let key: Result<SecretKey, Error> =
        callback.watch(leaves, |count| seeds.build(&Progress::new(count)));
    Ok(Secret { key: key?, qrl })
}

/// Bytes of a QRL seed.
const QRL_SEED: usize = 48;

/// Opens a key file. Its state is neither opened nor locked. The arguments are those of
/// `tetralith_xmss_key_create`.
///
/// # Safety
/// `path` is a NUL-terminated text, `store` is one or NULL; `out` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_key_open(
    path: *const c_char,
    store: *const c_char,
    wait_ms: u32,
    out: *mut *mut XmssKey,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the texts.
        let (path, options) = unsafe { place(path, store, wait_ms) }?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(out, XmssKey(Keyring::open(path, &options)?)) }
    })
}

/// Writes a handle of the key's public key to `*out`; free it with `tetralith_xmss_public_key_free`.
///
/// # Safety
/// `key` is a handle; `out` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_key_public(
    key: *const XmssKey,
    out: *mut *mut XmssPublicKey,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let public = unsafe { handle("key", key) }?.0.public_key().clone();
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(out, XmssPublicKey(public)) }
    })
}

/// 1 if the secret needs a passphrase, else 0; 0 for NULL.
///
/// # Safety
/// `key` is NULL or a handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_key_is_encrypted(key: *const XmssKey) -> i32 {
    // SAFETY: the caller vouches for a pointer that is not NULL.
    unsafe { key.as_ref() }.map_or(0, |key| key.0.is_encrypted().into())
}

/// Writes how the indices are spent, also while another process signs.
///
/// Where signing would be refused (the state is exhausted, was copied or went back), the counts are
/// written, and the refusal is returned: its status and `tetralith_last_error`.
///
/// # Safety
/// `key` is a handle; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_key_status(
    key: *const XmssKey,
    out: *mut XmssStatus,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let found = unsafe { handle("key", key) }?.0.status()?;
        if out.is_null() {
            return Err(argument("out is NULL".into()));
        }
        let status = found.status;
        let ends = match (status.left, status.until < status.limit) {
            (0, true) => Some(tetralith_xmss::state::StateError::Ended { until: status.until }),
            (0, false) => {
                Some(tetralith_xmss::state::StateError::Exhausted { limit: status.limit })
            }
            _ => None,
        };
        // SAFETY: not NULL, and the caller vouches that it may be written.
        unsafe { set(out, status.into()) };
        found.refused.or(ends).map_or(Ok(()), |refused| Err(Error::State(refused).into()))
    })
}

/// Hands out `count` indices for good, to a signer elsewhere that keeps its own count: writes the first
/// of them and the fencing number. They are committed as spent here.
///
/// # Safety
/// `key` is a handle; `first` and `fencing` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_key_reserve(
    key: *const XmssKey,
    count: u64,
    first: *mut u64,
    fencing: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let key = unsafe { handle("key", key) }?;
        if count == 0 {
            return Err(argument("count is 0".into()));
        }
        let (lease, _) = key.0.reserve(count, now())?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { set(first, lease.range.start) };
        // SAFETY: as above.
        unsafe { set(fencing, lease.fencing) };
        Ok(())
    })
}

/// Makes a lost, copied or rolled-back state usable from index `resume_at` on, and before `until` if
/// that is not 0.
///
/// `resume_at` must lie above every index that any copy of the key may have used: two signatures of one
/// index let anybody forge.
///
/// # Safety
/// `key` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_key_restore(
    key: *const XmssKey,
    resume_at: u64,
    until: u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let key = unsafe { handle("key", key) }?;
        let until = Some(until).filter(|until| *until != 0);
        key.0.restore(resume_at, until, now(), &mut UnwrapErr(SysRng))?;
        Ok(())
    })
}

/// Frees a key; NULL is allowed. Signers that were opened with it stay.
///
/// # Safety
/// `key` is NULL or a handle that is not freed, and no call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_key_free(key: *mut XmssKey) {
    // SAFETY: the caller vouches for the handle.
    unsafe { free(key) }
}

/// Opens a key for signing, and locks its state until the signer is freed.
///
/// A process that meets the lock waits as long as the key was opened with, then fails with
/// `TETRALITH_STATE`. Trees are computed now where they are not beside the key; `progress` counts their
/// leaves, and may be NULL. A child made by `fork` cannot sign with it. With several calls at once, one
/// signs after the other.
///
/// # Safety
/// `key` is a handle; `passphrase` points to `passphrase_len` readable bytes, or is NULL for none;
/// `out` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_signer_open(
    key: *const XmssKey,
    passphrase: *const u8,
    passphrase_len: usize,
    progress: tetralith_progress,
    user: *mut c_void,
    out: *mut *mut XmssSigner,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let key = unsafe { handle("key", key) }?;
        // SAFETY: the caller vouches for the bytes.
        let passphrase = unsafe { secret(passphrase, passphrase_len) }?;
        if out.is_null() {
            return Err(argument("out is NULL".into()));
        }
        let mut signer = key.0.signer(passphrase)?;
        let leaves = 1 << signer.params().tree_height().min(63);
        let callback = Callback(progress, user);
        callback.watch(leaves, |count| signer.prepare(&Progress::new(count)))?;
        let signature_bytes = signer.params().signature_bytes();
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(out, XmssSigner { signer: Mutex::new(signer), signature_bytes }) }
    })
}

/// The signer, if no call before panicked in the middle of a signature.
fn locked(signer: &XmssSigner) -> Result<MutexGuard<'_, Signer<Store>>, Failed> {
    let failed = || Failed::new(70, "internal", "an earlier call failed inside the library");
    signer.signer.lock().map_err(|_| failed())
}

/// The length of the signer's signatures in bytes. 0 for NULL.
///
/// # Safety
/// `signer` is NULL or a handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_signer_signature_size(signer: *const XmssSigner) -> usize {
    // SAFETY: the caller vouches for a pointer that is not NULL.
    unsafe { signer.as_ref() }.map_or(0, |signer| signer.signature_bytes)
}

/// Signs a message with the next index, and writes the index to `*index` if that is not NULL.
///
/// The use of the index is on the disk before a secret of it is touched, and the signature was verified.
/// If the call fails after that, the index is lost and the next signature has another.
///
/// # Safety
/// `signer` is a handle; `message` points to `message_len` readable bytes, `signature` to
/// `signature_len` writable ones; `index` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_sign(
    signer: *const XmssSigner,
    message: *const u8,
    message_len: usize,
    signature: *mut u8,
    signature_len: usize,
    index: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let signer = unsafe { handle("signer", signer) }?;
        // SAFETY: the caller vouches for the bytes.
        let message = unsafe { bytes("message", message, message_len) }?;
        signer.check_room(signature, signature_len)?;
        let mut signer = locked(signer)?;
        let mut stream = signer.sign_stream(now())?;
        let spent = stream.index();
        stream.update(message);
        let made = stream.finish()?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { set(index, spent) };
        // SAFETY: the caller vouches for the bytes.
        unsafe { write("signature", signature, signature_len, &made) }
    })
}

impl XmssSigner {
    /// Finds a wrong buffer before an index is spent.
    fn check_room(&self, signature: *const u8, len: usize) -> Result<(), Failed> {
        if signature.is_null() || len != self.signature_bytes {
            let message = format!("signature needs {} bytes", self.signature_bytes);
            return Err(argument(message));
        }
        Ok(())
    }
}

/// Reads the next part of a message into `buffer` of `len` bytes. Returns how many bytes there are, 0 at
/// the end of the message, or a negative number if it cannot be read.
#[allow(non_camel_case_types)]
pub type tetralith_read =
    Option<unsafe extern "C" fn(user: *mut c_void, buffer: *mut u8, len: usize) -> isize>;

/// As `tetralith_xmss_sign`, with a message of any length that `read` supplies in parts.
///
/// The index is spent before the first part is read, for the message is hashed with it: if `read`
/// fails, the index is lost.
///
/// # Safety
/// As `tetralith_xmss_sign`; `read` may be called with `user` and writes no more than it is told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_sign_stream(
    signer: *const XmssSigner,
    read: tetralith_read,
    user: *mut c_void,
    signature: *mut u8,
    signature_len: usize,
    index: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let signer = unsafe { handle("signer", signer) }?;
        let Some(read) = read else { return Err(argument("read is NULL".into())) };
        signer.check_room(signature, signature_len)?;
        let mut signer = locked(signer)?;
        let mut stream = signer.sign_stream(now())?;
        let spent = stream.index();
        let mut part = vec![0; PART];
        loop {
            // SAFETY: the caller gave the function for this call, and the buffer has that length.
            let got = unsafe { read(user, part.as_mut_ptr(), part.len()) };
            match usize::try_from(got).ok().and_then(|got| part.get(..got)) {
                Some([]) => break,
                Some(part) => stream.update(part),
                None => {
                    let message = format!("the message cannot be read; index {spent} is spent");
                    return Err(Failed::new(3, "io.stream", message));
                }
            }
        }
        let made = stream.finish()?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { set(index, spent) };
        // SAFETY: the caller vouches for the bytes.
        unsafe { write("signature", signature, signature_len, &made) }
    })
}

/// Bytes that are read at once.
const PART: usize = 1 << 16;

/// Sets how many indices one commit leases, 1 unless set: more is faster, and a crash loses those that
/// were not used.
///
/// # Safety
/// `signer` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_signer_set_batch(
    signer: *const XmssSigner,
    batch: u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        locked(unsafe { handle("signer", signer) }?)?.set_batch(batch);
        Ok(())
    })
}

/// Writes how many signatures are left, those that are leased and unused included.
///
/// # Safety
/// `signer` is a handle; `left` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_signer_remaining(
    signer: *const XmssSigner,
    left: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let remaining = locked(unsafe { handle("signer", signer) }?)?.left();
        // SAFETY: the caller vouches for the pointer.
        unsafe { set(left, remaining) };
        Ok(())
    })
}

/// Accounts for the indices that were leased, unlocks the state and frees the signer; NULL is allowed.
///
/// Without it, the indices that were leased count as lost. Whatever it returns, the signer is freed and
/// no index is used twice.
///
/// # Safety
/// `signer` is NULL or a handle that is not freed, and no call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_signer_free(signer: *mut XmssSigner) -> i32 {
    guarded(|| {
        if signer.is_null() {
            return Ok(());
        }
        // SAFETY: it came from `Box::into_raw` and is freed once, as the caller vouches.
        let signer = unsafe { Box::from_raw(signer) };
        if let Ok(signer) = signer.signer.into_inner() {
            signer.close(now())?;
        }
        Ok(())
    })
}
