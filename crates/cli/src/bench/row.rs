//! What a row measures, what it says, and all rows together.

use super::Machine;
use serde::{Deserialize, Serialize};

/// What a row measures.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Stable and dotted: `xmss.keygen`.
    pub(crate) name: &'static str,
    /// The parameter set, suite, modulus size in bits, or `3-of-4`.
    pub(crate) params: String,
    /// The kernel that does the heavy work: `portable`, `avx512`, …
    pub(crate) kernel: String,
    pub(crate) threads: usize,
    /// The batch or party count.
    pub(crate) n: usize,
    /// The size of the result or of the traffic, where that is worth knowing.
    pub(crate) bytes: Option<u64>,
    /// Whether CPU time is reported beside wall time.
    pub(crate) with_cpu: bool,
}

impl Case {
    /// A single-threaded row with `n = 1`.
    pub(crate) fn new(name: &'static str, params: impl Into<String>, kernel: &str) -> Self {
        let (params, kernel) = (params.into(), kernel.to_owned());
        Case { name, params, kernel, threads: 1, n: 1, bytes: None, with_cpu: false }
    }
}

/// One row of the result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) params: String,
    pub(crate) kernel: String,
    pub(crate) threads: usize,
    pub(crate) n: usize,
    pub(crate) unit: String,
    pub(crate) ns_median: f64,
    pub(crate) ns_min: f64,
    pub(crate) ns_p90: f64,
    pub(crate) cycles_median: Option<f64>,
    pub(crate) per_second: f64,
    /// The least CPU time of all threads, for rows of headers: others' work does not add to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_ns_min: Option<f64>,
    /// How many cores the threads had, on average, in those rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cores_had: Option<f64>,
    pub(crate) bytes: Option<u64>,
    /// Of a proof of delay: its time after the last squaring, in times of its T squarings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) share: Option<f64>,
    /// The same by the least of all times: where a core is shared, proofs suffer more than squarings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) share_least: Option<f64>,
}

/// The whole result: `bench … --json` prints it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) machine: Machine,
    pub(crate) results: Vec<Row>,
    /// Rows that were not begun, for the time that was given was over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
}
