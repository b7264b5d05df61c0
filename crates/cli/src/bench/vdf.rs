//! `tetralith bench vdf`.

use super::Runner;
use crate::failure::Outcome;

/// Measures the jobs of vdf.
pub(crate) fn run(_runner: &mut Runner) -> Outcome {
    Ok(())
}
