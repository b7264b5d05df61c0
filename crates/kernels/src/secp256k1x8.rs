//! Eight points of secp256k1 at once, one in each 64-bit lane, with AVX-512 IFMA.
//!
//! Whole jobs for oblivious transfer, which multiplies hundreds of points by secrets: many scalars
//! times one point with a table of its multiples, and many points times one scalar. The portable
//! twin is the `k256` crate, in the caller (`tetralith-tss`), whose tests hold both together.
//!
//! Points are in homogeneous coordinates with the complete formulas of Renes, Costello and Batina,
//! "Complete addition formulas for prime order elliptic curves" (EUROCRYPT 2016), Algorithms 7, 8 and
//! 9 for a = 0: no input needs a special case. Scalars are taken in 65 signed digits of radix 16, from
//! −8 to 8.
//!
//! Everything is in constant time in scalars and choices: look-ups read the whole table, and the masks
//! of the lanes choose. Which encodings are points is public. Registers that were spilled to the stack
//! are not wiped.

mod field;
#[cfg(test)]
mod tests;
pub mod vartime;

use core::arch::x86_64::*;

use crate::lanes8::Lanes8;
use crate::limbs52::{join, split as split_limbs};
use field::{Fe8, carry, lanes, load, minus, plus, shift, splat, times_3, times_21};
use zeroize::Zeroizing;

/// A compressed point: its parity tag 2 or 3, and its abscissa, big-endian; zeros for the identity.
pub type Compressed = [u8; 33];

/// A point's coordinates x and y, below p, big-endian.
pub type Affine = [[u8; 32]; 2];

/// Rows of a [`Table`]: digits of a scalar in radix 16.
pub const ROWS: usize = 65;
/// Multiples in a row.
pub const ROW: usize = 8;

const LANES: usize = 8;
type Digits = [i8; ROWS];

/// The multiples 1 to 8 of 16^i·P for i from 0 to 64.
pub struct Table(Vec<[[u64; 5]; 2]>);

impl Table {
    /// Takes the multiples, row after row.
    ///
    /// # Panics
    /// If there are not 65·8 of them.
    #[must_use]
    pub fn new(multiples: &[Affine]) -> Table {
        assert_eq!(multiples.len(), ROWS * ROW, "a table has 65 rows of 8");
        Table(
            multiples
                .iter()
                .map(|point| point.map(|coordinate| split_limbs(&coordinate)))
                .collect(),
        )
    }
}

/// Multiplies the table's point by each scalar (32 bytes, big-endian), adds `addend` where the
/// scalar's entry in `choices` is 1, and compresses the results.
///
/// `choices`: as many bytes 0 or 1 as there are scalars, or none to add nothing.
#[must_use]
pub fn mul_table_all(
    _: Lanes8,
    table: &Table,
    scalars: &[[u8; 32]],
    addend: &Affine,
    choices: &[u8],
) -> Vec<Compressed> {
    // SAFETY: the token shows that the CPU has the instructions.
    unsafe { mul_table(table, scalars, addend, choices) }
}

/// Decompresses points, multiplies each by `scalar` (32 bytes, big-endian), and returns the products,
/// and the products plus `addend`, compressed. `None` if an encoding is not that of a point.
#[must_use]
pub fn mul_points_all(
    _: Lanes8,
    points: &[Compressed],
    scalar: &[u8; 32],
    addend: &Affine,
) -> Option<[Vec<Compressed>; 2]> {
    // SAFETY: the token shows that the CPU has the instructions.
    unsafe { mul_points(points, scalar, addend) }
}

/// A group of eight points in homogeneous coordinates.
#[derive(Clone, Copy)]
struct Points {
    x: Fe8,
    y: Fe8,
    z: Fe8,
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn mul_table(
    table: &Table,
    scalars: &[[u8; 32]],
    addend: &Affine,
    choices: &[u8],
) -> Vec<Compressed> {
    let [x, y] = addend.map(|coordinate| split_limbs(&coordinate));
    let (x, y) = (Fe8::broadcast(&x), Fe8::broadcast(&y));
    let mut groups = Vec::with_capacity(scalars.len().div_ceil(LANES));
    for (g, group) in scalars.chunks(LANES).enumerate() {
        let mut digits = Zeroizing::new([[0i8; ROWS]; LANES]);
        for (lane, scalar) in group.iter().enumerate() {
            digits[lane] = radix_16(scalar);
        }
        let mut sum = Points::identity();
        for (i, row) in table.0.chunks_exact(ROW).enumerate() {
            let mut digit = Zeroizing::new([0i8; LANES]);
            for lane in 0..LANES {
                digit[lane] = digits[lane][i];
            }
            sum = sum.add_multiple(row, &digit);
        }
        if !choices.is_empty() {
            let mut chosen = 0;
            for (lane, &choice) in choices[g * LANES..].iter().take(LANES).enumerate() {
                chosen |= (choice & 1) << lane;
            }
            let added = sum.add_affine(&x, &y);
            sum = sum.select(&added, chosen);
        }
        groups.push(sum);
    }
    compress(&groups, scalars.len())
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn mul_points(
    points: &[Compressed],
    scalar: &[u8; 32],
    addend: &Affine,
) -> Option<[Vec<Compressed>; 2]> {
    let digits = Zeroizing::new(radix_16(scalar));
    let [x, y] = addend.map(|coordinate| split_limbs(&coordinate));
    let (x, y) = (Fe8::broadcast(&x), Fe8::broadcast(&y));
    let (mut products, mut sums) = (Vec::new(), Vec::new());
    for group in points.chunks(LANES) {
        let product = Points::decompress(group)?.mul(&digits);
        sums.push(product.add_affine(&x, &y));
        products.push(product);
    }
    Some([compress(&products, points.len()), compress(&sums, points.len())])
}

impl Points {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn identity() -> Points {
        Points { x: Fe8::small(0), y: Fe8::small(1), z: Fe8::small(0) }
    }

    /// Reads up to eight encodings; further lanes repeat the first.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn decompress(group: &[Compressed]) -> Option<Points> {
        let mut coordinates = [[0u64; LANES]; 5];
        let mut odd: __mmask8 = 0;
        for lane in 0..LANES {
            let point = group.get(lane).unwrap_or(group.first()?);
            let (tag, bytes) = point.split_first()?;
            let bytes: &[u8; 32] = bytes.try_into().ok()?;
            if !matches!(tag, 2 | 3) || !below_p(bytes) {
                return None;
            }
            odd |= (tag & 1) << lane;
            for (i, limb) in split_limbs(bytes).into_iter().enumerate() {
                coordinates[i][lane] = limb;
            }
        }
        let mut x = [splat(0); 5];
        for i in 0..5 {
            x[i] = load(&coordinates[i]);
        }
        let x = Fe8(x);
        let square = x.sqr().mul(&x).add(&Fe8::small(7));
        let y = square.sqrt_candidate();
        if y.sqr().sub(&square).is_zero() != 0xff {
            return None;
        }
        let parity = _mm512_test_epi64_mask(y.freeze().0[0], splat(1));
        Some(Points { x, y: y.select(&y.neg(), parity ^ odd), z: Fe8::small(1) })
    }

    /// Twice the points. Algorithm 9.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn double(&self) -> Points {
        let t0 = self.y.sqr();
        let t1 = self.y.mul(&self.z);
        let t2 = carry(times_21(&self.z.sqr().0));
        let t3 = self.x.mul(&self.y);
        let eight = carry(shift::<3>(&t0.0));
        let y3 = t0.add(&t2);
        let t4 = carry(minus::<0>(&t0.0, &times_3(&t2.0)));
        let x3 = t2.mul(&eight);
        Points {
            x: carry(shift::<1>(&t4.mul(&t3).0)),
            y: carry(plus(&t4.mul(&y3).0, &x3.0)),
            z: t1.mul(&eight),
        }
    }

    /// The sums of points. Algorithm 7.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&self, q: &Points) -> Points {
        let t0 = self.x.mul(&q.x);
        let t1 = self.y.mul(&q.y);
        let t2 = self.z.mul(&q.z);
        let xy = self.x.add(&self.y).mul(&q.x.add(&q.y));
        let yz = self.y.add(&self.z).mul(&q.y.add(&q.z));
        let xz = self.x.add(&self.z).mul(&q.x.add(&q.z));
        let t3 = carry(minus::<0>(&xy.0, &plus(&t0.0, &t1.0)));
        let t4 = carry(minus::<0>(&yz.0, &plus(&t1.0, &t2.0)));
        let y3 = carry(times_21(&minus::<0>(&xz.0, &plus(&t0.0, &t2.0))));
        finish(&t0, &t1, &carry(times_21(&t2.0)), &t3, &t4, &y3)
    }

    /// The sums with affine points, which are not the identity. Algorithm 8.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add_affine(&self, x: &Fe8, y: &Fe8) -> Points {
        let t0 = self.x.mul(x);
        let t1 = self.y.mul(y);
        let xy = self.x.add(&self.y).mul(&x.add(y));
        let t3 = carry(minus::<0>(&xy.0, &plus(&t0.0, &t1.0)));
        let t4 = carry(plus(&y.mul(&self.z).0, &self.y.0));
        let y3 = carry(times_21(&plus(&x.mul(&self.z).0, &self.x.0)));
        finish(&t0, &t1, &carry(times_21(&self.z.0)), &t3, &t4, &y3)
    }

    /// Adds `digit` times the row's first point in each lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add_multiple(&self, row: &[[[u64; 5]; 2]], digit: &[i8; LANES]) -> Points {
        let (magnitude, negative) = split(digit);
        let (mut x, mut y) = (Fe8::small(0), Fe8::small(0));
        for (k, [px, py]) in row.iter().enumerate() {
            let here = _mm512_cmpeq_epi64_mask(magnitude, splat(k as u64 + 1));
            x = x.select(&Fe8::broadcast(px), here);
            y = y.select(&Fe8::broadcast(py), here);
        }
        y = y.select(&y.neg(), negative);
        let nothing = _mm512_cmpeq_epi64_mask(magnitude, splat(0));
        self.add_affine(&x, &y).select(self, nothing)
    }

    /// The same scalar, by its digits, times each point.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn mul(&self, digits: &Digits) -> Points {
        let mut table = [*self; ROW];
        for k in 1..ROW {
            table[k] = if k % 2 == 1 { table[k / 2].double() } else { table[k - 1].add(self) };
        }
        let mut sum = Points::identity();
        for i in (0..ROWS).rev() {
            for _ in 0..4 {
                sum = sum.double();
            }
            let (magnitude, negative) = split(&[digits[i]; LANES]);
            let mut term = Points::identity();
            for (k, multiple) in table.iter().enumerate() {
                let here = _mm512_cmpeq_epi64_mask(magnitude, splat(k as u64 + 1));
                term = term.select(multiple, here);
            }
            term.y = term.y.select(&term.y.neg(), negative);
            sum = sum.add(&term);
        }
        sum
    }

    /// `q` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn select(&self, q: &Points, mask: __mmask8) -> Points {
        Points {
            x: self.x.select(&q.x, mask),
            y: self.y.select(&q.y, mask),
            z: self.z.select(&q.z, mask),
        }
    }
}

/// The common end of Algorithms 7 and 8: with t0 = X1·X2, t1 = Y1·Y2, t2 = 3b·Z1·Z2, and the cross sums
/// t3 = X1·Y2 + X2·Y1, t4 = Y1·Z2 + Y2·Z1, y3 = 3b·(X1·Z2 + X2·Z1).
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn finish(t0: &Fe8, t1: &Fe8, t2: &Fe8, t3: &Fe8, t4: &Fe8, y3: &Fe8) -> Points {
    let t0 = carry(times_3(&t0.0));
    let z3 = t1.add(t2);
    let t1 = t1.sub(t2);
    Points {
        x: carry(minus::<0>(&t3.mul(&t1).0, &t4.mul(y3).0)),
        y: carry(plus(&t1.mul(&z3).0, &y3.mul(&t0).0)),
        z: carry(plus(&z3.mul(t4).0, &t0.mul(t3).0)),
    }
}

/// Magnitudes and signs of a digit in each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn split(digit: &[i8; LANES]) -> (__m512i, __mmask8) {
    let mut wide = Zeroizing::new([0u64; LANES]);
    for lane in 0..LANES {
        wide[lane] = i64::from(digit[lane]) as u64;
    }
    let wide = load(&wide);
    (_mm512_abs_epi64(wide), _mm512_cmplt_epi64_mask(wide, splat(0)))
}

/// Compresses the first `count` points, with one inversion for all groups; the identity becomes zeros.
#[target_feature(enable = "avx512f,avx512ifma")]
fn compress(groups: &[Points], count: usize) -> Vec<Compressed> {
    let one = Fe8::small(1);
    // Montgomery's trick; where Z is zero, 1 takes its place.
    let mut depths = Vec::with_capacity(groups.len());
    let mut product = one;
    for group in groups {
        let infinite = group.z.is_zero();
        let z = group.z.select(&one, infinite);
        depths.push((product, z, infinite));
        product = product.mul(&z);
    }
    let mut inverse = product.invert();
    let mut out = vec![[0; 33]; groups.len() * LANES];
    for ((group, (before, z, infinite)), out) in
        groups.iter().zip(&depths).zip(out.chunks_exact_mut(LANES)).rev()
    {
        let z_inverse = inverse.mul(before);
        inverse = inverse.mul(z);
        let x = group.x.mul(&z_inverse).freeze();
        let y = group.y.mul(&z_inverse).freeze();
        let odd = lanes(_mm512_and_si512(y.0[0], splat(1)));
        let mut limbs = [[0; LANES]; 5];
        for i in 0..5 {
            limbs[i] = lanes(x.0[i]);
        }
        for (lane, out) in out.iter_mut().enumerate() {
            let limbs = [0, 1, 2, 3, 4].map(|i: usize| limbs[i][lane]);
            out[0] = 2 + odd[lane] as u8;
            out[1..].copy_from_slice(&join(&limbs));
            // The identity, if any: public once it is sent, as it is no valid encoding.
            let keep = (infinite >> lane & 1).wrapping_sub(1);
            for byte in out.iter_mut() {
                *byte &= keep;
            }
        }
    }
    out.truncate(count);
    out
}

/// Writes a scalar in radix 16 with digits from −8 to 8, least significant first.
fn radix_16(scalar: &[u8; 32]) -> Digits {
    let mut digits = [0i8; ROWS];
    for (i, byte) in scalar.iter().rev().enumerate() {
        digits[2 * i] = (byte & 15) as i8;
        digits[2 * i + 1] = (byte >> 4) as i8;
    }
    for i in 0..ROWS - 1 {
        // A digit with its carry is at most 16, so the next carry is 0 or 1.
        let carry = (digits[i] + 8) >> 4;
        digits[i] -= carry << 4;
        digits[i + 1] += carry;
    }
    digits
}

/// Says whether a public number is below p.
fn below_p(bytes: &[u8; 32]) -> bool {
    // p is 2^256 − 2^32 − 977: 28 bytes of ones but for the lowest bit of byte 27, then 0xfffffc2f.
    let mut p = [0xff; 32];
    p[27] = 0xfe;
    p[28..].copy_from_slice(&0xffff_fc2f_u32.to_be_bytes());
    *bytes < p
}
