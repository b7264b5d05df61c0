//! Four sums a P + b Q on edwards25519 at once, one in each 64-bit lane, with AVX2.
//!
//! The formulas are those of [`crate::edwards25519`], complete, so that lanes need no special case.
//! Both scalars have signed digits of four bits; each lane looks up its own multiples, which are kept
//! lane by lane in memory, two limbs to a word, and transposed when they are read.
//!
//! Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", §3.1 and §3.3

use crate::edwards25519::Point;
use crate::field25519::Fe;
use crate::field25519x4::{Fe4, load, store, transpose};
use crate::lanes4::Lanes4;
use core::arch::x86_64::*;

/// Computes `a` P + `b` Q in each lane; scalars are below 2^253, little-endian, used as they are.
///
/// # Panics
/// A scalar is not below 2^253.
///
/// # Security
/// Variable time in the caches alone; public data only.
#[must_use]
pub fn double_mul_4_vartime(
    _: Lanes4,
    a: &[[u8; 32]; 4],
    p: &[Point; 4],
    b: &[[u8; 32]; 4],
    q: &[Point; 4],
) -> [Point; 4] {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { double_mul([a, b], [p, q]) }
}

/// Four points in extended coordinates, each tight.
struct Points {
    x: Fe4,
    y: Fe4,
    z: Fe4,
    t: Fe4,
}

/// Points made ready for being added: (Y+X, Y-X, 2Z, 2dT), with bounds u, u, u and 2u.
struct Cached([Fe4; 4]);

/// x = E/G, y = H/F, with bounds 3u, 5u, 3u and 2u.
struct Completed {
    e: Fe4,
    f: Fe4,
    g: Fe4,
    h: Fe4,
}

impl Points {
    #[target_feature(enable = "avx2")]
    fn from_lanes(points: &[Point; 4]) -> Points {
        Points {
            x: Fe4::from_lanes(&points.map(|p| p.x)),
            y: Fe4::from_lanes(&points.map(|p| p.y)),
            z: Fe4::from_lanes(&points.map(|p| p.z)),
            t: Fe4::from_lanes(&points.map(|p| p.t)),
        }
    }

    #[target_feature(enable = "avx2")]
    fn to_lanes(&self) -> [Point; 4] {
        let (x, y) = (self.x.to_lanes(), self.y.to_lanes());
        let (z, t) = (self.z.to_lanes(), self.t.to_lanes());
        core::array::from_fn(|l| Point { x: x[l], y: y[l], z: z[l], t: t[l] })
    }

    /// # Correctness
    /// Products are tight; E = B - A, F = D - C, G = D + C, H = B + A.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn add(&self, q: &Cached, sum: &mut Completed) {
        let a = self.y.sub(&self.x).mul(&q.0[1]);
        let b = self.y.add(&self.x).mul(&q.0[0]);
        let c = self.t.mul(&q.0[3]);
        let d = self.z.mul(&q.0[2]);
        sum.e = b.sub(&a);
        sum.f = d.sub(&c);
        sum.g = d.add(&c);
        sum.h = b.add(&a);
    }

    /// # Correctness
    /// With A = X^2 and B = Y^2: E = 2XY, F = 2Z^2 + A - B of 5u, G = B - A, H = A + B.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn double(&self, sum: &mut Completed) {
        let xy = self.x.mul(&self.y);
        let (a, b, zz) = (self.x.square(), self.y.square(), self.z.square());
        sum.e = xy.add(&xy);
        sum.f = zz.add(&zz).add(&a.sub(&b));
        sum.g = b.sub(&a);
        sum.h = a.add(&b);
    }

    /// Does the last multiplications but for that of T, which is left as it is: wrong.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn set_projective(&mut self, sum: &Completed) {
        self.x = sum.f.mul(&sum.e);
        self.y = sum.g.mul(&sum.h);
        self.z = sum.f.mul(&sum.g);
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn set(&mut self, sum: &Completed) {
        self.set_projective(sum);
        self.t = sum.e.mul(&sum.h);
    }

    /// Sums and differences are brought back to tight by multiplying them by one.
    #[target_feature(enable = "avx2")]
    fn cached(&self) -> Cached {
        let one = Fe4::splat(&Fe::ONE);
        Cached([
            self.y.add(&self.x).mul(&one),
            self.y.sub(&self.x).mul(&one),
            self.z.add(&self.z).mul(&one),
            self.t.mul(&Fe4::splat(&Fe::D2)),
        ])
    }
}

/// Multiples 0 to 8 of four points: lane by lane, two limbs to a word.
struct Multiples([[[[u64; 4]; 5]; 4]; 9]);

impl Multiples {
    #[target_feature(enable = "avx2")]
    fn new(points: &[Point; 4]) -> Multiples {
        let mut table = Multiples([[[[0; 4]; 5]; 4]; 9]);
        table.put(0, &Points::from_lanes(&[Point::IDENTITY; 4]).cached());
        let mut multiple = Points::from_lanes(points);
        let first = multiple.cached();
        table.put(1, &first);
        let mut sum = Completed { e: multiple.x, f: multiple.z, g: multiple.z, h: multiple.y };
        for e in 2..9 {
            multiple.add(&first, &mut sum);
            multiple.set(&sum);
            table.put(e, &multiple.cached());
        }
        table
    }

    #[target_feature(enable = "avx2")]
    fn put(&mut self, e: usize, p: &Cached) {
        let mut words = [_mm256_setzero_si256(); 20];
        for (i, word) in words.iter_mut().enumerate() {
            let limbs = &p.0[i / 5].0;
            let odd = _mm256_slli_epi64::<32>(limbs[2 * (i % 5) + 1]);
            *word = _mm256_or_si256(limbs[2 * (i % 5)], odd);
        }
        for part in 0..5 {
            let w = &words[4 * part..];
            let rows = transpose([w[0], w[1], w[2], w[3]]);
            for lane in 0..4 {
                store(&mut self.0[e][lane][part], rows[lane]);
            }
        }
    }

    /// The digits' multiples; digits are nibbles less 8.
    ///
    /// # Correctness
    /// What is stored is tight and below 2^32, so that two limbs share a word.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn lookup(&self, digits: &[i64; 4], out: &mut Cached) {
        let row = |lane: usize| &self.0[digits[lane].unsigned_abs() as usize][lane];
        let rows = [row(0), row(1), row(2), row(3)];
        let low = _mm256_set1_epi64x(0xffff_ffff);
        for part in 0..5 {
            let columns = transpose([
                load(&rows[0][part]),
                load(&rows[1][part]),
                load(&rows[2][part]),
                load(&rows[3][part]),
            ]);
            for (i, &word) in columns.iter().enumerate() {
                let at = 4 * part + i;
                let limbs = &mut out.0[at / 5].0;
                limbs[2 * (at % 5)] = _mm256_and_si256(word, low);
                limbs[2 * (at % 5) + 1] = _mm256_srli_epi64::<32>(word);
            }
        }
        let [a, b, c, d] = *digits;
        let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_setr_epi64x(a, b, c, d));
        let (plus, minus, t2d) = (out.0[0], out.0[1], out.0[3]);
        out.0[0] = plus.or_where(negative, &minus);
        out.0[1] = minus.or_where(negative, &plus);
        out.0[3] = t2d.or_where(negative, &t2d.neg());
    }
}

/// The digits d of scalars, from -8 to 7, with scalar = sum of d[i] 16^i.
fn digits(scalars: &[[u8; 32]; 4]) -> [[i64; 4]; 64] {
    let mut out = [[0; 4]; 64];
    for (lane, scalar) in scalars.iter().enumerate() {
        assert!(scalar[31] < 0x20, "scalars are below 2^253");
        let mut carry = 0;
        for i in 0..64 {
            let nibble = i64::from(scalar[i / 2] >> (4 * (i % 2)) & 15) + carry;
            carry = (nibble + 8) >> 4;
            out[i][lane] = nibble - (carry << 4);
        }
    }
    out
}

#[target_feature(enable = "avx2")]
fn double_mul(scalars: [&[[u8; 32]; 4]; 2], points: [&[Point; 4]; 2]) -> [Point; 4] {
    let tables = [Multiples::new(points[0]), Multiples::new(points[1])];
    let digits = [digits(scalars[0]), digits(scalars[1])];
    let mut p = Points::from_lanes(&[Point::IDENTITY; 4]);
    let mut entry = Cached([p.x; 4]);
    let mut sum = Completed { e: p.x, f: p.z, g: p.z, h: p.y };
    for i in (0..64).rev() {
        for _ in 0..4 {
            p.set_projective(&sum);
            p.double(&mut sum);
        }
        for (table, digits) in tables.iter().zip(&digits) {
            p.set(&sum);
            table.lookup(&digits[i], &mut entry);
            p.add(&entry, &mut sum);
        }
    }
    p.set(&sum);
    p.to_lanes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edwards25519::NegativeZero;
    use curve25519_dalek::constants::EIGHT_TORSION;

    #[test]
    fn sums_agree_with_portable() {
        let Some(lanes) = Lanes4::detect() else {
            println!("left out: this CPU has no AVX2, or TETRALITH_KERNEL forbids it");
            return;
        };
        let mut state = 5u64;
        let mut next = || -> [u8; 32] {
            core::array::from_fn(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
        };
        let decode = |bytes: &[u8; 32]| Point::decode(bytes, NegativeZero::Refuse).ok();
        let mut points: Vec<Point> = (0..40).filter_map(|_| decode(&next())).collect();
        for torsion in EIGHT_TORSION {
            let point = decode(&torsion.compress().to_bytes()).unwrap();
            points.push(points[0].add(&point));
            points.push(point);
        }
        let mut scalars = vec![[0; 32], [0x88; 32], [0x77; 32], [0xff; 32], [0x80; 32]];
        scalars.push(core::array::from_fn(|i| u8::from(i == 0)));
        scalars.extend((0..8).map(|_| next()));
        scalars.iter_mut().for_each(|s| s[31] &= 0x1f);
        for i in 0..points.len() {
            let p: [Point; 4] = core::array::from_fn(|l| points[(i + 3 * l) % points.len()]);
            let q: [Point; 4] = core::array::from_fn(|l| points[(5 * i + l) % points.len()]);
            let a: [_; 4] = core::array::from_fn(|l| scalars[(i + l) % scalars.len()]);
            let b: [_; 4] = core::array::from_fn(|l| scalars[(3 * i + l) % scalars.len()]);
            let sums = double_mul_4_vartime(lanes, &a, &p, &b, &q);
            for l in 0..4 {
                let expected = p[l].mul(&a[l]).add(&q[l].mul(&b[l]));
                assert_eq!(sums[l].encode(), expected.encode(), "round {i}, lane {l}");
            }
        }
    }
}
