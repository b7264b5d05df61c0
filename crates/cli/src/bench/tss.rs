//! `tetralith bench tss`.

use super::Runner;
use crate::failure::Outcome;

/// Measures the jobs of tss.
pub(crate) fn run(_runner: &mut Runner) -> Outcome {
    Ok(())
}
