//! Eight proofs made at a time.
//!
//! The steps of [`crate::edwards::Secret::prove`], each for all rows of a chunk before the next. x is
//! taken mod L, which is the same for H: it is of order L or the neutral element.
//!
//! Secret: x and k, and the sums on the way to Γ, U and V. The arrays of scalars are cleared; what
//! the compiler copies and what stays in vectors on the stack is out of reach.
//!
//! RFC 9381 §5.1

use super::{Chunk, Encodings, Parsed};
use crate::edwards;
use crate::error::Error;
use crate::keys::{Secret, SecretKey};
use crate::many::Row;
use crate::proof::{Output, Parsed as ParsedProof, Proof};
use crate::suite::EdwardsRules;
use curve25519_dalek::Scalar;
use tetralith_kernels::edwards25519x8::{
    Points, TwoMul, encode_all, mul_all, mul_base_all, two_mul_all,
};
use tetralith_kernels::lanes8::Lanes8;
use zeroize::Zeroizing;

type Scalars = Zeroizing<Vec<[[u8; 32]; 8]>>;

/// Proves for keys of one suite, in order.
pub(crate) fn prove(
    lanes: Lanes8,
    rules: &'static EdwardsRules,
    rows: &[(&SecretKey, &[u8])],
) -> Vec<Result<Proof, Error>> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut secrets = Vec::with_capacity(rows.len());
    for (key, _) in rows {
        match &key.secret {
            Secret::Edwards(_, secret) => secrets.push(secret),
            Secret::P256(..) | Secret::K256(..) => {
                return rows.iter().map(|(key, a)| key.prove(a)).collect();
            }
        }
    }
    let public: Vec<Row<'_>> = rows
        .iter()
        .zip(&secrets)
        .map(|((_, alpha), secret)| Row { public_key: secret.public_key(), alpha, proof: &[] })
        .collect();
    let parsed = secrets.iter().map(|secret| Parsed::of_key(secret.public_key())).collect();
    let mut chunk = Chunk { lanes, rules, rows: &public, parsed };
    let proofs = chunk.prove(&secrets);
    rows.iter()
        .zip(&chunk.parsed)
        .zip(proofs)
        .map(|(((key, alpha), parsed), (bytes, proof))| match parsed.well_formed {
            true => Ok(Proof::new(key.suite(), &bytes, ParsedProof::Edwards(rules, proof))),
            false => key.prove(alpha),
        })
        .collect()
}

/// The outputs of one key for inputs, in order. RFC 9381 §5.2, from 8 Γ = (8 x mod L) H
pub(crate) fn outputs(
    lanes: Lanes8,
    rules: &'static EdwardsRules,
    (key, secret): (&SecretKey, &edwards::Secret),
    alphas: &[&[u8]],
) -> Vec<Result<Output, Error>> {
    if alphas.is_empty() {
        return Vec::new();
    }
    let public_key = secret.public_key();
    let rows: Vec<Row<'_>> =
        alphas.iter().map(|alpha| Row { public_key, alpha, proof: &[] }).collect();
    let parsed = vec![Parsed::of_key(public_key); rows.len()];
    let mut chunk = Chunk { lanes, rules, rows: &rows, parsed };
    let h = chunk.hash_to_curve();
    // H is of order L or neutral, so the cofactor may be multiplied into x.
    let x8 = Zeroizing::new((*secret.scalar() * Scalar::from(8u8)).to_bytes());
    let gamma8 = mul_all(lanes, &x8, &h);
    let outputs = chunk.outputs(&encode_all(lanes, &gamma8));
    let output =
        |((alpha, parsed), output): ((&&[u8], &Parsed), &[u8; 64])| match parsed.well_formed {
            true => Ok(Output::new(key.suite(), output)),
            false => key.output(alpha),
        };
    alphas.iter().zip(&chunk.parsed).zip(&outputs).map(output).collect()
}

impl Parsed {
    fn of_key(key: &[u8; 32]) -> Parsed {
        Parsed { key: *key, well_formed: true, ..Parsed::default() }
    }
}

impl Chunk<'_> {
    /// The proofs, encoded and decoded. They are to be thrown away where a row has been found not
    /// well formed.
    fn prove(&mut self, secrets: &[&edwards::Secret]) -> Vec<(Vec<u8>, edwards::Parsed)> {
        let h_points = self.hash_to_curve();
        let h = encode_all(self.lanes, &h_points);
        let x = scalars(secrets, |secret, _| secret.scalar());
        let k = scalars(secrets, |secret, row| secret.nonce(&h.as_flattened()[row]));
        let [gamma_points, u, v] = self.multiples(&h_points, &x, &k);
        let points: Vec<Points> = [&gamma_points[..], &u, &v].concat();
        let encodings = encode_all(self.lanes, &points);
        let [gamma, u, v] =
            [0, 1, 2].map(|part| encodings[part * h.len()..(part + 1) * h.len()].to_vec());
        let keys: Encodings = self.gather(|p| p.key);
        let c = self.challenges(&keys, &h, &gamma, &u, &v);
        (0..secrets.len())
            .map(|row| {
                let at = |all: &Encodings| all.as_flattened()[row];
                let c = c.as_flattened()[row];
                let k = Zeroizing::new(Scalar::from_bytes_mod_order(k.as_flattened()[row]));
                let s = (*k + edwards::scalar(&c) * *secrets[row].scalar()).to_bytes();
                let (u, v) = (at(&u), at(&v));
                let bytes = edwards::proof_string(self.rules.format, &at(&gamma), [&u, &v], &c, &s);
                let gamma = gamma_points[row / 8].lane(self.lanes, row % 8);
                (bytes, edwards::Parsed { gamma, s })
            })
            .collect()
    }

    /// x H, k B and k H.
    fn multiples(&self, h: &[Points], x: &Scalars, k: &Scalars) -> [Vec<Points>; 3] {
        let group = |i: usize| TwoMul { scalars: [&x[i], &k[i]], point: &h[i] };
        let groups: Vec<TwoMul<'_>> = (0..h.len()).map(group).collect();
        let both = two_mul_all(self.lanes, &groups);
        let [gamma, v] = [0, 1].map(|part| both.iter().map(|pair| pair[part]).collect());
        [gamma, mul_base_all(self.lanes, k), v]
    }
}

/// A scalar of every row, in groups; missing rows have zeros.
fn scalars(
    secrets: &[&edwards::Secret],
    of: impl Fn(&edwards::Secret, usize) -> Zeroizing<Scalar>,
) -> Scalars {
    let mut all = Zeroizing::new(vec![[[0; 32]; 8]; secrets.len().div_ceil(8)]);
    for (row, secret) in secrets.iter().enumerate() {
        all[row / 8][row % 8] = of(secret, row).to_bytes();
    }
    all
}
