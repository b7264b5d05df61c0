//! What a prover keeps beside the checkpoint of its evaluation: the run, and the recorded values.
//!
//! `NAME` is the checkpoint of the segment that is being squared, `NAME.run` and its copy `NAME.run.copy` say
//! how the whole is divided and what is proved, `NAME.tape0`, `NAME.tape1`, … hold the values of each segment. Values are
//! written before the checkpoint that follows them, each batch with a hash of all before. Version 1,
//! big-endian:
//!
//! ```text
//! run   "TVDR" ‖ 1 ‖ system ‖ w (u16) ‖ N (w) ‖ x (w) ‖ T (u64) ‖ n (u8)
//!       ‖ n × (T_i (u64) ‖ two parameters (u64) of the segment's plan)
//!       ‖ k (u8) ‖ k × (y_i (w) ‖ 1 ‖ π_i (w), or 0 where it is not proved yet) ‖ SHA-256 of all
//! tape  "TVDK" ‖ 1 ‖ h_0 = SHA-256(segment's N ‖ x ‖ T ‖ parameters)
//!       ‖ batches: count (u32) ‖ count × value (w) ‖ h_i = SHA-256(h_(i−1) ‖ count ‖ values)
//! ```

use super::{sync_folder, with_suffix, write_synced};
use crate::tape::Tape;
use crate::transcript::System;
use crate::{Element, Error, Modulus, Residue};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// More than the file of any run has.
const MOST_BYTES: u64 = 1 << 18;
/// The file of a run, and its copy: days of work hang on them.
const RUN: [&str; 2] = [".run", ".run.copy"];
const DAMAGED: Error = Error::CheckpointDamaged("the file of its run is not whole");

/// A segment: its length and the parameters of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) iterations: u64,
    pub(crate) parameters: [u64; 2],
}

/// How a run is divided, and which segments are squared and proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) system: System,
    pub(crate) modulus: Modulus,
    pub(crate) x: Residue,
    pub(crate) iterations: u64,
    pub(crate) stages: Vec<Stage>,
    /// The outputs of the segments that are squared, all but the last, and their proofs.
    pub(crate) finished: Vec<(Element, Option<Element>)>,
}

impl Run {
    /// Reads the run that is kept at `path`, where there is one, or its copy, and says whether one of them was
    /// damaged.
    ///
    /// # Errors
    /// Both are damaged, or one is of another run than this one.
    pub(crate) fn load(&self, path: &Path) -> Result<Option<(Self, bool)>, Error> {
        let mut damage = None;
        for suffix in RUN {
            match self.load_one(&with_suffix(path, suffix)) {
                Ok(Some(run)) => return Ok(Some((run, damage.is_some()))),
                Ok(None) => {}
                Err(error @ (Error::Io(_) | Error::CheckpointOther(_))) => return Err(error),
                Err(error) => damage = Some(error),
            }
        }
        damage.map_or(Ok(None), Err)
    }

    fn load_one(&self, path: &Path) -> Result<Option<Self>, Error> {
        let mut bytes = Vec::new();
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?.take(MOST_BYTES).read_to_end(&mut bytes)?,
        };
        let kept = self.parse(&bytes)?;
        match () {
            () if kept.system != self.system => Err(Error::CheckpointOther("proof system")),
            () if kept.modulus != self.modulus => Err(Error::CheckpointOther("modulus")),
            () if kept.x != self.x => Err(Error::CheckpointOther("input")),
            () if kept.iterations != self.iterations => {
                Err(Error::CheckpointOther("number of squarings"))
            }
            () => Ok(Some(kept)),
        }
    }

    /// The input of a segment.
    pub(crate) fn start(&self, i: usize) -> Residue {
        match i.checked_sub(1) {
            Some(before) => self.finished[before].0.residue().clone(),
            None => self.x.clone(),
        }
    }

    /// Writes both files, each whole or not at all.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        let new = with_suffix(path, ".run.new");
        for suffix in RUN {
            write_synced(&new, &self.to_bytes())?;
            fs::rename(&new, with_suffix(path, suffix))?;
        }
        sync_folder(path);
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = b"TVDR\x01".to_vec();
        out.push(self.system.number());
        out.extend((self.modulus.width() as u16).to_be_bytes());
        out.extend(self.modulus.to_bytes());
        out.extend(self.x.to_bytes());
        out.extend(self.iterations.to_be_bytes());
        out.push(self.stages.len() as u8);
        for Stage { iterations, parameters: [a, b] } in &self.stages {
            [iterations, a, b].into_iter().for_each(|number| out.extend(number.to_be_bytes()));
        }
        out.push(self.finished.len() as u8);
        for (y, proof) in &self.finished {
            out.extend(y.to_bytes());
            out.push(u8::from(proof.is_some()));
            proof.iter().for_each(|proof| out.extend(proof.to_bytes()));
        }
        let digest = Sha256::digest(&out);
        out.extend(digest);
        out
    }

    /// Reads a file; its modulus is ours or it is of another run.
    fn parse(&self, bytes: &[u8]) -> Result<Self, Error> {
        let (body, digest) = bytes.split_at_checked(bytes.len().wrapping_sub(32)).ok_or(DAMAGED)?;
        if Sha256::digest(body)[..] != *digest {
            return Err(DAMAGED);
        }
        let mut rest = body.strip_prefix(b"TVDR\x01").ok_or(Error::Magic { expected: "run" })?;
        let system = System::from_number(take(&mut rest, 1)?[0]).ok_or(DAMAGED)?;
        let (modulus, width) = (self.modulus.clone(), self.modulus.width());
        let same = number(take(&mut rest, 2)?) == width as u64
            && take(&mut rest, width)? == self.modulus.to_bytes();
        if !same {
            return Err(Error::CheckpointOther("modulus"));
        }
        let x = modulus.decode(take(&mut rest, width)?, "the run's x")?;
        let iterations = number(take(&mut rest, 8)?);
        let count = take(&mut rest, 1)?[0];
        let mut stages = Vec::new();
        for _ in 0..count {
            let mut field = || Ok::<_, Error>(number(take(&mut rest, 8)?));
            stages.push(Stage { iterations: field()?, parameters: [field()?, field()?] });
        }
        let sum = stages.iter().try_fold(0u64, |sum, stage| sum.checked_add(stage.iterations));
        let count = usize::from(take(&mut rest, 1)?[0]);
        if sum != Some(iterations) || stages.len() <= count {
            return Err(DAMAGED);
        }
        // What is not divided has one segment, and each of several has squarings.
        let one = stages.len() == 1;
        let divided = system == System::Segmented
            && stages.len() <= crate::Proof::MAX_SEGMENTS
            && stages.iter().all(|stage| stage.iterations > 0);
        if !one && !divided {
            return Err(DAMAGED);
        }
        let mut finished = Vec::new();
        for _ in 0..count {
            let y = modulus.decode_element(take(&mut rest, width)?, "a segment's y")?;
            let proof = match take(&mut rest, 1)?[0] {
                0 => None,
                1 => Some(modulus.decode_element(take(&mut rest, width)?, "a proof element")?),
                _ => return Err(DAMAGED),
            };
            finished.push((y, proof));
        }
        if !rest.is_empty() {
            return Err(DAMAGED);
        }
        Ok(Self { system, modulus, x, iterations, stages, finished })
    }
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8], Error> {
    let (field, after) = rest.split_at_checked(len).ok_or(DAMAGED)?;
    *rest = after;
    Ok(field)
}

fn number(field: &[u8]) -> u64 {
    field.iter().fold(0, |n, &byte| n << 8 | u64::from(byte))
}

/// Refuses, before a run begins, a file of that name which is no part of one: it would be replaced.
pub(crate) fn check_name(path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(path).is_ok() && !tape_path(path, 0).exists() {
        true => Err(Error::CheckpointOther("kind of run")),
        false => Ok(()),
    }
}

/// Removes what is kept at `path`.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    let mut names = vec![path.to_owned()];
    let suffixes = [".new", ".previous", ".run.new"].into_iter().chain(RUN);
    names.extend(suffixes.map(|suffix| with_suffix(path, suffix)));
    names.extend((0..crate::Proof::MAX_SEGMENTS).map(|i| tape_path(path, i)));
    names.iter().try_for_each(|name| remove_one(name))
}

fn remove_one(name: &Path) -> Result<(), Error> {
    match fs::remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Removes what is kept of a segment under way: the recorded values and the checkpoints.
pub(crate) fn remove_segment(path: &Path, segment: usize) -> Result<(), Error> {
    remove_one(path)?;
    remove_one(&with_suffix(path, ".previous"))?;
    remove_one(&tape_path(path, segment))
}

/// Where the values of a segment are.
pub(crate) fn tape_path(path: &Path, segment: usize) -> PathBuf {
    with_suffix(path, &format!(".tape{segment}"))
}

const TAPE_MAGIC: &[u8; 5] = b"TVDK\x01";

/// The file that a tape is appended to.
pub(crate) struct TapeFile {
    file: File,
    /// The hash of what stands in the file, its bytes and its values.
    digest: [u8; 32],
    bytes: u64,
    values: usize,
}

impl TapeFile {
    /// Opens or makes the file of a segment, and puts the values of all its whole batches on `tape`.
    ///
    /// # Errors
    /// [`Error::CheckpointOther`] where the file is none of a prover's, [`Error::Io`].
    pub(crate) fn open(
        path: &Path,
        modulus: &Modulus,
        x: &Residue,
        stage: &Stage,
        tape: &mut Tape,
    ) -> Result<Self, Error> {
        let mut id = Sha256::new_with_prefix(modulus.to_bytes());
        id.update(x.to_bytes());
        let Stage { iterations, parameters: [a, b] } = stage;
        [iterations, a, b].into_iter().for_each(|number| id.update(number.to_be_bytes()));
        let digest: [u8; 32] = id.finalize().into();
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut new = Self { file, digest, bytes: 37, values: 0 };
        let mut reader = BufReader::new(new.file.try_clone()?);
        let mut head = Vec::new();
        reader.by_ref().take(37).read_to_end(&mut head)?;
        let expected = [&TAPE_MAGIC[..], &digest].concat();
        if head != expected {
            // Of another segment or plan, with a flipped bit, or not written to its end.
            let ours = head.starts_with(TAPE_MAGIC)
                || expected.starts_with(&head)
                || head.iter().all(|&byte| byte == 0)
                || head.get(5..) == Some(&digest);
            if !ours {
                return Err(Error::CheckpointOther("file of recorded values"));
            }
            new.file.set_len(0)?;
            new.file.seek(SeekFrom::Start(0))?;
            new.file.write_all(&expected)?;
            return Ok(new);
        }
        while let Some((digest, batch)) = read_batch(&mut reader, &new.digest, modulus, tape)? {
            for value in &batch {
                tape.push_reduced(modulus, value.limbs());
            }
            new.digest = digest;
            new.values += batch.len();
            new.bytes += 4 + (batch.len() * modulus.width()) as u64 + 32;
        }
        new.file.set_len(new.bytes)?;
        Ok(new)
    }

    /// Appends the values that are not there yet, and has them reach the disk.
    pub(crate) fn append(&mut self, modulus: &Modulus, tape: &Tape) -> Result<(), Error> {
        self.file.seek(SeekFrom::Start(self.bytes))?;
        while self.values < tape.len() {
            let count = (tape.len() - self.values).min(MOST_VALUES);
            let mut batch = (count as u32).to_be_bytes().to_vec();
            for i in self.values..self.values + count {
                batch.extend(modulus.residue(modulus.fast().leave(tape.value(i))).to_bytes());
            }
            self.digest =
                Sha256::new_with_prefix(self.digest).chain_update(&batch).finalize().into();
            batch.extend(self.digest);
            self.file.write_all(&batch)?;
            self.values += count;
            self.bytes += batch.len() as u64;
        }
        Ok(self.file.sync_data()?)
    }
}

/// The most values of a batch.
const MOST_VALUES: usize = 4096;

/// Fills `bytes`, or says that the file ends before.
fn read_whole(reader: &mut impl Read, bytes: &mut [u8]) -> Result<bool, Error> {
    match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The next whole batch and its hash; `None` where the file ends or is damaged.
fn read_batch(
    reader: &mut impl Read,
    before: &[u8; 32],
    modulus: &Modulus,
    tape: &Tape,
) -> Result<Option<([u8; 32], Vec<Residue>)>, Error> {
    let mut bytes = vec![0; 4];
    if !read_whole(reader, &mut bytes)? {
        return Ok(None);
    }
    let count = number(&bytes) as usize;
    if count > MOST_VALUES || count > tape.room() {
        return Ok(None);
    }
    bytes.resize(4 + count * modulus.width(), 0);
    let mut hash = [0; 32];
    if !read_whole(reader, &mut bytes[4..])? || !read_whole(reader, &mut hash)? {
        return Ok(None);
    }
    let digest: [u8; 32] = Sha256::new_with_prefix(before).chain_update(&bytes).finalize().into();
    if digest != hash {
        return Ok(None);
    }
    let values = bytes[4..].chunks_exact(modulus.width());
    let batch: Result<Vec<_>, _> = values.map(|v| modulus.decode(v, "a recorded value")).collect();
    Ok(Some((digest, batch?)))
}
