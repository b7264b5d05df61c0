//! SHA-512 of eight messages at once, one in each 64-bit lane, with AVX-512.
//!
//! Messages may differ in length: a lane whose message has ended keeps its state while the others go
//! on. Nothing branches on message bytes, only on lengths.
//!
//! FIPS 180-4 §6.4

use crate::field25519x8::{load, store, transpose};
use crate::lanes8::Lanes8;
use crate::sha512::{IV, one_stream};
use crate::wipe::wipe;
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
