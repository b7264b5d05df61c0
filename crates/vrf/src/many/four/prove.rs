//! Proofs and outputs made four at a time.
//!
//! The steps of [`crate::edwards::Secret::prove`], each for all rows of a chunk before the next. x is
//! taken mod L, which is the same for H: it is of order L or the neutral element.
//!
//! Secret: x and k, and the sums on the way to Γ, U and V. The arrays of scalars are cleared; what
//! the compiler copies and what stays in vectors on the stack is out of reach.
//!
//! RFC 9381 §5.1

use super::hash_to_curve;
use crate::edwards::{self, challenge};
use crate::error::Error;
use crate::keys::{Secret, SecretKey};
use crate::proof::{Output, Parsed, Proof};
use crate::suite::EdwardsRules;
use curve25519_dalek::Scalar;
use tetralith_kernels::edwards25519::Point;
use tetralith_kernels::edwards25519x4::{mul_all, mul_base_all};
use zeroize::Zeroizing;

/// Scalars in groups of four; missing rows have zeros.
type Scalars = Zeroizing<Vec<[[u8; 32]; 4]>>;

/// Proves for keys of one suite, in order.
pub(crate) fn prove(
    rules: &'static EdwardsRules,
    rows: &[(&SecretKey, &[u8])],
) -> Vec<Result<Proof, Error>> {
    let mut secrets = Vec::with_capacity(rows.len());
    for (key, _) in rows {
        match &key.secret {
            Secret::Edwards(_, secret) => secrets.push(secret),
            Secret::P256(..) | Secret::K256(..) => {
                return rows.iter().map(|(key, alpha)| key.prove(alpha)).collect();
            }
        }
    }
    let inputs: Vec<(&[u8; 32], &[u8])> = secrets
        .iter()
        .zip(rows)
        .map(|(secret, (_, alpha))| (secret.public_key(), *alpha))
        .collect();
    let found = hash_to_curve(rules, &inputs);
    let h_points: Vec<Point> = found.iter().map(|h| h.unwrap_or(Point::IDENTITY)).collect();
    let h = Point::encode_many(&h_points);
    let x = scalars(&secrets, |secret, _| secret.scalar());
    let k = scalars(&secrets, |secret, row| secret.nonce(&h[row]));
    let points = multiples(&h_points, &x, &k);
    let encodings = Point::encode_many(points.as_flattened());
    let proof = |row: usize| {
        let (secret, [gamma_point, ..]) = (secrets[row], points[row]);
        let [gamma, u, v] = [0, 1, 2].map(|part| encodings[3 * row + part]);
        let c = challenge(rules, secret.public_key(), &h[row], &gamma, &u, &v);
        let k = Zeroizing::new(Scalar::from_bytes_mod_order(k.as_flattened()[row]));
        let s = (*k + edwards::scalar(&c) * *secret.scalar()).to_bytes();
        let bytes = edwards::proof_string(rules.format, &gamma, [&u, &v], &c, &s);
        let parsed = edwards::Parsed { gamma: gamma_point, s };
        Proof::new(rows[row].0.suite(), &bytes, Parsed::Edwards(rules, parsed))
    };
    let proven = found.iter().enumerate().map(|(row, h)| match h {
        Some(_) => Ok(proof(row)),
        None => rows[row].0.prove(rows[row].1),
    });
    proven.collect()
}

/// The outputs of one key for inputs, in order. RFC 9381 §5.2, from 8 Γ = (8 x mod L) H
pub(crate) fn outputs(
    rules: &'static EdwardsRules,
    (key, secret): (&SecretKey, &edwards::Secret),
    alphas: &[&[u8]],
) -> Vec<Result<Output, Error>> {
    let inputs: Vec<(&[u8; 32], &[u8])> =
        alphas.iter().map(|alpha| (secret.public_key(), *alpha)).collect();
    let found = hash_to_curve(rules, &inputs);
    let x8 = Zeroizing::new([(*secret.scalar() * Scalar::from(8u8)).to_bytes(); 4]);
    let gamma8: Vec<Point> = found
        .chunks(4)
        .flat_map(|h| {
            let [gamma8] = mul_all(&four(h, |h| h.unwrap_or(Point::IDENTITY)), [&x8]);
            gamma8
        })
        .collect();
    let encodings = Point::encode_many(&gamma8[..alphas.len()]);
    let output = |row: usize| match found[row] {
        Some(_) => Ok(Output::new(key.suite(), &edwards::output(rules, &encodings[row]))),
        None => key.output(alphas[row]),
    };
    (0..alphas.len()).map(output).collect()
}

/// x H, k B and k H of each row.
fn multiples(h: &[Point], x: &Scalars, k: &Scalars) -> Vec<[Point; 3]> {
    let group = |(h, (x, k)): (&[Point], (&[[u8; 32]; 4], &[[u8; 32]; 4]))| {
        let [gamma, v] = mul_all(&four(h, |h| *h), [x, k]);
        let u = mul_base_all(k);
        [0, 1, 2, 3].map(|lane| [gamma[lane], u[lane], v[lane]])
    };
    let mut all: Vec<[Point; 3]> =
        h.chunks(4).zip(x.iter().zip(k.iter())).flat_map(group).collect();
    all.truncate(h.len());
    all
}

/// A point of each of at most four rows, and the neutral element for missing ones.
fn four<T>(rows: &[T], point: impl Fn(&T) -> Point) -> [Point; 4] {
    core::array::from_fn(|lane| rows.get(lane).map_or(Point::IDENTITY, &point))
}

fn scalars(
    secrets: &[&edwards::Secret],
    of: impl Fn(&edwards::Secret, usize) -> Zeroizing<Scalar>,
) -> Scalars {
    let mut all = Zeroizing::new(vec![[[0; 32]; 4]; secrets.len().div_ceil(4)]);
    for (row, secret) in secrets.iter().enumerate() {
        all[row / 4][row % 4] = of(secret, row).to_bytes();
    }
    all
}
