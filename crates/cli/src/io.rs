//! Files and standard streams: bounded reads, and writes that are whole or not at all.

mod kept;
mod source;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use clap::Args;
pub(crate) use kept::Kept;
use kept::check_kept;
use serde_json::json;
pub(crate) use source::Source;
use std::fmt::Display;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
pub(crate) use tetralith_durable::{Access, resolved as target};
use tetralith_durable::{Aside, folder};
use tetralith_keyfile::Exposure;

/// Where a result is written.
#[derive(Args, Clone, Debug)]
pub(crate) struct Output {
    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file where it exists
    #[arg(long)]
    pub(crate) force: bool,
}

impl Output {
    /// Refuses, before long work, a file that exists and may not be replaced, and one that cannot be made.
    pub(crate) fn check(&self) -> Outcome {
        if self.is_stream() {
            return Ok(());
        }
        if !self.force && self.output.exists() {
            return Err(exists(&self.output));
        }
        check_place(&self.output)
    }

    /// As [`check`](Self::check), for a result that is no key: with `--force` it replaces none either.
    pub(crate) fn check_result(&self) -> Outcome {
        self.check()?;
        match Kept::of(&self.output).filter(|_| !self.is_stream()) {
            Some(kept) => Err(kept.refusal(&self.output)),
            None => Ok(()),
        }
    }

    /// Whether this is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.output == Path::new("-")
    }

    /// Whether it is written as a stream: standard output, a device or a pipe.
    pub(crate) fn is_stream(&self) -> bool {
        self.is_stdout() || is_special(&self.output)
    }

    /// Writes all of `bytes`: to a temporary file beside the target, synced, then renamed.
    pub(crate) fn write(&self, bytes: &[u8], access: Access) -> Outcome {
        write(&self.output, bytes, access, self.force)
    }

    /// Writes what long work has made, and says where it is, as [`Growing::keep`] does.
    pub(crate) fn keep(&self, bytes: &[u8], access: Access) -> Outcome<PathBuf> {
        let mut growing = self.grow(access)?;
        growing.write_all(bytes).map_err(|error| Failure::file(&self.output, &error))?;
        growing.keep()
    }

    /// Begins a result that is written little by little.
    pub(crate) fn grow(&self, access: Access) -> Outcome<Growing<'_>> {
        let failed = |error: std::io::Error| Failure::file(&self.output, &error);
        let to = if self.is_stdout() {
            To::Stream(Box::new(std::io::stdout().lock()))
        } else if is_special(&self.output) {
            let file = std::fs::File::options().write(true).open(&self.output).map_err(failed)?;
            To::Stream(Box::new(file))
        } else {
            To::File(self.begin(access)?)
        };
        Ok(Growing { output: self, to })
    }

    /// Begins the file, or one beside it if another process writes to the name right now.
    fn begin(&self, access: Access) -> Outcome<NewFile> {
        let refused = match NewFile::begin(&self.output, access, self.force) {
            Ok(file) => return Ok(file),
            Err(failure) => failure,
        };
        let beside = self.beside().find_map(|path| NewFile::begin(&path, access, false).ok());
        beside.ok_or(refused)
    }

    /// Names beside the file, for a result whose own name is taken.
    fn beside(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let path = target(&self.output);
        let named = move |end: String| tetralith_durable::beside(&path, &end);
        (1..=MOST_BESIDE)
            .map(move |number| (named(format!(".{number}")), named(format!(".{number}.lock"))))
            // A name with a lock beside it is of a run's state, which goes with the run.
            .filter(|(_, lock)| !lock.exists())
            .map(|(name, _)| name)
    }

    /// Takes room for as many bytes, before something that is spent by making them; `None` where they go
    /// to standard output or to something that is no file.
    pub(crate) fn reserve(&self, len: usize) -> Outcome<Option<NewFile>> {
        if self.is_stream() {
            return Ok(None);
        }
        self.stage(&vec![0; len], Access::Public).map(Some)
    }

    /// Writes all of `bytes` to a temporary file beside the target, and leaves the name for later.
    pub(crate) fn stage(&self, bytes: &[u8], access: Access) -> Outcome<NewFile> {
        let failed = |error: std::io::Error| Failure::file(&self.output, &error);
        let mut file = NewFile::begin(&self.output, access, self.force)?;
        file.write_all(bytes).map_err(failed)?;
        file.file.file().sync_all().map_err(failed)?;
        Ok(file)
    }
}

/// Names that are tried beside one that was taken.
const MOST_BESIDE: u32 = 999;

/// A result that is written little by little. A stream gets the bytes at once; a file gets its name when
/// it is kept, and is deleted when this is dropped before.
pub(crate) struct Growing<'a> {
    output: &'a Output,
    to: To,
}

enum To {
    Stream(Box<dyn Write>),
    File(NewFile),
}

impl Growing<'_> {
    /// Gives the file its name, and says where it is: if the name was taken meanwhile, a free one beside
    /// it, with a number, so that the result of long work is not thrown away.
    pub(crate) fn keep(self) -> Outcome<PathBuf> {
        let Growing { output, to } = self;
        let new = match to {
            To::Stream(mut stream) => {
                stream.flush().map_err(|error| Failure::file(&output.output, &error))?;
                return Ok(output.output.clone());
            }
            To::File(new) => new,
        };
        let path = target(&output.output);
        let is_own = new.path == path;
        if output.force && is_own && Kept::allows(&path, new.file.path()) {
            return new.finish().map(|()| output.output.clone());
        }
        let own = (is_own && !output.force).then(|| path.clone());
        match new.file.create_first(own.into_iter().chain(output.beside())) {
            Ok(at) if at == path => Ok(output.output.clone()),
            Ok(at) => Ok(at),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists(&path)),
            Err(error) => Err(Failure::file(&path, &error)),
        }
    }
}

impl Write for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.to {
            To::Stream(stream) => stream.write(bytes),
            To::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.to {
            To::Stream(stream) => stream.flush(),
            To::File(file) => file.flush(),
        }
    }
}

/// A reader or writer whose errors say which file failed.
pub(crate) struct Named<'a, T> {
    pub(crate) inner: T,
    pub(crate) path: &'a Path,
}

impl<T> Named<'_, T> {
    fn name(&self, error: std::io::Error) -> std::io::Error {
        std::io::Error::new(error.kind(), Failure::file(self.path, &error).message)
    }
}

impl<T: Read> Read for Named<'_, T> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(bytes).map_err(|error| self.name(error))
    }
}

impl<T: Write> Write for Named<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.inner.write(bytes).map_err(|error| self.name(error))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush().map_err(|error| self.name(error))
    }
}

/// A file that is written little by little and gets its name when it is whole; dropped before, it is
/// deleted.
pub(crate) struct NewFile {
    file: Aside,
    path: PathBuf,
    force: bool,
}

impl NewFile {
    /// Begins a file that everyone may read; without `force` an existing one stays.
    pub(crate) fn create(path: &Path, force: bool) -> Outcome<NewFile> {
        if !force && path.exists() {
            return Err(exists(path));
        }
        NewFile::begin(path, Access::Public, force)
    }

    fn begin(path: &Path, access: Access, force: bool) -> Outcome<NewFile> {
        let path = &target(path);
        check_folder(path)?;
        let file = Aside::create(path, access).map_err(|error| Failure::file(path, &error))?;
        Ok(NewFile { file, path: path.to_owned(), force })
    }

    /// Replaces the bytes, where room was kept for as many.
    pub(crate) fn rewrite(&mut self, bytes: &[u8]) -> Outcome {
        let failed = |error: std::io::Error| Failure::file(&self.path, &error);
        let file = self.file.file();
        file.rewind().map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        file.set_len(bytes.len() as u64).map_err(failed)?;
        file.sync_all().map_err(failed)
    }

    /// Syncs the file and gives it its name; without `force` an existing file stays.
    pub(crate) fn finish(self) -> Outcome {
        let NewFile { file, path, force } = self;
        let named = if force { file.replace() } else { file.create_new() };
        named.map(drop).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => exists(&path),
            _ => Failure::file(&path, &error),
        })
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Says, before long work, whether a file could be made at `path`.
pub(crate) fn check_place(path: &Path) -> Outcome {
    if path.is_dir() {
        return Err(Failure::new(
            Exit::Environment,
            "io.file",
            format!("{} is a folder", path.display()),
        ));
    }
    NewFile::begin(path, Access::Owner, true).map(drop)
}

/// Refuses a pipe or a device in the place of a file that others belong to: reading it could wait forever.
pub(crate) fn check_regular(path: &Path) -> Outcome {
    if !is_special(path) {
        return Ok(());
    }
    let message = format!("{} is a device or a pipe, not a file", path.display());
    Err(Failure::new(Exit::Environment, "io.file", message).hint("name a regular file"))
}

fn check_folder(path: &Path) -> Outcome {
    let folder = folder(path);
    if folder.is_dir() {
        return Ok(());
    }
    let message = format!("there is no folder {}", folder.display());
    Err(Failure::new(Exit::Environment, "io.file", message).hint("make it, or name another"))
}

/// Whether something that is no file is there, such as a device or a pipe: it is written to, and stays.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Warns about a file with a secret that other users may read, and refuses one that everyone may change.
pub(crate) fn check_private(context: Context, path: &Path) -> Outcome {
    if path == Path::new("-") {
        return Ok(());
    }
    let name = path.display();
    // What cannot be looked at cannot be read either, which is told then.
    match std::fs::metadata(path).map_or(Exposure::Private, |found| Exposure::of(&found)) {
        Exposure::Private => Ok(()),
        Exposure::Readable(mode) => {
            let text = format!(
                "warning: {name} has mode {mode:o}: other users can read it; run chmod 600 {name}"
            );
            let fields = json!({ "file": name.to_string(), "mode": format!("{mode:o}") });
            context.event("file.exposed", text, fields);
            Ok(())
        }
        Exposure::Writable(mode) => {
            Err(exposed(path, format!("{name}: every user may change it (mode {mode:o})")))
        }
    }
}

/// A file with a secret that everyone may change.
pub(crate) fn exposed(path: &Path, message: impl Display) -> Failure {
    Failure::new(Exit::Environment, "file.exposed", message)
        .hint(format!("check that nobody changed it, then run chmod 600 {}", path.display()))
}

pub(crate) fn exists(path: &Path) -> Failure {
    Failure::new(Exit::Environment, "io.exists", format!("{} exists", path.display()))
        .hint("choose another name, or give --force to replace it")
}

/// Writes a whole file, or standard output for `-`; without `force` an existing file stays.
pub(crate) fn write(path: &Path, bytes: &[u8], access: Access, force: bool) -> Outcome {
    if path == Path::new("-") {
        let failed = |error: std::io::Error| Failure::file(path, &error);
        return std::io::stdout().lock().write_all(bytes).map_err(failed);
    }
    if is_special(path) {
        let failed = |error: std::io::Error| Failure::file(path, &error);
        let mut file = std::fs::File::options().write(true).open(path).map_err(failed)?;
        return file.write_all(bytes).map_err(failed);
    }
    if force {
        check_kept(path, bytes)?;
    }
    let mut file = NewFile::begin(path, access, force)?;
    file.write_all(bytes).map_err(|error| Failure::file(path, &error))?;
    file.finish()
}

/// Reads a file, or standard input for `-`, and refuses more than `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Outcome<Vec<u8>> {
    let failed = |error: std::io::Error| Failure::file(path, &error);
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
    };
    read.map_err(failed)?;
    if bytes.len() as u64 > limit {
        let message = format!("{} is longer than the {limit} bytes allowed", path.display());
        return Err(Failure::usage("input.too_long", message));
    }
    Ok(bytes)
}

/// Reads UTF-8 text, at most `limit` bytes of it.
pub(crate) fn read_text(path: &Path, limit: u64) -> Outcome<String> {
    String::from_utf8(read(path, limit)?)
        .map_err(|_| Failure::usage("input.utf8", format!("{} is not UTF-8 text", path.display())))
}

/// Decodes hex, with or without `0x`, naming what it was meant to be.
pub(crate) fn from_hex(what: &str, text: &str) -> Outcome<Vec<u8>> {
    tetralith_columns::decode_hex(text.trim().as_bytes())
        .map_err(|error| Failure::usage("input.hex", format!("{what} is {error}")))
}
