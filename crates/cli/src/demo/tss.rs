//! TSS: drafted with the node's command line.
use super::Demo;
use crate::failure::Outcome;
pub(super) fn run(_demo: &mut Demo) -> Outcome {
    Ok(())
}
