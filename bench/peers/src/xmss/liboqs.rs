//! liboqs, from the sources that oqs-sys carries, built with its stateful signatures.

use super::{Key, Peer, Seeds, Verifier, oid};
use openssl_sys as _; // liboqs takes SHA-2 from the libcrypto that this links
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

#[repr(C)]
struct Scheme {
    _private: [u8; 0],
}

#[repr(C)]
struct SecretKey {
    _private: [u8; 0],
}

type Store = extern "C" fn(*mut u8, usize, *mut c_void) -> c_int;

// The header sig_stfl.h of liboqs 0.13.
unsafe extern "C" {
    fn OQS_version() -> *const c_char;
    fn OQS_randombytes_custom_algorithm(fill: extern "C" fn(*mut u8, usize));
    fn OQS_SIG_STFL_new(name: *const c_char) -> *mut Scheme;
    fn OQS_SIG_STFL_free(scheme: *mut Scheme);
    fn OQS_SIG_STFL_SECRET_KEY_new(name: *const c_char) -> *mut SecretKey;
    fn OQS_SIG_STFL_SECRET_KEY_free(key: *mut SecretKey);
    fn OQS_SIG_STFL_SECRET_KEY_SET_store_cb(
        key: *mut SecretKey,
        store: Store,
        context: *mut c_void,
    );
    fn OQS_SIG_STFL_keypair(scheme: *const Scheme, public: *mut u8, key: *mut SecretKey) -> c_int;
    fn OQS_SIG_STFL_sign(
        scheme: *const Scheme,
        signature: *mut u8,
        length: *mut usize,
        message: *const u8,
        message_length: usize,
        key: *mut SecretKey,
    ) -> c_int;
    fn OQS_SIG_STFL_verify(
        scheme: *const Scheme,
        message: *const u8,
        message_length: usize,
        signature: *const u8,
        length: usize,
        public: *const u8,
    ) -> c_int;
}

thread_local! {
    /// What liboqs will draw as its randomness, and how much of it is gone.
    static RANDOMNESS: Cell<(Seeds, usize)> = const { Cell::new(([0; 96], 0)) };
}

extern "C" fn fill(out: *mut u8, length: usize) {
    let (seeds, drawn) = RANDOMNESS.get();
    let part = &seeds[drawn..drawn + length];
    // SAFETY: liboqs asks for `length` bytes at `out`, the length of `part`.
    unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), out, length) };
    RANDOMNESS.set((seeds, drawn + length));
}

/// Forgets the state: the key lives as long as the benchmark.
extern "C" fn store(_key: *mut u8, _length: usize, _context: *mut c_void) -> c_int {
    0
}

/// The peer.
pub fn peer() -> Peer {
    // SAFETY: the function returns a static string.
    let version = unsafe { CStr::from_ptr(OQS_version()) };
    Peer { name: format!("liboqs {}", version.to_string_lossy()), keygen, verifier }
}

fn name(set: &str) -> CString {
    CString::new(set).expect("a set's name has no zero byte")
}

struct Signer {
    scheme: *mut Scheme,
    key: *mut SecretKey,
    public: [u8; 68],
}

impl Drop for Signer {
    fn drop(&mut self) {
        // SAFETY: both came from liboqs in `keygen` and are freed once, here.
        unsafe { OQS_SIG_STFL_SECRET_KEY_free(self.key) };
        // SAFETY: as above.
        unsafe { OQS_SIG_STFL_free(self.scheme) };
    }
}

fn keygen(set: &str, seeds: &Seeds) -> Option<Box<dyn Key>> {
    let set = name(set);
    RANDOMNESS.set((*seeds, 0));
    // SAFETY: `fill` has the signature that liboqs calls, and lives for ever.
    unsafe { OQS_randombytes_custom_algorithm(fill) };
    // SAFETY: the name is a C string; null is returned for a set that liboqs lacks.
    let scheme = unsafe { OQS_SIG_STFL_new(set.as_ptr()) };
    if scheme.is_null() {
        return None;
    }
    // SAFETY: as above.
    let key = unsafe { OQS_SIG_STFL_SECRET_KEY_new(set.as_ptr()) };
    assert!(!key.is_null(), "liboqs knows the set");
    let mut signer = Signer { scheme, key, public: [0; 68] };
    let (public, context) = (signer.public.as_mut_ptr(), std::ptr::null_mut());
    // SAFETY: the key is live; the callback ignores its context.
    unsafe { OQS_SIG_STFL_SECRET_KEY_SET_store_cb(key, store, context) };
    // SAFETY: scheme and key are live, and a public key of these sets has 68 bytes.
    let status = unsafe { OQS_SIG_STFL_keypair(scheme, public, key) };
    assert_eq!(status, 0, "liboqs makes a key");
    Some(Box::new(signer))
}

impl Key for Signer {
    fn public(&self) -> Vec<u8> {
        self.public[4..].to_vec()
    }

    fn sign(&mut self, message: &[u8]) -> Vec<u8> {
        let (mut out, mut length) = (vec![0; 4096], 4096);
        let (signature, text) = (out.as_mut_ptr(), message.as_ptr());
        // SAFETY: scheme and key are live, the message is readable for its length, and 4096 bytes
        // hold any signature of these sets.
        let status = unsafe {
            OQS_SIG_STFL_sign(self.scheme, signature, &mut length, text, message.len(), self.key)
        };
        assert_eq!(status, 0, "liboqs signs");
        out.truncate(length);
        out
    }
}

struct Public {
    scheme: *mut Scheme,
    public: Vec<u8>,
}

impl Drop for Public {
    fn drop(&mut self) {
        // SAFETY: the scheme came from liboqs in `verifier` and is freed once, here.
        unsafe { OQS_SIG_STFL_free(self.scheme) };
    }
}

fn verifier(set: &str, public: &[u8]) -> Box<dyn Verifier> {
    let public = [&oid(set).to_be_bytes()[..], public].concat();
    let set = name(set);
    // SAFETY: the name is a C string.
    let scheme = unsafe { OQS_SIG_STFL_new(set.as_ptr()) };
    assert!(!scheme.is_null(), "liboqs knows the set");
    Box::new(Public { scheme, public })
}

impl Verifier for Public {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool {
        let (text, bytes, public) = (message.as_ptr(), signature.as_ptr(), self.public.as_ptr());
        let lengths = (message.len(), signature.len());
        // SAFETY: the scheme is live, and all three slices are readable for their lengths.
        let status =
            unsafe { OQS_SIG_STFL_verify(self.scheme, text, lengths.0, bytes, lengths.1, public) };
        status == 0
    }
}
