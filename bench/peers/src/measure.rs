//! Measures one call many times, with the clock before, during and after.

use crate::clock;
use crate::row::{Machine, Results, Row};
use std::time::{Duration, Instant};

/// What a row measures.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: &'static str,
    pub params: String,
    pub peer: String,
    pub n: usize,
    pub bytes: Option<u64>,
    pub nearest: Option<String>,
}

impl Case {
    /// A row of one operation a call.
    pub fn new(name: &'static str, params: impl Into<String>, peer: &str) -> Self {
        let (params, peer) = (params.into(), peer.to_owned());
        Case { name, params, peer, n: 1, bytes: None, nearest: None }
    }

    /// With the size of the result.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = Some(bytes as u64);
        self
    }

    /// With the `params` of ours that come nearest.
    pub fn nearest(mut self, nearest: &str) -> Self {
        self.nearest = Some(nearest.to_owned());
        self
    }

    /// With a batch count.
    pub fn n(mut self, n: usize) -> Self {
        self.n = n;
        self
    }
}

/// Fewer calls than this give no median worth its name; slow calls get by with three.
const LEAST_CALLS: usize = 5;
const LEAST_SLOW_CALLS: usize = 3;
const MOST_CALLS: usize = 1001;
const SLOW: Duration = Duration::from_millis(200);
/// A call that takes longer is not repeated.
const VERY_SLOW: Duration = Duration::from_secs(4);
/// The clock is looked at again after this long.
const RECALIBRATE: Duration = Duration::from_millis(100);

/// What was measured of one case, each for one operation.
#[derive(Default)]
pub struct Times {
    /// Wall time.
    pub ns: Vec<f64>,
    /// Time that the thread was on a core, in nanoseconds; empty where that was not seen.
    pub cpu: Vec<f64>,
    /// Counted cycles; empty where there is no counter.
    pub cycles: Vec<f64>,
    /// The clock in GHz, several times.
    pub clocks: Vec<f64>,
}

/// Measures cases one after another.
pub struct Runner {
    pub budget: Duration,
    pub only: Option<String>,
    pub quiet: bool,
    machine: Machine,
    cycles: Cycles,
    rows: Vec<Row>,
}

impl Runner {
    /// A runner that gives each row about `seconds`; made before staying on one core, which hides the
    /// others from the description of the machine.
    pub fn new(seconds: f64, only: Option<String>, quiet: bool) -> Self {
        let budget = Duration::from_secs_f64(seconds);
        let (machine, cycles) = (Machine::describe(), Cycles::new());
        Runner { budget, only, quiet, machine, cycles, rows: Vec::new() }
    }

    /// Says whether a case was asked for; spares costly preparation.
    pub fn wants(&self, name: &str, params: &str, peer: &str) -> bool {
        let only = self.only.as_deref();
        only.is_none_or(|only| format!("{name} {params} {peer}").contains(only))
    }

    /// Measures `call`, which does `ops` operations, after one call that is not counted.
    pub fn measure(&mut self, case: Case, ops: u64, mut call: impl FnMut()) {
        if !self.wants(case.name, &case.params, &case.peer) {
            return;
        }
        let (busy, first) = (clock::thread_time(), Instant::now());
        call();
        let took = first.elapsed();
        if took > VERY_SLOW {
            let busy = busy.zip(clock::thread_time()).map(|(before, after)| after - before);
            let each = |time: Duration| time.as_nanos() as f64 / ops as f64;
            let (ns, cpu) = (vec![each(took)], busy.map(each).into_iter().collect());
            let clocks = clock::gigahertz().into_iter().collect();
            return self.push(case, Times { ns, cpu, cycles: Vec::new(), clocks });
        }
        let least = if took > SLOW { LEAST_SLOW_CALLS } else { LEAST_CALLS };
        let mut clocks: Vec<f64> = clock::gigahertz().into_iter().collect();
        let (start, mut looked) = (Instant::now(), Instant::now());
        let (mut ns, mut cpu, mut cycles) = (Vec::new(), Vec::new(), Vec::new());
        while ns.len() < MOST_CALLS && (ns.len() < least || start.elapsed() < self.budget) {
            let (before, busy, clock) = (self.cycles.read(), clock::thread_time(), Instant::now());
            call();
            ns.push(clock.elapsed().as_nanos() as f64 / ops as f64);
            if let (Some(busy), Some(now)) = (busy, clock::thread_time()) {
                cpu.push((now - busy).as_nanos() as f64 / ops as f64);
            }
            if let (Some(before), Some(after)) = (before, self.cycles.read()) {
                cycles.push((after - before) as f64 / ops as f64);
            }
            if looked.elapsed() > RECALIBRATE {
                clocks.extend(clock::gigahertz());
                looked = Instant::now();
            }
        }
        clocks.extend(clock::gigahertz());
        self.push(case, Times { ns, cpu, cycles, clocks });
    }

    /// Adds a row from times that were measured.
    pub fn push(&mut self, case: Case, mut times: Times) {
        let ns = &mut times.ns;
        let ns_median = percentile(ns, 50);
        let busy = if times.cpu.is_empty() { ns_median } else { percentile(&mut times.cpu, 50) };
        let (cycles, clocks) = (&mut times.cycles, &mut times.clocks);
        let clock = (!clocks.is_empty()).then(|| percentile(clocks, 50));
        let row = Row {
            name: case.name.into(),
            params: case.params,
            kernel: case.peer,
            threads: 1,
            n: case.n,
            unit: "op".into(),
            ns_median,
            ns_min: percentile(ns, 0),
            ns_p90: percentile(ns, 90),
            cycles_median: (!cycles.is_empty()).then(|| percentile(cycles, 50)),
            per_second: 1e9 / ns_median,
            bytes: case.bytes,
            cycles_estimated: clock.map(|clock| clock * busy),
            clock_ghz_estimated: clock,
            nearest: case.nearest,
        };
        if !self.quiet {
            eprintln!("{}", crate::compare::table::line(&row));
        }
        self.rows.push(row);
    }

    /// The rows with the machine.
    pub fn finish(self) -> Results {
        Results { machine: self.machine, results: self.rows }
    }
}

/// The nearest-rank percentile; sorts in place.
pub fn percentile(values: &mut [f64], percent: usize) -> f64 {
    assert!(!values.is_empty(), "a row has at least one call");
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values[rank - 1]
}

/// The CPU's own counter of user-mode cycles, where the system lets us read it.
struct Cycles {
    #[cfg(target_os = "linux")]
    counter: Option<perf_event::Counter>,
}

impl Cycles {
    #[cfg(target_os = "linux")]
    fn new() -> Self {
        use perf_event::{Builder, events::Hardware};
        let counter = Builder::new().kind(Hardware::CPU_CYCLES).build().ok();
        let counter = counter.and_then(|mut counter| counter.enable().is_ok().then_some(counter));
        // Some virtual machines offer a counter that never counts.
        let counter = counter.and_then(|mut counter| {
            let before = counter.read().ok()?;
            clock::gigahertz();
            (counter.read().ok()? > before).then_some(counter)
        });
        Cycles { counter }
    }

    #[cfg(not(target_os = "linux"))]
    fn new() -> Self {
        Cycles {}
    }

    fn read(&mut self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        return self.counter.as_mut().and_then(|counter| counter.read().ok());
        #[cfg(not(target_os = "linux"))]
        None
    }
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_by_nearest_rank() {
        let mut values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(percentile(&mut values, 0), 1.0);
        assert_eq!(percentile(&mut values, 50), 2.0);
        assert_eq!(percentile(&mut values, 90), 4.0);
    }
}
