//! Derives keys of every suite from secret bytes and proves; see
//! `crates/kernels/tests/constant_time.rs`.
//!
//! Public are the input, the public key and the proof, and with them how often try-and-increment
//! tries; the libraries say so where they give them away.

use tetralith_kernels::ct;
use tetralith_vrf::{SecretKey, Suite, output_many, prove_many};

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
        // Enough rows for lanes, and one over.
        let rows = [(&key, &b"alpha"[..]); 5];
        let proofs = prove_many(&rows).into_iter().collect::<Result<Vec<_>, _>>()?;
        let outputs = output_many(&key, &[&b"alpha"[..]; 5]);
        for (proof, output) in proofs.into_iter().zip(outputs) {
            let mut many = proof.as_bytes().to_vec();
            ct::public_bytes(&mut many);
            assert_eq!(many, encoded, "{suite}");
            let (output, expected) = (output?, proof.to_hash());
            let [output, expected] = [output, expected].map(|o| o.as_bytes().to_vec());
            let equal = output.iter().zip(&expected).fold(0, |all, (a, b)| all | (a ^ b));
            assert_eq!(ct::public(equal), 0, "{suite}");
        }
        println!("{suite}: {} errors", ct::errors());
    }
    Ok(())
}
