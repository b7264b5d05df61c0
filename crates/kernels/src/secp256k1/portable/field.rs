//! One element of the field of secp256k1, p = 2^256 − C with C = 2^32 + 977, in constant time.
//!
//! Five limbs of 52 bits in words of 64. *Carried* elements have limbs below 2^52 + 2^16, the top one, of 48 bits,
//! below 2^48 + 2^10; factors of products may have any limbs below 2^56. Functions take and return carried
//! elements, unless they say.

use crate::limbs52::{join, split};
use crate::secp256k1::powers::secp256k1_powers;

/// Lanes.
pub(in crate::secp256k1) const L: usize = 1;
/// A word.
pub(super) type V = u64;
/// All bits, or none.
pub(super) type Mask = u64;

/// An element.
#[derive(Clone, Copy)]
pub(super) struct Fe([u64; 5]);

const M52: u64 = (1 << 52) - 1;
const M48: u64 = (1 << 48) - 1;
/// 2^256 mod p.
const C: u64 = (1 << 32) + 977;
/// p in limbs.
const P: [u64; 5] = [M52 - (C - 1), M52, M52, M52, M48];

pub(super) fn splat(x: u64) -> V {
    x
}

pub(super) fn load(words: &[u64; L]) -> V {
    words[0]
}

pub(super) fn store(v: V) -> [u64; L] {
    [v]
}

/// All bits if two words are equal.
///
/// The compiler must not know that the bit is one of two values: it would branch on it where it blends.
#[inline]
pub(super) fn equal(a: V, b: V) -> Mask {
    let difference = a ^ b;
    core::hint::black_box((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1)
}

/// All bits if two words differ.
#[inline]
pub(super) fn differ(a: V, b: V) -> Mask {
    !equal(a, b)
}

/// `b` where the mask is set, else `a`.
#[inline]
pub(super) fn blend(a: V, b: V, here: Mask) -> V {
    a ^ (here & (a ^ b))
}

/// The magnitude of a signed word, and whether it is negative.
#[inline]
pub(super) fn negative(digit: V) -> (V, Mask) {
    let minus = core::hint::black_box(((digit as i64) >> 63) as u64);
    ((digit ^ minus).wrapping_sub(minus), minus)
}

pub(super) fn mask(bits: u8) -> Mask {
    core::hint::black_box(u64::from(bits & 1)).wrapping_neg()
}

pub(super) fn mask_bits(here: Mask) -> u8 {
    (here & 1) as u8
}

/// A number, big-endian, as limbs.
pub(in crate::secp256k1) fn pack(bytes: &[u8; 32]) -> [u64; 5] {
    split(bytes)
}

/// The number below 2^256 of limbs of 52 bits, big-endian.
pub(super) fn unpack(limbs: &[u64; 5]) -> [u8; 32] {
    join(limbs)
}

/// Carries every limb from the bottom, with what exceeds 2^256 folded in before.
///
/// # Correctness
/// Limbs are below 2^58: what exceeds 2^256 is below 2^10 and adds less than 2^43 to limb 0. The chain ends
/// in a top limb below 2^48 + 2^7.
#[inline]
fn carry(mut t: [u64; 5]) -> Fe {
    debug_assert!(t.iter().all(|limb| limb >> 58 == 0), "a limb exceeds its bound");
    let over = t[4] >> 48;
    t[4] &= M48;
    t[0] += over * C;
    Fe(chain(t))
}

#[inline]
fn chain(mut t: [u64; 5]) -> [u64; 5] {
    for i in 0..4 {
        t[i + 1] += t[i] >> 52;
        t[i] &= M52;
    }
    t
}

#[inline]
fn add_products(t: &mut [u128; 9], a: &Fe, b: &Fe) {
    for i in 0..5 {
        for j in 0..5 {
            t[i + j] += u128::from(a.0[i]) * u128::from(b.0[j]);
        }
    }
}

/// Reduces the columns of a product.
///
/// # Correctness
/// Columns are below 10·2^112 < 2^116. Columns 5 to 8 become limbs of 52 bits and a last one below 2^64,
/// each of which counts 2^260 = 16 C mod p times: less than 2^101 for columns 0 to 4. What exceeds 2^256 in
/// column 4 is then below 2^69 + 2^54, and its product with C below 2^102.
#[inline]
fn reduce(t: &[u128; 9]) -> Fe {
    let mut low = [t[0], t[1], t[2], t[3], t[4]];
    let mut over = 0;
    for k in 0..4 {
        let column = t[5 + k] + over;
        low[k] += u128::from(column as u64 & M52) * u128::from(C << 4);
        over = column >> 52;
    }
    low[4] += u128::from(over as u64) * u128::from(C << 4);
    let mut r = [0; 5];
    let mut carry = 0;
    for k in 0..4 {
        let column = low[k] + carry;
        r[k] = column as u64 & M52;
        carry = column >> 52;
    }
    let column = low[4] + carry;
    r[4] = column as u64 & M48;
    let bottom = (column >> 48) * u128::from(C) + u128::from(r[0]);
    r[0] = bottom as u64 & M52;
    let next = u128::from(r[1]) + (bottom >> 52);
    r[1] = next as u64 & M52;
    r[2] += (next >> 52) as u64;
    Fe(r)
}

impl Fe {
    pub(super) fn small(x: u64) -> Fe {
        Fe([x, 0, 0, 0, 0])
    }

    pub(super) fn packed(&self) -> [V; 5] {
        self.0
    }

    pub(super) fn unpacked(limbs: &[V; 5]) -> Fe {
        Fe(*limbs)
    }

    /// a + b, not carried.
    #[inline]
    pub(super) fn sum(&self, b: &Fe) -> Fe {
        Fe(core::array::from_fn(|i| self.0[i] + b.0[i]))
    }

    /// 2a, not carried.
    #[inline]
    pub(super) fn twice(&self) -> Fe {
        self.sum(self)
    }

    /// −a as 2p − a, not carried.
    #[inline]
    pub(super) fn negative(&self) -> Fe {
        Fe(core::array::from_fn(|i| 2 * P[i] - self.0[i]))
    }

    /// The same, carried.
    #[inline]
    pub(super) fn reduced(&self) -> Fe {
        carry(self.0)
    }

    #[inline]
    pub(super) fn add(&self, b: &Fe) -> Fe {
        carry(self.sum(b).0)
    }

    /// −a.
    #[inline]
    pub(super) fn neg(&self) -> Fe {
        carry(self.negative().0)
    }

    /// a − b − c, by 4p.
    #[inline]
    pub(super) fn less(&self, b: &Fe, c: &Fe) -> Fe {
        carry(core::array::from_fn(|i| self.0[i] + (4 * P[i] - b.0[i] - c.0[i])))
    }

    /// a − 3b, by 4p.
    #[inline]
    pub(super) fn less_thrice(&self, b: &Fe) -> Fe {
        self.less(&b.twice(), b)
    }

    /// a times a number, at most 21.
    #[inline]
    pub(super) fn small_multiple(&self, n: u64) -> Fe {
        carry(self.0.map(|limb| limb * n))
    }

    /// (a + b) times a number, at most 21.
    #[inline]
    pub(super) fn sum_small_multiple(&self, b: &Fe, n: u64) -> Fe {
        self.sum(b).small_multiple(n)
    }

    /// The product; limbs are below 2^56.
    #[inline]
    pub(super) fn mul(&self, b: &Fe) -> Fe {
        let mut t = [0; 9];
        add_products(&mut t, self, b);
        reduce(&t)
    }

    /// The product, written to `out`.
    #[inline]
    pub(super) fn mul_to(&self, b: &Fe, out: &mut Fe) {
        *out = self.mul(b);
    }

    /// a b + c d, written to `out`; limbs are below 2^56.
    #[inline]
    pub(super) fn mul2_to(a: &Fe, b: &Fe, c: &Fe, d: &Fe, out: &mut Fe) {
        let mut t = [0; 9];
        add_products(&mut t, a, b);
        add_products(&mut t, c, d);
        *out = reduce(&t);
    }

    /// The square; limbs are below 2^56.
    #[inline]
    pub(super) fn sqr(&self) -> Fe {
        let a = &self.0;
        let mut t = [0; 9];
        for i in 0..5 {
            t[2 * i] += u128::from(a[i]) * u128::from(a[i]);
            for j in i + 1..5 {
                t[i + j] += u128::from(2 * a[i]) * u128::from(a[j]);
            }
        }
        reduce(&t)
    }

    /// a^(2^n).
    fn sqr_times(&self, n: u32) -> Fe {
        let mut x = *self;
        for _ in 0..n {
            x = x.sqr();
        }
        x
    }

    /// Takes `b` where the mask is set.
    #[inline]
    pub(super) fn assign_where(&mut self, b: &Fe, here: Mask) {
        *self = self.select(b, here);
    }

    /// `b` where the mask is set, else `self`.
    #[inline]
    pub(super) fn select(&self, b: &Fe, here: Mask) -> Fe {
        Fe(core::array::from_fn(|i| blend(self.0[i], b.0[i], here)))
    }

    /// The representative below p.
    ///
    /// # Correctness
    /// What exceeds 2^256 is folded in by the first carry, and what that leaves by the second. x + C reaches
    /// 2^256 just when x ≥ p, and then less 2^256 it is x − p.
    pub(super) fn freeze(&self) -> Fe {
        let x = carry(carry(self.0).0);
        let mut y = x.0;
        y[0] += C;
        let mut y = chain(y);
        let over = mask((y[4] >> 48) as u8);
        y[4] &= M48;
        x.select(&Fe(y), over)
    }

    /// All bits for zero.
    pub(super) fn is_zero(&self) -> Mask {
        equal(self.freeze().0.into_iter().fold(0, |any, limb| any | limb), 0)
    }

    /// All bits for equal elements.
    pub(super) fn equal(&self, b: &Fe) -> Mask {
        self.add(&b.neg()).is_zero()
    }

    /// Whether the number is odd, of frozen elements.
    pub(super) fn odd(&self) -> u8 {
        (self.0[0] & 1) as u8
    }
}

secp256k1_powers!();
