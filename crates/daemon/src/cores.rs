//! Cores that workers have to themselves.
//!
//! A thread begins on the cores of the one that starts it. The daemon's first thread leaves the reserved
//! cores before it starts any other, so that sockets are not served there; each worker then takes its
//! core, and what a worker starts for a proof leaves it again.

use crate::error::{Error, Outcome};
use std::str::FromStr;

/// A list of cores such as `2,4-7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List(Vec<usize>);

/// More cores than systems number.
const MOST: usize = 1024;

impl FromStr for List {
    type Err = String;

    fn from_str(text: &str) -> Result<List, String> {
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| match text.parse::<usize>() {
                Ok(core) if core < MOST => Ok(core),
                _ => Err(format!("{text:?} is no number of a core, from 0 to {}", MOST - 1)),
            };
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!("{part} ends before it begins"));
            }
            cores.extend(first..=last);
        }
        let named = cores.len();
        cores.sort_unstable();
        cores.dedup();
        match cores.len() == named {
            true => Ok(List(cores)),
            false => Err("a core is named twice".into()),
        }
    }
}

/// The cores of workers; empty where none are reserved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reserved {
    cores: Vec<usize>,
    /// Whether other threads have cores of their own.
    pub(crate) apart: bool,
}

impl Reserved {
    pub(crate) fn cores(&self) -> &[usize] {
        &self.cores
    }

    /// Binds the calling thread, worker `number`, to its core.
    pub(crate) fn take(&self, number: usize) {
        if let Some(&core) = self.cores.get(number) {
            system::bind(core);
        }
    }

    /// Reserves cores, and takes the calling thread away from them.
    ///
    /// # Errors
    /// The process may not use one of them, or this system binds no threads.
    pub(crate) fn new(list: Option<&List>) -> Outcome<Reserved> {
        let Some(List(cores)) = list else { return Ok(Reserved::default()) };
        let apart = system::reserve(cores).map_err(|why| Error::usage("usage.cores", why))?;
        Ok(Reserved { cores: cores.clone(), apart })
    }
}

/// Takes the calling thread away from the reserved cores, where there are others.
pub(crate) fn leave() {
    system::leave();
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    use std::sync::OnceLock;

    /// The cores of all threads but workers.
    static OTHERS: OnceLock<CpuSet> = OnceLock::new();

    pub(crate) fn reserve(cores: &[usize]) -> Result<bool, String> {
        let mut others = sched_getaffinity(None).map_err(|error| error.to_string())?;
        let allowed = others;
        for &core in cores {
            if core >= CpuSet::MAX_CPU || !allowed.is_set(core) {
                let list: Vec<String> = (0..CpuSet::MAX_CPU)
                    .filter(|&core| allowed.is_set(core))
                    .map(|core| core.to_string())
                    .collect();
                return Err(format!(
                    "core {core} is none of those that this process may use: {}",
                    list.join(",")
                ));
            }
            others.unset(core);
        }
        let apart = others.count() > 0;
        let others = if apart { others } else { allowed };
        sched_setaffinity(None, &others).map_err(|error| error.to_string())?;
        let _ = OTHERS.set(others);
        Ok(apart)
    }

    /// A core that went away meanwhile leaves the thread where it is.
    pub(crate) fn bind(core: usize) {
        let mut set = CpuSet::new();
        set.set(core);
        let _ = sched_setaffinity(None, &set);
    }

    pub(crate) fn leave() {
        if let Some(others) = OTHERS.get() {
            let _ = sched_setaffinity(None, others);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(crate) fn reserve(_: &[usize]) -> Result<bool, String> {
        Err("threads are bound to cores on Linux only".into())
    }

    pub(crate) fn bind(_: usize) {}

    pub(crate) fn leave() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let cores = |text: &str| text.parse::<List>().map(|List(cores)| cores);
        assert_eq!(cores("3"), Ok(vec![3]));
        assert_eq!(cores("5,0-2"), Ok(vec![0, 1, 2, 5]));
        for (text, expected) in [
            ("", "\"\" is no number"),
            ("1,", "\"\" is no number"),
            ("x", "\"x\" is no number"),
            ("-1", "\"\" is no number"),
            ("1024", "\"1024\" is no number of a core, from 0 to 1023"),
            ("0-99999999999999999999", "\"99999999999999999999\" is no number"),
            ("4-2", "4-2 ends before it begins"),
            ("1,0-2", "a core is named twice"),
        ] {
            let error = cores(text).expect_err(text);
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
