//! Time-lock encryption: a file that opens after T squarings.
//!
//! The sealer makes N = p·q, computes y = a^(2^T) mod N at once by way of the group's order, forgets p
//! and q, and encrypts under a key derived from y. Whoever opens has to square T times. This is the
//! puzzle of Rivest, Shamir and Wagner (1996) with an authenticated cipher: opening ends either with
//! the file or with an error. Version 1, big-endian:
//!
//! ```text
//! "TVDS" ‖ 1 ‖ w (u16) ‖ N (w) ‖ a (w) ‖ T (u64) ‖ nonce (24) ‖ XChaCha20-Poly1305(key, nonce, file)
//! key = SHA-256("tetralith vdf seal v1" ‖ N ‖ a ‖ T ‖ y),   additional data = all before the ciphertext
//! ```
//!
//! # Security
//! The factors live in memory that is overwritten and are used in constant time. T is a number of
//! squarings, not a time: whoever has a faster machine opens sooner.

use crate::eval::{Evaluation, MAX_ITERATIONS};
use crate::{Error, Modulus, Residue, nat, prime};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use std::hint::black_box;
use tetralith_kernels::ct;
use tetralith_kernels::mont::Ring;
use zeroize::Zeroizing;

const MAGIC: &[u8; 4] = b"TVDS";
const VERSION: u8 = 1;
const WHAT: &str = "sealed file";
const TAG: usize = 16;

/// Bits of the moduli that [`seal`] makes.
pub const SEAL_BITS: u32 = 2048;

/// A sealed file: the puzzle in front, the ciphertext behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    modulus: Modulus,
    base: Residue,
    iterations: u64,
    nonce: [u8; 24],
    ciphertext: Vec<u8>,
}

/// Two primes of which only their product is handed on.
struct Factors {
    p: Zeroizing<Vec<u64>>,
    q: Zeroizing<Vec<u64>>,
}

/// Seals `file` for T squarings modulo a new number of `bits` bits (a multiple of 128, 256 to 8192).
///
/// # Errors
/// [`Error::TooManySquarings`]; [`Error::ModulusSize`] for a size that is not offered.
pub fn seal(
    file: &[u8],
    iterations: u64,
    bits: u32,
    rng: &mut impl CryptoRng,
) -> Result<Sealed, Error> {
    if iterations > MAX_ITERATIONS {
        return Err(Error::TooManySquarings(iterations));
    }
    if !bits.is_multiple_of(128) || !(256..=8192).contains(&bits) {
        return Err(Error::ModulusSize { bits: u64::from(bits) });
    }
    let factors = Factors::random(bits, rng);
    let modulus = factors.product();
    let mut random = vec![0; modulus.width()];
    rng.fill_bytes(&mut random);
    let (base, _) = modulus.reduce(&random);
    let mut nonce = [0; 24];
    rng.fill_bytes(&mut nonce);
    let y = factors.power(&modulus, &base, iterations);
    let mut sealed = Sealed { modulus, base, iterations, nonce, ciphertext: Vec::new() };
    let (aad, cipher) = (sealed.header(), sealed.cipher(&y));
    let payload = Payload { msg: file, aad: &aad };
    sealed.ciphertext = cipher
        .encrypt(&XNonce::from(nonce), payload)
        .expect("a file in memory is shorter than the cipher's limit of 2^38 bytes");
    // The ciphertext is given away; its key came from the factors.
    ct::public_bytes(&mut sealed.ciphertext);
    Ok(sealed)
}

/// Makes a modulus of `bits` bits (a multiple of 128, 256 to 8192) and forgets its factors.
///
/// # Errors
/// [`Error::ModulusSize`] for a size that is not offered.
///
/// # Security
/// Whoever ran this could have kept the factors; all who use the modulus trust that he did not.
pub fn random_modulus(bits: u32, rng: &mut impl CryptoRng) -> Result<Modulus, Error> {
    if !bits.is_multiple_of(128) || !(256..=8192).contains(&bits) {
        return Err(Error::ModulusSize { bits: u64::from(bits) });
    }
    Ok(Factors::random(bits, rng).product())
}

impl Factors {
    /// Two different primes, 3 mod 4, whose product has exactly `bits` bits.
    fn random(bits: u32, rng: &mut impl CryptoRng) -> Self {
        let [mut p, mut q] = prime::two_primes(bits / 2, rng);
        // How long the search took is known; from here on nothing depends on the factors.
        [&mut p, &mut q].into_iter().for_each(|prime| ct::secret_limbs(prime));
        Self { p, q }
    }

    fn product(&self) -> Modulus {
        // The product is given away.
        let product = nat::mul(&self.p, &self.q).into_iter().map(ct::public);
        Modulus::from_limbs_unchecked(&product.collect::<Vec<u64>>())
    }

    /// a^(2^T) mod N, in two exponentiations of half the size.
    fn power(&self, modulus: &Modulus, a: &Residue, iterations: u64) -> Zeroizing<Vec<u8>> {
        if iterations == 0 {
            return Zeroizing::new(a.to_bytes());
        }
        let yp = power_mod_prime(&self.p, a.limbs(), iterations);
        let yq = power_mod_prime(&self.q, a.limbs(), iterations);
        // Garner: y = yq + q·((yp − yq)·q^(−1) mod p).
        let mut ring = Ring::new(&self.p).expect("a prime above 2 is odd");
        let q = Zeroizing::new(reduce_once(&self.q, &self.p));
        let q = Zeroizing::new(ring.enter(&q));
        let inverse = Zeroizing::new(ring.pow(&q, &minus(&self.p, 2)));
        let yq_mod_p = Zeroizing::new(reduce_once(&yq, &self.p));
        let difference = Zeroizing::new(sub_mod(&yp, &yq_mod_p, &self.p));
        // One factor is in Montgomery form, so the product is not.
        let h = Zeroizing::new(ring.mul(&difference, &inverse));
        ring.zeroize();
        let mut y = Zeroizing::new(nat::mul(&h, &self.q));
        nat::add(&mut y, &yq);
        Zeroizing::new(nat::to_bytes(&y, modulus.width()))
    }
}

/// a^(2^T) mod p for T ≥ 1 and p = 3 mod 4: the square of a has an order that divides the odd number
/// m = (p − 1)/2, so the exponent 2^(T − 1) is reduced mod m.
fn power_mod_prime(p: &[u64], a: &[u64], iterations: u64) -> Zeroizing<Vec<u64>> {
    let mut half = minus(p, 1);
    nat::shr(&mut half, 1);
    let mut order = Ring::new(&half).expect("p is 3 mod 4, so half of p - 1 is odd");
    let mut two = Zeroizing::new(order.one().to_vec());
    order.double(&mut two);
    let power = Zeroizing::new(order.pow_vartime(&two, &[iterations - 1]));
    let exponent = Zeroizing::new(order.leave(&power));
    order.zeroize();
    let mut ring = Ring::new(p).expect("a prime above 2 is odd");
    let reduced = Zeroizing::new(rem_wide(&ring, a));
    let square = Zeroizing::new(ring.mul(&reduced, &reduced));
    let power = Zeroizing::new(ring.pow(&square, &exponent));
    let out = Zeroizing::new(ring.leave(&power));
    ring.zeroize();
    out
}

/// a mod p in Montgomery form, for an a of twice p's length: high·R + low.
fn rem_wide(ring: &Ring, a: &[u64]) -> Vec<u64> {
    // `a` is public, but what it leaves modulo p is not.
    let p = ring.modulus();
    let (low, high) = a.split_at(ring.len());
    let low = Zeroizing::new(reduce_once(low, p));
    let low = Zeroizing::new(ring.enter(&low));
    // Entering twice multiplies by R once more.
    let high = Zeroizing::new(reduce_once(high, p));
    let high = Zeroizing::new(ring.enter(&high));
    let high = Zeroizing::new(ring.enter(&high));
    let mut minus_high = Zeroizing::new(p.to_vec());
    nat::sub(&mut minus_high, &high);
    let minus_high = Zeroizing::new(reduce_once(&minus_high, p));
    sub_mod(&low, &minus_high, p)
}

/// a mod p for a below 2·p, by a subtraction whose result is picked by a mask.
fn reduce_once(a: &[u64], p: &[u64]) -> Vec<u64> {
    let mut out = a.to_vec();
    // Opaque: told that the mask is all or nothing, the compiler would branch on it.
    let keep = black_box(u64::from(nat::sub(&mut out, p)).wrapping_neg());
    out.iter_mut().zip(a).for_each(|(out, &a)| *out = *out & !keep | a & keep);
    out
}

/// a − b mod p for a, b below p.
fn sub_mod(a: &[u64], b: &[u64], p: &[u64]) -> Vec<u64> {
    let mut out = a.to_vec();
    let add = black_box(u64::from(nat::sub(&mut out, b)).wrapping_neg());
    let masked = Zeroizing::new(p.iter().map(|&limb| limb & add).collect::<Vec<u64>>());
    nat::add(&mut out, &masked);
    out
}

/// p − k for a k below p's lowest limb.
fn minus(p: &[u64], k: u64) -> Zeroizing<Vec<u64>> {
    let mut out = Zeroizing::new(p.to_vec());
    nat::sub(&mut out, &[k]);
    out
}

impl Sealed {
    /// The squarings that opening takes.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The modulus of the puzzle.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The number that is squared.
    #[must_use]
    pub fn base(&self) -> &Residue {
        &self.base
    }

    /// The evaluation whose result opens the file; it can be checkpointed as any other.
    ///
    /// # Errors
    /// As [`Evaluation::new`].
    pub fn evaluation(&self) -> Result<Evaluation, Error> {
        Evaluation::new(&self.modulus, &self.base, self.iterations)
    }

    /// Decrypts with y = a^(2^T) mod N.
    ///
    /// # Errors
    /// [`Error::Sealed`] where y or any byte of the file is wrong.
    pub fn open(&self, y: &Residue) -> Result<Vec<u8>, Error> {
        let aad = self.header();
        let payload = Payload { msg: &self.ciphertext, aad: &aad };
        let cipher = self.cipher(&y.to_bytes());
        cipher.decrypt(&XNonce::from(self.nonce), payload).map_err(|_| Error::Sealed)
    }

    fn cipher(&self, y: &[u8]) -> XChaCha20Poly1305 {
        let mut hash = Sha256::new_with_prefix(b"tetralith vdf seal v1");
        hash.update(self.modulus.to_bytes());
        hash.update(self.base.to_bytes());
        hash.update(self.iterations.to_be_bytes());
        hash.update(y);
        let key = Zeroizing::new(<[u8; 32]>::from(hash.finalize()));
        XChaCha20Poly1305::new(&Key::from(*key))
    }

    /// All that stands before the ciphertext.
    fn header(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        out.extend((self.modulus.width() as u16).to_be_bytes());
        out.extend(self.modulus.to_bytes());
        out.extend(self.base.to_bytes());
        out.extend(self.iterations.to_be_bytes());
        out.extend(self.nonce);
        out
    }

    /// The sealed file's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.header();
        out.extend(&self.ciphertext);
        out
    }

    /// Reads a sealed file strictly.
    ///
    /// # Errors
    /// The kind, version or length is wrong, or a number is out of range.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let got = bytes.len() as u64;
        let short = |least: usize| Error::TooShort { what: WHAT, least: least as u64, got };
        let (head, rest) = bytes.split_at_checked(7).ok_or_else(|| short(7))?;
        if !head.starts_with(MAGIC) {
            return Err(Error::Magic { expected: "sealed" });
        }
        if head[4] != VERSION {
            return Err(Error::Version { what: WHAT, version: head[4] });
        }
        let width = usize::from(u16::from_be_bytes([head[5], head[6]]));
        let least = 2 * width + 8 + 24;
        let (puzzle, ciphertext) =
            rest.split_at_checked(least).ok_or_else(|| short(7 + least + TAG))?;
        if ciphertext.len() < TAG {
            return Err(short(7 + least + TAG));
        }
        let modulus = Modulus::from_bytes(&puzzle[..width])?;
        if modulus.width() != width {
            return Err(Error::Field { what: WHAT, reason: "a modulus that begins with zeros" });
        }
        let base = modulus.decode(&puzzle[width..2 * width], "the sealed file's a")?;
        let mut number = [0; 8];
        number.copy_from_slice(&puzzle[2 * width..2 * width + 8]);
        let iterations = u64::from_be_bytes(number);
        if iterations > MAX_ITERATIONS {
            return Err(Error::TooManySquarings(iterations));
        }
        let mut nonce = [0; 24];
        nonce.copy_from_slice(&puzzle[2 * width + 8..]);
        Ok(Self { modulus, base, iterations, nonce, ciphertext: ciphertext.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::eval;
    use rand_core::SeedableRng;
    use std::ops::ControlFlow;

    fn run(sealed: &Sealed) -> Residue {
        let watch = &mut |_| ControlFlow::Continue(());
        eval(&sealed.modulus, &sealed.base, sealed.iterations, watch).unwrap()
    }

    #[test]
    fn the_shortcut_equals_the_long_way() {
        let mut rng = chacha20::ChaCha20Rng::seed_from_u64(3);
        for bits in [256, 384, 512] {
            for iterations in [0, 1, 2, 255, 1000] {
                let sealed = seal(b"secret", iterations, bits, &mut rng).unwrap();
                assert_eq!(sealed.modulus.bits(), u64::from(bits));
                let read = Sealed::from_bytes(&sealed.to_bytes()).unwrap();
                assert_eq!(read.open(&run(&read)).unwrap(), b"secret", "{bits} {iterations}");
            }
        }
    }

    #[test]
    fn altered_files_do_not_open() {
        let mut rng = chacha20::ChaCha20Rng::seed_from_u64(4);
        let sealed = seal(b"secret", 20, 256, &mut rng).unwrap();
        let y = run(&sealed);
        let bytes = sealed.to_bytes();
        for i in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[i] ^= 1;
            if let Ok(read) = Sealed::from_bytes(&altered) {
                assert!(matches!(read.open(&y), Err(Error::Sealed)), "byte {i}");
            }
        }
        assert!(matches!(sealed.open(&sealed.base), Err(Error::Sealed)));
        for len in 0..bytes.len() - 6 {
            assert!(Sealed::from_bytes(&bytes[..len]).is_err());
        }
    }

    #[test]
    fn sizes_that_are_not_offered() {
        let mut rng = chacha20::ChaCha20Rng::seed_from_u64(5);
        for bits in [0, 64, 128, 300, 8320] {
            assert!(matches!(seal(b"", 1, bits, &mut rng), Err(Error::ModulusSize { .. })));
        }
        assert!(matches!(seal(b"", u64::MAX, 256, &mut rng), Err(Error::TooManySquarings(_))));
    }
}
