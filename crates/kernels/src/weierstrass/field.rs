//! Fields of 256-bit primes in Montgomery's representation, four limbs of 64 bits.
//!
//! An element stands for x R mod p, R = 2^256, and is always below p, so equal values have equal
//! limbs. Variable time is allowed here.
//!
//! Montgomery, "Modular multiplication without trial division"

use core::marker::PhantomData;

/// A curve's prime and equation.
pub trait Prime: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// p, least significant limb first.
    const P: [u64; 4];
    /// -1/p mod 2^64.
    const N0: u64;
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

/// An element, in Montgomery's representation.
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
    ///
    /// # Correctness
    /// Before each limb of b the sum is below 2p; it grows by less than 2^64 p in each half, and the
    /// division by 2^64 brings it below 2p again, so five limbs hold it with one bit to spare above.
    #[inline]
    pub(super) fn mul(&self, b: &Fe<C>) -> Fe<C> {
        let a = &self.0;
        let (mut t, mut top) = ([0u64; 4], 0u64);
        for i in 0..4 {
            let mut carry = 0;
            for j in 0..4 {
                (t[j], carry) = mac(t[j], a[j], b.0[i], carry);
            }
            let (high, over) = top.overflowing_add(carry);
            let m = t[0].wrapping_mul(C::N0);
            let (_, mut carry) = mac(t[0], m, C::P[0], 0);
            for j in 1..4 {
                (t[j - 1], carry) = mac(t[j], m, C::P[j], carry);
            }
            let (high, over1) = high.overflowing_add(carry);
            t[3] = high;
            top = u64::from(over) + u64::from(over1);
        }
        let (reduced, borrow) = sub_limbs(&t, &C::P);
        Fe::new(choose(top != 0 || !borrow, &reduced, &t))
    }

    #[inline]
    pub(super) fn square(&self) -> Fe<C> {
        self.mul(self)
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
    const N0: u64 = 1;
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
    const N0: u64 = 0xd838_091d_d225_3531;
    const R: [u64; 4] = [0x0001_0000_03d1, 0, 0, 0];
    const R2: [u64; 4] = [0x0000_07a2_000e_90a1, 1, 0, 0];
    const B: [u64; 4] = [0x0000_0007_0000_1ab7, 0, 0, 0];
    const A_IS_MINUS_3: bool = false;
    const GENERATOR: [u8; 33] = [
        0x02, 0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87,
        0x0b, 0x07, 0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16,
        0xf8, 0x17, 0x98,
    ];

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
