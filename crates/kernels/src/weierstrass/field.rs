//! Fields of 256-bit primes, four limbs of 64 bits.
//!
//! An element stands for x R mod p and is always below p, so equal values have equal limbs. R is
//! 2^256 for P-256, whose prime suits Montgomery's reduction, and 1 for secp256k1, whose prime suits
//! folding. Variable time is allowed here.
//!
//! Montgomery, "Modular multiplication without trial division"

use core::marker::PhantomData;

/// A curve's prime and equation.
pub trait Prime: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// p, least significant limb first.
    const P: [u64; 4];
    /// R mod p.
    const R: [u64; 4];
    /// R^2 mod p.
    const R2: [u64; 4];
    /// b R mod p.
    const B: [u64; 4];
    /// Whether a is -3, or else 0.
    const A_IS_MINUS_3: bool;
    /// The generator's encoding.
    const GENERATOR: [u8; 33];

    /// t/R mod p, for t below p R.
    #[doc(hidden)]
    fn reduce(wide: &[u64; 8]) -> [u64; 4];
    /// (x^((p+1)/4), x^(p-2)), whichever is asked for.
    #[doc(hidden)]
    fn power(x: &Fe<Self>, inverse: bool) -> Fe<Self>;
    /// Tables of multiples of the generator.
    #[doc(hidden)]
    fn tables() -> &'static super::scalar_mul::Tables<Self>;
}

/// NIST P-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum P256 {}

/// secp256k1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum K256 {}

/// An element, times R.
#[derive(Clone, Copy, Debug)]
pub struct Fe<C>([u64; 4], PhantomData<C>);

impl<C> PartialEq for Fe<C> {
    fn eq(&self, other: &Fe<C>) -> bool {
        self.0 == other.0
    }
}

/// (low, high) of t + a b + carry, which fits.
#[inline(always)]
fn mac(t: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let r = u128::from(t) + u128::from(a) * u128::from(b) + u128::from(carry);
    (r as u64, (r >> 64) as u64)
}

/// a + b of 256 bits, and the carry.
#[inline(always)]
fn add_limbs(a: &[u64; 4], b: &[u64; 4]) -> ([u64; 4], bool) {
    let (mut r, mut carry) = ([0; 4], false);
    for i in 0..4 {
        let (sum, c0) = a[i].overflowing_add(b[i]);
        let (sum, c1) = sum.overflowing_add(u64::from(carry));
        (r[i], carry) = (sum, c0 | c1);
    }
    (r, carry)
}

/// a - b of 256 bits, and the borrow.
#[inline(always)]
fn sub_limbs(a: &[u64; 4], b: &[u64; 4]) -> ([u64; 4], bool) {
    let (mut r, mut borrow) = ([0; 4], false);
    for i in 0..4 {
        let (difference, b0) = a[i].overflowing_sub(b[i]);
        let (difference, b1) = difference.overflowing_sub(u64::from(borrow));
        (r[i], borrow) = (difference, b0 | b1);
    }
    (r, borrow)
}

/// `a` where `take`, else `b`, without a branch, which would often be mispredicted.
#[inline(always)]
fn choose(take: bool, a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mask = u64::from(take).wrapping_neg();
    core::array::from_fn(|i| b[i] ^ (mask & (a[i] ^ b[i])))
}

impl<C: Prime> Fe<C> {
    pub(super) const ZERO: Fe<C> = Fe::new([0; 4]);
    pub(super) const ONE: Fe<C> = Fe::new(C::R);

    pub(super) const fn new(limbs: [u64; 4]) -> Fe<C> {
        Fe(limbs, PhantomData)
    }

    /// Takes 32 big-endian bytes; none if they are not below p.
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Option<Fe<C>> {
        let limbs = limbs(bytes);
        let (_, below) = sub_limbs(&limbs, &C::P);
        below.then(|| Fe::new(limbs).mul(&Fe::new(C::R2)))
    }

    /// The value, 32 big-endian bytes.
    pub(super) fn to_bytes(self) -> [u8; 32] {
        let value = self.mul(&Fe::new([1, 0, 0, 0])).0;
        core::array::from_fn(|i| value[3 - i / 8].to_be_bytes()[i % 8])
    }

    pub(super) fn is_odd(&self) -> bool {
        self.mul(&Fe::new([1, 0, 0, 0])).0[0] & 1 == 1
    }

    #[inline]
    pub(super) fn add(&self, b: &Fe<C>) -> Fe<C> {
        let (sum, carry) = add_limbs(&self.0, &b.0);
        let (reduced, borrow) = sub_limbs(&sum, &C::P);
        Fe::new(choose(carry | !borrow, &reduced, &sum))
    }

    #[inline]
    pub(super) fn sub(&self, b: &Fe<C>) -> Fe<C> {
        let (difference, borrow) = sub_limbs(&self.0, &b.0);
        let (corrected, _) = add_limbs(&difference, &C::P);
        Fe::new(choose(borrow, &corrected, &difference))
    }

    pub(super) fn neg(&self) -> Fe<C> {
        Fe::ZERO.sub(self)
    }

    #[inline]
    pub(super) fn twice(&self) -> Fe<C> {
        self.add(self)
    }

    /// The product, over R.
    #[inline]
    pub(super) fn mul(&self, b: &Fe<C>) -> Fe<C> {
        let mut wide = [0; 8];
        for i in 0..4 {
            let mut carry = 0;
            for j in 0..4 {
                (wide[i + j], carry) = mac(wide[i + j], self.0[j], b.0[i], carry);
            }
            wide[i + 4] = carry;
        }
        Fe::new(C::reduce(&wide))
    }

    /// The square, over R: products of different limbs once, doubled.
    #[inline]
    pub(super) fn square(&self) -> Fe<C> {
        let a = &self.0;
        let mut cross = [0; 8];
        for i in 0..3 {
            let mut carry = 0;
            for j in i + 1..4 {
                (cross[i + j], carry) = mac(cross[i + j], a[i], a[j], carry);
            }
            cross[i + 4] = carry;
        }
        let (mut wide, mut carry, mut bit) = (cross, 0, 0);
        for i in 0..4 {
            let square = u128::from(a[i]) * u128::from(a[i]);
            let (low, high) = (square as u64, (square >> 64) as u64);
            let (even, odd) = (cross[2 * i], cross[2 * i + 1]);
            let sum = u128::from(even << 1 | bit) + u128::from(low) + u128::from(carry);
            wide[2 * i] = sum as u64;
            let above = u128::from(odd << 1 | even >> 63) + u128::from(high) + (sum >> 64);
            wide[2 * i + 1] = above as u64;
            (carry, bit) = ((above >> 64) as u64, odd >> 63);
        }
        Fe::new(C::reduce(&wide))
    }

    fn square_times(&self, n: u32) -> Fe<C> {
        let mut r = *self;
        for _ in 0..n {
            r = r.square();
        }
        r
    }

    /// x^(p-2), the inverse.
    pub(super) fn invert(&self) -> Fe<C> {
        C::power(self, true)
    }

    /// x^((p+1)/4), a square root if there is one.
    pub(super) fn sqrt_candidate(&self) -> Fe<C> {
        C::power(self, false)
    }
}

pub(super) fn limbs(bytes: &[u8; 32]) -> [u64; 4] {
    core::array::from_fn(|i| u64::from_be_bytes(core::array::from_fn(|j| bytes[8 * (3 - i) + j])))
}

/// x^(2^n - 1) for n = 2, 4, 8, 16, 32 times what leads there.
fn ones<C: Prime>(x: &Fe<C>, n: u32) -> Fe<C> {
    match n {
        1 => *x,
        n if n % 2 == 0 => {
            let half = ones(x, n / 2);
            half.square_times(n / 2).mul(&half)
        }
        n => ones(x, n - 1).square().mul(x),
    }
}

impl Prime for P256 {
    const P: [u64; 4] = [0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001];
    const R: [u64; 4] = [1, 0xffff_ffff_0000_0000, 0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_fffe];
    const R2: [u64; 4] = [3, 0xffff_fffb_ffff_ffff, 0xffff_ffff_ffff_fffe, 0x0000_0004_ffff_fffd];
    const B: [u64; 4] = [
        0xd89c_df62_29c4_bddf,
        0xacf0_05cd_7884_3090,
        0xe5a2_20ab_f721_2ed6,
        0xdc30_061d_0487_4834,
    ];
    const A_IS_MINUS_3: bool = true;
    const GENERATOR: [u8; 33] = [
        0x03, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4,
        0x40, 0xf2, 0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8,
        0x98, 0xc2, 0x96,
    ];

    /// Montgomery's reduction, in which -1/p mod 2^64 is 1.
    ///
    /// # Correctness
    /// Multiples of p below 2^256 p are added, so the sum is below 2 p R, and its quotient by R below
    /// 2p: four limbs and a bit.
    #[inline]
    fn reduce(wide: &[u64; 8]) -> [u64; 4] {
        let (mut t, mut over) = (*wide, false);
        for i in 0..4 {
            let m = t[i];
            let (_, mut carry) = mac(t[i], m, Self::P[0], 0);
            for j in 1..4 {
                (t[i + j], carry) = mac(t[i + j], m, Self::P[j], carry);
            }
            let (sum, o1) = t[i + 4].overflowing_add(carry);
            let (sum, o2) = sum.overflowing_add(u64::from(over));
            (t[i + 4], over) = (sum, o1 | o2);
        }
        let t = [t[4], t[5], t[6], t[7]];
        let (reduced, borrow) = sub_limbs(&t, &Self::P);
        choose(over | !borrow, &reduced, &t)
    }

    /// (p+1)/4 = (((2^32-1) 2^32 + 1) 2^96 + 1) 2^94 and
    /// p-2 = ((((2^32-1) 2^32 + 1) 2^128 + 2^32-1) 2^32 + 2^32-1) 2^32 - 3.
    fn power(x: &Fe<P256>, inverse: bool) -> Fe<P256> {
        let x30 = ones(x, 30);
        let x32 = x30.square_times(2).mul(&ones(x, 2));
        let high = x32.square_times(32).mul(x);
        if !inverse {
            return high.square_times(96).mul(x).square_times(94);
        }
        let high = high.square_times(128).mul(&x32).square_times(32).mul(&x32);
        high.square_times(30).mul(&x30).square_times(2).mul(x)
    }

    fn tables() -> &'static super::scalar_mul::Tables<P256> {
        static TABLES: std::sync::LazyLock<super::scalar_mul::Tables<P256>> =
            std::sync::LazyLock::new(super::scalar_mul::Tables::new);
        &TABLES
    }
}

impl Prime for K256 {
    const P: [u64; 4] = [0xffff_fffe_ffff_fc2f, u64::MAX, u64::MAX, u64::MAX];
    const R: [u64; 4] = [1, 0, 0, 0];
    const R2: [u64; 4] = [1, 0, 0, 0];
    const B: [u64; 4] = [7, 0, 0, 0];
    const A_IS_MINUS_3: bool = false;
    const GENERATOR: [u8; 33] = [
        0x02, 0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87,
        0x0b, 0x07, 0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16,
        0xf8, 0x17, 0x98,
    ];

    /// 2^256 is 2^32 + 977 mod p: the upper half is folded, then what that carries out.
    ///
    /// # Correctness
    /// The first fold carries out less than 2^34, the second adds less than 2^68, and if it carries
    /// out a bit, what is left is below 2^68, so that the third does not.
    #[inline]
    fn reduce(wide: &[u64; 8]) -> [u64; 4] {
        const FOLD: u64 = (1 << 32) + 977;
        let (mut r, mut carry) = ([0; 4], 0);
        for i in 0..4 {
            (r[i], carry) = mac(wide[i], wide[i + 4], FOLD, carry);
        }
        let extra = u128::from(carry) * u128::from(FOLD);
        let (folded, over) = add_limbs(&r, &[extra as u64, (extra >> 64) as u64, 0, 0]);
        let (folded, _) = add_limbs(&folded, &[u64::from(over) * FOLD, 0, 0, 0]);
        let (reduced, borrow) = sub_limbs(&folded, &Self::P);
        choose(!borrow, &reduced, &folded)
    }

    /// (p+1)/4 and p-2 both begin with 223 ones, a zero and 22 ones.
    fn power(x: &Fe<K256>, inverse: bool) -> Fe<K256> {
        let x2 = ones(x, 2);
        let x22 = ones(x, 22);
        let high = ones(x, 223).square_times(23).mul(&x22);
        if !inverse {
            return high.square_times(6).mul(&x2).square_times(2);
        }
        high.square_times(5).mul(x).square_times(3).mul(&x2).square_times(2).mul(x)
    }

    fn tables() -> &'static super::scalar_mul::Tables<K256> {
        static TABLES: std::sync::LazyLock<super::scalar_mul::Tables<K256>> =
            std::sync::LazyLock::new(super::scalar_mul::Tables::new);
        &TABLES
    }
}
