//! The eras of the chain, and the numbers that wrappers give them.
//!
//! ouroboros-consensus, `CardanoBlock`; golden files in `ouroboros-consensus-cardano/golden/cardano`

use super::CardanoError;
use core::fmt;

/// An era of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Era {
    /// Byron: no VRF.
    Byron,
    /// Shelley.
    Shelley,
    /// Allegra.
    Allegra,
    /// Mary.
    Mary,
    /// Alonzo.
    Alonzo,
    /// Babbage.
    Babbage,
    /// Conway.
    Conway,
    /// Dijkstra.
    Dijkstra,
}

impl Era {
    const ALL: [Era; 8] = [
        Era::Byron,
        Era::Shelley,
        Era::Allegra,
        Era::Mary,
        Era::Alonzo,
        Era::Babbage,
        Era::Conway,
        Era::Dijkstra,
    ];

    /// The era of a header in the wrapper of the node-to-node protocol, `[number, 24(header)]`.
    pub(super) fn of_header(number: u64) -> Result<Era, CardanoError> {
        let at = usize::try_from(number).ok().and_then(|number| Era::ALL.get(number));
        at.copied().ok_or(CardanoError::UnknownEra(number))
    }

    /// The era of a block in the wrapper of the hard-fork combinator, `[number, block]`: there,
    /// Byron's boundary blocks and its other blocks have a number each.
    pub(super) fn of_block(number: u64) -> Result<Era, CardanoError> {
        Era::of_header(number.saturating_sub(1)).map_err(|_| CardanoError::UnknownEra(number))
    }

    /// Says whether headers have one VRF proof for nonce and leadership both (Praos), as from Babbage
    /// on, and not one for each (TPraos).
    #[must_use]
    pub fn is_praos(self) -> bool {
        self >= Era::Babbage
    }

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Era::Byron => "Byron",
            Era::Shelley => "Shelley",
            Era::Allegra => "Allegra",
            Era::Mary => "Mary",
            Era::Alonzo => "Alonzo",
            Era::Babbage => "Babbage",
            Era::Conway => "Conway",
            Era::Dijkstra => "Dijkstra",
        }
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
