//! Many SHA-512 hashes at once: the keyed and masked hashes of tree signatures, in lanes.
//!
//! [`Lanes`] holds up to [`Lanes::width`] independent messages and hashes all of them in one call.
//! The jobs are those of [`sha256`](crate::sha256) with values of 64 bytes and `pad(i)` = `i` in 64
//! bytes; a tail is still 16 bytes, here two words:
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
mod entries;
mod portable;

pub(crate) use entries::sha2_long_entries;

use crate::cpu::{self, Family};
use crate::sha256::rows::{HashShape, PrefixWords, PrfShape, Rows, sha2_scalar};

type W = u64;
pub(crate) const TOP: W = 1 << 63;
/// Bytes of a value, and of the padding before a key.
const N: usize = 64;
type Shape = PrfShape<W, 80>;
type Fixed = HashShape<W, 80>;

/// The code that hashes the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// Any CPU; four lanes.
    Portable,
    /// AVX2; four lanes.
    Avx2,
    /// AVX-512; 16 lanes.
    Avx512,
}

impl Kernel {
    /// All kernels, portable first.
    pub const ALL: &'static [Kernel] = &[Kernel::Portable, Kernel::Avx2, Kernel::Avx512];

    /// The kernel's name in benchmarks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
        }
    }

    /// Says whether the CPU has this kernel's instructions and `TETRALITH_KERNEL` permits them.
    #[must_use]
    pub fn allowed(self) -> bool {
        match self {
            Kernel::Portable => true,
            Kernel::Avx2 => cpu::allowed(Family::Avx2),
            Kernel::Avx512 => cpu::allowed(Family::Avx512),
        }
    }

    /// The kernel with the highest throughput when its lanes are full.
    #[must_use]
    pub fn wide() -> Kernel {
        Self::first(&[Kernel::Avx512, Kernel::Avx2])
    }

    /// The kernel to take for a few messages.
    #[must_use]
    pub fn narrow() -> Kernel {
        Self::first(&[Kernel::Avx2])
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
    /// The length is not a multiple of 8, or ends more than 96 bytes into a block of 128.
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
    Portable(Box<Rows<W, { portable::L }, 80>>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Box<Rows<W, { avx2::L }, 80>>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<Rows<W, { avx512::L }, 80>>),
}

/// Runs the same expression on the rows of whichever kernel this is.
macro_rules! each {
    ($store:expr, $m:ident => $do:expr) => {
        match $store {
            Store::Portable($m) => $do,
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
    width: usize,
    prf: Shape,
    keygen: Shape,
    fixed: Fixed,
}

impl core::fmt::Debug for Lanes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Lanes {{ width: {} }}", self.width)
    }
}

impl Lanes {
    /// Makes lanes for values of 64 bytes.
    ///
    /// # Panics
    /// The kernel is not [`allowed`](Kernel::allowed).
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        assert!(kernel.allowed(), "the CPU has this kernel");
        let fixed = hash_shape(N, N);
        let (store, width) = match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => (Store::Avx2(Rows::new(&IV, &fixed)), avx2::L),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => (Store::Avx512(Rows::new(&IV, &fixed)), avx512::L),
            // Where a kernel is not compiled in, `allowed` was false.
            _ => (Store::Portable(Rows::new(&IV, &fixed)), portable::L),
        };
        let prf = prf_shape(2 * N + 16);
        let keygen = prf_shape(3 * N + 16);
        Self { store, width, prf, keygen, fixed }
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
        let words = [tail[0], tail[2]].map(u64::from);
        let low = [tail[1], tail[3]].map(u64::from);
        each!(&mut self.store, m => for i in 0..2 {
            m.tail[i][lane] = words[i] << 32 | low[i];
        });
    }

    /// Adds one to the third word of every lane's tail, which stays below 2^24.
    pub fn advance(&mut self) {
        let add = |word: &mut u64| *word = word.wrapping_add(1 << 32);
        each!(&mut self.store, m => m.tail[1].iter_mut().for_each(add));
    }

    /// Puts a value into a lane: the left (`x`) or, for a pair, the right (`y`).
    ///
    /// # Panics
    /// The value has fewer than 64 bytes.
    pub fn put(&mut self, lane: usize, right: bool, value: &[u8]) {
        let words = value[..N].as_chunks::<8>().0;
        each!(&mut self.store, m => {
            let rows = if right { &mut m.y } else { &mut m.x };
            for (row, word) in rows.iter_mut().zip(words) {
                row[lane] = u64::from_be_bytes(*word);
            }
        });
    }

    /// Takes a lane's value `x`.
    ///
    /// # Panics
    /// `value` has fewer than 64 bytes.
    pub fn take(&self, lane: usize, value: &mut [u8]) {
        let words = value[..N].as_chunks_mut::<8>().0;
        each!(&self.store, m => {
            for (row, word) in m.x.iter().zip(words) {
                *word = row[lane].to_be_bytes();
            }
        });
    }

    /// `x ← Hash(prefix ‖ tail)`, the prefix being `pad ‖ 64 bytes ‖ 16 bytes`.
    pub fn prf(&mut self) {
        self.run_prf(false);
    }

    /// `x ← Hash(prefix ‖ tail)`, the prefix being `pad ‖ 128 bytes ‖ 16 bytes`.
    pub fn prf_long(&mut self) {
        self.run_prf(true);
    }

    fn run_prf(&mut self, long: bool) {
        let shape = if long { &self.keygen } else { &self.prf };
        match &mut self.store {
            Store::Portable(m) => portable::prf(m, shape),
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
            Store::Avx2(m) => unsafe { avx2::pair(m, &self.prf, &self.fixed) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `new` made these rows, having asked `cpu` for the instructions.
            Store::Avx512(m) => unsafe { avx512::pair(m, &self.prf, &self.fixed) },
        }
    }

    /// Does what [`pair`](Self::pair) does to lane 0; the other lanes' values are undefined.
    pub fn pair_first(&mut self) {
        self.pair();
    }
}

sha2_scalar!(u64, 80, align: 1, [28, 34, 39], [14, 18, 41], [1, 8, 7], [19, 61, 6]);

#[rustfmt::skip]
pub(crate) const K: [u64; 80] = [
    0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
];

#[rustfmt::skip]
pub(crate) const IV: [u64; 8] = [
    0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
];
