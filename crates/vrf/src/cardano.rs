//! Cardano.
use thiserror::Error;
/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CardanoError {}
