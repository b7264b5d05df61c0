//! Makes keys of secret seeds and signs with them; see `crates/kernels/tests/constant_time.rs`.
//!
//! Public are the seed of the masks and, from where they are made on, the tree's nodes and the
//! randomizer of a message, which the signature holds: the libraries say so.

use tetralith_kernels::ct;
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{Derivation, HashFunction, Params, Progress, SecretKey, Signer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("checked: {}", ct::is_checked());
    let cases = [
        (HashFunction::Sha2, Derivation::PrfKeygen),
        (HashFunction::Sha2, Derivation::PrfCounter),
        (HashFunction::Shake256, Derivation::PrfKeygen),
    ];
    for (hash, derivation) in cases {
        let params = Params::qrl(hash, 4)?;
        let mut seeds = vec![7; 3 * params.n()];
        ct::secret(&mut seeds[..2 * params.n()]);
        let key = SecretKey::from_seeds(params, derivation, &seeds, &Progress::silent())?;
        let public = key.public_key();
        let mut store = Volatile::new();
        create(&mut store, &public, 0, [0; 16], 0)?;
        let mut signer = Signer::open(key, store, Holder::new("test"))?;
        let mut first = signer.sign(b"m", 0)?;
        signer.prepare_ahead(1)?;
        let mut second = signer.sign(b"n", 0)?;
        ct::public_bytes(&mut first);
        ct::public_bytes(&mut second);
        public.verify(b"m", &first)?;
        public.verify(b"n", &second)?;
        println!("{params}");
    }
    Ok(())
}
