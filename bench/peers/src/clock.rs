//! The clock that the core runs at, by a chain of additions that each wait for the one before.
//!
//! Many virtual machines offer no cycle counter. A dependent register addition takes one cycle on
//! every core this runs on, so additions per nanosecond are gigahertz. The best of several short
//! chains is taken: a chain that was preempted is only slower.

use std::time::{Duration, Instant};

/// Additions in one chain: some 10 µs, short enough to escape preemption now and then.
const CHAIN: u64 = 40_000;
const TRIES: usize = 24;

/// The clock in GHz, or `None` on architectures without the loop.
pub fn gigahertz() -> Option<f64> {
    let mut best: f64 = 0.0;
    for _ in 0..TRIES {
        let clock = Instant::now();
        let additions = chain(CHAIN)?;
        best = best.max(additions as f64 / clock.elapsed().as_nanos() as f64);
    }
    Some(best)
}

/// Runs a chain and returns how many additions it did.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn chain(additions: u64) -> Option<u64> {
    const UNROLLED: u64 = 20;
    let rounds = additions / UNROLLED;
    let (mut counter, mut sum, one) = (rounds, 0_u64, std::hint::black_box(1_u64));
    while counter != 0 {
        // SAFETY: the block only adds one named register to another, 20 times; it touches neither
        // memory nor stack.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                ".rept 20", "add {sum}, {one}", ".endr",
                sum = inout(reg) sum, one = in(reg) one,
                options(nomem, nostack, pure),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(
                ".rept 20", "add {sum}, {sum}, {one}", ".endr",
                sum = inout(reg) sum, one = in(reg) one,
                options(nomem, nostack, pure),
            );
        }
        counter -= 1;
    }
    Some(std::hint::black_box(sum))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(_additions: u64) -> Option<u64> {
    None
}

/// The time that this thread has been on a core, which leaves out others' turns on a busy machine.
#[cfg(target_os = "linux")]
pub fn thread_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live timespec.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    (status == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// Known on Linux only.
#[cfg(not(target_os = "linux"))]
pub fn thread_time() -> Option<Duration> {
    None
}

/// Keeps this process, and the children it will start, on one core.
#[cfg(target_os = "linux")]
pub fn pin(core: usize) -> bool {
    // SAFETY: an all-zero cpu_set_t is a valid empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a live cpu_set_t; CPU_SET ignores cores past its size.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: pid 0 is this thread, and the set is read for the size given.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) == 0 }
}

/// Pinning is done on Linux only.
#[cfg(not(target_os = "linux"))]
pub fn pin(_core: usize) -> bool {
    false
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clock_is_plausible() {
        if let Some(clock) = super::gigahertz() {
            assert!((0.3..8.0).contains(&clock), "{clock} GHz");
        }
    }
}
