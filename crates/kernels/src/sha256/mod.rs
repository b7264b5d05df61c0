//! Many SHA-256 hashes at once: the keyed and masked hashes of tree signatures, in lanes.
//!
//! [`Lanes`] holds up to [`Lanes::width`] independent messages and hashes all of them in one call.
//! A lane has a [`Prefix`] (everything that many messages share, hashed once), a tail of four words
//! that differ, and one or two values of `n` = 24 or 32 bytes. The jobs, with `Hash` = SHA-256 cut
//! to `n` bytes and `pad(i)` = `i` in 4 bytes (`n` = 24) or 32 bytes (`n` = 32):
//!
//! ```text
//! prf:     x ← Hash(prefix ‖ tail)
//! masked:  x ← Hash(pad(0) ‖ k ‖ (x ⊕ b)),              k, b = Hash(prefix ‖ tail + 0, 1)
//! pair:    x ← Hash(pad(1) ‖ k ‖ (x ⊕ b) ‖ (y ⊕ c)),    k, b, c = Hash(prefix ‖ tail + 0, 1, 2)
//! ```
//!
//! The lanes' contents may be secret: every kernel is constant time, and lanes are wiped on drop.
//! Spec: FIPS 180-4; the shapes of the messages are those of RFC 8391 §5.1 and SP 800-208 §5.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod body;
mod body_short;
mod portable;
pub(crate) mod rows;
#[cfg(target_arch = "x86_64")]
mod shani;

use crate::cpu::{self, Family};
use rows::{HashShape, PrefixWords, PrfShape, Rows, sha2_scalar};
pub(crate) use {
    body::{sha2_jobs, sha2_rounds},
    body_short::sha2_short_body,
};

type W = u32;
pub(crate) const TOP: W = 0x8000_0000;
type Shape = PrfShape<W, 64>;
type Fixed = HashShape<W, 64>;

/// The code that hashes the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// Any CPU; four lanes.
    Portable,
    /// SHA extensions; four lanes.
    ShaNi,
    /// AVX2; eight lanes.
    Avx2,
    /// AVX-512; 32 lanes.
    Avx512,
}

impl Kernel {
    /// All kernels, portable first.
    pub const ALL: &'static [Kernel] =
        &[Kernel::Portable, Kernel::ShaNi, Kernel::Avx2, Kernel::Avx512];

    /// The kernel's name in benchmarks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::ShaNi => "shani",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
        }
    }

    /// Says whether the CPU has this kernel's instructions and `TETRALITH_KERNEL` permits them.
    #[must_use]
    pub fn allowed(self) -> bool {
        match self {
            Kernel::Portable => true,
            Kernel::ShaNi => cpu::allowed(Family::ShaNi),
            Kernel::Avx2 => cpu::allowed(Family::Avx2),
            Kernel::Avx512 => cpu::allowed(Family::Avx512),
        }
    }

    /// The kernel with the highest throughput when its lanes are full.
    #[must_use]
    pub fn wide() -> Kernel {
        Self::first(&[Kernel::Avx512, Kernel::ShaNi, Kernel::Avx2])
    }

    /// The kernel to take for a few messages.
    #[must_use]
    pub fn narrow() -> Kernel {
        Self::first(&[Kernel::ShaNi, Kernel::Avx2])
    }

    fn first(order: &[Kernel]) -> Kernel {
        order.iter().copied().find(|kernel| kernel.allowed()).unwrap_or(Kernel::Portable)
    }
}

/// What many messages share: everything before their last 16 bytes.
///
/// # Security
/// Wiped on drop; it is as secret as what it was made from.
#[derive(Clone)]
pub struct Prefix(PrefixWords<W>);

impl Prefix {
    /// Hashes a prefix as far as it goes.
    ///
    /// # Panics
    /// The length is not a multiple of 4, or ends more than 48 bytes into a block of 64.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(prefix_words(bytes))
    }
}

impl core::fmt::Debug for Prefix {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Prefix")
    }
}

enum Store {
    Portable(Box<Rows<W, { portable::L }, 64>>),
    #[cfg(target_arch = "x86_64")]
    ShaNi(Box<Rows<W, { shani::L }, 64>>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Box<Rows<W, { avx2::L }, 64>>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<Rows<W, { avx512::L }, 64>>),
}

/// Runs the same expression on the rows of whichever kernel this is.
macro_rules! each {
    ($store:expr, $m:ident => $do:expr) => {
        match $store {
            Store::Portable($m) => $do,
            #[cfg(target_arch = "x86_64")]
            Store::ShaNi($m) => $do,
            #[cfg(target_arch = "x86_64")]
            Store::Avx2($m) => $do,
            #[cfg(target_arch = "x86_64")]
            Store::Avx512($m) => $do,
        }
    };
}

/// Lanes for messages of one value length, hashed together.
pub struct Lanes {
    store: Store,
    n: usize,
    width: usize,
    prf: Shape,
    keygen: Shape,
    fixed: Fixed,
}

impl core::fmt::Debug for Lanes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Lanes {{ n: {}, width: {} }}", self.n, self.width)
    }
}

impl Lanes {
    /// Makes lanes for values of `n` bytes.
    ///
    /// # Panics
    /// `n` is neither 24 nor 32, or the kernel is not [`allowed`](Kernel::allowed).
    #[must_use]
    pub fn new(kernel: Kernel, n: usize) -> Self {
        assert!(n == 24 || n == 32, "SHA-256 values have 24 or 32 bytes");
        assert!(kernel.allowed(), "the CPU has this kernel");
        let pad = if n == 24 { 4 } else { 32 };
        let fixed = hash_shape(pad, n);
        let (store, width) = match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::ShaNi => (Store::ShaNi(Rows::new(&IV, &fixed)), shani::L),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => (Store::Avx2(Rows::new(&IV, &fixed)), avx2::L),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => (Store::Avx512(Rows::new(&IV, &fixed)), avx512::L),
            // Where a kernel is not compiled in, `allowed` was false.
            _ => (Store::Portable(Rows::new(&IV, &fixed)), portable::L),
        };
        let prf = prf_shape(pad + n + 16);
        let keygen = prf_shape(pad + 2 * n + 16);
        Self { store, n, width, prf, keygen, fixed }
    }

    /// How many messages one call hashes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Gives a lane its prefix; all lanes of a call must have prefixes of one length.
    pub fn set_prefix(&mut self, lane: usize, prefix: &Prefix) {
        each!(&mut self.store, m => m.set_prefix(lane, &prefix.0));
    }

    /// Gives a lane its tail, the last 16 bytes of its message.
    pub fn set_tail(&mut self, lane: usize, tail: [u32; 4]) {
        each!(&mut self.store, m => for i in 0..4 {
            m.tail[i][lane] = tail[i];
        });
    }

    /// Adds one to the third word of every lane's tail, which stays below 2^24.
    pub fn advance(&mut self) {
        each!(&mut self.store, m => m.tail[2].iter_mut().for_each(|word| *word = word.wrapping_add(1)));
    }

    /// Puts a value into a lane: the left (`x`) or, for a pair, the right (`y`).
    ///
    /// # Panics
    /// The value has fewer than `n` bytes.
    pub fn put(&mut self, lane: usize, right: bool, value: &[u8]) {
        let words = value[..self.n].as_chunks::<4>().0;
        each!(&mut self.store, m => {
            let rows = if right { &mut m.y } else { &mut m.x };
            for (row, word) in rows.iter_mut().zip(words) {
                row[lane] = u32::from_be_bytes(*word);
            }
        });
    }

    /// Takes a lane's value `x`.
    ///
    /// # Panics
    /// `value` has fewer than `n` bytes.
    pub fn take(&self, lane: usize, value: &mut [u8]) {
        let words = value[..self.n].as_chunks_mut::<4>().0;
        each!(&self.store, m => {
            for (row, word) in m.x.iter().zip(words) {
                *word = row[lane].to_be_bytes();
            }
        });
    }

    /// `x ← Hash(prefix ‖ tail)`, the prefix being `pad ‖ n bytes ‖ 16 bytes`.
    pub fn prf(&mut self) {
        self.run_prf(false);
    }

    /// `x ← Hash(prefix ‖ tail)`, the prefix being `pad ‖ 2·n bytes ‖ 16 bytes`.
    pub fn prf_long(&mut self) {
        self.run_prf(true);
    }

    fn run_prf(&mut self, long: bool) {
        let shape = if long { &self.keygen } else { &self.prf };
        match &mut self.store {
            Store::Portable(m) => portable::prf(m, shape),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::ShaNi(m) => unsafe { shani::prf(m, shape) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::Avx2(m) => unsafe { avx2::prf(m, shape) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::Avx512(m) => unsafe { avx512::prf(m, shape) },
        }
    }

    /// `x ← Hash(pad(0) ‖ k ‖ (x ⊕ b))`; see the module.
    pub fn masked(&mut self) {
        match &mut self.store {
            Store::Portable(m) => portable::masked(m, &self.prf, &self.fixed),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::ShaNi(m) => unsafe { shani::masked(m, &self.prf, &self.fixed) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::Avx2(m) => unsafe { avx2::masked(m, &self.prf, &self.fixed) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::Avx512(m) => unsafe { avx512::masked(m, &self.prf, &self.fixed) },
        }
    }

    /// `x ← Hash(pad(1) ‖ k ‖ (x ⊕ b) ‖ (y ⊕ c))`; see the module.
    pub fn pair(&mut self) {
        match &mut self.store {
            Store::Portable(m) => portable::pair(m, &self.prf, &self.fixed),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::ShaNi(m) => unsafe { shani::pair(m, &self.prf, &self.fixed) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::Avx2(m) => unsafe { avx2::pair(m, &self.prf, &self.fixed) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::Avx512(m) => unsafe { avx512::pair(m, &self.prf, &self.fixed) },
        }
    }

    /// Does what [`pair`](Self::pair) does to lane 0 alone; the other lanes' values are undefined.
    pub fn pair_first(&mut self) {
        match &mut self.store {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::ShaNi(m) => unsafe { shani::pair_first(m, &self.prf, &self.fixed) },
            _ => self.pair(),
        }
    }
}

sha2_scalar!(u32, 64, align: 4, [2, 13, 22], [6, 11, 25], [7, 18, 3], [17, 19, 10]);

#[rustfmt::skip]
pub(crate) const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

#[rustfmt::skip]
pub(crate) const IV: [u32; 8] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
];
