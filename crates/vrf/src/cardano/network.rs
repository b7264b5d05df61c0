//! Slots, epochs and times of a network.
//!
//! A network may begin with Byron: epochs of 21,600 slots of 20 seconds. After it, epochs and slots are
//! those of Shelley's genesis file.

use super::{CardanoError, Ratio};
use core::ops::Range;

/// Slots of a Byron epoch, and seconds of a Byron slot.
const BYRON_EPOCH: u64 = 21_600;
const BYRON_SLOT_SECONDS: u64 = 20;

/// How a network counts slots and epochs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The time of slot 0, in seconds since 1970.
    system_start: u64,
    byron_epochs: u64,
    epoch_slots: u64,
    slot_millis: u64,
    coefficient: Ratio,
}

impl Network {
    /// The networks that are known by name.
    pub const NAMES: [&'static str; 3] = ["mainnet", "preprod", "preview"];

    /// A network by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Network> {
        let (system_start, byron_epochs, epoch_slots) = match name {
            "mainnet" => (1_506_203_091, 208, 432_000),
            "preprod" => (1_654_041_600, 4, 432_000),
            "preview" => (1_666_656_000, 0, 86_400),
            _ => return None,
        };
        let coefficient = Ratio::new(1, 20)?;
        Some(Network { system_start, byron_epochs, epoch_slots, slot_millis: 1000, coefficient })
    }

    /// How many Byron epochs the network of a magic number begins with; none where it is not known.
    #[must_use]
    pub fn byron_epochs_of(magic: u64) -> Option<u64> {
        match magic {
            764_824_073 => Some(208),
            1 => Some(4),
            2 => Some(0),
            _ => None,
        }
    }

    /// A network of a genesis file: the start in seconds since 1970, the number of Byron epochs, the
    /// slots of an epoch, the milliseconds of a slot, and the active slot coefficient.
    ///
    /// # Errors
    /// A length is zero, or the first slots' numbers or times are too large.
    pub fn new(
        system_start: u64,
        byron_epochs: u64,
        epoch_slots: u64,
        slot_millis: u64,
        coefficient: Ratio,
    ) -> Result<Network, CardanoError> {
        let most = 1 << 40; // keeps every product below 2^64
        let fits = [system_start, epoch_slots, slot_millis].iter().all(|n| *n < most);
        if !fits || byron_epochs > 1 << 20 || epoch_slots == 0 || slot_millis == 0 {
            return Err(CardanoError::Network);
        }
        Ok(Network { system_start, byron_epochs, epoch_slots, slot_millis, coefficient })
    }

    /// The active slot coefficient.
    #[must_use]
    pub fn coefficient(&self) -> &Ratio {
        &self.coefficient
    }

    fn first_shelley_slot(&self) -> u64 {
        self.byron_epochs * BYRON_EPOCH
    }

    /// The epoch of a slot.
    #[must_use]
    pub fn epoch_of(&self, slot: u64) -> u64 {
        match slot.checked_sub(self.first_shelley_slot()) {
            Some(slot) => self.byron_epochs + slot / self.epoch_slots,
            None => slot / BYRON_EPOCH,
        }
    }

    /// The slots of an epoch; none for Byron's epochs, and where numbers end.
    #[must_use]
    pub fn slots_of(&self, epoch: u64) -> Option<Range<u64>> {
        let epoch = epoch.checked_sub(self.byron_epochs)?;
        let first = epoch.checked_mul(self.epoch_slots)?.checked_add(self.first_shelley_slot())?;
        Some(first..first.checked_add(self.epoch_slots)?)
    }

    /// When a slot begins, in milliseconds since 1970; none where numbers end.
    #[must_use]
    pub fn time_of(&self, slot: u64) -> Option<u64> {
        let byron = slot.min(self.first_shelley_slot());
        let since = (slot - byron).checked_mul(self.slot_millis)?;
        let start = self.system_start + byron * BYRON_SLOT_SECONDS;
        start.checked_mul(1000)?.checked_add(since)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Epochs and times of blocks of mainnet, as vectors/vrf/cardano-eras has them from elsewhere, and
    /// the first slots of Shelley on the test networks.
    #[test]
    fn slots_have_their_epochs_and_times() {
        let mainnet = Network::named("mainnet").unwrap();
        for (slot, epoch, seconds) in [
            (4_492_800, 208, 1_596_059_091),
            (5_824_849, 211, 1_597_391_140),
            (6_220_749, 211, 1_597_787_040),
            (73_614_529, 368, 1_665_180_820),
        ] {
            assert_eq!(mainnet.epoch_of(slot), epoch);
            assert_eq!(mainnet.time_of(slot), Some(seconds * 1000));
            assert!(mainnet.slots_of(epoch).unwrap().contains(&slot));
        }
        assert_eq!((mainnet.epoch_of(4_492_799), mainnet.epoch_of(0)), (207, 0));
        assert_eq!(mainnet.time_of(0), Some(1_506_203_091_000));
        assert_eq!(mainnet.slots_of(207), None);
        let preprod = Network::named("preprod").unwrap();
        assert_eq!(preprod.slots_of(4), Some(86_400..518_400));
        assert_eq!(preprod.time_of(86_400), Some(1_655_769_600_000)); // 2022-06-21
        let preview = Network::named("preview").unwrap();
        assert_eq!(preview.slots_of(504), Some(43_545_600..43_632_000));
        assert_eq!(Network::named("testnet"), None);
    }

    #[test]
    fn no_number_overflows() {
        for name in Network::NAMES {
            let network = Network::named(name).unwrap();
            assert_eq!(network.time_of(u64::MAX), None);
            assert_eq!(network.slots_of(u64::MAX), None);
            assert!(network.epoch_of(u64::MAX) > 1 << 40);
        }
        let f = || Ratio::new(1, 20).unwrap();
        let most = (1 << 40) - 1;
        let network = Network::new(most, 1 << 20, most, most, f()).unwrap();
        let _ = (network.time_of(u64::MAX), network.slots_of(u64::MAX), network.epoch_of(u64::MAX));
        for (start, byron, epoch, slot) in
            [(0, 0, 0, 1), (0, 0, 1, 0), (most + 1, 0, 1, 1), (0, most, 1, 1)]
        {
            assert_eq!(Network::new(start, byron, epoch, slot, f()), Err(CardanoError::Network));
        }
    }
}
