//! What can go wrong, each cause by its name.

use std::fmt;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The modulus is zero.
    #[error("the modulus is zero")]
    ModulusZero,
    /// The modulus is one.
    #[error("the modulus is one")]
    ModulusOne,
    /// The modulus is even.
    #[error("the modulus is even")]
    ModulusEven,
    /// The modulus has too few or too many bits.
    #[error("a modulus of {bits} bits: it must have 64 to 8192")]
    ModulusSize {
        /// Its bits.
        bits: u64,
    },
    /// The modulus is a prime, so anyone knows the order of its group.
    #[error("the modulus is prime: x^(2^T) could be computed without delay")]
    ModulusPrime,
    /// The modulus is a perfect power.
    #[error("the modulus is a perfect power, of exponent {exponent}: the delay could be shortened")]
    ModulusPower {
        /// The smallest prime exponent.
        exponent: u32,
    },
    /// The modulus is m^k + 1 or m^k − 1 for some whole m.
    #[error(
        "the modulus is m^{exponent} {sign} 1: m has a known low order, so false outputs could be proved"
    )]
    ModulusSpecial {
        /// The smallest prime exponent.
        exponent: u32,
        /// The sign before the 1.
        sign: char,
    },
    /// A prime below 1024 divides the modulus: proofs modulo it would not be sound.
    #[error("a prime below 1024 divides the modulus: nothing can be proved modulo it")]
    ModulusSmallFactor,
    /// The factors of the modulus are published.
    #[error("the factors of {name} are public ({publication}): anyone can forge proofs modulo it")]
    ModulusPublished {
        /// What the modulus, or the number it shares a prime factor with, is called.
        name: &'static str,
        /// Where the factors are published.
        publication: &'static str,
    },
    /// Text is not a number in hex.
    #[error("{what} is not a number in hex: {reason}")]
    Hex {
        /// What was read.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A number that must be below the modulus is not.
    #[error("{what} is not below the modulus")]
    NotReduced {
        /// Which number.
        what: &'static str,
    },
    /// A number was read modulo another modulus: it is too wide, too narrow or too large for this one.
    #[error(
        "{what} is a number of {got} bytes modulo another modulus: expected one of {expected} bytes below N"
    )]
    ForeignResidue {
        /// Which number.
        what: &'static str,
        /// The bytes of a number modulo N.
        expected: u64,
        /// The bytes found.
        got: u64,
    },
    /// A number shares a factor with the modulus.
    #[error("{what} shares a factor with the modulus")]
    NotUnit {
        /// Which number.
        what: &'static str,
    },
    /// An element is not the smaller of the pair {a, N − a}.
    #[error("{what} is not the canonical one of a and N - a")]
    NotCanonical {
        /// Which element.
        what: &'static str,
    },
    /// An element has Jacobi symbol −1, so it is no signed quadratic residue.
    #[error("{what} is not a signed quadratic residue")]
    NotResidue {
        /// Which element.
        what: &'static str,
    },
    /// More squarings than 2^63.
    #[error("{0} squarings are more than 2^63")]
    TooManySquarings(u64),
    /// A file is not of the kind expected.
    #[error("this is not a {expected} file")]
    Magic {
        /// What was expected.
        expected: &'static str,
    },
    /// A file's version is unknown.
    #[error("{} of version {version}: this program knows {known}", a(.what))]
    Version {
        /// The kind of file.
        what: &'static str,
        /// The version found.
        version: u8,
        /// The versions that are read.
        known: &'static str,
    },
    /// A proof is of an unknown system.
    #[error("proof system {0} is unknown")]
    System(u8),
    /// A file's length is wrong.
    #[error("{} of {got} bytes: expected {expected}", a(.what))]
    Length {
        /// The kind of file.
        what: &'static str,
        /// The length it must have.
        expected: u64,
        /// The length found.
        got: u64,
    },
    /// A file ends too soon.
    #[error("{} of {got} bytes: expected at least {least}", a(.what))]
    TooShort {
        /// The kind of file.
        what: &'static str,
        /// The length it must at least have.
        least: u64,
        /// The length found.
        got: u64,
    },
    /// A field of a file has a value that is not allowed.
    #[error("a {what} with {reason}")]
    Field {
        /// The kind of file.
        what: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// A checkpoint's checksum or its value is wrong.
    #[error("the checkpoint is damaged: {0}")]
    CheckpointDamaged(&'static str),
    /// A checkpoint belongs to another computation.
    #[error("the checkpoint is of another run: its {0} differs")]
    CheckpointOther(&'static str),
    /// A run that is kept was begun with more memory than it may take now.
    #[error("the run was begun with more memory than it may take now")]
    CheckpointMemory,
    /// The machine keeps on making errors.
    #[error("the arithmetic failed its check {0} times in a row at the same place")]
    Faulty(u32),
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// A proof is about another modulus.
    #[error("this proof is for another modulus")]
    OtherModulus,
    /// A proof is about another input.
    #[error("this proof is for another input x")]
    OtherInput,
    /// A proof is about another output.
    #[error("this proof is for another output y")]
    OtherOutput,
    /// A proof is about another number of squarings.
    #[error("this proof is for {} squarings, not {}", Count(*.proof), Count(*.expected))]
    OtherIterations {
        /// The proof's.
        proof: u64,
        /// The verifier's.
        expected: u64,
    },
    /// The proof is false.
    #[error("the proof does not verify")]
    Invalid,
    /// A file is too long for memory.
    #[error("{what} is longer than the {most} bytes allowed")]
    TooLong {
        /// What was read.
        what: &'static str,
        /// The bytes allowed.
        most: u64,
    },
    /// The sealed file does not open with the key found.
    #[error("the sealed file does not open: it was altered")]
    Sealed,
    /// A chunk of the sealed file is not authentic; all before it is.
    #[error(
        "the sealed file does not open: chunk {number}, at byte {at}, was altered, moved or cut off"
    )]
    SealedChunk {
        /// The chunk, from 0.
        number: u64,
        /// Where it begins in the sealed file.
        at: u64,
    },
    /// The sealed file was cut off behind a chunk.
    #[error("the sealed file is cut off: it ends at byte {at}, and chunks are missing")]
    SealedEnds {
        /// Its length.
        at: u64,
    },
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl Error {
    /// The stable, dotted code of this kind of failure, such as `input.modulus`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.class().1
    }

    /// The exit code of the command for this kind of failure: 1 where something does not verify, 2 for
    /// malformed input, 3 where the machine or the system failed, 4 where a kept run refuses.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.class().0
    }

    fn class(&self) -> (u8, &'static str) {
        match self {
            Error::Invalid
            | Error::Sealed
            | Error::SealedChunk { .. }
            | Error::SealedEnds { .. }
            | Error::NotResidue { .. } => (1, "verification.failed"),
            Error::OtherModulus
            | Error::OtherInput
            | Error::OtherOutput
            | Error::OtherIterations { .. } => (1, "verification.other_statement"),
            Error::CheckpointOther(_) => (4, "state.checkpoint"),
            Error::CheckpointMemory => (4, "state.memory"),
            Error::CheckpointDamaged(_) => (3, "checkpoint.damaged"),
            Error::Faulty(_) => (3, "machine.faulty"),
            Error::Cancelled => (3, "interrupted"),
            Error::Io(_) => (3, "io.file"),
            Error::Hex { .. } => (2, "input.hex"),
            Error::TooLong { .. } => (2, "input.too_long"),
            Error::ModulusZero
            | Error::ModulusOne
            | Error::ModulusEven
            | Error::ModulusSize { .. }
            | Error::ModulusPrime
            | Error::ModulusSmallFactor
            | Error::ModulusPower { .. }
            | Error::ModulusSpecial { .. }
            | Error::ModulusPublished { .. } => (2, "input.modulus"),
            _ => (2, "input.malformed"),
        }
    }
}

/// `a proof`; what has an article already, such as `the proof's x`, as it is.
fn a(what: &str) -> String {
    let named = what.starts_with("the ") || what.starts_with("a ");
    format!("{}{what}", if named { "" } else { "a " })
}

/// A number of squarings, written 2^t where it is a power of two above 1024.
pub struct Count(
    /// The number.
    pub u64,
);

impl Count {
    /// `2^20 squarings`, `1 squaring`.
    #[must_use]
    pub fn squarings(&self) -> String {
        let plural = if self.0 == 1 { "" } else { "s" };
        format!("{self} squaring{plural}")
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 1024 && self.0.is_power_of_two() {
            write!(f, "2^{}", self.0.trailing_zeros())
        } else {
            write!(f, "{}", self.0)
        }
    }
}
