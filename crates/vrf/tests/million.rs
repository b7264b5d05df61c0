//! A million proofs in one run, in the slow set.

#![allow(clippy::unwrap_used)] // the helpers of tests may panic as tests do

use tetralith_vrf::{Error, Row, SecretKey, Suite, prove_many, verify_many};

/// Rows of a thousand keys and inputs; every 97th row of the million has another row's input.
#[test]
fn a_million_proofs() {
    if std::env::var_os("TETRALITH_SLOW").is_none() {
        eprintln!("left out: a million proofs; set TETRALITH_SLOW=1 to verify them");
        return;
    }
    let suite = Suite::Draft03Cardano;
    let seed = |i: u32| -> [u8; 32] {
        core::array::from_fn(|k| (i.to_le_bytes()[k % 4]).wrapping_add(k as u8))
    };
    let keys: Vec<SecretKey> =
        (0..1000).map(|i| SecretKey::from_bytes(suite, &seed(i)).unwrap()).collect();
    let publics: Vec<_> = keys.iter().map(SecretKey::public_key).collect();
    let alphas: Vec<[u8; 32]> = (0..1000).map(|i| seed(i + 5000)).collect();
    let inputs: Vec<(&SecretKey, &[u8])> =
        keys.iter().zip(&alphas).map(|(key, alpha)| (key, &alpha[..])).collect();
    let proofs: Vec<_> = prove_many(&inputs).into_iter().map(Result::unwrap).collect();
    let mut failed = 0;
    for block in 0..100usize {
        let rows: Vec<Row<'_>> = (0..10_000)
            .map(|n| {
                let (row, i) = (10_000 * block + n, (7 * n + block) % 1000);
                let alpha = &alphas[if row % 97 == 0 { (i + 1) % 1000 } else { i }];
                Row { public_key: publics[i].as_bytes(), alpha, proof: proofs[i].as_bytes() }
            })
            .collect();
        for (n, verdict) in verify_many(suite, &rows).into_iter().enumerate() {
            if (10_000 * block + n) % 97 == 0 {
                assert_eq!(verdict, Err(Error::Invalid));
                failed += 1;
            } else {
                assert_eq!(verdict, Ok(proofs[(7 * n + block) % 1000].to_hash()));
            }
        }
    }
    assert_eq!(failed, 1_000_000 / 97 + 1);
}
