//! Public keys and verification of XMSS signatures.

use crate::memory::{bytes, clear, free, hand_out, hand_out_bytes, handle, numbers, write};
use crate::status::{Failed, argument, guarded};
use tetralith_xmss::{Error, Item, PublicKey, Scheme, pkix, qrl};

/// A public key.
pub struct XmssPublicKey(pub(crate) PublicKey);

/// `OID ‖ root ‖ SEED` of XMSS. RFC 8391 §4.1.7.
pub const TETRALITH_XMSS_RAW: i32 = 0;
/// `OID ‖ root ‖ SEED` of XMSS^MT. RFC 8391 §4.2.2.
pub const TETRALITH_XMSS_RAW_MULTI_TREE: i32 = 1;
/// A SubjectPublicKeyInfo or a certificate in PEM. RFC 9802.
pub const TETRALITH_XMSS_PEM: i32 = 2;
/// A SubjectPublicKeyInfo or a certificate in DER. RFC 9802.
pub const TETRALITH_XMSS_DER: i32 = 3;
/// QRL's 67 bytes: descriptor, root, SEED.
pub const TETRALITH_XMSS_QRL: i32 = 4;

/// Reads a public key in one of the formats above, and writes its handle to `*out`; NULL on failure.
///
/// # Safety
/// `key` points to `len` readable bytes, `out` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_public_key_new(
    format: i32,
    key: *const u8,
    len: usize,
    out: *mut *mut XmssPublicKey,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let key = unsafe { bytes("key", key, len) }?;
        let key = match format {
            TETRALITH_XMSS_RAW => PublicKey::from_bytes(Scheme::Xmss, key),
            TETRALITH_XMSS_RAW_MULTI_TREE => PublicKey::from_bytes(Scheme::XmssMt, key),
            TETRALITH_XMSS_PEM => pkix::key_of_pem(&String::from_utf8_lossy(key)),
            TETRALITH_XMSS_DER => pkix::key_of_der(key),
            TETRALITH_XMSS_QRL => qrl::public_key_from_bytes(key),
            other => return Err(argument(format!("no key format has the number {other}"))),
        };
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(out, XmssPublicKey(key?)) }
    })
}

/// Writes a public key in one of the formats above to `*out`, and its length to `*out_len`.
///
/// PEM and DER are a SubjectPublicKeyInfo. Free the bytes with `tetralith_bytes_free`. QRL's keys have
/// QRL's format only, and other keys do not have it.
///
/// # Safety
/// `key` is a handle; `out` and `out_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_public_key_bytes(
    key: *const XmssPublicKey,
    format: i32,
    out: *mut *mut u8,
    out_len: *mut usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let key = &unsafe { handle("key", key) }?.0;
        let raw = |scheme| match key.params().oid() {
            Some(_) if key.params().scheme() == scheme => Ok(key.to_bytes()),
            Some(_) => Err(argument(format!("a key of {} is of the other scheme", key.params()))),
            None => Err(Error::NoIdentifier(key.params()).into()),
        };
        let made = match format {
            TETRALITH_XMSS_RAW => raw(Scheme::Xmss)?,
            TETRALITH_XMSS_RAW_MULTI_TREE => raw(Scheme::XmssMt)?,
            TETRALITH_XMSS_PEM => pkix::to_pem(key)?.into_bytes(),
            TETRALITH_XMSS_DER => pkix::to_der(key)?,
            TETRALITH_XMSS_QRL => qrl::public_key_to_bytes(key)?.to_vec(),
            other => return Err(argument(format!("no key format has the number {other}"))),
        };
        // SAFETY: the caller vouches for the pointers.
        unsafe { hand_out_bytes("out", out, out_len, made) }
    })
}

/// The length of the key's signatures in bytes. 0 for NULL.
///
/// # Safety
/// `key` is NULL or a handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_signature_size(key: *const XmssPublicKey) -> usize {
    // SAFETY: the caller vouches for a pointer that is not NULL.
    unsafe { key.as_ref() }.map_or(0, |key| key.0.params().signature_bytes())
}

/// Verifies a signature. Variable time: all is public. RFC 8391 §4.1.10 and §4.2.5.
///
/// # Safety
/// `key` is a handle; the other pointers point to as many readable bytes as their lengths say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_verify(
    key: *const XmssPublicKey,
    message: *const u8,
    message_len: usize,
    signature: *const u8,
    signature_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let key = &unsafe { handle("key", key) }?.0;
        // SAFETY: the caller vouches for the bytes.
        let message = unsafe { bytes("message", message, message_len) }?;
        // SAFETY: as above.
        let signature = unsafe { bytes("signature", signature, signature_len) }?;
        Ok(key.verify(message, signature)?)
    })
}

/// Verifies `count` signatures of one key on all cores and writes a status for each to `verdicts`.
///
/// Signatures stand one after the other. Message i is bytes `offsets[i]` to `offsets[i + 1]` of
/// `messages`, so that there are `count + 1` offsets.
///
/// # Safety
/// `key` is a handle; the pointers point to as many bytes and numbers as follow from `count`, the key
/// and `messages_len`; those of `verdicts` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_verify_many(
    key: *const XmssPublicKey,
    count: usize,
    messages: *const u8,
    messages_len: usize,
    offsets: *const u64,
    signatures: *const u8,
    verdicts: *mut u8,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let public_key = &unsafe { handle("key", key) }?.0;
        let size = public_key.params().signature_bytes();
        if count == 0 {
            return Ok(());
        }
        if count > isize::MAX as usize / size || verdicts.is_null() {
            return Err(argument("count is impossible, or verdicts is NULL".into()));
        }
        // SAFETY: the caller vouches for the bytes, and their count does not overflow.
        let signatures = unsafe { bytes("signatures", signatures, count * size) }?;
        // SAFETY: as above.
        let messages = unsafe { bytes("messages", messages, messages_len) }?;
        // SAFETY: as above.
        let offsets = unsafe { numbers("offsets", offsets, count + 1) }?;
        let items = signatures.chunks(size).enumerate().map(|(i, signature)| {
            let [from, to] = [offsets[i], offsets[i + 1]].map(|at| usize::try_from(at).ok());
            let message = from.zip(to).and_then(|(from, to)| messages.get(from..to));
            let message = message.ok_or_else(|| argument(format!("offset {i} is out of range")))?;
            Ok(Item { public_key, message, signature })
        });
        let results = tetralith_xmss::verify_many(&items.collect::<Result<Vec<_>, Failed>>()?);
        let statuses: Vec<u8> = results
            .iter()
            .map(|result| result.as_ref().map_or_else(Error::exit_code, |()| 0))
            .collect();
        // SAFETY: the caller vouches for `count` writable bytes.
        unsafe { write("verdicts", verdicts, count, &statuses) }
    })
}

/// Frees a public key; NULL is allowed.
///
/// # Safety
/// `key` is NULL or a handle that is not freed, and no call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_xmss_public_key_free(key: *mut XmssPublicKey) {
    // SAFETY: the caller vouches for the handle.
    unsafe { free(key) }
}
