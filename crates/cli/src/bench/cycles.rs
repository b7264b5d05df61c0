//! User-mode core cycles from the CPU's own counter, and CPU time, where the system lets us read them.

/// Running counters, or nothing, of this thread and the threads that it starts later.
pub(super) struct Cycles {
    #[cfg(target_os = "linux")]
    counter: Option<perf_event::Counter>,
    #[cfg(target_os = "linux")]
    cpu: Option<perf_event::Counter>,
}

impl Cycles {
    /// Starts counting.
    pub(super) fn new() -> Self {
        #[cfg(target_os = "linux")]
        {
            use perf_event::events::{Hardware, Software};
            let (counter, cpu) = (start(Hardware::CPU_CYCLES), start(Software::TASK_CLOCK));
            Cycles { counter, cpu }
        }
        #[cfg(not(target_os = "linux"))]
        Cycles {}
    }

    /// The cycles so far; `None` where they cannot be counted.
    pub(super) fn read(&mut self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        return self.counter.as_mut().and_then(|counter| counter.read().ok());
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The CPU time of all threads so far, in nanoseconds; `None` where it cannot be counted.
    pub(super) fn cpu_ns(&mut self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        return self.cpu.as_mut().and_then(|counter| counter.read().ok());
        #[cfg(not(target_os = "linux"))]
        None
    }
}

/// A counter that counts: some virtual machines offer one that never does.
#[cfg(target_os = "linux")]
fn start(event: impl Into<perf_event::events::Event>) -> Option<perf_event::Counter> {
    let mut builder = perf_event::Builder::new().kind(event);
    builder.inherit(true);
    let mut counter = builder.build().ok()?;
    counter.enable().ok()?;
    let before = counter.read().ok()?;
    std::hint::black_box((0..10_000_u64).fold(0, |sum, i| std::hint::black_box(sum ^ i)));
    (counter.read().ok()? > before).then_some(counter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads that work at once take the time of both, also where they share a core.
    #[test]
    fn cpu_time_is_that_of_all_threads() {
        let mut cycles = Cycles::new();
        let Some(before) = cycles.cpu_ns() else {
            println!("left out: this system does not count CPU time");
            return;
        };
        let work = || {
            let sum = (0..20_000_000_u64).fold(0, |sum, i| std::hint::black_box(sum ^ i));
            std::hint::black_box(sum);
        };
        work();
        let alone = cycles.cpu_ns().expect("it counted before") - before;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(work);
            }
        });
        let four = cycles.cpu_ns().expect("it counted before") - before - alone;
        assert!(alone > 1_000_000, "{alone} ns");
        assert!(four > 2 * alone, "{four} ns for four times the work of {alone} ns");
    }
}
