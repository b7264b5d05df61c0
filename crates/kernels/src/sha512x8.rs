//! SHA-512 of eight messages at once, one in each 64-bit lane, with AVX-512.
//!
//! Messages may differ in length: a lane whose message has ended keeps its state while the others go
//! on. Nothing branches on message bytes, only on lengths.
//!
//! FIPS 180-4 §6.4

use crate::field25519x8::{load, store, transpose};
use crate::lanes8::Lanes8;
use core::arch::x86_64::*;

/// Hashes eight messages.
///
/// # Security
/// Constant time in the messages' bytes, not in their lengths.
#[must_use]
pub fn digest_8(_: Lanes8, messages: &[&[u8]; 8]) -> [[u8; 64]; 8] {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { digest(messages) }
}

/// A message as its whole blocks and what follows, with its padding, in one block or two.
struct Padded<'a> {
    whole: &'a [[u8; 128]],
    tail: [[u8; 128]; 2],
    blocks: usize,
}

impl<'a> Padded<'a> {
    /// FIPS 180-4 §5.1.2
    fn new(message: &'a [u8]) -> Padded<'a> {
        let (whole, rest) = message.as_chunks::<128>();
        let mut tail = [[0; 128]; 2];
        tail[0][..rest.len()].copy_from_slice(rest);
        tail[0][rest.len()] = 0x80;
        let last = usize::from(rest.len() >= 112);
        let bits = 8 * message.len() as u128;
        tail[last][112..].copy_from_slice(&bits.to_be_bytes());
        Padded { whole, tail, blocks: whole.len() + last + 1 }
    }

    /// The i-th block; any, where the message has ended.
    fn block(&self, i: usize) -> &[u8; 128] {
        self.whole.get(i).unwrap_or_else(|| &self.tail[usize::from(i > self.whole.len())])
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn digest(messages: &[&[u8]; 8]) -> [[u8; 64]; 8] {
    let padded = messages.map(Padded::new);
    let most = padded.iter().map(|m| m.blocks).max().unwrap_or(0);
    let mut state = [_mm512_setzero_si512(); 8];
    for (word, initial) in state.iter_mut().zip(INITIAL) {
        *word = _mm512_set1_epi64(initial as i64);
    }
    for i in 0..most {
        let mut live = 0u8;
        let (mut low, mut high) = ([_mm512_setzero_si512(); 8], [_mm512_setzero_si512(); 8]);
        for (lane, message) in padded.iter().enumerate() {
            live |= u8::from(i < message.blocks) << lane;
            let (words, _) = message.block(i).as_chunks::<64>();
            low[lane] = swapped(&words[0]);
            high[lane] = swapped(&words[1]);
        }
        compress(&mut state, &transpose(&low), &transpose(&high), live);
    }
    let mut out = [[0; 64]; 8];
    for (lane, row) in transpose(&state).into_iter().enumerate() {
        let mut words = [0; 8];
        store(&mut words, row);
        for (bytes, word) in out[lane].chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
    }
    out
}

/// Eight big-endian words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn swapped(bytes: &[u8; 64]) -> __m512i {
    let mut words = [0; 8];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"));
    }
    let order = _mm512_set4_epi32(0x0809_0a0b, 0x0c0d_0e0f, 0x0001_0203, 0x0405_0607);
    _mm512_shuffle_epi8(load(&words), order)
}

/// Compresses one block in each lane of `live`. FIPS 180-4 §6.4.2
#[target_feature(enable = "avx512f")]
fn compress(state: &mut [__m512i; 8], low: &[__m512i; 8], high: &[__m512i; 8], live: u8) {
    let mut w = [_mm512_setzero_si512(); 16];
    w[..8].copy_from_slice(low);
    w[8..].copy_from_slice(high);
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (chunk, k) in ROUND.as_chunks::<16>().0.iter().enumerate() {
        for t in 0..16 {
            if chunk > 0 {
                let s0 = xor3::<1, 8>(w[(t + 1) % 16], _mm512_srli_epi64::<7>(w[(t + 1) % 16]));
                let s1 = xor3::<19, 61>(w[(t + 14) % 16], _mm512_srli_epi64::<6>(w[(t + 14) % 16]));
                w[t] = add4(w[t], s0, w[(t + 9) % 16], s1);
            }
            let choice = _mm512_ternarylogic_epi64::<0xca>(e, f, g);
            let majority = _mm512_ternarylogic_epi64::<0xe8>(a, b, c);
            let sigma1 = xor3::<14, 18>(e, _mm512_ror_epi64::<41>(e));
            let sigma0 = xor3::<28, 34>(a, _mm512_ror_epi64::<39>(a));
            let constant = _mm512_set1_epi64(k[t] as i64);
            let t1 = add4(_mm512_add_epi64(h, constant), w[t], choice, sigma1);
            (h, g, f, e) = (g, f, e, _mm512_add_epi64(d, t1));
            let t2 = _mm512_add_epi64(sigma0, majority);
            (d, c, b, a) = (c, b, a, _mm512_add_epi64(t1, t2));
        }
    }
    for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = _mm512_mask_add_epi64(*word, live, *word, new);
    }
}

/// x rotated right by A, x rotated right by B, and `third`, xored.
#[inline]
#[target_feature(enable = "avx512f")]
fn xor3<const A: i32, const B: i32>(x: __m512i, third: __m512i) -> __m512i {
    let (a, b) = (_mm512_ror_epi64::<A>(x), _mm512_ror_epi64::<B>(x));
    _mm512_ternarylogic_epi64::<0x96>(a, b, third)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add4(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> __m512i {
    _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d))
}

/// FIPS 180-4 §5.3.5
const INITIAL: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// FIPS 180-4 §4.2.3
const ROUND: [u64; 80] = [
    0x428a_2f98_d728_ae22,
    0x7137_4491_23ef_65cd,
    0xb5c0_fbcf_ec4d_3b2f,
    0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538,
    0x59f1_11f1_b605_d019,
    0x923f_82a4_af19_4f9b,
    0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242,
    0x1283_5b01_4570_6fbe,
    0x2431_85be_4ee4_b28c,
    0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f,
    0x80de_b1fe_3b16_96b1,
    0x9bdc_06a7_25c7_1235,
    0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2,
    0xefbe_4786_384f_25e3,
    0x0fc1_9dc6_8b8c_d5b5,
    0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275,
    0x4a74_84aa_6ea6_e483,
    0x5cb0_a9dc_bd41_fbd4,
    0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab,
    0xa831_c66d_2db4_3210,
    0xb003_27c8_98fb_213f,
    0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2,
    0xd5a7_9147_930a_a725,
    0x06ca_6351_e003_826f,
    0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc,
    0x2e1b_2138_5c26_c926,
    0x4d2c_6dfc_5ac4_2aed,
    0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de,
    0x766a_0abb_3c77_b2a8,
    0x81c2_c92e_47ed_aee6,
    0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364,
    0xa81a_664b_bc42_3001,
    0xc24b_8b70_d0f8_9791,
    0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218,
    0xd699_0624_5565_a910,
    0xf40e_3585_5771_202a,
    0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8,
    0x1e37_6c08_5141_ab53,
    0x2748_774c_df8e_eb99,
    0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63,
    0x4ed8_aa4a_e341_8acb,
    0x5b9c_ca4f_7763_e373,
    0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc,
    0x78a5_636f_4317_2f60,
    0x84c8_7814_a1f0_ab72,
    0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28,
    0xa450_6ceb_de82_bde9,
    0xbef9_a3f7_b2c6_7915,
    0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c,
    0xd186_b8c7_21c0_c207,
    0xeada_7dd6_cde0_eb1e,
    0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba,
    0x0a63_7dc5_a2c8_98a6,
    0x113f_9804_bef9_0dae,
    0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84,
    0x32ca_ab7b_40c7_2493,
    0x3c9e_be0a_15c9_bebc,
    0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6,
    0x597f_299c_fc65_7e2a,
    0x5fcb_6fab_3ad6_faec,
    0x6c44_198c_4a47_5817,
];

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha512};

    #[test]
    fn every_length_agrees_with_sha2_in_every_lane() {
        let Some(lanes) = Lanes8::detect() else {
            println!("left out: this CPU has no AVX-512, or TETRALITH_KERNEL forbids it");
            return;
        };
        let text: Vec<u8> = (0..1200u32).map(|i| ((i * i) >> 3) as u8).collect();
        for start in 0..300 {
            // Lengths around block edges, in another order in each round.
            let messages: [&[u8]; 8] = core::array::from_fn(|lane| {
                let length = (start + 131 * ((lane + start) % 8)) % 1000;
                &text[lane..lane + length]
            });
            let digests = digest_8(lanes, &messages);
            for lane in 0..8 {
                assert_eq!(digests[lane], <[u8; 64]>::from(Sha512::digest(messages[lane])));
            }
        }
    }
}
