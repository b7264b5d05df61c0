//! The modulus of a delay, and numbers modulo it.
//!
//! A [`Modulus`] is an odd number of 64 to 8192 bits. Squaring takes any; proofs take none that is prime
//! or a perfect power, because then everyone knows the order of the group, or a good part of it, and can
//! skip the delay; none with a small factor; and none whose factors are published. That nobody knows the
//! factors cannot be tested: whoever made N must be trusted to have thrown them away. A [`Residue`] is a
//! number modulo N. An [`Element`] is one of (Z/N)*/{±1}, held as the smaller of a and N − a; proofs are
//! made of elements.

mod published;
mod seed;

use crate::eval::CHECK_PRIME;
use crate::{Error, nat, prime};
use published::Published;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tetralith_kernels::mont::{FastRing, Ring};

/// An odd modulus of 64 to 8192 bits. Clones share its tables.
#[derive(Clone)]
pub struct Modulus(Arc<Inner>);

struct Inner {
    ring: Ring,
    /// Made when it is first needed.
    fast: OnceLock<FastRing>,
    /// The same modulo N·c.
    checked: OnceLock<FastRing>,
    /// What speaks against proofs, computed on the first call of [`Modulus::check_provable`].
    flaw: OnceLock<Option<Flaw>>,
    bits: u64,
}

/// Why nothing can be proved modulo a number.
#[derive(Clone, Copy)]
enum Flaw {
    Published(&'static Published),
    SmallFactor,
    Prime,
    Power { exponent: u32 },
    Special { exponent: u32, sign: char },
}

impl Flaw {
    fn of(n: &[u64]) -> Option<Self> {
        if let Some(published) = published::find(n) {
            return Some(Flaw::Published(published));
        }
        if prime::has_small_factor(n) {
            return Some(Flaw::SmallFactor);
        }
        // A prime passes every round, and few other numbers pass many: eight are enough to refuse
        // primes and hardly anything else, and what a hostile file costs is bounded.
        if prime::is_probable_prime(n, 8) {
            return Some(Flaw::Prime);
        }
        if let Some(exponent) = perfect_power(n) {
            return Some(Flaw::Power { exponent });
        }
        // N = m^k ± 1: then m^k is −1 or 1 modulo N, so that everyone knows an element of low order.
        let [mut above, mut below] = [[n, &[0]].concat(), n.to_vec()];
        nat::add(&mut above, &[1]);
        nat::sub(&mut below, &[1]);
        [(below, '+'), (above, '-')].into_iter().find_map(|(power, sign)| {
            perfect_power(&power).map(|exponent| Flaw::Special { exponent, sign })
        })
    }
}

impl Modulus {
    /// The fewest bits of a modulus.
    pub const MIN_BITS: u64 = 64;
    /// The most bits of a modulus.
    pub const MAX_BITS: u64 = 8192;

    /// A modulus of so many bits or fewer can be factored by whoever pays for it: RSA-250, of 829 bits, took
    /// 2700 core years in 2020, and 1024 bits are within reach of large organizations.
    pub const FACTORABLE_BITS: u64 = 1024;

    /// Makes a modulus from big-endian bytes; leading zero bytes are allowed.
    ///
    /// # Errors
    /// [`Error::ModulusZero`], [`Error::ModulusOne`], [`Error::ModulusEven`] or [`Error::ModulusSize`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let n = nat::from_bytes(bytes);
        let bits = nat::bit_len(&n);
        match n.first() {
            None => return Err(Error::ModulusZero),
            Some(1) if nat::is_one(&n) => return Err(Error::ModulusOne),
            Some(low) if low & 1 == 0 => return Err(Error::ModulusEven),
            Some(_) => {}
        }
        if !(Self::MIN_BITS..=Self::MAX_BITS).contains(&bits) {
            return Err(Error::ModulusSize { bits });
        }
        Ok(Self::from_limbs_unchecked(&n))
    }

    /// The number is known to be odd and of a good size.
    pub(crate) fn from_limbs_unchecked(n: &[u64]) -> Self {
        let ring = Ring::new(n).expect("a modulus is odd and above one");
        let [fast, checked] = [(); 2].map(|()| OnceLock::new());
        Self(Arc::new(Inner { bits: nat::bit_len(n), ring, fast, checked, flaw: OnceLock::new() }))
    }

    /// The same modulus with all its tables computed again from N.
    ///
    /// The tables may have been changed by failing memory; a run that finds an error goes on with new ones.
    pub(crate) fn rebuilt(&self) -> Self {
        Self::from_limbs_unchecked(self.limbs())
    }

    /// The same modulus with tables of another number, as failing memory could leave them, for tests.
    #[cfg(test)]
    pub(crate) fn with_wrong_tables(&self) -> Self {
        let spoiled = Self::from_limbs_unchecked(self.limbs());
        let fast = |n: &[u64]| {
            let mut n = n.to_vec();
            n[0] ^= 1 << 17;
            FastRing::new(&Ring::new(&n).expect("an odd number"))
        };
        assert!(spoiled.0.fast.set(fast(self.limbs())).is_ok());
        let product = nat::mul(self.limbs(), &[CHECK_PRIME]);
        assert!(spoiled.0.checked.set(fast(&product)).is_ok());
        spoiled
    }

    /// Refuses a modulus for which everybody can skip the delay, or that everybody knows a factor of, and
    /// so elements of known low order: a second output times such an element could be proved.
    ///
    /// # Errors
    /// [`Error::ModulusPublished`], [`Error::ModulusSmallFactor`], [`Error::ModulusPrime`],
    /// [`Error::ModulusPower`] or [`Error::ModulusSpecial`].
    pub fn check_provable(&self) -> Result<(), Error> {
        match self.0.flaw.get_or_init(|| Flaw::of(self.limbs())) {
            None => Ok(()),
            Some(Flaw::Published(Published { name, publication })) => {
                Err(Error::ModulusPublished { name, publication })
            }
            Some(Flaw::SmallFactor) => Err(Error::ModulusSmallFactor),
            Some(Flaw::Prime) => Err(Error::ModulusPrime),
            Some(Flaw::Power { exponent }) => Err(Error::ModulusPower { exponent: *exponent }),
            Some(Flaw::Special { exponent, sign }) => {
                Err(Error::ModulusSpecial { exponent: *exponent, sign: *sign })
            }
        }
    }

    /// Makes a modulus from a preset's name (`rsa2048`, `lcs35`) or from hex digits. Case and hyphens in
    /// a name do not matter: `RSA-2048` is `rsa2048`.
    ///
    /// # Errors
    /// As [`Modulus::from_bytes`], and [`Error::Hex`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let name = text.replace(['-', '_'], "").to_ascii_lowercase();
        match PRESETS.iter().find(|(preset, _)| *preset == name) {
            Some((_, preset)) => Ok(preset()),
            None => Self::from_bytes(&parse_hex(text, "the modulus")?),
        }
    }

    /// The name of the preset that this modulus is.
    #[must_use]
    pub fn preset(&self) -> Option<&'static str> {
        let found = PRESETS.iter().find(|(_, preset)| preset() == *self);
        found.map(|(name, _)| *name)
    }

    /// The RSA-2048 number of the RSA factoring challenge, 2048 bits.
    #[must_use]
    pub fn rsa2048() -> Self {
        preset(&RSA2048, include_str!("presets/rsa2048.hex"))
    }

    /// The modulus of the LCS35 time capsule of 1999, 2046 bits. Its factors have been public since 2019:
    /// it can be squared, for its known answers, and nothing can be proved modulo it.
    #[must_use]
    pub fn lcs35() -> Self {
        preset(&LCS35, include_str!("presets/lcs35.hex"))
    }

    /// Its number of bits.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.0.bits
    }

    /// Whether the modulus is so small that it can be factored: see [`Modulus::FACTORABLE_BITS`].
    #[must_use]
    pub fn is_factorable(&self) -> bool {
        self.0.bits <= Self::FACTORABLE_BITS
    }

    /// What to tell whoever uses a modulus that [can be factored](Self::is_factorable).
    #[must_use]
    pub fn caution(&self) -> String {
        format!(
            "a modulus of {} bits can be factored, and whoever factors it skips the delay and proves \
             anything; use 2048 bits or more",
            self.bits()
        )
    }

    /// The bytes of every number modulo N when written.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.bits.div_ceil(8) as usize
    }

    /// N in big-endian bytes, [`Modulus::width`] of them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        nat::to_bytes(self.limbs(), self.width())
    }

    pub(crate) fn limbs(&self) -> &[u64] {
        self.0.ring.modulus()
    }

    pub(crate) fn ring(&self) -> &Ring {
        &self.0.ring
    }

    /// Fast multiplication of public numbers; it works on space of its own, so clone it to use it.
    pub(crate) fn fast(&self) -> &FastRing {
        self.0.fast.get_or_init(|| FastRing::new(&self.0.ring))
    }

    /// The same modulo N·c, where c is [`CHECK_PRIME`]: what is computed there can be held against its
    /// residue modulo c.
    pub(crate) fn checked(&self) -> &FastRing {
        self.0.checked.get_or_init(|| {
            let product = nat::mul(self.limbs(), &[CHECK_PRIME]);
            FastRing::new(&Ring::new(&product).expect("an odd modulus times an odd prime is odd"))
        })
    }

    /// Reduces a big-endian number of any length modulo N, and says whether that changed it.
    #[must_use]
    pub fn reduce(&self, bytes: &[u8]) -> (Residue, bool) {
        let a = nat::from_bytes(bytes);
        let reduced = nat::cmp(&a, self.limbs()).is_ge();
        (self.residue(nat::rem(&a, self.limbs())), reduced)
    }

    /// Reads a number modulo N from exactly [`Modulus::width`] big-endian bytes.
    ///
    /// # Errors
    /// The length is wrong, or the number is not below N; `what` names it in the error.
    pub fn decode(&self, bytes: &[u8], what: &'static str) -> Result<Residue, Error> {
        if bytes.len() != self.width() {
            let (expected, got) = (self.width() as u64, bytes.len() as u64);
            return Err(Error::Length { what, expected, got });
        }
        let mut limbs = nat::from_bytes(bytes);
        if nat::cmp(&limbs, self.limbs()).is_ge() {
            return Err(Error::NotReduced { what });
        }
        limbs.resize(self.limbs().len(), 0);
        Ok(self.residue(limbs))
    }

    /// Reads an element of (Z/N)*/{±1} from exactly [`Modulus::width`] big-endian bytes.
    ///
    /// # Errors
    /// As [`Modulus::decode`]; or the number is zero or above N/2, hence not canonical.
    pub fn decode_element(&self, bytes: &[u8], what: &'static str) -> Result<Element, Error> {
        let residue = self.decode(bytes, what)?;
        let element = residue.element(self);
        if nat::is_zero(&residue.limbs) || element.0 != residue {
            return Err(Error::NotCanonical { what });
        }
        Ok(element)
    }

    /// Refuses a number that was read modulo another modulus, unless it is one modulo this one too.
    ///
    /// # Errors
    /// [`Error::ForeignResidue`], with `what` in the message.
    pub(crate) fn check_residue(&self, a: &Residue, what: &'static str) -> Result<(), Error> {
        if a.width == self.width() && self.ring().is_canonical(&a.limbs) {
            return Ok(());
        }
        let (expected, got) = (self.width() as u64, a.width as u64);
        Err(Error::ForeignResidue { what, expected, got })
    }

    /// Wraps canonical limbs.
    pub(crate) fn residue(&self, limbs: Vec<u64>) -> Residue {
        debug_assert!(self.ring().is_canonical(&limbs));
        Residue { limbs, width: self.width() }
    }
}

impl PartialEq for Modulus {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.limbs() == other.limbs()
    }
}

impl Eq for Modulus {}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modulus({})", hex::encode(self.to_bytes()))
    }
}

/// A number modulo N, below N. It displays as hex digits, as wide as N.
#[derive(Clone, PartialEq, Eq)]
pub struct Residue {
    limbs: Vec<u64>,
    width: usize,
}

impl Residue {
    /// The number in big-endian bytes, as wide as N.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        nat::to_bytes(&self.limbs, self.width)
    }

    pub(crate) fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The element of (Z/N)*/{±1} that the number stands for: the smaller of a and N − a.
    ///
    /// `modulus` is the one that the number was read by; another gives an element that equals nothing.
    #[must_use]
    pub fn element(&self, modulus: &Modulus) -> Element {
        if modulus.check_residue(self, "a").is_err() {
            return Element(self.clone());
        }
        let mut other = modulus.limbs().to_vec();
        nat::sub(&mut other, &self.limbs);
        let limbs = match nat::cmp(&other, &self.limbs) {
            std::cmp::Ordering::Less => other,
            _ => self.limbs.clone(),
        };
        Element(Residue { limbs, width: self.width })
    }

    /// Says whether the number has no factor in common with N.
    #[must_use]
    pub fn is_unit(&self, modulus: &Modulus) -> bool {
        nat::is_one(&nat::gcd_odd(&self.limbs, modulus.limbs()))
    }
}

impl fmt::Display for Residue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.to_bytes()))
    }
}

impl fmt::Debug for Residue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Residue({self})")
    }
}

/// An element of (Z/N)*/{±1}: a number of 1 to (N − 1)/2 that stands for itself and its negative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element(Residue);

impl Element {
    /// The number in big-endian bytes, as wide as N.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    /// The representative that is at most (N − 1)/2.
    #[must_use]
    pub fn residue(&self) -> &Residue {
        &self.0
    }
}

/// Reads hex digits, an odd number of them allowed, with an optional `0x`.
///
/// # Errors
/// [`Error::Hex`], with `what` in the message: there are no digits, or other characters.
pub fn parse_hex(text: &str, what: &'static str) -> Result<Vec<u8>, Error> {
    let digits = text.trim();
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    if digits.is_empty() {
        return Err(Error::Hex { what, reason: "there are no digits".into() });
    }
    let even = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.into() };
    hex::decode(&even).map_err(|_| {
        let wrong = digits.char_indices().find(|(_, c)| !c.is_ascii_hexdigit());
        let (at, c) = wrong.unwrap_or((0, '?'));
        Error::Hex { what, reason: format!("{c:?} stands at position {at}") }
    })
}

/// The smallest prime k for which n = b^k, if there is one.
///
/// A kth power is a kth power modulo every prime q, and where k divides q − 1 only one number in k is:
/// a few such q sort nearly every n out before the root is taken.
fn perfect_power(n: &[u64]) -> Option<u32> {
    // The base is at least 2, and k at most log2(n).
    let limit = nat::bit_len(n) + 1;
    prime::primes_below(limit as usize).find_map(|k| {
        let power = may_be_power(n, k) && nat::has_root(n, k as u32);
        power.then_some(k as u32)
    })
}

/// Tests n modulo some primes q = 1 mod k; false means that n is no kth power.
fn may_be_power(n: &[u64], k: u64) -> bool {
    let is_prime = |q: u64| (2..).take_while(|d| d * d <= q).all(|d| !q.is_multiple_of(d));
    let moduli = (1..).map(|i| 2 * i * k + 1).filter(|&q| is_prime(q));
    moduli.take(if k < 16 { 40 } else { 6 }).all(|q| {
        let residue = nat::rem_small(n, q);
        // Where q divides a kth power, so does its square.
        residue == 0 && nat::rem_small(n, q * q) == 0 || pow_small(residue, (q - 1) / k, q) == 1
    })
}

/// a^e mod q for q below 2^32.
pub(crate) fn pow_small(mut a: u64, mut e: u64, q: u64) -> u64 {
    let mut out = 1 % q;
    a %= q;
    while e > 0 {
        if e & 1 == 1 {
            out = out * a % q;
        }
        a = a * a % q;
        e >>= 1;
    }
    out
}

/// The presets by their names.
type Preset = (&'static str, fn() -> Modulus);
const PRESETS: [Preset; 2] = [("rsa2048", Modulus::rsa2048), ("lcs35", Modulus::lcs35)];

fn preset(cell: &'static OnceLock<Modulus>, digits: &str) -> Modulus {
    let make = || {
        let bytes = parse_hex(digits, "the preset").expect("a preset is in hex");
        Modulus::from_limbs_unchecked(&nat::from_bytes(&bytes))
    };
    cell.get_or_init(make).clone()
}

static RSA2048: OnceLock<Modulus> = OnceLock::new();
static LCS35: OnceLock<Modulus> = OnceLock::new();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_moduli() {
        for (preset, bits) in [(Modulus::rsa2048(), 2048), (Modulus::lcs35(), 2046)] {
            assert_eq!(preset.bits(), bits);
            assert_eq!(Modulus::from_bytes(&preset.to_bytes()).unwrap(), preset);
        }
        for name in ["rsa2048", "RSA2048", "rsa-2048", "RSA-2048", "rsa_2048"] {
            assert_eq!(Modulus::parse(name).unwrap(), Modulus::rsa2048());
        }
        assert_eq!(Modulus::parse("LCS-35").unwrap().preset(), Some("lcs35"));
        assert_eq!(Modulus::parse("cfa92a1c6559dd55bb75027437309ad3").unwrap().preset(), None);
        assert!(matches!(Modulus::parse("rsa1024"), Err(Error::Hex { .. })));
    }

    #[test]
    fn elements_are_canonical() {
        let n = Modulus::parse("8000000000000000000000000000002b").unwrap();
        let (a, reduced) = n.reduce(&n.to_bytes());
        assert!(reduced && nat::is_zero(a.limbs()));
        let (five, _) = n.reduce(&[5]);
        let mut minus = n.limbs().to_vec();
        nat::sub(&mut minus, &[5]);
        let minus = n.residue(minus);
        assert_eq!(minus.element(&n), five.element(&n));
        assert!(n.decode_element(&five.to_bytes(), "a").is_ok());
        let refused = n.decode_element(&minus.to_bytes(), "a");
        assert!(matches!(refused, Err(Error::NotCanonical { what: "a" })));
        let zero = n.decode_element(&a.to_bytes(), "a");
        assert!(matches!(zero, Err(Error::NotCanonical { .. })));
        assert!(matches!(n.decode(&n.to_bytes(), "a"), Err(Error::NotReduced { .. })));
        assert!(matches!(n.decode(&[1], "a"), Err(Error::Length { expected: 16, got: 1, .. })));
    }
}
