//! Handing a key over to other software: what is exported, and what becomes of the state here.
//!
//! An exported key moves: its indices are spent here, so that two signers never have one key. A process
//! may be killed at any moment of it. So the content is written first, whole and synced, under a name
//! that nobody uses, then the indices are spent, then the content gets its name:
//!
//! 1. `KEY.exported`, with MARK, which is drawn anew each time, the index to go on at, the form and the output;
//! 2. `.OUTPUT.export-MARK` beside the output, with the content;
//! 3. the commit that spends all indices and gives the state the number MARK;
//! 4. the rename to OUTPUT.
//!
//! Before 3 the file of 2 is worthless: a later export to the same output deletes it. After 3 the state has its number, so
//! that a later export finds it and finishes. The rename is the one moment at which the export is done.

use crate::create::draw;
use crate::store::Site;
use crate::{Error, Keyring, Store};
use rand_core::CryptoRng;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tetralith_durable::{
    Access, Aside, aside_of, create_new, folder, open_regular, remove, rename, replace, resolved,
};
use tetralith_xmss::state::{Reservations, StateError, Status};
use zeroize::Zeroizing;

/// An export that was begun: the state is open, and nothing is spent yet.
pub struct Export {
    site: Site,
    origin: Origin,
    /// The file that is written; `None` for a stream, which the caller writes to.
    output: Option<PathBuf>,
    form: String,
    /// The first index that was not leased before the export.
    next: u64,
    content: Content,
}

/// What becomes of the state that the exported key had here.
enum Origin {
    Moves(Box<Reservations<Store>>),
    Stays(Box<Status>),
}

/// Where the exported content is.
enum Content {
    /// Nowhere yet.
    None,
    /// In memory: nothing moves.
    Held(Zeroizing<Vec<u8>>),
    /// In a file that waits for its name: its indices are spent.
    Waiting(PathBuf),
}

impl core::fmt::Debug for Export {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Export({})", self.form)
    }
}

/// What `KEY.exported` says.
struct Note {
    mark: [u8; 16],
    next: u64,
    form: String,
    /// Where the content was to be written: [`STREAM`] for a stream.
    output: PathBuf,
}

impl Keyring {
    /// Begins to export the key to a file, or with `None` to a stream. `form` names the content's format
    /// in a line. With `copy` the key stays able to sign here: two signers of one index let anybody
    /// forge.
    ///
    /// # Errors
    /// As [`sign_with`](Self::sign_with); [`Error::Range`] where only a range of the key is for this
    /// place; [`Error::Interrupted`] where an export in another form, or to another output, waits to be
    /// finished.
    pub fn export(&self, output: Option<&Path>, form: &str, copy: bool) -> Result<Export, Error> {
        let state = self.site.reservations(&self.public)?;
        let status = state.status();
        if status.until < status.limit {
            return Err(Error::Range { until: status.until, limit: status.limit });
        }
        let (next, left, number) = (status.next, status.left, state.store_id());
        let origin = match copy {
            true => Origin::Stays(Box::new(status)),
            false => Origin::Moves(Box::new(state)),
        };
        let output = output.map(resolved);
        let (site, form) = (self.site.clone(), form.to_owned());
        let mut export = Export { site, origin, output, form, next, content: Content::None };
        if !copy {
            export.resume(left, number)?;
        }
        Ok(export)
    }
}

impl Export {
    /// The index at which the key goes on elsewhere.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// How many indices move, or stay with a copy; 0 where they were spent or exported before.
    #[must_use]
    pub fn left(&self) -> u64 {
        match (&self.origin, &self.content) {
            (Origin::Stays(status), _) => status.left,
            (Origin::Moves(state), Content::Waiting(_)) => state.status().limit - self.next,
            (Origin::Moves(state), _) => state.status().left,
        }
    }

    /// Whether the key's indices move with the export.
    #[must_use]
    pub fn moves(&self) -> bool {
        matches!(self.origin, Origin::Moves(_)) && self.left() > 0
    }

    /// Whether an earlier process was interrupted after it had spent the indices: its content is there,
    /// and [`finish`](Self::finish) is all that is left.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.content, Content::Waiting(_))
    }

    /// Takes what is exported, the key at the index [`next`](Self::next), and spends the indices.
    ///
    /// # Errors
    /// [`Error::File`] where there is no room, and then nothing is spent; [`Error::State`].
    pub fn write(
        &mut self,
        content: Zeroizing<Vec<u8>>,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<(), Error> {
        if !self.moves() {
            self.content = Content::Held(content);
            return Ok(());
        }
        let (mark, next) = (draw(rng), self.next);
        let aside = self.aside(&mark);
        let (form, output) = (self.form.clone(), absolute(self.output.as_deref()));
        Note { mark, next, form, output }.write(&self.site)?;
        let written = create_new(&aside, &content, Access::Owner);
        let spent = written.map_err(Error::file(&aside)).and_then(|()| match &mut self.origin {
            Origin::Moves(state) => {
                let spent = state.hand_over(next, mark, now);
                spent.map(drop).map_err(|error| self.site.refused(error))
            }
            Origin::Stays(_) => Ok(()),
        });
        match spent {
            Ok(()) => {
                self.content = Content::Waiting(aside);
                Ok(())
            }
            // Nobody knows whether it was committed. If it was, the next export finds the file.
            Err(error @ Error::State { source: StateError::Io(_), .. }) => Err(error),
            Err(error) => {
                let _ = remove(&aside);
                Err(error)
            }
        }
    }

    /// What is exported, for a stream.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn content(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut bytes = Zeroizing::new(Vec::new());
        match &self.content {
            Content::None => {}
            Content::Held(held) => bytes.extend_from_slice(held),
            Content::Waiting(path) => {
                let file = open_regular(path, OpenOptions::new().read(true));
                let read = file.and_then(|file| file.take(MOST).read_to_end(&mut bytes));
                read.map_err(Error::file(path))?;
            }
        }
        Ok(bytes)
    }

    /// Gives the file its name, or, for a stream that was written, forgets the content.
    ///
    /// # Errors
    /// [`Error::File`], with [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) where the name is taken and not to be replaced;
    /// the content stays for another attempt.
    pub fn finish(self, replace_existing: bool) -> Result<(), Error> {
        match (&self.content, &self.output) {
            (Content::None, _) | (Content::Held(_), None) => Ok(()),
            (Content::Waiting(aside), None) => remove(aside).map_err(Error::file(aside)),
            (Content::Waiting(aside), Some(output)) => {
                rename(aside, output, replace_existing).map_err(Error::file(output))
            }
            (Content::Held(bytes), Some(output)) => {
                let written = Aside::create(output, Access::Owner).and_then(|mut file| {
                    file.write_all(bytes)?;
                    if replace_existing { file.replace() } else { file.create_new() }
                });
                written.map(drop).map_err(Error::file(output))
            }
        }
    }

    /// Finds what an interrupted export left: worthless while indices are left, to be finished where it
    /// was its commit that spent them.
    fn resume(&mut self, left: u64, number: [u8; 16]) -> Result<(), Error> {
        let Some(note) = Note::read(&self.site) else { return Ok(()) };
        let aside = self.aside(&note.mark);
        if left > 0 {
            // Whole, or killed before it was.
            let removed = remove(&aside).and_then(|()| remove(&aside_of(&aside)?));
            return removed.map_err(Error::file(&aside));
        }
        if note.mark != number {
            return Ok(());
        }
        if !aside.exists() {
            // To export once more would lose what waits: no index is left for it.
            let output = (note.output != Path::new(STREAM)).then_some(note.output.as_path());
            return match self.aside_of(output, &note.mark).exists() {
                true => Err(note.interrupted()),
                false => Ok(()),
            };
        }
        if note.form != self.form {
            return Err(note.interrupted());
        }
        self.next = note.next;
        self.content = Content::Waiting(aside);
        Ok(())
    }

    /// The name under which the content waits.
    fn aside(&self, mark: &[u8; 16]) -> PathBuf {
        self.aside_of(self.output.as_deref(), mark)
    }

    fn aside_of(&self, output: Option<&Path>, mark: &[u8; 16]) -> PathBuf {
        let path = output.unwrap_or(self.site.files.key());
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".export-{}", digits(mark)));
        folder(path).join(name)
    }
}

impl Note {
    fn read(site: &Site) -> Option<Self> {
        let file = open_regular(&site.files.exported(), OpenOptions::new().read(true)).ok()?;
        let mut text = String::new();
        file.take(MOST_NOTED).read_to_string(&mut text).ok()?;
        let (first, output) = text.strip_prefix(MAGIC)?.split_once('\n')?;
        let output = output.strip_suffix('\n').unwrap_or(output).into();
        let mut words = first.splitn(3, ' ');
        let mark = u128::from_str_radix(words.next()?, 16).ok()?.to_be_bytes();
        let (next, form) = (words.next()?.parse().ok()?, words.next()?.to_owned());
        Some(Self { mark, next, form, output })
    }

    fn interrupted(self) -> Error {
        Error::Interrupted { form: self.form, output: self.output }
    }

    fn write(&self, site: &Site) -> Result<(), Error> {
        let output = self.output.to_string_lossy();
        let text = format!("{MAGIC}{} {} {}\n{output}\n", digits(&self.mark), self.next, self.form);
        let path = site.files.exported();
        replace(&path, text.as_bytes(), Access::Owner).map_err(Error::file(&path))
    }
}

/// The output's name from any folder; [`STREAM`] for none.
fn absolute(output: Option<&Path>) -> PathBuf {
    let Some(output) = output else { return STREAM.into() };
    std::path::absolute(output).unwrap_or_else(|_| output.to_owned())
}

fn digits(mark: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*mark))
}

const MAGIC: &str = "tetralith xmss export 1\n";
/// How a note names a stream.
const STREAM: &str = "-";
/// More than any note has.
const MOST_NOTED: u64 = 1 << 14;
/// More than any export has.
const MOST: u64 = 1 << 24;
