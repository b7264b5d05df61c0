//! Verification. Any bytes as a signature under any set; and real signatures with bytes changed, which
//! verify only unchanged, by every way of verifying.

use crate::changes;
use std::sync::LazyLock;
use tetralith_xmss::state::{self, Holder, Volatile};
use tetralith_xmss::{
    Derivation, HashFunction, Item, Params, Progress, PublicKey, SecretKey, Signer, verify_many,
};

const MESSAGE: &[u8] = b"message";

struct Signed {
    key: PublicKey,
    signature: Vec<u8>,
}

/// A short tree of each hash function.
static SIGNED: LazyLock<Vec<Signed>> = LazyLock::new(|| {
    let all = [HashFunction::Sha2, HashFunction::Shake128, HashFunction::Shake256];
    let sign = |hash| {
        let params = Params::qrl(hash, 4).unwrap();
        let seeds = [7; 96];
        let key =
            SecretKey::from_seeds(params, Derivation::PrfCounter, &seeds, &Progress::silent());
        let key = key.unwrap();
        let public = key.public_key();
        let mut store = Volatile::new();
        state::create(&mut store, &public, 3, [1; 16], 0).unwrap();
        let mut signer = Signer::open(key, store, Holder::new("fuzz")).unwrap();
        Signed { key: public, signature: signer.sign(MESSAGE, 0).unwrap() }
    };
    all.into_iter().map(sign).collect()
});

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some((&which, rest)) = data.split_first() else { return };
    if which < 128 {
        any(which, rest);
        return;
    }
    let Signed { key, signature } = &SIGNED[usize::from(which) % SIGNED.len()];
    let mut changed = signature.clone();
    changes::apply(rest, &mut changed);
    let verdict = key.verify(MESSAGE, &changed);
    assert_eq!(verdict.is_ok(), changed == *signature);
    let items = vec![
        Item { public_key: key, message: MESSAGE, signature: &changed };
        1 + usize::from(which % 5)
    ];
    assert!(verify_many(&items).iter().all(|other| other.is_ok() == verdict.is_ok()));
    if let Ok(mut stream) = key.verify_stream(&changed) {
        MESSAGE.chunks(3).for_each(|part| stream.update(part));
        assert_eq!(stream.finish().is_ok(), verdict.is_ok());
    }
}

/// A signature of any bytes: its length is made right now and then, because all others are refused.
fn any(which: u8, bytes: &[u8]) {
    let Some(params) = Params::all().nth(usize::from(which % 64)) else { return };
    let key = PublicKey::from_parts(params, &vec![0x5a; 2 * params.n()]).expect("root and seed");
    let mut signature = bytes.to_vec();
    if which < 64 {
        signature.resize(params.signature_bytes(), 0x33);
    }
    assert!(key.verify(MESSAGE, &signature).is_err());
}
