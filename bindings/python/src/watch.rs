//! Long work of the XMSS crate, with progress told to Python and Ctrl-C heeded.

use crate::errors::of_xmss;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use tetralith_xmss::{Error, Progress};

/// Between two calls of `progress`, and between two looks for signals.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs work on a thread of its own. The caller's thread, on which alone Python handles signals, looks
/// for them meanwhile; if Python raises, the work is told to stop and the exception is the result.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Progress<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let (done, total, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let step = |now, of| {
        done.fetch_max(now, Relaxed);
        total.store(of, Relaxed);
        !stop.load(Relaxed)
    };
    let tell = |raised: &mut Option<PyErr>| {
        let (now, of) = (done.load(Relaxed), total.load(Relaxed));
        let told = Python::attach(|py| {
            py.check_signals()?;
            match progress {
                Some(progress) if of > 0 => progress.call1(py, (now, of)).map(drop),
                _ => Ok(()),
            }
        });
        if let Err(error) = told {
            stop.store(true, Relaxed);
            *raised = Some(error);
        }
    };
    let (result, raised) = py.detach(|| {
        std::thread::scope(|scope| {
            let (ended, wait) = mpsc::channel::<()>();
            let worker = scope.spawn(|| {
                let _ended = ended;
                work(&Progress::new(&step))
            });
            let mut raised = None;
            while wait.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    tell(&mut raised);
                }
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            if raised.is_none() && result.is_ok() {
                tell(&mut raised);
            }
            (result, raised)
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map_err(of_xmss),
    }
}
