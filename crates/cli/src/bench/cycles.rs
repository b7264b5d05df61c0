//! User-mode core cycles from the CPU's own counter, where the system lets us read it.

/// A running counter, or nothing.
pub(super) struct Cycles {
    #[cfg(target_os = "linux")]
    counter: Option<perf_event::Counter>,
}

impl Cycles {
    /// Starts counting this thread and the threads that it will start.
    pub(super) fn new() -> Self {
        #[cfg(target_os = "linux")]
        {
            use perf_event::{Builder, events::Hardware};
            let mut builder = Builder::new().kind(Hardware::CPU_CYCLES);
            builder.inherit(true);
            let counter = builder.build().ok();
            let counter =
                counter.and_then(|mut counter| counter.enable().is_ok().then_some(counter));
            // Some virtual machines offer a counter that never counts.
            let counter = counter.and_then(|mut counter| {
                let before = counter.read().ok()?;
                std::hint::black_box(
                    (0..10_000_u64).fold(0, |sum, i| std::hint::black_box(sum ^ i)),
                );
                (counter.read().ok()? > before).then_some(counter)
            });
            Cycles { counter }
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
}
