//! Any secret key, input and damage: honest proofs verify in every place of a batch, damaged ones
//! get the single verifier's verdict.

use tetralith_vrf::{Row, SecretKey, Suite, verify, verify_many};

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some(data) = crate::read::<(u8, [u8; 32], Vec<u8>, u8, u8, u8)>(data) else { return };
    let (suite, seed, alpha, place, at, damage) = data;
    let suite = Suite::ALL[usize::from(suite) % Suite::ALL.len()];
    let Ok(key) = SecretKey::from_bytes(suite, &seed) else { return };
    let public_key = key.public_key();
    let Ok((output, proof)) = key.evaluate(&alpha) else { return };
    let honest = Row { public_key: public_key.as_bytes(), alpha: &alpha, proof: proof.as_bytes() };
    let mut bytes = proof.as_bytes().to_vec();
    let at = usize::from(at) % bytes.len();
    bytes[at] ^= damage;
    let mut rows = [honest; 17];
    let place = usize::from(place) % rows.len();
    rows[place].proof = &bytes;
    let expected = verify(suite, rows[place].public_key, &alpha, &bytes);
    assert!(damage == 0 || expected.is_err());
    for (i, verdict) in verify_many(suite, &rows).into_iter().enumerate() {
        assert_eq!(verdict, if i == place { expected.clone() } else { Ok(output) });
    }
}
