//! A description of the machine, printed with every measurement.

use serde::{Deserialize, Serialize};
use tetralith_kernels::cpu::{self, Family};

/// What the figures of a run depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    /// The kernel families that this run may use.
    pub(crate) features: Vec<String>,
    pub(crate) cores: usize,
    pub(crate) os: String,
    pub(crate) rustc: String,
    pub(crate) version: String,
}

impl Machine {
    /// Asks the system.
    pub(crate) fn describe() -> Self {
        let families = Family::ALL.into_iter().filter(|&family| cpu::allowed(family));
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let os = format!("{} {} {}", std::env::consts::OS, std::env::consts::ARCH, kernel.trim());
        Machine {
            cpu: cpu_name(),
            features: families.map(|family| family.name().to_owned()).collect(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: os.trim().to_owned(),
            rustc: env!("TETRALITH_RUSTC").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
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
