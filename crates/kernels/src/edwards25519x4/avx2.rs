//! The kernels with AVX2: a lane is a proof's.
//!
//! Straus with signed digits of four bits: every lane adds in every place, the neutral element for
//! the digit 0. Tables are in memory lane by lane, and the coordinates of four lanes' entries are
//! brought together word by word.

use super::DoubleMul;
use super::field::{self, Fe4};
use crate::edwards25519::{Point, base, radix_16};
use crate::field25519::Fe;
use core::arch::x86_64::*;

/// Four points in extended coordinates, tight.
#[derive(Clone, Copy)]
struct Points {
    x: Fe4,
    y: Fe4,
    z: Fe4,
    t: Fe4,
}

/// Points made ready for being added: Y+X, Y-X, 2Z, 2dT, tight or loose.
#[derive(Clone, Copy)]
struct Cached([Fe4; 4]);

/// One lane's cached point: limbs of four coordinates.
type Entry = [[u32; 10]; 4];
/// Multiples 0 to 8 for each lane.
type Table = [[Entry; 4]; 9];

impl Points {
    #[target_feature(enable = "avx2")]
    fn new(points: &[Point; 4]) -> Points {
        Points {
            x: Fe4::from_lanes(&points.map(|p| p.x)),
            y: Fe4::from_lanes(&points.map(|p| p.y)),
            z: Fe4::from_lanes(&points.map(|p| p.z)),
            t: Fe4::from_lanes(&points.map(|p| p.t)),
        }
    }

    #[target_feature(enable = "avx2")]
    fn points(&self) -> [Point; 4] {
        let (x, y) = (self.x.to_lanes(), self.y.to_lanes());
        let (z, t) = (self.z.to_lanes(), self.t.to_lanes());
        core::array::from_fn(|i| Point { x: x[i], y: y[i], z: z[i], t: t[i] })
    }

    /// Twice the points; T where asked for.
    ///
    /// A, B, C, S = X^2, Y^2, Z^2, (X+Y)^2; H = A+B, E = H-S, G = A-B, F = 2C+G.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn double(&mut self, with_t: bool) {
        let (a, b, c) = (self.x.square(), self.y.square(), self.z.square());
        let s = self.x.add(&self.y).square();
        let h = a.add(&b).reduce();
        let e = h.sub(&s);
        let g = a.sub(&b).reduce();
        let f = c.add(&c).add(&g);
        (self.x, self.y, self.z) = (e.mul(&f), g.mul(&h), f.mul(&g));
        if with_t {
            self.t = e.mul(&h);
        }
    }

    /// The sums with other points.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&mut self, q: &Cached) {
        let a = self.y.sub(&self.x).mul(&q.0[1]);
        let b = self.y.add(&self.x).mul(&q.0[0]);
        let c = self.t.mul(&q.0[3]);
        let d = self.z.mul(&q.0[2]);
        let (e, f, g, h) = (b.sub(&a), d.sub(&c), d.add(&c), b.add(&a));
        (self.x, self.y, self.z, self.t) = (e.mul(&f), g.mul(&h), f.mul(&g), e.mul(&h));
    }

    #[target_feature(enable = "avx2")]
    fn cached(&self) -> Cached {
        let d2 = Fe4::from_lanes(&[Fe::D2; 4]);
        Cached([
            self.y.add(&self.x).reduce(),
            self.y.sub(&self.x).reduce(),
            self.z.add(&self.z).reduce(),
            self.t.mul(&d2),
        ])
    }
}

/// 0, P, 2P, ..., 8P for each lane.
#[target_feature(enable = "avx2")]
fn table(points: &[Point; 4]) -> Box<Table> {
    let mut table = Box::new([[[[0; 10]; 4]; 4]; 9]);
    let mut multiple = Points::new(points);
    let once = multiple.cached();
    write(&mut table[0], &Points::new(&[Point::IDENTITY; 4]).cached());
    write(&mut table[1], &once);
    for entry in &mut table[2..] {
        multiple.add(&once);
        write(entry, &multiple.cached());
    }
    table
}

/// # Correctness
/// Tight limbs are below 2^32.
#[target_feature(enable = "avx2")]
fn write(entry: &mut [Entry; 4], cached: &Cached) {
    for (k, coordinate) in cached.0.iter().enumerate() {
        for (i, &limb) in coordinate.0.iter().enumerate() {
            entry[0][k][i] = _mm256_extract_epi64::<0>(limb) as u32;
            entry[1][k][i] = _mm256_extract_epi64::<1>(limb) as u32;
            entry[2][k][i] = _mm256_extract_epi64::<2>(limb) as u32;
            entry[3][k][i] = _mm256_extract_epi64::<3>(limb) as u32;
        }
    }
}

/// Each lane's multiple by its digit, -8 to 8.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up(table: &Table, digits: [i8; 4]) -> Cached {
    let mut entries = [&table[0][0]; 4];
    for lane in 0..4 {
        entries[lane] = &table[usize::from(digits[lane].unsigned_abs())][lane];
    }
    let zero = _mm256_setzero_si256();
    let mut r = Cached([Fe4([zero; 10]); 4]);
    for k in 0..4 {
        for i in 0..10 {
            r.0[k].0[i] = _mm256_setr_epi64x(
                i64::from(entries[0][k][i]),
                i64::from(entries[1][k][i]),
                i64::from(entries[2][k][i]),
                i64::from(entries[3][k][i]),
            );
        }
    }
    negate_where(&r, digits)
}

/// Negates the lanes whose digit is negative.
#[inline]
#[target_feature(enable = "avx2")]
fn negate_where(cached: &Cached, digits: [i8; 4]) -> Cached {
    let mask = |digit: i8| i64::from(digit >> 7);
    let [a, b, c, d] = digits.map(mask);
    let negative = _mm256_setr_epi64x(a, b, c, d);
    let [plus, minus, z2, t2d] = &cached.0;
    let zero = Fe4([_mm256_setzero_si256(); 10]);
    let minus_t2d = zero.sub(t2d);
    let mut r = [*plus, *minus, *z2, *t2d];
    for i in 0..10 {
        r[0].0[i] = _mm256_blendv_epi8(plus.0[i], minus.0[i], negative);
        r[1].0[i] = _mm256_blendv_epi8(minus.0[i], plus.0[i], negative);
        r[3].0[i] = _mm256_blendv_epi8(t2d.0[i], minus_t2d.0[i], negative);
    }
    Cached(r)
}

/// As [`super::double_mul_vartime`].
#[target_feature(enable = "avx2")]
pub(super) fn double_mul_vartime(lanes: &[DoubleMul; 4]) -> [[Point; 2]; 4] {
    let s = lanes.map(|lane| radix_16(&lane.s));
    let m = lanes.map(|lane| lane.minus_c.0);
    let of_b = table(&[*base().point(); 4]);
    let of_h = table(&lanes.map(|lane| lane.h));
    let u = sum(&s, &of_b, &m, &table(&lanes.map(|lane| lane.y)));
    let v = sum(&s, &of_h, &m, &table(&lanes.map(|lane| lane.g)));
    core::array::from_fn(|i| [u[i], v[i]])
}

#[target_feature(enable = "avx2")]
fn sum(a: &[[i8; 64]; 4], p: &Table, b: &[[i8; 64]; 4], q: &Table) -> [Point; 4] {
    let mut r = Points::new(&[Point::IDENTITY; 4]);
    for i in (0..64).rev() {
        let digits = |form: &[[i8; 64]; 4]| [form[0][i], form[1][i], form[2][i], form[3][i]];
        for n in 0..4 {
            r.double(n == 3);
        }
        r.add(&look_up(p, digits(a)));
        let b = digits(b);
        if b != [0; 4] {
            r.add(&look_up(q, b));
        }
    }
    r.points()
}

/// Raises at most twelve elements to (p-5)/8.
#[target_feature(enable = "avx2")]
pub(super) fn pow_p58(elements: &mut [Fe]) {
    assert!(elements.len() <= 12, "three vectors hold twelve elements");
    let mut all = [Fe::ONE; 12];
    all[..elements.len()].copy_from_slice(elements);
    let group = |n: usize| [all[n], all[n + 1], all[n + 2], all[n + 3]];
    let x = [Fe4::from_lanes(&group(0)), Fe4::from_lanes(&group(4)), Fe4::from_lanes(&group(8))];
    for (vector, out) in field::pow_p58(&x).into_iter().zip(elements.chunks_mut(4)) {
        for (element, power) in out.iter_mut().zip(vector.to_lanes()) {
            *element = power;
        }
    }
}
