//! `tetralith bench vrf`.

use super::Runner;
use crate::failure::Outcome;

/// Measures the jobs of vrf.
pub(crate) fn run(_runner: &mut Runner) -> Outcome {
    Ok(())
}
