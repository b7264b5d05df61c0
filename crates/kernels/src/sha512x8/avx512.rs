//! The kernel for AVX-512: a message is a lane of 64 bits.

use super::Padded;
use crate::field25519x8::{load, store, transpose};
use crate::sha512::{IV, one_stream};
use crate::wipe::wipe;
use core::arch::x86_64::*;

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn digest(messages: &[&[u8]; 8]) -> [[u8; 64]; 8] {
    let padded = messages.map(Padded::new);
    let most = padded.iter().map(|m| m.blocks).max().unwrap_or(0);
    let mut state = IV.map(|word| [word; 8]);
    let mut words = [[0; 8]; 80];
    for i in 0..most {
        let (mut low, mut high) = ([_mm512_setzero_si512(); 8], [_mm512_setzero_si512(); 8]);
        for (lane, message) in padded.iter().enumerate() {
            let (halves, _) = message.block(i).as_chunks::<64>();
            low[lane] = swapped(&halves[0]);
            high[lane] = swapped(&halves[1]);
        }
        let columns = transpose(&low).into_iter().chain(transpose(&high));
        words.iter_mut().zip(columns).for_each(|(row, column)| store(row, column));
        let mut next = [[0; 8]; 8];
        one_stream::run(&state, &state, &mut words, 0, 16, &mut next);
        for lane in (0..8).filter(|&lane| i < padded[lane].blocks) {
            (0..8).for_each(|t| state[t][lane] = next[t][lane]);
        }
    }
    wipe(words.as_flattened_mut());
    let mut out = [[0; 64]; 8];
    for (lane, out) in out.iter_mut().enumerate() {
        for (bytes, row) in out.chunks_exact_mut(8).zip(state) {
            bytes.copy_from_slice(&row[lane].to_be_bytes());
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
