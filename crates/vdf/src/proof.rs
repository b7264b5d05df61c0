//! Proofs as values and as bytes.
//!
//! An encoded proof holds its whole statement, so that a file can be read and judged by itself, and a
//! verifier says which part is not what he expected. The format is in `docs/vdf-proof.md`.

use crate::eval::MAX_ITERATIONS;
use crate::transcript::{Statement, System};
use crate::{Element, Error, Modulus, Residue, pietrzak, wesolowski};

/// A statement y = ±x^(2^T) mod N, with a proof of it that may be false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub(crate) statement: Statement,
    pub(crate) body: Body,
}

/// What the proof systems add to the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Wesolowski(Element),
    Segmented(Vec<Segment>),
    Pietrzak(Vec<Element>),
}

/// One stretch of an n-Wesolowski proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) iterations: u64,
    /// The value after these squarings.
    pub(crate) y: Element,
    pub(crate) proof: Element,
}

/// What a verifier wants proved. A proof of anything else is right and says nothing to him, so all of it is
/// compared.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The modulus N.
    pub modulus: &'a Modulus,
    /// The input x.
    pub input: Input<'a>,
    /// The number of squarings T.
    pub iterations: u64,
}

/// The input that a verifier expects.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The hash of this seed ([`Modulus::hash_to_element`]).
    Seed(&'a [u8]),
    /// This number. Outputs of raw inputs multiply: take a seed where you can.
    Raw(&'a Residue),
}

const MAGIC: &[u8; 4] = b"TVDP";
const VERSION: u8 = 1;
const WHAT: &str = "proof";

impl Proof {
    /// The most segments of an n-Wesolowski proof.
    pub const MAX_SEGMENTS: usize = 64;

    /// What the proof is about.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// The proof's system.
    #[must_use]
    pub fn system(&self) -> System {
        match self.body {
            Body::Wesolowski(_) => System::Wesolowski,
            Body::Segmented(_) => System::Segmented,
            Body::Pietrzak(_) => System::Pietrzak,
        }
    }

    /// Refuses a proof about another modulus.
    ///
    /// # Errors
    /// [`Error::OtherModulus`].
    pub fn expect_modulus(&self, modulus: &Modulus) -> Result<(), Error> {
        if self.statement.modulus == *modulus { Ok(()) } else { Err(Error::OtherModulus) }
    }

    /// Refuses a proof about another input.
    ///
    /// # Errors
    /// [`Error::OtherInput`].
    pub fn expect_input(&self, x: &Residue) -> Result<(), Error> {
        if self.statement.x == *x { Ok(()) } else { Err(Error::OtherInput) }
    }

    /// Refuses a proof about another number of squarings.
    ///
    /// # Errors
    /// [`Error::OtherIterations`].
    pub fn expect_iterations(&self, expected: u64) -> Result<(), Error> {
        let proof = self.statement.iterations;
        if proof == expected { Ok(()) } else { Err(Error::OtherIterations { proof, expected }) }
    }

    /// Refuses a proof about another output. `y` is a plain residue, as `eval` gives it; a proof is
    /// about y or N − y, whichever is smaller.
    ///
    /// # Errors
    /// [`Error::OtherOutput`].
    pub fn expect_output(&self, y: &Residue) -> Result<(), Error> {
        let same = self.statement.y == y.element(&self.statement.modulus);
        if same { Ok(()) } else { Err(Error::OtherOutput) }
    }

    /// Checks the proof. It says nothing about whether the statement is the one wanted: the `expect_…`
    /// functions do.
    ///
    /// # Errors
    /// [`Error::Invalid`]; or [`Error::NotUnit`] or [`Error::NotResidue`], where a number is not in the
    /// group.
    pub fn verify(&self) -> Result<(), Error> {
        match &self.body {
            Body::Wesolowski(proof) => wesolowski::verify(self.system(), &self.statement, proof),
            Body::Segmented(_) => wesolowski::verify_many(&self.claims()).into_iter().collect(),
            Body::Pietrzak(proof) => pietrzak::verify(&self.statement, proof),
        }
    }

    /// Reads an encoded proof, compares its whole statement, checks the proof, and returns y up to its sign.
    ///
    /// This is the call for verifiers who know what they want proved.
    ///
    /// ```
    /// use tetralith_vdf::{Expected, Input, Modulus, Options, Proof, Prover, System};
    ///
    /// let modulus = Modulus::rsa2048();
    /// let x = modulus.hash_to_element(1000, b"a public seed");
    /// let mut prover = Prover::new(System::Pietrzak, &modulus, &x, 1000, Options::default())?;
    /// let (y, proof) = prover.run(&mut |_| std::ops::ControlFlow::Continue(()))?;
    ///
    /// let input = Input::Seed(b"a public seed");
    /// let expected = Expected { modulus: &modulus, input, iterations: 1000 };
    /// assert_eq!(Proof::verify_encoded(&proof.to_bytes(), &expected)?, y.element(&modulus));
    /// # Ok::<(), tetralith_vdf::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Proof::from_bytes_modulo`], the `expect_…` functions and [`Proof::verify`], in this order.
    pub fn verify_encoded(bytes: &[u8], expected: &Expected<'_>) -> Result<Element, Error> {
        let Expected { modulus, input, iterations } = *expected;
        modulus.check_provable()?;
        let proof = Self::from_bytes_modulo(bytes, modulus)?;
        proof.expect_iterations(iterations)?;
        match input {
            Input::Seed(seed) => proof.expect_input(&modulus.hash_to_element(iterations, seed))?,
            Input::Raw(x) => proof.expect_input(x)?,
        }
        proof.verify()?;
        Ok(proof.statement.y)
    }

    /// Checks many proofs, of whatever systems and moduli, and says of each whether it is right.
    ///
    /// Each verdict is that of [`Proof::verify`]. Wesolowski proofs modulo the same number are worked on
    /// side by side. `threads` share the work.
    #[must_use]
    pub fn verify_many(proofs: &[Proof], threads: usize) -> Vec<Result<(), Error>> {
        let each = proofs.len().div_ceil(threads.max(1)).max(1);
        let [first, others @ ..] = &proofs.chunks(each).collect::<Vec<_>>()[..] else {
            return Vec::new();
        };
        std::thread::scope(|scope| {
            let helpers: Vec<_> =
                others.iter().map(|&part| scope.spawn(move || Self::verify_part(part))).collect();
            let mut results = Self::verify_part(first);
            for helper in helpers {
                results.extend(helper.join().expect("a verifier does not panic"));
            }
            results
        })
    }

    fn verify_part(proofs: &[Proof]) -> Vec<Result<(), Error>> {
        let mut results: Vec<Option<Result<(), Error>>> = proofs.iter().map(|_| None).collect();
        for first in 0..proofs.len() {
            if results[first].is_some() {
                continue;
            }
            let modulus = &proofs[first].statement.modulus;
            let same: Vec<usize> = (first..proofs.len())
                .filter(|&i| results[i].is_none() && proofs[i].statement.modulus == *modulus)
                .collect();
            let claims: Vec<_> = same.iter().flat_map(|&i| proofs[i].claims()).collect();
            let mut verdicts = wesolowski::verify_many(&claims).into_iter();
            for i in same {
                results[i] = Some(match &proofs[i].body {
                    Body::Pietrzak(_) => proofs[i].verify(),
                    Body::Wesolowski(_) => verdicts.next().unwrap_or(Err(Error::Invalid)),
                    Body::Segmented(segments) => {
                        // All of its verdicts, also those after the first that is bad.
                        let each: Vec<_> = verdicts.by_ref().take(segments.len()).collect();
                        let complete = each.len() == segments.len();
                        each.into_iter().collect::<Result<(), _>>().and(match complete {
                            true => Ok(()),
                            false => Err(Error::Invalid),
                        })
                    }
                });
            }
        }
        results.into_iter().map(|result| result.unwrap_or(Err(Error::Invalid))).collect()
    }

    /// The Wesolowski proofs that this one consists of.
    fn claims(&self) -> Vec<(System, Statement, &Element)> {
        match &self.body {
            Body::Wesolowski(proof) => vec![(self.system(), self.statement.clone(), proof)],
            Body::Segmented(segments) => segment_statements(&self.statement, segments)
                .map(|(statement, segment)| (System::Segmented, statement, &segment.proof))
                .collect(),
            Body::Pietrzak(_) => Vec::new(),
        }
    }

    /// The encoded proof.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let statement = &self.statement;
        let mut out = MAGIC.to_vec();
        out.extend([VERSION, self.system().number()]);
        out.extend((statement.modulus.width() as u16).to_be_bytes());
        out.extend(statement.modulus.to_bytes());
        out.extend(statement.x.to_bytes());
        out.extend(statement.iterations.to_be_bytes());
        out.extend(statement.y.to_bytes());
        match &self.body {
            Body::Wesolowski(proof) => out.extend(proof.to_bytes()),
            Body::Segmented(segments) => {
                out.push(segments.len() as u8);
                for segment in segments {
                    out.extend(segment.iterations.to_be_bytes());
                    out.extend(segment.y.to_bytes());
                    out.extend(segment.proof.to_bytes());
                }
            }
            Body::Pietrzak(elements) => elements.iter().for_each(|e| out.extend(e.to_bytes())),
        }
        out
    }

    /// Reads an encoded proof that must be about this modulus: others are refused before anything is
    /// computed with theirs.
    ///
    /// # Errors
    /// As [`Proof::from_bytes`], and [`Error::OtherModulus`].
    pub fn from_bytes_modulo(bytes: &[u8], modulus: &Modulus) -> Result<Self, Error> {
        let mut reader = Reader { bytes, at: 0 };
        let head = reader.take(6)?;
        if head.starts_with(MAGIC) && head[4] == VERSION {
            let width = reader.number(2)? as usize;
            if reader.take(width)? != modulus.to_bytes() {
                return Err(Error::OtherModulus);
            }
        }
        Self::from_bytes(bytes)
    }

    /// Reads an encoded proof strictly. It is not verified.
    ///
    /// # Errors
    /// The kind, version, system or length is wrong, or a number is out of range.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader { bytes, at: 0 };
        let head = reader.take(6)?;
        if !head.starts_with(MAGIC) {
            return Err(Error::Magic { expected: WHAT });
        }
        if head[4] != VERSION {
            return Err(Error::Version { what: WHAT, version: head[4], known: "version 1" });
        }
        let system = System::from_number(head[5]).ok_or(Error::System(head[5]))?;
        let statement = reader.statement()?;
        let modulus = &statement.modulus;
        let body = match system {
            System::Wesolowski => Body::Wesolowski(reader.element(modulus, "the proof element")?),
            System::Segmented => Body::Segmented(reader.segments(&statement)?),
            System::Pietrzak => {
                let count = pietrzak::proof_len(statement.iterations);
                let elements = (0..count).map(|_| reader.element(modulus, "a proof element"));
                Body::Pietrzak(elements.collect::<Result<_, _>>()?)
            }
        };
        reader.end()?;
        Ok(Self { statement, body })
    }
}

/// The statements of the segments, each of which begins where the one before ended.
pub(crate) fn segment_statements<'a>(
    whole: &'a Statement,
    segments: &'a [Segment],
) -> impl Iterator<Item = (Statement, &'a Segment)> {
    let starts = std::iter::once(whole.x.clone())
        .chain(segments.iter().map(|segment| segment.y.residue().clone()));
    segments.iter().zip(starts).map(|(segment, x)| {
        let (modulus, y) = (whole.modulus.clone(), segment.y.clone());
        (Statement { modulus, x, iterations: segment.iterations, y }, segment)
    })
}

/// Takes fields off the front of a proof.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let end = self.at + len;
        let field = self.bytes.get(self.at..end).ok_or(Error::TooShort {
            what: WHAT,
            least: end as u64,
            got: self.bytes.len() as u64,
        })?;
        self.at = end;
        Ok(field)
    }

    fn number(&mut self, len: usize) -> Result<u64, Error> {
        Ok(self.take(len)?.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)))
    }

    fn element(&mut self, modulus: &Modulus, what: &'static str) -> Result<Element, Error> {
        modulus.decode_element(self.take(modulus.width())?, what)
    }

    fn statement(&mut self) -> Result<Statement, Error> {
        let width = self.number(2)? as usize;
        let bytes = self.take(width)?;
        if bytes.first() == Some(&0) {
            return Err(Error::Field { what: WHAT, reason: "a modulus that begins with zeros" });
        }
        let modulus = known_modulus(bytes)?;
        modulus.check_provable()?;
        let x = modulus.decode(self.take(width)?, "the proof's x")?;
        let iterations = self.number(8)?;
        if iterations > MAX_ITERATIONS {
            return Err(Error::TooManySquarings(iterations));
        }
        let y = self.element(&modulus, "the proof's y")?;
        Ok(Statement { modulus, x, iterations, y })
    }

    fn segments(&mut self, statement: &Statement) -> Result<Vec<Segment>, Error> {
        let count = self.number(1)? as usize;
        if !(1..=Proof::MAX_SEGMENTS).contains(&count) {
            return Err(Error::Field { what: WHAT, reason: "a number of segments not 1 to 64" });
        }
        let mut segments = Vec::with_capacity(count);
        let mut left = statement.iterations;
        for _ in 0..count {
            let iterations = self.number(8)?;
            left = match left.checked_sub(iterations) {
                Some(left) if iterations > 0 => left,
                _ => return Err(Error::Field { what: WHAT, reason: SUM }),
            };
            let y = self.element(&statement.modulus, "a segment's y")?;
            let proof = self.element(&statement.modulus, "a proof element")?;
            segments.push(Segment { iterations, y, proof });
        }
        if left != 0 {
            return Err(Error::Field { what: WHAT, reason: SUM });
        }
        if segments.last().is_some_and(|last| last.y != statement.y) {
            return Err(Error::Field { what: WHAT, reason: "segments that end in another y" });
        }
        Ok(segments)
    }

    fn end(&self) -> Result<(), Error> {
        let (expected, got) = (self.at as u64, self.bytes.len() as u64);
        if expected == got { Ok(()) } else { Err(Error::Length { what: WHAT, expected, got }) }
    }
}

const SUM: &str = "segments that do not add up to T";

/// The preset, which was tested before, or a modulus made from the bytes.
fn known_modulus(bytes: &[u8]) -> Result<Modulus, Error> {
    let preset = Modulus::rsa2048();
    if preset.to_bytes() == bytes { Ok(preset) } else { Modulus::from_bytes(bytes) }
}
