//! Keys of AidosKuneen/xmss for its replacement in Go, which keeps the state.

use crate::memory::{bytes, clear, free, hand_out, hand_out_bytes, handle, write};
use crate::status::guarded;
use std::sync::{Mutex, PoisonError};
use tetralith_xmss::aidos::unprotected::{UnprotectedKey, verify};

/// A key of AidosKuneen/xmss that signs with any index it is told.
pub struct AidosUnprotected(Mutex<UnprotectedKey>);

impl AidosUnprotected {
    fn with<T>(&self, work: impl FnOnce(&mut UnprotectedKey) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Computes a key of AidosKuneen/xmss, and writes its handle to `*out`; NULL on failure.
///
/// UNPROTECTED: nothing remembers which indices were used. Two messages under one index let anybody forge
/// signatures. Use it only if you record each index durably, with its message, before you sign.
/// The heights are 1 to 20 with `layers` 0, XMSS, and 20, 40 and 60 with up to 15 layers of XMSS^MT. `seeds` are
/// the 96 bytes SK_SEED, SK_PRF and SEED.
///
/// # Safety
/// `seeds` points to `seeds_len` readable bytes, `out` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_aidos_unprotected_new(
    height: u32,
    layers: u32,
    seeds: *const u8,
    seeds_len: usize,
    out: *mut *mut AidosUnprotected,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(out) };
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let seeds = unsafe { bytes("seeds", seeds, seeds_len) }?;
        let key = UnprotectedKey::new(height, layers, seeds)?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(out, AidosUnprotected(Mutex::new(key))) }
    })
}

/// Writes the key's root of 32 bytes.
///
/// # Safety
/// `key` is a handle; `root` points to `root_len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_aidos_unprotected_root(
    key: *const AidosUnprotected,
    root: *mut u8,
    root_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let key = unsafe { handle("key", key) }?;
        let value = key.with(|key| key.root().to_vec());
        // SAFETY: the caller vouches for the bytes.
        unsafe { write("root", root, root_len, &value) }
    })
}

/// The length of the key's signatures in bytes. 0 for NULL.
///
/// # Safety
/// `key` is NULL or a handle that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_aidos_unprotected_signature_size(
    key: *const AidosUnprotected,
) -> usize {
    // SAFETY: the caller vouches for a pointer that is not NULL.
    unsafe { key.as_ref() }.map_or(0, |key| key.with(|key| key.signature_bytes()))
}

/// Signs a message with an index, even if that index signed before.
///
/// UNPROTECTED: see `tetralith_aidos_unprotected_new`. Constant time but for the message's digest.
///
/// # Safety
/// `key` is a handle; the pointers point to as many bytes as their lengths say, those of `signature`
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_aidos_unprotected_sign(
    key: *const AidosUnprotected,
    index: u64,
    message: *const u8,
    message_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let key = unsafe { handle("key", key) }?;
        // SAFETY: the caller vouches for the bytes.
        let message = unsafe { bytes("message", message, message_len) }?;
        let made = key.with(|key| key.sign_at(index, message))?;
        // SAFETY: the caller vouches for the bytes.
        unsafe { write("signature", signature, signature_len, &made) }
    })
}

/// Writes the JSON of one tree at a leaf, as AidosKuneen/xmss writes it, to `*json` and its length to
/// `*json_len`.
///
/// It holds the seeds in the clear. Overwrite it before you free it with `tetralith_bytes_free`.
///
/// # Safety
/// `key` is a handle; `json` and `json_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_aidos_unprotected_json(
    key: *const AidosUnprotected,
    layer: u32,
    tree: u64,
    leaf: u32,
    json: *mut *mut u8,
    json_len: *mut usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(json) };
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let key = unsafe { handle("key", key) }?;
        let text = key.with(|key| key.tree_json(layer, tree, leaf))?;
        // SAFETY: the caller vouches for the pointers.
        unsafe { hand_out_bytes("json", json, json_len, text.as_bytes().to_vec()) }
    })
}

/// Frees a key; NULL is allowed.
///
/// # Safety
/// `key` is NULL or a handle that is not freed, and no call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_aidos_unprotected_free(key: *mut AidosUnprotected) {
    // SAFETY: the caller vouches for the handle.
    unsafe { free(key) }
}

/// Verifies a signature of AidosKuneen/xmss. `public_key` has 64 bytes: root and SEED.
///
/// Heights and layers are those of `tetralith_aidos_unprotected_new`. Variable time: all is public.
///
/// # Safety
/// The pointers point to as many readable bytes as their lengths say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_aidos_verify(
    height: u32,
    layers: u32,
    public_key: *const u8,
    public_key_len: usize,
    message: *const u8,
    message_len: usize,
    signature: *const u8,
    signature_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let public_key = unsafe { bytes("public key", public_key, public_key_len) }?;
        // SAFETY: as above.
        let message = unsafe { bytes("message", message, message_len) }?;
        // SAFETY: as above.
        let signature = unsafe { bytes("signature", signature, signature_len) }?;
        let verdict = verify(height, layers, public_key, message, signature);
        Ok(verdict?)
    })
}
