//! What tells a file from every copy of it.

use std::fs::File;
use std::io::Result;
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

/// What tells an open file from a copy of it, and stays the same while the file lives, restarts of the
/// machine included: the file system's own number, the inode, and the time of birth in nanoseconds.
///
/// The number of the *device* is not stable: the kernel gives disks their numbers in the order in which
/// it finds them. Many file systems (XFS, FAT) report just that number as their own; it is left out
/// where the time of birth is known, which nobody can set and no copy shares. A copy of the whole file
/// system, block by block, has the same identity.
///
/// # Errors
/// The file's data cannot be read.
pub fn identity(file: &File) -> Result<[u8; 32]> {
    let meta = file.metadata()?;
    let born = meta.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let born = born.map_or(0, |since| since.as_nanos());
    let own = rustix::fs::fstatvfs(file)?.f_fsid;
    let mut identity = [0; 32];
    identity[..8].copy_from_slice(&file_system(own, meta.dev(), born).to_be_bytes());
    identity[8..16].copy_from_slice(&meta.ino().to_be_bytes());
    identity[16..].copy_from_slice(&born.to_be_bytes());
    Ok(identity)
}

/// The number that a file system has, from the one that it says and that of its device.
fn file_system(own: u64, device: u64, born: u128) -> u64 {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    // As Linux packs a device's number where a file system has none of its own.
    let packed = minor & 0xff | major << 8 | (minor & !0xff) << 12;
    match own == 0 || own == u64::from(packed) || own == device {
        false => own,
        true if born == 0 => device,
        true => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renumbered_disk_is_the_same_file_system() {
        let (old, new) = (rustix::fs::makedev(259, 2), rustix::fs::makedev(259, 0x301));
        let packed = |device| {
            let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
            u64::from(minor & 0xff | major << 8 | (minor & !0xff) << 12)
        };
        // ext4 has a number of its own, XFS that of its device, NFS none.
        assert_eq!(file_system(77, old, 5), file_system(77, new, 5));
        assert_ne!(file_system(77, old, 5), file_system(78, old, 5));
        assert_eq!(file_system(packed(old), old, 5), file_system(packed(new), new, 5));
        assert_eq!(file_system(0, old, 5), file_system(0, new, 5));
        // Nothing better is known.
        assert_ne!(file_system(0, old, 0), file_system(0, new, 0));
    }

    #[test]
    fn a_copy_is_another_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, copy) = (folder.path().join("file"), folder.path().join("copy"));
        let file = File::create(&path).expect("made");
        std::fs::copy(&path, &copy).expect("copied");
        let copied = identity(&File::open(&copy).expect("opened")).expect("known");
        let known = identity(&file).expect("known");
        assert_ne!(known, copied);
        // A new name is no copy.
        let moved = folder.path().join("moved");
        std::fs::rename(&path, &moved).expect("moved");
        assert_eq!(known, identity(&File::open(&moved).expect("opened")).expect("known"));
    }
}
