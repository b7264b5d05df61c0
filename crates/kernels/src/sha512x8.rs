//! SHA-512 of eight messages at once, one in each lane where the CPU has AVX-512.
//!
//! Messages may differ in length: a lane whose message has ended keeps its state while the others go
//! on. Nothing branches on message bytes, only on lengths.
//!
//! FIPS 180-4 §6.4

#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::sha512::{IV, compress};

/// Hashes eight messages.
///
/// # Security
/// Constant time in the messages' bytes, not in their lengths.
#[must_use]
pub fn digest_8(messages: &[&[u8]; 8]) -> [[u8; 64]; 8] {
    #[cfg(target_arch = "x86_64")]
    if crate::cpu::allowed(crate::cpu::Family::Avx512) {
        // SAFETY: the CPU has AVX-512, as asked just now.
        return unsafe { avx512::digest(messages) };
    }
    portable(messages)
}

/// The portable twin: one message after another.
fn portable(messages: &[&[u8]; 8]) -> [[u8; 64]; 8] {
    messages.map(|message| {
        let padded = Padded::new(message);
        let mut state = IV;
        for i in 0..padded.blocks {
            let (words, _) = padded.block(i).as_chunks::<8>();
            let words = core::array::from_fn(|t| u64::from_be_bytes(words[t]));
            state = compress(&state, &words);
        }
        core::array::from_fn(|i| state[i / 8].to_be_bytes()[i % 8])
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha512};

    #[test]
    fn every_length_agrees_with_sha2_in_every_lane() {
        let text: Vec<u8> = (0..1200u32).map(|i| ((i * i) >> 3) as u8).collect();
        for start in 0..300 {
            // Lengths around block edges, in another order in each round.
            let messages: [&[u8]; 8] = core::array::from_fn(|lane| {
                let length = (start + 131 * ((lane + start) % 8)) % 1000;
                &text[lane..lane + length]
            });
            let digests = digest_8(&messages);
            assert_eq!(portable(&messages), digests);
            for lane in 0..8 {
                assert_eq!(digests[lane], <[u8; 64]>::from(Sha512::digest(messages[lane])));
            }
        }
    }
}
