//! SHA-256's compression of sixteen blocks at once: with AVX-512 one in each 32-bit lane, otherwise one
//! after another by the fastest code for one block.
//!
//! All blocks are compressed from one state, as a hash with a common prefix needs. Word t of the
//! sixteen blocks is one row; the caller lays them out so, because its blocks differ in few words.
//!
//! FIPS 180-4 §6.2.2. Constant time.

#[cfg(target_arch = "x86_64")]
use crate::lanes8::Lanes8;
#[cfg(target_arch = "x86_64")]
use crate::sha256::one_stream;
use crate::sha256::{self, IV};
use crate::wipe::wipe;

/// Blocks that are compressed together.
pub const LANES: usize = 16;

/// Compresses block l, whose word t is `blocks[t][l]`, from `state`; word t of its result is
/// `result[t][l]`.
#[must_use]
pub fn compress_16(state: &[u32; 8], blocks: &[[u32; LANES]; 16]) -> [[u32; LANES]; 8] {
    let mut feed = state.map(|word| [word; LANES]);
    let mut words = [[0; LANES]; 64];
    words[..16].copy_from_slice(blocks);
    let out = compress(&feed, &mut words);
    wipe(words.as_flattened_mut());
    wipe(feed.as_flattened_mut());
    out
}

/// Hashes sixteen messages that begin with `prefix` and end with a tail each; word t of hash l is `result[t][l]`.
///
/// # Security
/// For public messages: what is made of them is not wiped.
#[must_use]
pub fn hash_16<const TAIL: usize>(prefix: &[u8], tails: &[[u8; TAIL]; LANES]) -> [[u32; LANES]; 8] {
    let len = prefix.len() + TAIL;
    let padded = (len + 9).next_multiple_of(64);
    let bits = (8 * len as u64).to_be_bytes();
    // Of all messages, but for the tails.
    let byte = |i: usize| match i {
        _ if i < prefix.len() => prefix[i],
        _ if i == len => 0x80,
        _ if i + 8 >= padded => bits[i + 8 - padded],
        _ => 0,
    };
    let mut state = IV.map(|word| [word; LANES]);
    let mut words = [[0; LANES]; 64];
    for block in (0..padded).step_by(64) {
        for (t, row) in words[..16].iter_mut().enumerate() {
            let at = block + 4 * t;
            row.fill(u32::from_be_bytes([0, 1, 2, 3].map(|k| byte(at + k))));
            if at + 4 > prefix.len() && at < len {
                for (word, tail) in row.iter_mut().zip(tails) {
                    let own =
                        |i: usize| i.checked_sub(prefix.len()).and_then(|i| tail.get(i).copied());
                    *word |= u32::from_be_bytes([0, 1, 2, 3].map(|k| own(at + k).unwrap_or(0)));
                }
            }
        }
        state = compress(&state, &mut words);
    }
    state
}

/// Compresses the first sixteen rows of `words`, of which the rest is space, by the fastest kernel.
fn compress(states: &[[u32; LANES]; 8], words: &mut [[u32; LANES]; 64]) -> [[u32; LANES]; 8] {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = Lanes8::detect() {
        return compress_lanes(token, states, words);
    }
    compress_each(states, words)
}

#[cfg(target_arch = "x86_64")]
fn compress_lanes(
    _: Lanes8,
    states: &[[u32; LANES]; 8],
    words: &mut [[u32; LANES]; 64],
) -> [[u32; LANES]; 8] {
    let mut out = [[0; LANES]; 8];
    // SAFETY: the token shows that the CPU has the instructions.
    unsafe { one_stream::run(states, states, words, 0, 16, &mut out) };
    out
}

/// The portable twin: one block after another.
fn compress_each(states: &[[u32; LANES]; 8], words: &[[u32; LANES]; 64]) -> [[u32; LANES]; 8] {
    let mut out = [[0; LANES]; 8];
    for lane in 0..LANES {
        let mut block: [u32; 16] = core::array::from_fn(|t| words[t][lane]);
        let mut state = states.each_ref().map(|row| row[lane]);
        let mut next = sha256::compress(&state, &block);
        for (row, word) in out.iter_mut().zip(next) {
            row[lane] = word;
        }
        wipe(&mut block);
        wipe(&mut state);
        wipe(&mut next);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_messages_of_one_block() {
        // "abc" in lane 3 (FIPS 180-2 appendix B.1), the empty message in all others.
        let iv = [
            0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
            0x5be0cd19,
        ];
        let mut blocks = [[0; LANES]; 16];
        blocks[0] = [0x8000_0000; LANES];
        (blocks[0][3], blocks[15][3]) = (0x6162_6380, 24);
        let out = compress_16(&iv, &blocks);
        let lane = |l: usize| [0, 1, 2, 3, 4, 5, 6, 7].map(|t: usize| out[t][l]);
        let abc = [
            0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61,
            0xf20015ad,
        ];
        let empty = [
            0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924, 0x27ae41e4, 0x649b934c, 0xa495991b,
            0x7852b855,
        ];
        assert_eq!(lane(3), abc);
        (0..LANES).filter(|&l| l != 3).for_each(|l| assert_eq!(lane(l), empty));
    }

    #[test]
    fn sixteen_messages_of_any_length() {
        use sha2::{Digest, Sha256};
        for len in 0..200 {
            let prefix: Vec<u8> = (0..len).map(|i| (i * i + 7) as u8).collect();
            let tails: [[u8; 7]; LANES] =
                core::array::from_fn(|l| core::array::from_fn(|i| (l * 31 + i * 5) as u8));
            let words = hash_16(&prefix, &tails);
            for (l, tail) in tails.iter().enumerate() {
                let want = Sha256::new_with_prefix(&prefix).chain_update(tail).finalize();
                let got = words.map(|row| row[l].to_be_bytes());
                assert_eq!(got.as_flattened(), &want[..], "{len} {l}");
            }
        }
    }
    /// Blocks of every lane, with the states of other blocks, by both twins.
    #[test]
    fn lanes_agree_with_one_after_another() {
        let mut state = 5u32;
        let mut next = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            state ^ state >> 15
        };
        for _ in 0..50 {
            let mut words: [[u32; LANES]; 64] =
                core::array::from_fn(|_| core::array::from_fn(|_| next()));
            let states = core::array::from_fn(|_| core::array::from_fn(|_| next()));
            let expected = compress_each(&states, &words);
            assert_eq!(compress(&states, &mut words), expected);
        }
    }
}
