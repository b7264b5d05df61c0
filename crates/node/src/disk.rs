//! Whether the node's folder can still be written.

use crate::ceremony::lock;
use crate::error::Error;
use crate::folder::Folder;
use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long an answer stays good: anybody may ask, and each answer costs a write.
const FRESH: Duration = Duration::from_secs(5);
/// What a share and its log entries may need.
const PROBE: usize = 256 << 10;

/// Probes the folder's disk.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: Folder,
    last: Mutex<Option<(Instant, Option<String>)>>,
}

impl Disk {
    pub(crate) fn new(folder: Folder) -> Self {
        Disk { folder, last: Mutex::new(None) }
    }

    /// Says why the folder cannot be written, if so; blocks.
    pub(crate) fn trouble(&self) -> Option<String> {
        let mut last = lock(&self.last);
        match &*last {
            Some((when, answer)) if when.elapsed() < FRESH => answer.clone(),
            _ => {
                let answer = self.probe().err().map(|error| error.to_string());
                *last = Some((Instant::now(), answer.clone()));
                answer
            }
        }
    }

    fn probe(&self) -> Result<(), Error> {
        let failed = || Error::file(self.folder.root());
        let mut file = tempfile::NamedTempFile::new_in(self.folder.root()).map_err(failed())?;
        file.write_all(&vec![0; PROBE]).map_err(failed())?;
        file.as_file().sync_all().map_err(failed())
    }
}
