//! The threads that share a job of many items, in a forked process too.
//!
//! A forked child keeps only the thread that called `fork`. Rayon's global pool still counts its
//! threads there, and a job handed to them waits forever. So the first process that comes here uses
//! the global pool, and each process forked from it makes a pool of its own.
//!
//! Limit: a process that used rayon's global pool, but never this module, before it forked is not
//! recognized. Its child must call from a pool that it made itself.

#[cfg(not(target_family = "wasm"))]
use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

/// Runs `work` where rayon's parallel iterators have threads, and returns its result.
///
/// Inside a rayon pool that is the calling thread itself, so that callers choose the number of
/// threads by [`rayon::ThreadPool::install`].
///
/// # Panics
/// The first call in a forked process panics if the system refuses to start threads.
pub fn install<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    #[cfg(not(target_family = "wasm"))]
    if rayon::current_thread_index().is_none()
        && let Some(pool) = forked_pool()
    {
        return pool.install(work);
    }
    work()
}

/// A pool made by one process, and those made by processes forked from it.
#[cfg(not(target_family = "wasm"))]
struct Forked {
    process: u32,
    pool: rayon::ThreadPool,
    next: OnceLock<Box<Forked>>,
}

/// The pool of this process if it was forked from one that used the global pool.
///
/// No lock is held across a fork: a pool is made first and then put into its place, and a thread
/// that lost the race uses the winner's.
#[cfg(not(target_family = "wasm"))]
fn forked_pool() -> Option<&'static rayon::ThreadPool> {
    static FIRST: AtomicU32 = AtomicU32::new(0);
    static POOLS: OnceLock<Box<Forked>> = OnceLock::new();

    let process = std::process::id();
    match FIRST.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => return None,
        Err(first) if first == process => return None,
        Err(_) => {}
    }
    let mut place = &POOLS;
    loop {
        if let Some(forked) = place.get() {
            if forked.process == process {
                return Some(&forked.pool);
            }
            place = &forked.next;
            continue;
        }
        let _ = place.set(Box::new(Forked { process, pool: start(), next: OnceLock::new() }));
    }
}

/// As many threads as the global pool had.
#[cfg(not(target_family = "wasm"))]
fn start() -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
    pool.build().expect("the system starts threads, as it did before the fork")
}
