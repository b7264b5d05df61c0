//! A job that is shared among threads ends in a forked child, and in a child of the child, after the
//! parent has used its threads.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use rayon::prelude::*;
use std::time::{Duration, Instant};
use tetralith_kernels::threads;

/// A job of many small tasks.
fn sum() -> u64 {
    threads::install(|| (0..1000u32).into_par_iter().with_max_len(1).map(u64::from).sum())
}

/// Runs `work` in a forked child, and says whether it returned `true` within ten seconds.
fn in_child(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: glibc's allocator works in a forked child, and the child leaves by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork failed");
    if child == 0 {
        let code = i32::from(!work());
        // SAFETY: ends this process without running what belongs to the parent.
        unsafe { libc::_exit(code) };
    }
    let until = Instant::now() + Duration::from_secs(10);
    let mut status = 0;
    loop {
        // SAFETY: `child` is a child of this process and `status` may be written.
        let ended = unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) };
        if ended == child {
            return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        }
        if Instant::now() > until {
            // SAFETY: as above; the child has not been waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
            // SAFETY: as above.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_forked_child_has_threads_of_its_own() {
    const SUM: u64 = 1000 * 999 / 2;
    assert_eq!(sum(), SUM);
    let grandchild_too = || sum() == SUM && in_child(|| sum() == SUM) && sum() == SUM;
    assert!(in_child(grandchild_too), "the child waits for threads that it does not have");
    assert_eq!(sum(), SUM);
}

#[test]
fn the_number_of_threads_is_the_callers() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(pool.install(|| threads::install(rayon::current_num_threads)), 3);
}
