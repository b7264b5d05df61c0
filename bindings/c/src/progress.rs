//! The caller's view of long work: a function that is called meanwhile, and a ready-made one.

use crate::memory::{free, hand_out, handle, set};
use crate::status::guarded;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Called a few times a second with the caller's pointer, the steps done and those of the whole run, on
/// the thread that called the library. A result other than 0 stops the run with
/// `TETRALITH_ENVIRONMENT`.
#[allow(non_camel_case_types)]
pub type tetralith_progress =
    Option<unsafe extern "C" fn(user: *mut c_void, done: u64, total: u64) -> i32>;

/// A progress function with its pointer, for one call.
#[derive(Clone, Copy)]
pub(crate) struct Callback(pub(crate) tetralith_progress, pub(crate) *mut c_void);

impl Callback {
    pub(crate) fn step(&self, done: u64, total: u64) -> ControlFlow<()> {
        let Some(progress) = self.0 else { return ControlFlow::Continue(()) };
        // SAFETY: the caller gave the function and its pointer for this call.
        match unsafe { progress(self.1, done, total) } {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }

    /// Runs work that counts on many threads, and tells the caller on this one.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn watch<T: Send>(
        &self,
        total: u64,
        work: impl FnOnce(&(dyn Fn(u64, u64) -> bool + Sync)) -> T + Send,
    ) -> T {
        if self.0.is_none() {
            return work(&|_, _| true);
        }
        let (done, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
        let count = |now, _| {
            done.fetch_max(now, Ordering::Relaxed);
            !stopped.load(Ordering::Relaxed)
        };
        std::thread::scope(|scope| {
            let working = scope.spawn(|| work(&count));
            while !working.is_finished() {
                if self.step(done.load(Ordering::Relaxed), total).is_break() {
                    stopped.store(true, Ordering::Relaxed);
                    break;
                }
                std::thread::sleep(PAUSE);
            }
            match working.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

/// Between two calls of a progress function.
#[cfg(not(target_family = "wasm"))]
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// Counts of a run, and a request to stop it, for a program that wants no callback of its own.
pub struct Watch {
    done: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

/// Makes a watch. Pass it as `user` with `tetralith_watch_progress` as `progress`; other threads may
/// then read it and stop the run.
///
/// # Safety
/// `out` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_watch_new(out: *mut *mut Watch) -> i32 {
    guarded(|| {
        let [done, total] = [0; 2].map(AtomicU64::new);
        // SAFETY: the caller vouches for the pointer.
        unsafe { hand_out(out, Watch { done, total, stopped: AtomicBool::new(false) }) }
    })
}

/// A `tetralith_progress` function whose `user` is a watch.
///
/// # Safety
/// `watch` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_watch_progress(
    watch: *mut c_void,
    done: u64,
    total: u64,
) -> i32 {
    // SAFETY: the caller vouches for the handle.
    let Some(watch) = (unsafe { watch.cast::<Watch>().as_ref() }) else { return 1 };
    watch.done.store(done, Ordering::Relaxed);
    watch.total.store(total, Ordering::Relaxed);
    i32::from(watch.stopped.load(Ordering::Relaxed))
}

/// Stops the run that has this watch, and every later one, soon. From any thread.
///
/// # Safety
/// `watch` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_watch_stop(watch: *const Watch) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let watch = unsafe { handle("watch", watch) }?;
        watch.stopped.store(true, Ordering::Relaxed);
        Ok(())
    })
}

/// Writes the steps done and those of the whole run; a place may be NULL. From any thread.
///
/// # Safety
/// `watch` is a handle; `done` and `total` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_watch_read(
    watch: *const Watch,
    done: *mut u64,
    total: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let watch = unsafe { handle("watch", watch) }?;
        // SAFETY: the caller vouches for the pointer.
        unsafe { set(done, watch.done.load(Ordering::Relaxed)) };
        // SAFETY: as above.
        unsafe { set(total, watch.total.load(Ordering::Relaxed)) };
        Ok(())
    })
}

/// Frees a watch; NULL is allowed.
///
/// # Safety
/// `watch` is NULL or a handle that is not freed, and no call uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_watch_free(watch: *mut Watch) {
    // SAFETY: the caller vouches for the handle.
    unsafe { free(watch) }
}
