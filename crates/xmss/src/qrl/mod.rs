//! Keys of the QRL ledger: its parameters, seeds, mnemonics, public keys and addresses.
//!
//! A QRL key is a 48-byte seed with a 3-byte descriptor. SHAKE256 expands the seed to SK_SEED, SK_PRF
//! and SEED; chains are derived the older way ([`Derivation::PrfCounter`]); the tree has n = 32 and an
//! even height. Formats are those of theQRL/qrllib.

use crate::keys::length;
use crate::{Derivation, Error, HashFunction, Params, Progress, PublicKey, SecretKey, Seeds};
use core::fmt;
use sha2::{Digest, Sha256};
use tetralith_kernels::keccak::{RATE_256, shake};
use zeroize::{Zeroize, Zeroizing};

/// The three bytes that say what a QRL key is.
///
/// `signature type 0 ‖ hash function`, `address format 0 ‖ height / 2` (four bits each), and zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor(Params);

impl Descriptor {
    /// The descriptor of a hash function and an even height from 4 to 30.
    ///
    /// # Errors
    /// [`Error::UnknownParams`].
    pub fn new(hash: HashFunction, height: u8) -> Result<Self, Error> {
        Params::qrl(hash, height).map(Self)
    }

    /// Decodes three bytes, strictly.
    ///
    /// # Errors
    /// [`Error::Malformed`], with the rule that is broken.
    pub fn from_bytes(bytes: [u8; 3]) -> Result<Self, Error> {
        let fail = |why| Err(Error::Malformed { what: "QRL descriptor", why });
        if bytes[0] >> 4 != 0 {
            return fail("not an XMSS key");
        }
        let hash = match bytes[0] {
            0 => HashFunction::Sha2,
            1 => HashFunction::Shake128,
            2 => HashFunction::Shake256,
            _ => return fail("no such hash function"),
        };
        if bytes[1] >> 4 != 0 {
            return fail("no such address format");
        }
        if bytes[2] != 0 {
            return fail("the third byte is not zero");
        }
        match Params::qrl(hash, 2 * bytes[1]) {
            Ok(params) => Ok(Self(params)),
            Err(_) => fail("no such height"),
        }
    }

    /// Encodes three bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 3] {
        let hash = match self.0.hash() {
            HashFunction::Sha2 => 0,
            HashFunction::Shake128 => 1,
            HashFunction::Shake256 => 2,
        };
        [hash, self.0.height() as u8 / 2, 0]
    }

    /// The parameter set.
    #[must_use]
    pub fn params(self) -> Params {
        self.0
    }
}

/// A QRL seed with its descriptor: the whole secret of a wallet.
///
/// # Security
/// Wiped on drop. It knows nothing of the indices that were used.
pub struct ExtendedSeed {
    descriptor: Descriptor,
    seed: Zeroizing<[u8; 48]>,
}

impl fmt::Debug for ExtendedSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExtendedSeed")
    }
}

impl ExtendedSeed {
    /// Joins a descriptor and a seed.
    #[must_use]
    pub fn new(descriptor: Descriptor, seed: &[u8; 48]) -> Self {
        Self { descriptor, seed: Zeroizing::new(*seed) }
    }

    /// Decodes the 51 bytes `descriptor ‖ seed`.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Malformed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        length("QRL extended seed", 51, bytes.len())?;
        let (descriptor, seed) = bytes.split_at(3);
        let descriptor = Descriptor::from_bytes([descriptor[0], descriptor[1], descriptor[2]])?;
        let mut copy = Zeroizing::new([0; 48]);
        copy.copy_from_slice(seed);
        Ok(Self { descriptor, seed: copy })
    }

    /// Encodes the 51 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(51));
        bytes.extend_from_slice(&self.descriptor.to_bytes());
        bytes.extend_from_slice(&self.seed[..]);
        bytes
    }

    /// Decodes a mnemonic of 34 words, in letters of any case.
    ///
    /// # Errors
    /// [`Error::Malformed`] for another count of words, [`Error::Word`] for one that is not in the list.
    ///
    /// # Security
    /// As [`bytes_of_words`].
    pub fn from_mnemonic(text: &str) -> Result<Self, Error> {
        if text.split_ascii_whitespace().count() != 34 {
            return Err(Error::Malformed { what: "QRL mnemonic", why: "not 34 words" });
        }
        Self::from_bytes(&bytes_of_words(text)?)
    }

    /// Writes the 34 words, 12 bits each.
    ///
    /// # Security
    /// As [`words_of_bytes`].
    #[must_use]
    pub fn to_mnemonic(&self) -> Zeroizing<String> {
        words_of_bytes(&self.to_bytes()).expect("51 is a multiple of 3")
    }

    /// The descriptor.
    #[must_use]
    pub fn descriptor(&self) -> Descriptor {
        self.descriptor
    }

    /// Computes the key.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` said so.
    pub fn secret_key(&self, progress: &Progress<'_>) -> Result<SecretKey, Error> {
        self.seeds().build(progress)
    }

    /// Expands the seed to those of the key.
    #[must_use]
    pub fn seeds(&self) -> Seeds {
        let mut seeds = Zeroizing::new(vec![0; 96]);
        shake(RATE_256, &[&self.seed[..]], &mut seeds);
        Seeds::of(self.descriptor.0, Derivation::PrfCounter, seeds)
    }
}

impl Drop for ExtendedSeed {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}

/// Encodes `descriptor ‖ root ‖ SEED`, QRL's form of a public key.
///
/// # Errors
/// [`Error::NotQrl`].
pub fn public_key_to_bytes(key: &PublicKey) -> Result<[u8; 67], Error> {
    if key.params().oid().is_some() {
        return Err(Error::NotQrl(key.params()));
    }
    let mut bytes = [0; 67];
    bytes[..3].copy_from_slice(&Descriptor(key.params()).to_bytes());
    bytes[3..35].copy_from_slice(key.root());
    bytes[35..].copy_from_slice(key.seed());
    Ok(bytes)
}

/// Decodes `descriptor ‖ root ‖ SEED`.
///
/// # Errors
/// [`Error::Length`] or [`Error::Malformed`].
pub fn public_key_from_bytes(bytes: &[u8]) -> Result<PublicKey, Error> {
    length("QRL public key", 67, bytes.len())?;
    let descriptor = Descriptor::from_bytes([bytes[0], bytes[1], bytes[2]])?;
    PublicKey::from_parts(descriptor.0, &bytes[3..])
}

/// A QRL address: descriptor, SHA-256 of the public key, and four bytes of checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address([u8; 39], Descriptor);

impl Address {
    /// The address of a public key.
    ///
    /// # Errors
    /// [`Error::NotQrl`].
    pub fn of(key: &PublicKey) -> Result<Self, Error> {
        let descriptor = Descriptor(key.params());
        let key = public_key_to_bytes(key)?;
        let mut bytes = [0; 39];
        bytes[..3].copy_from_slice(&key[..3]);
        bytes[3..35].copy_from_slice(&Sha256::digest(key));
        let sum = Sha256::digest(&bytes[..35]);
        bytes[35..].copy_from_slice(&sum[28..]);
        Ok(Self(bytes, descriptor))
    }

    /// Decodes 39 bytes and checks the checksum.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Malformed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        length("QRL address", 39, bytes.len())?;
        let descriptor = Descriptor::from_bytes([bytes[0], bytes[1], bytes[2]])?;
        if Sha256::digest(&bytes[..35])[28..] != bytes[35..] {
            return Err(Error::Malformed { what: "QRL address", why: "the checksum is wrong" });
        }
        let mut address = [0; 39];
        address.copy_from_slice(bytes);
        Ok(Self(address, descriptor))
    }

    /// The 39 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 39] {
        self.0
    }

    /// The parameter set that its descriptor names.
    #[must_use]
    pub fn params(&self) -> Params {
        self.1.params()
    }
}

/// Reads `Q` and 78 hex digits, of any case, and checks the checksum.
impl core::str::FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let fail = |why| Error::Malformed { what: "QRL address", why };
        let digits = text.strip_prefix('Q').ok_or(fail("it does not begin with Q"))?;
        length("QRL address, with its Q", 79, text.len())?;
        let mut bytes = [0; 39];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let [high, low] = [0, 1].map(|i| char::from(pair[i]).to_digit(16));
            let digits = high.zip(low).ok_or(fail("it is not hex after its Q"))?;
            *byte = (digits.0 << 4 | digits.1) as u8;
        }
        Self::from_bytes(&bytes)
    }
}

/// `Q` and the bytes in hex.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Q")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Writes bytes as words of QRL's list, two for each three bytes.
///
/// # Errors
/// [`Error::Malformed`] where the number of bytes is no multiple of 3.
///
/// # Security
/// Words are looked up in a table: the time and the cache show which.
pub fn words_of_bytes(bytes: &[u8]) -> Result<Zeroizing<String>, Error> {
    if !bytes.len().is_multiple_of(3) {
        return Err(Error::Malformed { what: "QRL mnemonic", why: "not a multiple of 3 bytes" });
    }
    let list = word_list();
    // Allocated once, so that no outgrown copy stays in freed memory; no word has 9 letters.
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() / 3 * 2 * 9));
    for triple in bytes.chunks(3) {
        let bits = triple.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        for index in [bits >> 12, bits & 0xfff] {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(list[index]);
        }
    }
    Ok(text)
}

/// Reads words of QRL's list, in letters of any case.
///
/// # Errors
/// [`Error::Malformed`] for an odd number of words, [`Error::Word`] for one that is not in the list.
///
/// # Security
/// Words are looked up in a table: the time and the cache show which.
pub fn bytes_of_words(text: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if !words.len().is_multiple_of(2) {
        return Err(Error::Malformed { what: "QRL mnemonic", why: "an odd number of words" });
    }
    let list = word_list();
    let mut bytes = Zeroizing::new(Vec::with_capacity(words.len() / 2 * 3));
    let mut bits = 0;
    for (position, word) in (1..).zip(words) {
        let word = Zeroizing::new(word.to_ascii_lowercase());
        let found = list.binary_search(&word.as_str());
        let index = found.map_err(|_| Error::Word { position })?;
        bits = bits << 12 | index as u32;
        if position % 2 == 0 {
            bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
            bits = 0;
        }
    }
    Ok(bytes)
}

/// QRL's 4096 words, in alphabetical order.
#[must_use]
pub fn word_list() -> Vec<&'static str> {
    WORDS.lines().collect()
}

const WORDS: &str = include_str!("words.txt");
