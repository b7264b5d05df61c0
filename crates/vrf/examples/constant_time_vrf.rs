//! Derives keys of every suite from secret bytes and proves; see
//! `crates/kernels/tests/constant_time.rs`.
//!
//! Public are the input, the public key and the proof, and with them how often try-and-increment
//! tries; the libraries say so where they give them away.

use tetralith_kernels::ct;
use tetralith_vrf::{SecretKey, Suite};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("checked: {}", ct::is_checked());
    for suite in Suite::ALL {
        let mut bytes = [7; 32];
        ct::secret(&mut bytes);
        let key = SecretKey::from_bytes(suite, &bytes)?;
        let proof = key.prove(b"alpha")?;
        let mut encoded = proof.as_bytes().to_vec();
        ct::public_bytes(&mut encoded);
        key.public_key().verify(b"alpha", &tetralith_vrf::Proof::from_bytes(suite, &encoded)?)?;
        println!("{suite}: {} errors", ct::errors());
    }
    Ok(())
}
