#![allow(clippy::unwrap_used)]

mod kinds;

use super::*;
use crate::PublicKey;
use kinds::{
    EDWARDS, Owned, all_kinds, forged, ground, honest, near_miss, orders, rows, rules, sec1_kinds,
};

/// Every kind of row in every lane, beside every kind, with the verdict of the verifier of one.
#[test]
fn many_say_what_one_says() {
    for suite in EDWARDS {
        let owned = all_kinds(suite);
        let all = rows(&owned);
        let expected: Vec<_> =
            all.iter().map(|r| verify(suite, r.public_key, r.alpha, r.proof)).collect();
        let valid = expected.iter().filter(|verdict| verdict.is_ok()).count();
        assert!(valid >= 24 + 32, "{suite}: {valid} valid rows");
        for (shift, order) in orders(all.len()).enumerate() {
            let shuffled: Vec<Row<'_>> = order.iter().map(|&i| all[i]).collect();
            let verdicts = verify_many(suite, &shuffled);
            let by_four = four::verify(suite, rules(suite), &shuffled);
            for (i, verdict) in order.iter().zip(&verdicts).chain(order.iter().zip(&by_four)) {
                assert_eq!(*verdict, expected[*i], "{suite}, row {i}, order {shift}");
            }
        }
    }
}

/// Points of small order of every kind in key and Γ, accepted, between rows that are not: among as many
/// rows as go together, and three groups.
#[test]
fn torsion_is_accepted_among_others() {
    for suite in EDWARDS {
        let mut owned = Vec::new();
        for i in 0..64u8 {
            let on = [i % 8, i / 8].map(usize::from);
            owned.push(ground(suite, i + 1, on, true));
            owned.push(if i % 3 == 0 { forged(suite, i) } else { ground(suite, i, on, false) });
        }
        let all = rows(&owned);
        let expected: Vec<_> =
            all.iter().map(|r| verify(suite, r.public_key, r.alpha, r.proof)).collect();
        for (i, verdict) in expected.iter().enumerate() {
            assert_eq!(verdict.is_ok(), i % 2 == 0, "{suite}, row {i}");
        }
        for order in orders(all.len()).take(8) {
            for among in [24, CHUNK] {
                for order in order.chunks_exact(among) {
                    let shuffled: Vec<Row<'_>> = order.iter().map(|&i| all[i]).collect();
                    let verdicts = verify_many(suite, &shuffled);
                    let accepted = verdicts.iter().filter(|verdict| verdict.is_ok()).count();
                    assert_eq!(accepted, among / 2, "{suite}, of {among}");
                    assert!(verdicts.iter().eq(order.iter().map(|&i| &expected[i])), "{suite}");
                }
            }
        }
    }
}

/// Anybody can make proofs under a key of small order that satisfy every equation (x = 0): only the check
/// of the key refuses them, in each verifier.
#[test]
fn keys_of_small_order_are_refused_by_every_verifier() {
    for suite in EDWARDS {
        let owned: Vec<Owned> = (0..64).map(|i| ground(suite, 0, [i % 8, i / 8], true)).collect();
        let all = rows(&owned);
        for (i, row) in all.iter().enumerate() {
            let one = verify(suite, row.public_key, row.alpha, row.proof);
            assert_eq!(one, Err(Error::SmallOrder), "{suite}, row {i}");
        }
        for verdicts in [verify_many(suite, &all), four::verify(suite, rules(suite), &all)] {
            assert!(verdicts.iter().all(|v| *v == Err(Error::SmallOrder)), "{suite}");
        }
    }
}

/// Proofs that are right but for one byte of the challenge, or of U: each byte is compared.
#[test]
fn every_byte_of_the_challenge_is_compared() {
    for suite in Suite::ALL {
        let owned: Vec<Owned> = (0..32).map(|byte| near_miss(suite, byte)).collect();
        let all = rows(&owned);
        for (i, row) in all.iter().enumerate() {
            let key = PublicKey::from_bytes(suite, row.public_key).unwrap();
            let proof = Proof::from_bytes(suite, row.proof).unwrap();
            assert_eq!(key.verify(row.alpha, &proof), Err(Error::Invalid), "{suite}, byte {i}");
            let one = verify(suite, row.public_key, row.alpha, row.proof);
            assert_eq!(one, Err(Error::Invalid), "{suite}, byte {i}");
        }
        let mut verdicts = verify_many(suite, &all);
        if EDWARDS.contains(&suite) {
            verdicts.extend(four::verify(suite, rules(suite), &all));
        }
        assert!(verdicts.iter().all(|verdict| *verdict == Err(Error::Invalid)), "{suite}");
    }
}

#[test]
fn many_on_sec1_curves_say_what_one_says() {
    for suite in [Suite::P256Tai, Suite::P256Sswu, Suite::Secp256k1Tai] {
        let owned = sec1_kinds(suite);
        let all = rows(&owned);
        let expected: Vec<_> =
            all.iter().map(|r| verify(suite, r.public_key, r.alpha, r.proof)).collect();
        assert!(expected.iter().filter(|verdict| verdict.is_ok()).count() >= 24);
        for order in orders(all.len()) {
            let shuffled: Vec<Row<'_>> = order.iter().map(|&i| all[i]).collect();
            for (i, verdict) in order.iter().zip(verify_many(suite, &shuffled)) {
                assert_eq!(verdict, expected[*i], "{suite}, row {i}");
            }
        }
        for n in 0..20 {
            assert_eq!(verify_many(suite, &all[..n]), expected[..n]);
        }
    }
}

/// Rows of all suites in turn, and each suite's rows under the next suite as well.
#[test]
fn suites_may_be_mixed() {
    let owned: Vec<Vec<Owned>> = Suite::ALL
        .map(|suite| (0..5).flat_map(|i| [honest(suite, i), forged(suite, i)]).collect())
        .into();
    let mixed: Vec<(Suite, Row<'_>)> = (0..20 * Suite::ALL.len())
        .map(|i| {
            let suite = i % Suite::ALL.len();
            let of = (suite + i / (10 * Suite::ALL.len())) % Suite::ALL.len();
            (Suite::ALL[of], rows(&owned[suite])[i / Suite::ALL.len() % 10])
        })
        .collect();
    let verdicts = verify_mixed(&mixed);
    assert!(verdicts.iter().filter(|verdict| verdict.is_ok()).count() >= 5 * Suite::ALL.len());
    for ((suite, row), verdict) in mixed.iter().zip(verdicts) {
        assert_eq!(verdict, verify(*suite, row.public_key, row.alpha, row.proof), "{suite}");
    }
    assert!(verify_mixed(&[]).is_empty());
}

/// Says that this process is to print its verdicts.
const PRINT: &str = "TETRALITH_TEST_PRINT_VERDICTS";

/// What this process's kernels say of every kind of row: one by one, many, and as proofs made.
fn print_verdicts() {
    for suite in Suite::ALL {
        let owned = if EDWARDS.contains(&suite) { all_kinds(suite) } else { sec1_kinds(suite) };
        let all = rows(&owned);
        let one: Vec<_> =
            all.iter().map(|r| verify(suite, r.public_key, r.alpha, r.proof)).collect();
        for order in orders(all.len()) {
            let shuffled: Vec<Row<'_>> = order.iter().map(|&i| all[i]).collect();
            for (i, verdict) in order.iter().zip(verify_many(suite, &shuffled)) {
                assert_eq!(verdict, one[*i], "{suite}, row {i}");
            }
        }
        for (i, verdict) in one.iter().enumerate() {
            println!("verdict {suite} {i} {verdict:?}");
        }
        let keys: Vec<SecretKey> =
            (1..12).map(|i| SecretKey::from_bytes(suite, &[i; 32]).unwrap()).collect();
        let inputs: Vec<(&SecretKey, &[u8])> =
            keys.iter().map(|key| (key, &b"input"[..])).collect();
        for proof in prove_many(&inputs) {
            println!("verdict {suite} {:?}", proof.unwrap());
        }
        let outputs = output_many(&keys[0], &[&b"input"[..], b"", b"other", b"inputs", b"five"]);
        for output in outputs {
            println!("verdict {suite} {:?}", output.unwrap());
        }
    }
}

/// Single verification with the portable code is the oracle: another process, for the kernels that one
/// uses are chosen once.
#[test]
fn every_kernel_says_what_the_portable_code_says() {
    use tetralith_kernels::cpu::{Family, has};
    if std::env::var_os(PRINT).is_some() {
        return print_verdicts();
    }
    let verdicts = |kernel: &str| -> Vec<String> {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["many::tests::every_kernel_says_what_the_portable_code_says", "--exact"])
            .args(["--nocapture", "--test-threads", "1"])
            .env(PRINT, "1")
            .env("TETRALITH_KERNEL", kernel)
            .output()
            .unwrap();
        assert!(output.status.success(), "{kernel}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter(|line| line.contains("verdict ")).map(Into::into).collect()
    };
    let expected = verdicts("portable");
    assert!(expected.len() > 1000, "{} verdicts", expected.len());
    for family in [Family::Avx2, Family::Avx512] {
        if has(family) {
            let got = verdicts(family.name());
            assert_eq!(got.len(), expected.len());
            for (got, expected) in got.iter().zip(&expected) {
                assert_eq!(got, expected, "{}", family.name());
            }
        }
    }
}

#[test]
fn any_number_of_rows() {
    let suite = Suite::Draft03Cardano;
    let owned: Vec<Owned> =
        (0..40).map(|i| if i % 5 == 4 { forged(suite, i) } else { honest(suite, i) }).collect();
    let all = rows(&owned);
    let expected: Vec<_> =
        all.iter().map(|r| verify(suite, r.public_key, r.alpha, r.proof)).collect();
    for n in (0..18).chain([31, 32, 33, 40]) {
        assert_eq!(verify_many(suite, &all[..n]), expected[..n]);
    }
    let repeated: Vec<Row<'_>> = (0..300).map(|i| all[i * 7 % 40]).collect();
    for (i, verdict) in verify_many(suite, &repeated).iter().enumerate() {
        assert_eq!(*verdict, expected[i * 7 % 40]);
    }
}

#[test]
fn many_prove_what_one_proves() {
    let keys: Vec<SecretKey> = EDWARDS
        .into_iter()
        .chain([Suite::P256Tai])
        .flat_map(|suite| (0..19u8).map(move |i| SecretKey::from_bytes(suite, &[i + 9; 32])))
        .map(Result::unwrap)
        .collect();
    let alphas: Vec<Vec<u8>> = (0..keys.len()).map(|i| vec![i as u8; 41 * i % 307]).collect();
    let rows: Vec<(&SecretKey, &[u8])> =
        keys.iter().zip(&alphas).map(|(key, alpha)| (key, &alpha[..])).collect();
    let by_four: Vec<_> = rows
        .chunk_by(|a, b| a.0.suite() == b.0.suite())
        .filter(|same| EDWARDS.contains(&same[0].0.suite()))
        .flat_map(|same| same.iter().zip(four::prove(rules(same[0].0.suite()), same)))
        .collect();
    assert_eq!(by_four.len(), 19 * EDWARDS.len());
    for (row, proof) in by_four {
        let (proof, expected) = (proof.unwrap(), row.0.prove(row.1).unwrap());
        assert_eq!(proof, expected, "{}, by four", row.0.suite());
        assert_eq!(proof.to_hash(), expected.to_hash());
    }
    for rows in [&rows[..], &rows[3..4], &rows[5..5]] {
        for (row, proof) in rows.iter().zip(prove_many(rows)) {
            let (proof, expected) = (proof.unwrap(), row.0.prove(row.1).unwrap());
            assert_eq!(proof, expected, "{}", row.0.suite());
            assert_eq!(proof.to_hash(), expected.to_hash());
            assert!(row.0.public_key().verify(row.1, &proof).is_ok());
        }
    }
    // Outputs alone, of one key.
    for key in keys.iter().step_by(19) {
        let inputs: Vec<&[u8]> = alphas.iter().take(37).map(|alpha| &alpha[..]).collect();
        for n in [0, 1, 3, 4, 8, 12, 37] {
            let outputs = output_many(key, &inputs[..n]);
            let one: Vec<_> = inputs[..n].iter().map(|alpha| key.output(alpha)).collect();
            assert_eq!(outputs, one, "{}", key.suite());
            if let Secret::Edwards(rules, secret) = &key.secret {
                let outputs = four::outputs(rules, (key, secret), &inputs[..n]);
                assert_eq!(outputs, one, "{}, by four", key.suite());
            }
            if n > 0 {
                assert_eq!(outputs[0], key.prove(inputs[0]).map(|proof| proof.to_hash()));
            }
        }
    }
    // Suites that change from row to row.
    let mixed: Vec<(&SecretKey, &[u8])> = (0..40).map(|i| rows[i * 19 % rows.len()]).collect();
    for (row, proof) in mixed.iter().zip(prove_many(&mixed)) {
        assert_eq!(proof.unwrap(), row.0.prove(row.1).unwrap());
    }
}

/// Rows with a few bits of key, proof or input changed, and parts taken from other rows.
#[test]
fn mutated_rows_have_the_verdicts_of_one() {
    let slow = std::env::var("TETRALITH_SLOW").is_ok_and(|value| value == "1");
    if !slow {
        println!("left out: most rounds, for want of TETRALITH_SLOW=1");
    }
    let mut state = 0x243f_6a88_85a3_08d3u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for suite in EDWARDS {
        let seeds = all_kinds(suite);
        for _ in 0..if slow { 200 } else { 1 } {
            let mutated: Vec<Owned> = (0..100)
                .map(|_| {
                    let mut row = seeds[below(seeds.len())].clone();
                    let other = &seeds[below(seeds.len())];
                    match below(4) {
                        0 => row.0.clone_from(&other.0),
                        1 => row.1.clone_from(&other.1),
                        _ => {}
                    }
                    for _ in 0..below(3) {
                        let part = if below(3) == 0 { &mut row.0 } else { &mut row.2 };
                        if !part.is_empty() {
                            let (at, bit) = (below(part.len()), below(8));
                            part[at] ^= 1 << bit;
                        }
                    }
                    row
                })
                .collect();
            let all = rows(&mutated);
            for (row, verdict) in all.iter().zip(verify_many(suite, &all)) {
                let expected = verify(suite, row.public_key, row.alpha, row.proof);
                assert_eq!(verdict, expected, "{suite} {row:?}");
            }
        }
    }
}
