//! SIGINT and SIGTERM as a flag, for work that stops where it leaves nothing half done.

use crate::failure::{Exit, Failure, Outcome};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once a signal has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Catches the signals from now on: the caller has to look, and soon.
    ///
    /// Caught only after passphrases were asked for, so that a prompt can still be left.
    pub(crate) fn catch() -> Outcome<Self> {
        let interrupt = Self::default();
        #[cfg(unix)]
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0)).map_err(|error| {
                Failure::new(Exit::Environment, "signals", format!("signals: {error}"))
            })?;
        }
        Ok(interrupt)
    }

    /// Says whether a signal has come.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
