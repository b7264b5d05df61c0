//! Files that survive a crash.
//!
//! A file is replaced whole: its new content is written aside, synced, renamed over the old one, and the
//! folder is synced. After a kill or a power failure the name has the old content or the new. A sync
//! that fails is always an error: the caller must not act as if the content were on the disk.
//!
//! ```
//! use tetralith_durable::{Access, create_new, replace};
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("counter");
//! create_new(&path, b"1", Access::Owner)?;
//! replace(&path, b"2", Access::Owner)?;
//! assert_eq!(std::fs::read(&path)?, b"2");
//! assert!(create_new(&path, b"3", Access::Owner).is_err());
//! # Ok::<(), std::io::Error>(())
//! ```

mod aside;
#[cfg(unix)]
mod identity;
mod name;
mod open;

pub use aside::{Access, Aside, aside_of, create_new, rename, replace};
#[cfg(unix)]
pub use identity::identity;
pub use name::{beside, folder, remove, resolved, sync_folder};
pub use open::{is_at, open_regular, try_lock};

/// The package's own README, whose example is run like the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
