//! Botan through its C interface, which rebuilds the tree for each signature.

use super::{Key, Peer, Seeds, Verifier, oid};
use botan_sys::*;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::null_mut;

/// The peer.
pub fn peer() -> Peer {
    // SAFETY: the function returns a static string.
    let version = unsafe { CStr::from_ptr(botan_version_string()) };
    let version = version.to_string_lossy();
    let number = version.split(' ').nth(1).unwrap_or("?").to_owned();
    Peer { name: format!("Botan {number}"), keygen, verifier }
}

/// The order in which Botan draws its seeds: PUB_SEED, SK_PRF, SK_SEED.
struct Draws {
    seeds: Seeds,
    next: usize,
}

extern "C" fn draw(context: *mut c_void, out: *mut u8, length: usize) -> c_int {
    // SAFETY: the context is the `Draws` that `keygen` lends to this generator alone.
    let draws = unsafe { &mut *context.cast::<Draws>() };
    if length != 32 || draws.next >= 3 {
        return -1;
    }
    let seed = &draws.seeds[64 - 32 * draws.next..][..32];
    draws.next += 1;
    // SAFETY: Botan asks for `length` = 32 bytes at `out`, and `seed` has 32.
    unsafe { std::ptr::copy_nonoverlapping(seed.as_ptr(), out, length) };
    0
}

struct Private {
    key: botan_privkey_t,
    rng: botan_rng_t,
}

impl Drop for Private {
    fn drop(&mut self) {
        // SAFETY: both came from Botan in `keygen` and are freed once, here.
        unsafe { botan_privkey_destroy(self.key) };
        // SAFETY: as above.
        unsafe { botan_rng_destroy(self.rng) };
    }
}

fn keygen(set: &str, seeds: &Seeds) -> Option<Box<dyn Key>> {
    let mut draws = Draws { seeds: *seeds, next: 0 };
    let (mut seeded, mut rng, mut key) = (null_mut(), null_mut(), null_mut());
    let context = (&raw mut draws).cast();
    // SAFETY: the name is a C string, and `draws` outlives the generator, which is freed below.
    let status = unsafe {
        botan_rng_init_custom(&mut seeded, c"seeds".as_ptr(), context, Some(draw), None, None)
    };
    assert_eq!(status, 0, "Botan takes a generator");
    let set = CString::new(set).expect("a set's name has no zero byte");
    // SAFETY: both names are C strings, the generator is live.
    let status = unsafe { botan_privkey_create(&mut key, c"XMSS".as_ptr(), set.as_ptr(), seeded) };
    // SAFETY: the generator was made above and is freed once.
    unsafe { botan_rng_destroy(seeded) };
    if status != 0 {
        return None;
    }
    // SAFETY: the name is a C string.
    let status = unsafe { botan_rng_init(&mut rng, c"system".as_ptr()) };
    assert_eq!(status, 0, "the system has a generator");
    Some(Box::new(Private { key, rng }))
}

extern "C" fn view(context: *mut c_void, data: *const u8, length: usize) -> c_int {
    // SAFETY: the context is the vector that `public` lends for this call.
    let out = unsafe { &mut *context.cast::<Vec<u8>>() };
    // SAFETY: Botan lends `length` readable bytes for this call.
    out.extend_from_slice(unsafe { std::slice::from_raw_parts(data, length) });
    0
}

impl Key for Private {
    fn public(&self) -> Vec<u8> {
        let (mut public, mut raw) = (null_mut(), Vec::new());
        // SAFETY: the key is live.
        let status = unsafe { botan_privkey_export_pubkey(&mut public, self.key) };
        assert_eq!(status, 0, "Botan exports a public key");
        let context = (&raw mut raw).cast();
        // SAFETY: the key is live, and `view` takes the vector as its context.
        let status = unsafe { botan_pubkey_view_raw(public, context, view) };
        assert_eq!(status, 0, "Botan shows a public key");
        // SAFETY: the public key was made above and is freed once.
        unsafe { botan_pubkey_destroy(public) };
        raw[raw.len() - 64..].to_vec()
    }

    fn sign(&mut self, message: &[u8]) -> Vec<u8> {
        let (mut out, mut length, mut op) = (vec![0; 4096], 4096, null_mut());
        // SAFETY: the key is live, the padding is an empty C string.
        let status = unsafe { botan_pk_op_sign_create(&mut op, self.key, c"".as_ptr(), 0) };
        assert_eq!(status, 0, "Botan begins a signature");
        // SAFETY: the operation is live, the message readable for its length.
        unsafe { botan_pk_op_sign_update(op, message.as_ptr(), message.len()) };
        // SAFETY: operation and generator are live, `out` is writable for `length` bytes.
        let status =
            unsafe { botan_pk_op_sign_finish(op, self.rng, out.as_mut_ptr(), &mut length) };
        assert_eq!(status, 0, "Botan signs");
        // SAFETY: the operation was made above and is freed once.
        unsafe { botan_pk_op_sign_destroy(op) };
        out.truncate(length);
        out
    }
}

struct Public(botan_pubkey_t);

impl Drop for Public {
    fn drop(&mut self) {
        // SAFETY: the key came from Botan in `verifier` and is freed once, here.
        unsafe { botan_pubkey_destroy(self.0) };
    }
}

/// Botan reads a public key as X.509's SubjectPublicKeyInfo, with the key in an octet string.
fn verifier(set: &str, public: &[u8]) -> Box<dyn Verifier> {
    let raw = [&oid(set).to_be_bytes()[..], public].concat();
    // SEQUENCE { SEQUENCE { OID 0.4.0.127.0.15.1.1.13.0 }, BIT STRING { OCTET STRING { raw } } }
    let algorithm = [0x30, 0x0b, 0x06, 0x09, 0x04, 0x00, 0x7f, 0x00, 0x0f, 0x01, 0x01, 0x0d, 0x00];
    let key = [&[0x03, raw.len() as u8 + 3, 0x00, 0x04, raw.len() as u8][..], &raw].concat();
    let der = [&[0x30, (algorithm.len() + key.len()) as u8][..], &algorithm, &key].concat();
    let mut loaded = null_mut();
    // SAFETY: the slice is readable for its length.
    let status = unsafe { botan_pubkey_load(&mut loaded, der.as_ptr(), der.len()) };
    assert_eq!(status, 0, "Botan takes the key that was made");
    Box::new(Public(loaded))
}

impl Verifier for Public {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool {
        let mut op = null_mut();
        // SAFETY: the key is live, the padding is an empty C string.
        let status = unsafe { botan_pk_op_verify_create(&mut op, self.0, c"".as_ptr(), 0) };
        assert_eq!(status, 0, "Botan begins a verification");
        // SAFETY: the operation is live, the message readable for its length.
        unsafe { botan_pk_op_verify_update(op, message.as_ptr(), message.len()) };
        // SAFETY: the operation is live, the signature readable for its length.
        let status = unsafe { botan_pk_op_verify_finish(op, signature.as_ptr(), signature.len()) };
        // SAFETY: the operation was made above and is freed once.
        unsafe { botan_pk_op_verify_destroy(op) };
        status == 0
    }
}
