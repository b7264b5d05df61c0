//! Many SHAKE hashes at once: the keyed and masked hashes of tree signatures, in lanes.
//!
//! The jobs and their use are those of [`sha256`](crate::sha256), with `Hash` = SHAKE128 or SHAKE256
//! (told apart by the rate alone) of `n` = 24, 32 or 64 bytes, and `pad(i)` = `i` in 4 bytes
//! (`n` = 24) or `n` bytes. A tail is 16 bytes.
//!
//! The lanes' contents may be secret: every kernel is constant time, and lanes are wiped on drop.
//! Spec: FIPS 202; the shapes of the messages are those of RFC 8391 §5.1 and SP 800-208 §5.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod body;
mod portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

use crate::cpu::Family;
use crate::lanes::lane_kernels;
use crate::wipe::wipe;
use body::keccak_body;
use zeroize::Zeroize;

/// Bytes absorbed by a permutation of SHAKE128.
pub const RATE_128: usize = 168;
/// Bytes absorbed by a permutation of SHAKE256.
pub const RATE_256: usize = 136;
/// The first padding byte of SHAKE.
const DOMAIN: u64 = 0x1f;

lane_kernels!(
    context: Shape;
    wide: [Kernel::Avx512, Kernel::Avx2, Kernel::Simd128];
    narrow: [];
    /// Any CPU; one lane.
    Portable = portable "portable", None, all();
    /// SIMD128 of WebAssembly; two lanes.
    Simd128 = simd128 "simd128", Some(Family::Simd128), all(target_arch = "wasm32", target_feature = "simd128");
    /// AVX2; four lanes.
    Avx2 = avx2 "avx2", Some(Family::Avx2), target_arch = "x86_64";
    /// AVX-512; eight lanes.
    Avx512 = avx512 "avx512", Some(Family::Avx512), target_arch = "x86_64";
);

/// What many messages share: everything before their last 16 bytes.
///
/// # Security
/// Wiped on drop; it is as secret as what it was made from.
#[derive(Clone)]
pub struct Prefix {
    base: [u64; 25],
}

impl Prefix {
    /// Absorbs a prefix, permuting where it fills the rate.
    ///
    /// # Panics
    /// The rate is neither SHAKE128's nor SHAKE256's.
    #[must_use]
    pub fn new(rate: usize, bytes: &[u8]) -> Self {
        let mut sponge = Shake::new(rate);
        sponge.absorb(bytes);
        Self { base: sponge.state }
    }
}

/// Computes SHAKE128 or SHAKE256 of the parts, one after the other.
///
/// # Panics
/// The rate is neither SHAKE128's nor SHAKE256's.
///
/// # Security
/// Constant time; the state is wiped.
/// FIPS 202 §6.2.
pub fn shake(rate: usize, parts: &[&[u8]], out: &mut [u8]) {
    let mut shake = Shake::new(rate);
    for part in parts {
        shake.absorb(part);
    }
    shake.finish(out);
}

/// SHAKE128 or SHAKE256 of a message that comes in parts.
///
/// # Security
/// Constant time but for the parts' lengths; wiped on drop.
/// FIPS 202 §6.2.
#[derive(Clone)]
pub struct Shake {
    state: [u64; 25],
    rate: usize,
    at: usize,
}

impl core::fmt::Debug for Shake {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Shake")
    }
}

impl Shake {
    /// Starts with an empty message.
    ///
    /// # Panics
    /// The rate is neither SHAKE128's nor SHAKE256's.
    #[must_use]
    pub fn new(rate: usize) -> Self {
        assert!(rate == RATE_128 || rate == RATE_256, "the rate is SHAKE128's or SHAKE256's");
        Self { state: [0; 25], rate, at: 0 }
    }

    /// Appends a part.
    pub fn absorb(&mut self, bytes: &[u8]) {
        // Both rates are whole words, so after these bytes a block ends where a word ends.
        let to_word = bytes.len().min((8 - self.at % 8) % 8);
        let (first, rest) = bytes.split_at(to_word);
        self.absorb_bytes(first);
        let (words, last) = rest.as_chunks::<8>();
        for word in words {
            self.state[self.at / 8] ^= u64::from_le_bytes(*word);
            self.advance(8);
        }
        self.absorb_bytes(last);
    }

    /// Pads the message and writes its hash.
    pub fn finish(mut self, out: &mut [u8]) {
        self.state[self.at / 8] ^= DOMAIN << (8 * (self.at % 8));
        self.state[self.rate / 8 - 1] ^= 1 << 63;
        for block in out.chunks_mut(self.rate) {
            portable::permute_one(&mut self.state);
            for (bytes, word) in block.chunks_mut(8).zip(self.state) {
                bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            }
        }
    }

    fn absorb_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.state[self.at / 8] ^= u64::from(*byte) << (8 * (self.at % 8));
            self.advance(1);
        }
    }

    fn advance(&mut self, count: usize) {
        self.at += count;
        if self.at == self.rate {
            portable::permute_one(&mut self.state);
            self.at = 0;
        }
    }
}

impl Drop for Shake {
    fn drop(&mut self) {
        self.state.zeroize();
    }
}

impl Drop for Prefix {
    fn drop(&mut self) {
        self.base.zeroize();
    }
}

impl core::fmt::Debug for Prefix {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Prefix")
    }
}

/// One word of each lane in a row: `rows[i] = (word i of lane 0, word i of lane 1, …)`.
#[repr(C, align(64))]
struct Rows<const L: usize> {
    base: [[u64; L]; 25],
    tail: [[u64; L]; 2],
    x: [[u64; L]; 8],
    y: [[u64; L]; 8],
}

impl<const L: usize> Rows<L> {
    fn new(_: &Shape) -> Box<Self> {
        Box::new(Self { base: [[0; L]; 25], tail: [[0; L]; 2], x: [[0; L]; 8], y: [[0; L]; 8] })
    }
}

impl<const L: usize> Drop for Rows<L> {
    fn drop(&mut self) {
        wipe(self.base.as_flattened_mut());
        wipe(self.x.as_flattened_mut());
        wipe(self.y.as_flattened_mut());
    }
}

/// The parameters of the jobs.
struct Shape {
    n: usize,
    rate: usize,
    /// Where the tail begins in its block, after a prefix with one value and with two.
    at: usize,
    at_long: usize,
}

/// Lanes for messages of one value length and rate, hashed together.
pub struct Lanes {
    store: Store,
    width: usize,
    shape: Shape,
}

impl core::fmt::Debug for Lanes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Lanes {{ n: {}, width: {} }}", self.shape.n, self.width)
    }
}

impl Lanes {
    /// Makes lanes for values of `n` bytes.
    ///
    /// # Panics
    /// The combination of `n` and `rate` is none that the standards have (24, 32 and 64 bytes with
    /// SHAKE256, 32 bytes with SHAKE128), or the kernel is not [`allowed`](Kernel::allowed).
    #[must_use]
    pub fn new(kernel: Kernel, n: usize, rate: usize) -> Self {
        assert!(
            matches!((n, rate), (24 | 32 | 64, RATE_256) | (32, RATE_128)),
            "a value length and rate that a standard has"
        );
        assert!(kernel.allowed(), "the CPU has this kernel");
        let pad = if n == 24 { 4 } else { n };
        let shape =
            Shape { n, rate, at: (pad + n + 16) % rate, at_long: (pad + 2 * n + 16) % rate };
        let (store, width) = Store::new(kernel, &shape);
        Self { store, width, shape }
    }

    /// How many messages one call hashes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Gives a lane its prefix; all lanes of a call must have prefixes of one length.
    pub fn set_prefix(&mut self, lane: usize, prefix: &Prefix) {
        each!(&mut self.store, m => for i in 0..25 {
            m.base[i][lane] = prefix.base[i];
        });
    }

    /// Gives a lane its tail, the last 16 bytes of its message.
    pub fn set_tail(&mut self, lane: usize, tail: [u32; 4]) {
        let [a, b, c, d] = tail.map(|word| u64::from(word.swap_bytes()));
        each!(&mut self.store, m => {
            m.tail[0][lane] = a | b << 32;
            m.tail[1][lane] = c | d << 32;
        });
    }

    /// Adds one to the third word of every lane's tail, which stays below 2^24.
    pub fn advance(&mut self) {
        let add = |word: &mut u64| {
            let third = (*word as u32).swap_bytes().wrapping_add(1).swap_bytes();
            *word = *word >> 32 << 32 | u64::from(third);
        };
        each!(&mut self.store, m => m.tail[1].iter_mut().for_each(add));
    }

    /// Puts a value into a lane: the left (`x`) or, for a pair, the right (`y`).
    ///
    /// # Panics
    /// The value has fewer than `n` bytes.
    pub fn put(&mut self, lane: usize, right: bool, value: &[u8]) {
        let words = value[..self.shape.n].as_chunks::<8>().0;
        each!(&mut self.store, m => {
            let rows = if right { &mut m.y } else { &mut m.x };
            for (row, word) in rows.iter_mut().zip(words) {
                row[lane] = u64::from_le_bytes(*word);
            }
        });
    }

    /// Takes a lane's value `x`.
    ///
    /// # Panics
    /// `value` has fewer than `n` bytes.
    pub fn take(&self, lane: usize, value: &mut [u8]) {
        let words = value[..self.shape.n].as_chunks_mut::<8>().0;
        each!(&self.store, m => {
            for (row, word) in m.x.iter().zip(words) {
                *word = row[lane].to_le_bytes();
            }
        });
    }

    /// `x ← Hash(prefix ‖ tail)`, the prefix being `pad ‖ n bytes ‖ 16 bytes`.
    pub fn prf(&mut self) {
        self.run_prf(self.shape.at);
    }

    /// `x ← Hash(prefix ‖ tail)`, the prefix being `pad ‖ 2·n bytes ‖ 16 bytes`.
    pub fn prf_long(&mut self) {
        self.run_prf(self.shape.at_long);
    }

    fn run_prf(&mut self, at: usize) {
        run!(&mut self.store, m => kernel::prf(m, &self.shape, at));
    }

    /// `x ← Hash(pad(0) ‖ k ‖ (x ⊕ b))`; see [`sha256`](crate::sha256).
    pub fn masked(&mut self) {
        run!(&mut self.store, m => kernel::masked(m, &self.shape));
    }

    /// Does `count` times what [`masked`](Self::masked) and then [`advance`](Self::advance) do.
    pub fn steps(&mut self, count: u32) {
        for _ in 0..count {
            self.masked();
            self.advance();
        }
    }

    /// `x ← Hash(pad(1) ‖ k ‖ (x ⊕ b) ‖ (y ⊕ c))`; see [`sha256`](crate::sha256).
    pub fn pair(&mut self) {
        run!(&mut self.store, m => kernel::pair(m, &self.shape));
    }

    /// Does what [`pair`](Self::pair) does to lane 0; the other lanes' values are undefined.
    pub fn pair_first(&mut self) {
        self.pair();
    }
}

#[rustfmt::skip]
const RC: [u64; 24] = [
    0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808a, 0x8000_0000_8000_8000,
    0x0000_0000_0000_808b, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
    0x0000_0000_0000_008a, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000a,
    0x0000_0000_8000_808b, 0x8000_0000_0000_008b, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
    0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800a, 0x8000_0000_8000_000a,
    0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
];
