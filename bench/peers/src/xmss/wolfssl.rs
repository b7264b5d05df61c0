//! wolfSSL, from the sources that wolfssl-sys carries, through `c/wolfssl_xmss.c`.

use super::{Key, Peer, Seeds, Verifier, oid};
use std::ffi::{CStr, CString, c_char, c_int, c_uint};

#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn peers_wolfssl_version() -> *const c_char;
    fn peers_wolfssl_free(key: *mut Opaque);
    fn peers_wolfssl_keygen(set: *const c_char, seeds: *const u8, length: usize) -> *mut Opaque;
    fn peers_wolfssl_public(key: *mut Opaque, out: *mut u8, room: c_uint) -> c_int;
    fn peers_wolfssl_sign(
        key: *mut Opaque,
        message: *const u8,
        message_length: c_int,
        out: *mut u8,
        room: c_uint,
    ) -> c_int;
    fn peers_wolfssl_verifier(set: *const c_char, public: *const u8, length: c_uint)
    -> *mut Opaque;
    fn peers_wolfssl_verify(
        key: *mut Opaque,
        message: *const u8,
        message_length: c_int,
        signature: *const u8,
        length: c_uint,
    ) -> c_int;
}

/// A key of the C side; never null.
struct Wolf(*mut Opaque);

impl Drop for Wolf {
    fn drop(&mut self) {
        // SAFETY: the pointer came from keygen or verifier and is freed once, here.
        unsafe { peers_wolfssl_free(self.0) };
    }
}

/// The peer.
pub fn peer() -> Peer {
    // SAFETY: the function returns a static string.
    let version = unsafe { CStr::from_ptr(peers_wolfssl_version()) };
    Peer { name: format!("wolfSSL {}", version.to_string_lossy()), keygen, verifier }
}

fn name(set: &str) -> CString {
    CString::new(set).expect("a set's name has no zero byte")
}

fn keygen(set: &str, seeds: &Seeds) -> Option<Box<dyn Key>> {
    let set = name(set);
    // SAFETY: the name is a C string, the seeds are readable for their length.
    let key = unsafe { peers_wolfssl_keygen(set.as_ptr(), seeds.as_ptr(), seeds.len()) };
    (!key.is_null()).then(|| Box::new(Wolf(key)) as Box<dyn Key>)
}

impl Key for Wolf {
    fn public(&self) -> Vec<u8> {
        let mut out = [0; 68];
        // SAFETY: the key is live, and `out` is writable for the length given.
        let length = unsafe { peers_wolfssl_public(self.0, out.as_mut_ptr(), 68) };
        assert_eq!(length, 68, "wolfSSL exports a public key");
        out[4..].to_vec()
    }

    fn sign(&mut self, message: &[u8]) -> Vec<u8> {
        let mut out = vec![0; 4096];
        let (text, length, room) = (message.as_ptr(), message.len() as c_int, out.len() as c_uint);
        // SAFETY: the key is live, the message readable and `out` writable for the lengths given.
        let length = unsafe { peers_wolfssl_sign(self.0, text, length, out.as_mut_ptr(), room) };
        out.truncate(usize::try_from(length).expect("wolfSSL signs"));
        out
    }
}

fn verifier(set: &str, public: &[u8]) -> Box<dyn Verifier> {
    let bytes = [&oid(set).to_be_bytes()[..], public].concat();
    let set = name(set);
    // SAFETY: the name is a C string, the key is readable for its length.
    let key =
        unsafe { peers_wolfssl_verifier(set.as_ptr(), bytes.as_ptr(), bytes.len() as c_uint) };
    assert!(!key.is_null(), "wolfSSL takes the key that was made");
    Box::new(Wolf(key))
}

impl Verifier for Wolf {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool {
        let (text, text_length) = (message.as_ptr(), message.len() as c_int);
        let (bytes, length) = (signature.as_ptr(), signature.len() as c_uint);
        // SAFETY: the key is live, both slices are readable for the lengths given.
        unsafe { peers_wolfssl_verify(self.0, text, text_length, bytes, length) == 1 }
    }
}
