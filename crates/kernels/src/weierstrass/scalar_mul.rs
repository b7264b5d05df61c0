//! What a verifier computes: s G - c Y and s H - c Q, c of 128 bits.
//!
//! Straus with non-adjacent forms. The generator G has tables of itself and of 2^128 G, so that its
//! sum takes 128 doublings; the other takes 256. Odd multiples of Y, H and Q are brought to Z = 1
//! with one inversion.

use super::field::{Fe, Prime, limbs};
use super::{Affine, Jacobian};

/// Odd multiples of G and of 2^128 G, 1 to 127.
#[derive(Debug)]
pub struct Tables<C>([Vec<Affine<C>>; 2]);

impl<C: Prime> Tables<C> {
    pub(super) fn new() -> Tables<C> {
        let g = Affine::<C>::decode_vartime(&C::GENERATOR).expect("the generator is a point");
        let mut high = g.jacobian();
        for _ in 0..128 {
            high = high.double();
        }
        let both = [odd_multiples(&g.jacobian(), 64), odd_multiples(&high, 64)];
        Tables(both.map(|multiples| affine(&multiples)))
    }
}

/// P, 3P, 5P, ...
fn odd_multiples<C: Prime>(p: &Jacobian<C>, n: usize) -> Vec<Jacobian<C>> {
    let twice = p.double();
    let mut multiples = vec![*p];
    while multiples.len() < n {
        multiples.push(multiples[multiples.len() - 1].add(&twice));
    }
    multiples
}

fn affine<C: Prime>(points: &[Jacobian<C>]) -> Vec<Affine<C>> {
    let all = Jacobian::affine_all(points).into_iter();
    all.map(|p| p.expect("small multiples of a point of large prime order")).collect()
}

/// Computes s G - c Y and s H - c Q, none being the neutral element; s and c are big-endian.
///
/// # Security
/// Variable time: public data only.
#[must_use]
pub fn commitments_vartime<C: Prime>(
    s: &[u8; 32],
    c: &[u8; 16],
    y: &Affine<C>,
    h: &Affine<C>,
    q: &Affine<C>,
) -> [Option<Affine<C>>; 2] {
    let [s0, s1, s2, s3] = limbs(s);
    let c = u128::from_be_bytes(*c);
    let c_form = non_adjacent_form([c as u64, (c >> 64) as u64, 0, 0], 5);
    let points = [y.neg(), q.neg(), *h];
    let multiples: Vec<Jacobian<C>> =
        points.iter().flat_map(|p| odd_multiples(&p.jacobian(), 8)).collect();
    let multiples = affine(&multiples);
    let (y_table, q_table, h_table) = (&multiples[..8], &multiples[8..16], &multiples[16..]);
    let [g_low, g_high] = &C::tables().0;
    let u = straus(&[
        (&c_form, y_table),
        (&non_adjacent_form([s0, s1, 0, 0], 8), g_low),
        (&non_adjacent_form([s2, s3, 0, 0], 8), g_high),
    ]);
    let v = straus(&[(&c_form, q_table), (&non_adjacent_form([s0, s1, s2, s3], 5), h_table)]);
    let both = Jacobian::affine_all(&[u, v]);
    [both[0], both[1]]
}

/// The non-adjacent form of width `w`: odd digits below 2^(w-1) in magnitude, any two of them at
/// least w places apart.
fn non_adjacent_form(scalar: [u64; 4], w: u32) -> [i8; 257] {
    let mut naf = [0; 257];
    let words = [scalar[0], scalar[1], scalar[2], scalar[3], 0, 0];
    let (mut at, mut carry) = (0usize, 0u64);
    while at < 257 {
        let (word, bit) = (at / 64, at % 64);
        let high = if bit == 0 { 0 } else { words[word + 1] << (64 - bit) };
        let window = carry + ((words[word] >> bit | high) & ((1 << w) - 1));
        if window & 1 == 0 {
            at += 1;
            continue;
        }
        carry = u64::from(window >= 1 << (w - 1));
        naf[at] = (window as i64 - ((carry as i64) << w)) as i8;
        at += w as usize;
    }
    naf
}

/// Horner's rule over several forms at once.
fn straus<C: Prime>(forms: &[(&[i8; 257], &[Affine<C>])]) -> Jacobian<C> {
    let mut r = Jacobian::NEUTRAL;
    let top = (0..257).rev().find(|&i| forms.iter().any(|(form, _)| form[i] != 0));
    for i in (0..=top.unwrap_or(0)).rev() {
        r = r.double();
        for (form, table) in forms {
            let digit = form[i];
            if digit != 0 {
                let multiple = &table[usize::from(digit.unsigned_abs() / 2)];
                r = r.add_affine(&if digit < 0 { multiple.neg() } else { *multiple });
            }
        }
    }
    debug_assert!(r.is_neutral() || r.z != Fe::ZERO);
    r
}
