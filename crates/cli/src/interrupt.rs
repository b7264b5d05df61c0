//! SIGINT, SIGTERM and SIGHUP, for work that stops where it leaves nothing half done.

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
        for signal in signals() {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0)).map_err(failed)?;
        }
        Ok(interrupt)
    }

    /// As `catch`, for work that may be long in noticing: a second SIGINT or SIGTERM ends the process at
    /// once. SIGHUP does not, for a shell and the system both send it when their terminal is closed.
    pub(crate) fn catch_once() -> Outcome<Self> {
        #[cfg(unix)]
        {
            let asked = Arc::new(AtomicBool::new(false));
            for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
                let code = Exit::Environment as i32;
                signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&asked))
                    .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&asked)))
                    .map_err(failed)?;
            }
        }
        Self::catch()
    }

    /// Says whether a signal has come.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Waits for a signal; on other systems for Ctrl-C.
pub(crate) async fn wait() -> Outcome {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let caught = signals().into_iter().map(|number| signal(SignalKind::from_raw(number)));
        let mut caught = caught.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        std::future::poll_fn(|context| {
            let came = caught.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        Ok(())
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.map_err(failed)
}

fn failed(error: std::io::Error) -> Failure {
    Failure::new(Exit::Environment, "signal.catch", error)
}

/// The signals that ask for an end.
#[cfg(unix)]
fn signals() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let all = [SIGINT, SIGTERM, SIGHUP];
    all.into_iter().filter(|&signal| signal != SIGHUP || !ignores(signal)).collect()
}

/// Whether the process was started so that it outlives its terminal, as `nohup` does. Only Linux says.
#[cfg(unix)]
fn ignores(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
