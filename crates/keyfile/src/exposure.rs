//! Who besides its owner may read or change a file that holds a secret.

use std::fs::Metadata;

/// What a file's mode lets other users do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Nothing; also where it is no regular file, or the system has no modes.
    Private,
    /// Its group or everyone may read it, or its group may change it. The mode.
    Readable(u32),
    /// Everyone may change it. The mode.
    Writable(u32),
}

impl Exposure {
    /// Judges a file by what the system says of it.
    ///
    /// Pipes and devices are left out: what is read from them is not kept there.
    #[must_use]
    pub fn of(file: &Metadata) -> Self {
        #[cfg(unix)]
        if file.is_file() {
            use std::os::unix::fs::MetadataExt;
            return match file.mode() & 0o777 {
                mode if mode & 0o002 != 0 => Exposure::Writable(mode),
                mode if mode & 0o066 != 0 => Exposure::Readable(mode),
                _ => Exposure::Private,
            };
        }
        let _ = file;
        Exposure::Private
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn modes_are_judged() {
        let path = std::env::temp_dir().join(format!("tetralith-exposure-{}", std::process::id()));
        std::fs::write(&path, "secret").unwrap();
        for (mode, expected) in [
            (0o600, Exposure::Private),
            (0o400, Exposure::Private),
            (0o700, Exposure::Private),
            (0o640, Exposure::Readable(0o640)),
            (0o620, Exposure::Readable(0o620)),
            (0o604, Exposure::Readable(0o604)),
            (0o664, Exposure::Readable(0o664)),
            (0o666, Exposure::Writable(0o666)),
            (0o602, Exposure::Writable(0o602)),
        ] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(Exposure::of(&std::fs::metadata(&path).unwrap()), expected, "{mode:o}");
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Exposure::of(&std::fs::metadata("/dev/null").unwrap()), Exposure::Private);
    }
}
