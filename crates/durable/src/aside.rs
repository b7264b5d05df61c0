//! Writing aside: the file in which content waits until it is whole and on the disk.
//!
//! It is `.NAME.new`, one for each target, so that people find what a killed process left, which may hold
//! a secret, and the next run replaces it. It is locked while its maker lives.

use super::name::{folder, sync_folder};
use super::open::{is_at, open_regular};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everyone, as the process's mask allows.
    Public,
    /// The owner only.
    Owner,
}

/// Content on its way to a target. Dropped before it is persisted, it is deleted.
#[derive(Debug)]
pub struct Aside {
    name: Name,
    target: PathBuf,
    /// Dropped after the name, so that it is locked until the name is gone.
    file: File,
}

/// The name aside, which goes unless it was exchanged for the target's.
#[derive(Debug)]
struct Name {
    path: PathBuf,
    persisted: bool,
}

impl Drop for Name {
    fn drop(&mut self) {
        if !self.persisted {
            // Half a file is of no use, and may be what fills the disk.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Aside {
    /// Makes an empty file beside `target`, and replaces one that a killed process left.
    ///
    /// # Errors
    /// [`ErrorKind::ResourceBusy`] where another process writes to the same target; or the file cannot
    /// be made.
    pub fn create(target: &Path, access: Access) -> Result<Self> {
        let path = aside_of(target)?;
        for _ in 0..ATTEMPTS {
            match options(access).create_new(true).open(&path) {
                Ok(file) if is_free(&file) && is_at(&file, &path) => {
                    let name = Name { path, persisted: false };
                    return Ok(Self { name, target: target.to_owned(), file });
                }
                // Another process took it for a leftover, in the instant before the lock.
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => remove_left(&path)?,
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(ErrorKind::ResourceBusy, "other processes write to it"))
    }

    /// The file, for writing.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Where the file is, for a library that opens it by name. It must be closed there before it is
    /// persisted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.name.path
    }

    /// Syncs the file and renames it over the target. The file stays locked until it is dropped.
    ///
    /// # Errors
    /// The content or the name could not be made durable. If only the last sync failed, of the folder,
    /// the target has the new content already, and may lose it in a power failure.
    pub fn replace(self) -> Result<File> {
        self.persist(|from, to| fs::rename(from, to))
    }

    /// Syncs the file and gives it the target's name, unless a file has that name.
    ///
    /// # Errors
    /// As [`replace`](Self::replace), and [`ErrorKind::AlreadyExists`].
    pub fn create_new(self) -> Result<File> {
        self.persist(rename_new)
    }

    /// Syncs the file and gives it the first of these names in the target's folder that no file has.
    ///
    /// # Errors
    /// As [`create_new`](Self::create_new), if all names are taken.
    pub fn create_first(mut self, names: impl IntoIterator<Item = PathBuf>) -> Result<PathBuf> {
        self.file.sync_all()?;
        for name in names {
            match rename_new(&self.name.path, &name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                renamed => renamed?,
            }
            self.name.persisted = true;
            sync_folder(&name)?;
            return Ok(name);
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    fn persist(mut self, rename: impl FnOnce(&Path, &Path) -> Result<()>) -> Result<File> {
        self.file.sync_all()?;
        rename(&self.name.path, &self.target)?;
        self.name.persisted = true;
        sync_folder(&self.target)?;
        Ok(self.file)
    }
}

impl Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

/// Replaces a file whole, or creates it.
///
/// # Errors
/// As [`Aside::create`] and [`Aside::replace`].
pub fn replace(path: &Path, bytes: &[u8], access: Access) -> Result<()> {
    let mut aside = Aside::create(path, access)?;
    aside.write_all(bytes)?;
    aside.replace().map(drop)
}

/// Creates a file whole, or fails where one exists.
///
/// # Errors
/// As [`Aside::create`] and [`Aside::create_new`].
pub fn create_new(path: &Path, bytes: &[u8], access: Access) -> Result<()> {
    let mut aside = Aside::create(path, access)?;
    aside.write_all(bytes)?;
    aside.create_new().map(drop)
}

/// Renames a file, durably; without `replace` it fails where the new name is taken.
///
/// # Errors
/// The file cannot be renamed, or the folder not synced; [`ErrorKind::AlreadyExists`].
pub fn rename(from: &Path, to: &Path, replace: bool) -> Result<()> {
    if replace { fs::rename(from, to) } else { rename_new(from, to) }?;
    sync_folder(to)
}

/// The name aside of a target, `.NAME.new`, under which a killed process leaves what it had written.
///
/// # Errors
/// [`ErrorKind::InvalidInput`]: the path has no name, as `..` has none.
pub fn aside_of(target: &Path) -> Result<PathBuf> {
    let name = target.file_name();
    let name = name.ok_or(Error::new(ErrorKind::InvalidInput, "it is not the name of a file"))?;
    let mut aside = OsString::from(".");
    aside.push(name);
    aside.push(".new");
    Ok(folder(target).join(aside))
}

fn options(access: Access) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        let mode = if access == Access::Public { 0o666 } else { 0o600 };
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    let _ = access;
    options
}

/// Deletes a file whose maker has ended.
fn remove_left(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(found) if found.is_file() => {}
        _ => return Err(Error::new(ErrorKind::AlreadyExists, in_the_way(path))),
    }
    let file = match open_regular(path, OpenOptions::new().read(true).write(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    match is_free(&file) {
        true if is_at(&file, path) => fs::remove_file(path),
        true => Ok(()),
        false => Err(Error::new(ErrorKind::ResourceBusy, "another process writes to it")),
    }
}

fn in_the_way(path: &Path) -> String {
    format!("{} is in the way and is not a regular file", path.display())
}

/// Locks a file, unless another process has; where the file system has no locks, none has.
fn is_free(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Renames without replacing, in one step where the system can.
fn rename_new(from: &Path, to: &Path) -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system, or an old kernel, does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            renamed => return Ok(renamed?),
        }
    }
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

const ATTEMPTS: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leftover_is_replaced_and_a_busy_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, left) = (folder.path().join("key"), folder.path().join(".key.new"));
        fs::write(&left, "of a process that was killed").expect("written");
        let ours = Aside::create(&target, Access::Owner).expect("made");
        assert_eq!(fs::read(&left).expect("read"), b"");
        let busy = Aside::create(&target, Access::Owner).expect_err("held");
        assert_eq!(busy.kind(), ErrorKind::ResourceBusy);
        drop(ours);
        assert!(!left.exists());
        drop(Aside::create(&target, Access::Public).expect("made"));
    }

    #[test]
    fn a_target_is_replaced_or_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("file");
        create_new(&target, b"one", Access::Owner).expect("created");
        let kept = create_new(&target, b"two", Access::Public).expect_err("it exists");
        assert_eq!(kept.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&target).expect("read"), b"one");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&target).expect("its data").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        replace(&target, b"three", Access::Public).expect("replaced");
        assert_eq!(fs::read(&target).expect("read"), b"three");
        let names = fs::read_dir(folder.path()).expect("the folder").count();
        assert_eq!(names, 1);
        let nowhere = folder.path().join("none/file");
        assert!(replace(&nowhere, b"", Access::Public).is_err());
    }

    #[test]
    fn the_first_free_name_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for taken in ["file", "file.1"] {
            fs::write(at(taken), taken).expect("written");
        }
        let aside = || Aside::create(&at("file"), Access::Owner).expect("made");
        let named = aside().create_first(["file", "file.1", "file.2", "file.3"].map(at));
        assert_eq!(named.expect("a free name"), at("file.2"));
        let refused = aside().create_first(["file", "file.1"].map(at)).expect_err("none is free");
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(at("file")).expect("read"), b"file");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 3);
    }
}
