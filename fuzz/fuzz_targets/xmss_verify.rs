//! Verification: the first byte chooses the set, the rest is the signature.
#![no_main]
use libfuzzer_sys::fuzz_target;
use tetralith_xmss::{Params, PublicKey};

fuzz_target!(|bytes: &[u8]| {
    let Some((which, signature)) = bytes.split_first() else { return };
    let Some(params) = Params::all().nth(usize::from(*which)) else { return };
    let key = PublicKey::from_parts(params, &vec![0x5a; 2 * params.n()]).expect("root and seed");
    assert!(key.verify(b"message", signature).is_err());
});
