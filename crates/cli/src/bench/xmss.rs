//! `tetralith bench xmss`.

use super::Runner;
use crate::failure::Outcome;

/// Measures the jobs of xmss.
pub(crate) fn run(_runner: &mut Runner) -> Outcome {
    Ok(())
}
