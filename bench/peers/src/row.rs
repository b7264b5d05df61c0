//! The rows that `tetralith bench … --json` prints, with what only this program adds.

use serde::{Deserialize, Serialize};

/// What the figures of a run depend on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub features: Vec<String>,
    pub cores: usize,
    pub os: String,
    pub rustc: String,
    pub version: String,
}

impl Machine {
    /// Asks the system.
    pub fn describe() -> Self {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let os = format!("{} {} {}", std::env::consts::OS, std::env::consts::ARCH, kernel.trim());
        Machine {
            cpu: cpu_name(),
            features: features(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: os.trim().to_owned(),
            rustc: env!("PEERS_RUSTC").to_owned(),
            version: format!("peers; C compiler: {}", env!("PEERS_CC")),
        }
    }
}

fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    let Some(brand) = field("model name") else { return std::env::consts::ARCH.to_owned() };
    match (field("cpu family"), field("model\t")) {
        (Some(family), Some(model)) => format!("{brand} (family {family}, model {model})"),
        _ => brand,
    }
}

fn features() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("adx", std::is_x86_feature_detected!("adx")),
        ("sha", std::is_x86_feature_detected!("sha")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("avx512ifma", std::is_x86_feature_detected!("avx512ifma")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let found: [(&str, bool); 0] = [];
    found.iter().filter(|(_, has)| *has).map(|(name, _)| (*name).to_owned()).collect()
}

/// One row: figures of one operation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// Stable and dotted: `xmss.keygen`.
    pub name: String,
    /// The parameter set, the suite, or the modulus size in bits.
    pub params: String,
    /// The peer and its version; in the rows of `tetralith` the kernel.
    pub kernel: String,
    pub threads: usize,
    pub n: usize,
    pub unit: String,
    pub ns_median: f64,
    pub ns_min: f64,
    pub ns_p90: f64,
    /// User-mode core cycles from the CPU's counter; never an estimate.
    pub cycles_median: Option<f64>,
    pub per_second: f64,
    pub bytes: Option<u64>,
    /// Time on the core times the clock that a chain of dependent additions showed around the row;
    /// wall time where time on the core was not seen.
    #[serde(default)]
    pub cycles_estimated: Option<f64>,
    /// That clock, in GHz.
    #[serde(default)]
    pub clock_ghz_estimated: Option<f64>,
    /// The `params` of ours to compare with, where the peer's own are not the same job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

/// A whole run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Results {
    pub machine: Machine,
    pub results: Vec<Row>,
}
