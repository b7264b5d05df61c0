//! How a key's indices are spent, for showing.

use super::{OpenLease, Record};

/// How a key's indices are spent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// How many indices the key has.
    pub limit: u64,
    /// The first index that this state does not give: `limit`, or the end of the range it was restored for.
    pub until: u64,
    /// Indices that made a signature.
    pub used: u64,
    /// Indices that will never be used: a holder crashed, or did not use what it had leased.
    pub lost: u64,
    /// Indices leased and not accounted for: handed out for good, or in use now.
    pub leased: u64,
    /// Indices passed over when the state was restored.
    pub skipped: u64,
    /// Indices that can still be leased.
    pub left: u64,
    /// The first index never leased.
    pub next: u64,
    /// The fencing number.
    pub epoch: u64,
    /// When the state was created.
    pub created: u64,
    /// When it last changed.
    pub updated: u64,
    /// The leases that are not accounted for, with who has them.
    pub leases: Vec<OpenLease>,
}

impl From<&Record> for Status {
    fn from(record: &Record) -> Self {
        Self {
            limit: record.limit,
            until: record.until,
            used: record.used,
            lost: record.lost,
            leased: record.leased + record.leases.iter().map(OpenLease::len).sum::<u64>(),
            skipped: record.skipped,
            left: record.left(),
            next: record.next,
            epoch: record.epoch,
            created: record.created,
            updated: record.updated,
            leases: record.leases.clone(),
        }
    }
}
