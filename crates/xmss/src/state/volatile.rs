//! A store that forgets.

use super::{Record, StateError, StateStore};

/// A store in memory, for tests, benchmarks and keys that live as long as the process.
///
/// # Security
/// A key whose state was here must never be opened again: nothing knows which indices it used.
#[derive(Debug, Default)]
pub struct Volatile {
    record: Option<Record>,
}

impl Volatile {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl StateStore for Volatile {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        Ok(self.record.clone())
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        if self.record.as_ref().map(|record| record.epoch) != expected {
            return Err(StateError::Conflict { expected });
        }
        self.record = Some(record.clone());
        Ok(())
    }
}
