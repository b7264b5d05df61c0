#![allow(clippy::unwrap_used)]

use super::*;
use crate::suite::{EdwardsRules, Format, Negation};
use crate::{SecretKey, edwards, hash_to_curve};
use curve25519_dalek::Scalar;
use curve25519_dalek::constants::EIGHT_TORSION;
use tetralith_kernels::edwards25519::{NegativeZero, Point, base};

const EDWARDS: [Suite; 8] = [
    Suite::Draft03Cardano,
    Suite::Draft03Algorand,
    Suite::Draft13BatchCompat,
    Suite::Edwards25519Tai,
    Suite::Edwards25519Ell2,
    Suite::Draft03Blake2b,
    Suite::Draft03Tai,
    Suite::Draft03Blake2bTai,
];

/// A row that owns its bytes.
#[derive(Clone, Debug)]
struct Owned(Vec<u8>, Vec<u8>, Vec<u8>);

fn rules(suite: Suite) -> &'static EdwardsRules {
    match suite.group() {
        Group::Edwards25519(rules) => rules,
        _ => panic!("a suite on edwards25519"),
    }
}

fn honest(suite: Suite, i: u8) -> Owned {
    let key = SecretKey::from_bytes(suite, &[i.wrapping_add(1); 32]).unwrap();
    let alpha = vec![i; 37 * usize::from(i) % 301];
    let proof = key.prove(&alpha).unwrap().as_bytes().to_vec();
    Owned(key.public_key().as_bytes().to_vec(), alpha, proof)
}

fn torsion(i: usize) -> Point {
    Point::decode(&EIGHT_TORSION[i].compress().to_bytes(), NegativeZero::Refuse).unwrap()
}

/// What a prover may do who adds points of small order to the key and to Γ: he takes `guess` times them
/// off U and V. Returns also whether that is right.
fn with_torsion(suite: Suite, seed: u8, on: [usize; 2], k: u64, guess: u64) -> (Owned, bool) {
    let rules = rules(suite);
    let x = Scalar::from_bytes_mod_order([seed; 32]);
    let y = base().mul(&x.to_bytes()).add(&torsion(on[0])).encode();
    let alpha = vec![seed; 9];
    let h = hash_to_curve::edwards(rules, &y, &alpha).unwrap();
    let gamma = h.mul(&x.to_bytes()).add(&torsion(on[1])).encode();
    let k = Scalar::from(k);
    let minus = |i: usize| torsion((8 - guess as usize) * i % 8);
    let u = base().mul(&k.to_bytes()).add(&minus(on[0])).encode();
    let v = h.mul(&k.to_bytes()).add(&minus(on[1])).encode();
    let c = edwards::challenge(rules, &y, &h.encode(), &gamma, &u, &v);
    let s = (k + edwards::scalar(&c) * x).to_bytes();
    let proof = match rules.format {
        Format::Challenge => [&gamma[..], &c, &s].concat(),
        Format::Commitments => [gamma, u, v, s].concat(),
    };
    // The verifier takes off c times them, or c − L times; L is 5 mod 8.
    let times = match rules.negation {
        Negation::Integer => u64::from(c[0]),
        Negation::ModOrder => u64::from(c[0]) + 3,
    };
    let right = on.iter().all(|&i| ((times + 8 - guess) * i as u64).is_multiple_of(8));
    (Owned(y.to_vec(), alpha, proof), right)
}

/// The same with the nonce tried until the guess is right, or is not: that it can be where a point is added.
fn ground(suite: Suite, seed: u8, on: [usize; 2], accepted: bool) -> Owned {
    let trials = (1000..).map(|k| with_torsion(suite, seed, on, k, k % 8));
    trials.filter(|(_, right)| *right == accepted).map(|(row, _)| row).next().unwrap()
}

/// One bit of something changed.
fn forged(suite: Suite, i: u8) -> Owned {
    let Owned(mut key, mut alpha, mut proof) = honest(suite, i);
    let n = proof.len();
    match i % 6 {
        0 => proof[n - 32] ^= 1,
        1 => proof[32] ^= 0x40,
        2 => proof[5] ^= 1, // half of these leave the curve
        3 => alpha.push(0),
        4 => key[7] ^= 2,
        _ => proof[47] ^= 0x80,
    }
    Owned(key, alpha, proof)
}

/// Encodings that are not well formed, and points that are not what they should be.
fn strange(suite: Suite) -> Vec<Owned> {
    let mut all = Vec::new();
    let with = |i: u8, change: &dyn Fn(&mut Owned)| {
        let mut row = honest(suite, i);
        change(&mut row);
        row
    };
    for low in [0xec, 0xed, 0xee, 0xff] {
        for high in [0x7f, 0xff] {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (low, high);
            all.push(with(low, &|row| row.0.copy_from_slice(&bytes)));
            all.push(with(high, &|row| row.2[..32].copy_from_slice(&bytes)));
        }
    }
    for first in [0, 1, 2] {
        for last in [0, 0x80] {
            let mut bytes = [0; 32];
            (bytes[0], bytes[31]) = (first, last);
            all.push(with(first, &|row| row.0.copy_from_slice(&bytes)));
            all.push(with(last, &|row| row.2[..32].copy_from_slice(&bytes)));
        }
    }
    for point in EIGHT_TORSION {
        let bytes = point.compress().to_bytes();
        all.push(with(3, &|row| row.0.copy_from_slice(&bytes)));
        all.push(with(4, &|row| row.2[..32].copy_from_slice(&bytes)));
    }
    for length in [0, 31, 33] {
        all.push(with(5, &|row| row.0.resize(length, 1)));
    }
    for length in [0, 79, 81, 128, 127] {
        all.push(with(6, &|row| row.2.resize(length, 1)));
    }
    all.push(with(7, &|row| row.2.fill(0xff)));
    all.push(with(7, &|row| row.2[32..].fill(0))); // c = 0 and s = 0
    all.push(with(8, &|row| add_order(&mut row.2, 1)));
    all.push(with(9, &|row| add_order(&mut row.2, 8)));
    all.push(with(9, &|row| add_order(&mut row.2, 14)));
    all
}

/// Adds a multiple of L to s, which leaves it s mod L.
fn add_order(proof: &mut [u8], times: u32) {
    let at = proof.len() - 32;
    for _ in 0..times {
        let order_minus_1 = (-Scalar::ONE).to_bytes();
        let mut carry = 1u16;
        for (byte, add) in proof[at..].iter_mut().zip(order_minus_1) {
            carry += u16::from(*byte) + u16::from(add);
            *byte = carry as u8;
            carry >>= 8;
        }
    }
}

fn all_kinds(suite: Suite) -> Vec<Owned> {
    let mut all: Vec<Owned> = (0..24).map(|i| honest(suite, i)).collect();
    all.extend((0..24).map(|i| forged(suite, i)));
    all.extend(strange(suite));
    for i in 0..64u8 {
        let on = [i % 8, i / 8].map(usize::from);
        all.push(ground(suite, i + 1, on, (on[0] + on[1]) % 2 == 0));
    }
    all.extend((0..16).map(|i| with_torsion(suite, 77, [4 * (i as usize & 1), 4], i, i % 8).0));
    all
}

/// Every kind of row on P-256 and secp256k1: also sums that are neutral, and points that the formulas
/// add to themselves.
fn sec1_kinds(suite: Suite) -> Vec<Owned> {
    let mut all: Vec<Owned> = (0..24).flat_map(|i| [honest(suite, i), forged(suite, i)]).collect();
    let mut with = |i: u8, change: &dyn Fn(&mut Owned)| {
        let mut row = honest(suite, i);
        change(&mut row);
        all.push(row);
    };
    for tag in [0, 1, 4, 5, 0xff] {
        with(tag & 7, &|row| row.0[0] = tag);
        with(tag & 7, &|row| row.2[0] = tag);
    }
    for fill in [0, 1, 0xff] {
        with(fill & 7, &|row| row.0[1..].fill(fill));
        with(fill & 7, &|row| row.2[1..33].fill(fill));
        with(fill & 7, &|row| row.2[33..49].fill(fill));
        with(fill & 7, &|row| row.2[49..].fill(fill));
        with(fill & 7, &|row| row.2[33..].fill(fill));
    }
    for length in [0, 32, 80, 82] {
        with(7, &|row| row.0.resize(length, 2));
        with(8, &|row| row.2.resize(length, 2));
    }
    let mut one = [0; 32];
    one[31] = 1; // x = 1: Y is the generator
    let key = SecretKey::from_bytes(suite, &one).unwrap();
    for (s, c) in [(0, 0), (1, 1), (2, 1), (1, 0), (0, 1), (16, 8), (9, 1), (200, 100)] {
        let mut proof = key.prove(b"x").unwrap().as_bytes().to_vec();
        proof[33..].fill(0);
        (proof[48], proof[80]) = (c, s);
        all.push(Owned(key.public_key().as_bytes().to_vec(), b"x".to_vec(), proof));
    }
    all
}

fn rows(owned: &[Owned]) -> Vec<Row<'_>> {
    owned.iter().map(|o| Row { public_key: &o.0, alpha: &o.1, proof: &o.2 }).collect()
}

/// Orders in which every row of `n` comes into every lane of eight and of four, and others in which
/// its neighbours are others.
fn orders(n: usize) -> impl Iterator<Item = Vec<usize>> {
    let turned = (0..8).map(move |by| (0..n).map(|i| (i + by) % n).collect());
    let mixed = (1..6).map(move |by| (0..n).map(|i| (i * (2 * by + 1) + 5 * by) % n).collect());
    turned.chain(mixed)
}

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
    for rows in [&rows[..], &rows[3..4], &rows[5..5]] {
        for (row, proof) in rows.iter().zip(prove_many(rows)) {
            let (proof, expected) = (proof.unwrap(), row.0.prove(row.1).unwrap());
            assert_eq!(proof, expected, "{}", row.0.suite());
            assert_eq!(proof.to_hash(), expected.to_hash());
            assert!(row.0.public_key().verify(row.1, &proof).is_ok());
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
