//! SHA-256's compression of sixteen blocks at once, one in each 32-bit lane, with AVX-512.
//!
//! All blocks are compressed from one state, as a hash with a common prefix needs. Word t of the
//! sixteen blocks is one row; the caller lays them out so, because its blocks differ in few words.
//!
//! FIPS 180-4 §6.2.2. Constant time.

use crate::lanes8::Lanes8;
use crate::sha256::one_stream;
use crate::wipe::wipe;

/// Blocks that are compressed together.
pub const LANES: usize = 16;

/// Compresses block l, whose word t is `blocks[t][l]`, from `state`; word t of its result is
/// `result[t][l]`.
#[must_use]
pub fn compress_16(_: Lanes8, state: &[u32; 8], blocks: &[[u32; LANES]; 16]) -> [[u32; LANES]; 8] {
    let mut feed = state.map(|word| [word; LANES]);
    let mut words = [[0; LANES]; 64];
    words[..16].copy_from_slice(blocks);
    let mut out = [[0; LANES]; 8];
    // SAFETY: the token shows that the CPU has the instructions.
    unsafe { one_stream::run(&feed, &feed, &mut words, 0, 16, &mut out) };
    wipe(words.as_flattened_mut());
    wipe(feed.as_flattened_mut());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_messages_of_one_block() {
        let Some(token) = Lanes8::detect() else {
            println!("left out: this CPU, or TETRALITH_KERNEL, has no AVX-512");
            return;
        };
        // "abc" in lane 3 (FIPS 180-2 appendix B.1), the empty message in all others.
        let iv = [
            0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
            0x5be0cd19,
        ];
        let mut blocks = [[0; LANES]; 16];
        blocks[0] = [0x8000_0000; LANES];
        (blocks[0][3], blocks[15][3]) = (0x6162_6380, 24);
        let out = compress_16(token, &iv, &blocks);
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
}
