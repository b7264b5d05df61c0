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
//! No kernel interleaves vectors with SHA-NI. On Zen 4 the SHA instructions share the ports of vector
//! shifts and additions. Measured there: the instructions of one round, of both kinds evenly mixed,
//! with no loads and no waiting for results, so that no loop can be faster.
//!
//! | a round of | cycles | messages a cycle |
//! |---|---|---|
//! | 4 messages, SHA-NI | 4.9 | 0.82 |
//! | 8 messages, AVX2 | 13.5 | 0.59 |
//! | 8 messages, AVX2, and 20, SHA-NI | 28.7 | 0.98 |
//! | 32 messages, AVX-512 | 28.3 | 1.13 |
//! | 32 messages, AVX-512, and 12, SHA-NI | 36.8 | 1.20 |
//!
//! These are the best ratios: at most 1.19 times SHA-NI alone with AVX2, and 1.06 times AVX-512 alone.
//! The kernels as they are take 5.1, 14.3 and 29 cycles, which leaves little to fill.
//!
//! The lanes' contents may be secret: every kernel is constant time, and lanes are wiped on drop.
//! Spec: FIPS 180-4; the shapes of the messages are those of RFC 8391 §5.1 and SP 800-208 §5.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod alone;
#[cfg(target_arch = "aarch64")]
mod armsha;
mod entries;
#[cfg(target_arch = "x86_64")]
mod shani;

use crate::cpu::Family;
use crate::lanes::lane_kernels;
use crate::sha2::{sha2_kernels, sha2_lanes, sha2_scalar};
use entries::sha2_entries;

sha2_kernels!(
    word: u32;
    avx2: _mm256_set1_epi32, _mm256_add_epi32, _mm256_srli_epi32, _mm256_slli_epi32;
    avx512: _mm512_set1_epi32, _mm512_add_epi32, _mm512_ror_epi32, _mm512_srli_epi32,
        _mm512_ternarylogic_epi32;
    simd128: u32x4_splat, i32x4_add, u32x4_shr, i32x4_shl;
);

lane_kernels!(
    context: Fixed;
    wide: [Kernel::Avx512, Kernel::ShaNi, Kernel::Avx2, Kernel::ArmSha, Kernel::Simd128];
    narrow: [Kernel::ShaNi, Kernel::Avx2, Kernel::ArmSha, Kernel::Simd128];
    /// Any CPU; four lanes.
    Portable = portable "portable", None, all();
    /// x86 SHA extensions; four lanes.
    ShaNi = shani "shani", Some(Family::ShaNi), target_arch = "x86_64";
    /// SHA instructions of aarch64; four lanes.
    ArmSha = armsha "armsha", Some(Family::ArmSha), target_arch = "aarch64";
    /// SIMD128 of WebAssembly; four lanes.
    Simd128 = simd128 "simd128", Some(Family::Simd128), all(target_arch = "wasm32", target_feature = "simd128");
    /// AVX2; eight lanes.
    Avx2 = avx2 "avx2", Some(Family::Avx2), target_arch = "x86_64";
    /// AVX-512; 32 lanes.
    Avx512 = avx512 "avx512", Some(Family::Avx512), target_arch = "x86_64";
);

sha2_lanes!(24 | 32, "SHA-256 values have 24 or 32 bytes");
sha2_scalar!(u32, 64, align: 4);

/// Hashes one block.
pub(crate) fn compress(state: &[u32; 8], words: &[u32; 16]) -> [u32; 8] {
    #[cfg(target_arch = "x86_64")]
    if Kernel::ShaNi.allowed() {
        // SAFETY: the CPU has the kernel's instructions.
        return unsafe { shani::block(state, state, words, 0) };
    }
    #[cfg(target_arch = "aarch64")]
    if Kernel::ArmSha.allowed() {
        // SAFETY: the CPU has the kernel's instructions.
        return unsafe { armsha::block(state, state, words, 0) };
    }
    scalar_compress(state, words)
}

/// The lengths of the rotations of Σ0 and Σ1, and of the rotations and the shift of σ0 and σ1.
/// FIPS 180-4 §4.1.2
const BIG0: [i32; 3] = [2, 13, 22];
const BIG1: [i32; 3] = [6, 11, 25];
const SMALL0: [i32; 3] = [7, 18, 3];
const SMALL1: [i32; 3] = [17, 19, 10];

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
