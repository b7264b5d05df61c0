//! Leasing indices: the same for every store.

use super::record::process_id;
use super::{Holder, OpenLease, Record, StateError, StateStore};
use crate::keys::PublicKey;
use core::ops::Range;
use sha2::{Digest, Sha256};

/// The right to use one index once: made by a lease, consumed by a signature.
///
/// Neither `Clone` nor `Copy`, and no way to make one but [`Reservations::next`].
#[derive(Debug)]
#[must_use = "an index that is not used is lost"]
pub struct OneTimeIndex(u64);

impl OneTimeIndex {
    pub(crate) fn into_inner(self) -> u64 {
        self.0
    }
}

/// A range of indices that nobody else will get.
#[derive(Debug, PartialEq, Eq)]
pub struct Lease {
    /// The indices.
    pub range: Range<u64>,
    /// Grows with every commit of the store, so that a later holder is told from an earlier.
    pub fencing: u64,
}

/// How a key's indices are spent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// How many indices the key has.
    pub limit: u64,
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
    /// Who has a lease that is not accounted for.
    pub holder: Option<Holder>,
}

impl From<&Record> for Status {
    fn from(record: &Record) -> Self {
        let open = record.open.as_ref().map_or(0, |open| record.next - open.from);
        Self {
            limit: record.limit,
            used: record.used,
            lost: record.lost,
            leased: record.leased + open,
            skipped: record.skipped,
            left: record.limit - record.next,
            next: record.next,
            epoch: record.epoch,
            created: record.created,
            updated: record.updated,
            holder: record.open.as_ref().map(|open| open.holder.clone()),
        }
    }
}

/// What a record knows its key by: SHA-256 of the parameter set's name, a zero byte and the encoded
/// public key.
#[must_use]
pub fn key_id(key: &PublicKey) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(key.params().to_string());
    hash.update([0]);
    hash.update(key.to_bytes());
    hash.finalize().into()
}

/// Creates the state of a key whose indices below `resume_at` are spent: 0 for a new key.
///
/// `store_id`: 16 random bytes. `now`: seconds since 1970.
///
/// # Errors
/// [`StateError::Exists`] where the store holds a record, [`StateError::NotEnough`] where the key has
/// no index `resume_at`; or the store fails.
///
/// # Security
/// For a key that has signed before, `resume_at` must lie above every index that it may have used.
pub fn create(
    store: &mut impl StateStore,
    key: &PublicKey,
    resume_at: u64,
    store_id: [u8; 16],
    now: u64,
) -> Result<(), StateError> {
    let limit = key.params().signatures();
    if resume_at > limit {
        return Err(StateError::NotEnough { asked: resume_at, left: limit });
    }
    if store.load()?.is_some() {
        return Err(StateError::Exists);
    }
    let record = Record {
        key_id: key_id(key),
        store_id,
        place: store.place(),
        epoch: 1,
        limit,
        next: resume_at,
        used: 0,
        lost: 0,
        leased: 0,
        skipped: resume_at,
        open: None,
        created: now,
        updated: now,
    };
    store.commit(None, &record)
}

/// Makes a lost, copied or rolled-back state usable again, from `resume_at` on.
///
/// Where there is no record, one is created; where there is, it goes forward and belongs to this place
/// from now on. `store_id`: 16 random bytes.
///
/// # Errors
/// [`StateError::Backward`] where the record has leased `resume_at` already, [`StateError::OtherKey`],
/// [`StateError::NotEnough`]; or the store fails.
///
/// # Security
/// `resume_at` must lie above every index that any copy of the state may have used.
pub fn restore(
    store: &mut impl StateStore,
    key: &PublicKey,
    resume_at: u64,
    store_id: [u8; 16],
    now: u64,
) -> Result<(), StateError> {
    let Some(found) = store.load()? else {
        return create(store, key, resume_at, store_id, now);
    };
    if found.key_id != key_id(key) || found.limit != key.params().signatures() {
        return Err(StateError::OtherKey);
    }
    if resume_at < found.next {
        return Err(StateError::Backward { asked: resume_at, next: found.next });
    }
    if resume_at > found.limit {
        return Err(StateError::NotEnough { asked: resume_at, left: found.limit });
    }
    let mut record = settled(&found, 0, now);
    record.skipped += resume_at - record.next;
    record.next = resume_at;
    record.place = store.place();
    record.store_id = store_id;
    record.epoch = found.epoch.max(store.seen()) + 1;
    store.commit(Some(found.epoch), &record)
}

/// The record with its open lease accounted for: `used` of it used, the rest lost.
fn settled(record: &Record, used: u64, now: u64) -> Record {
    let mut record = record.clone();
    if let Some(open) = record.open.take() {
        let used = used.min(record.next - open.from);
        record.used += used;
        record.lost += record.next - open.from - used;
    }
    record.updated = now;
    record
}

/// A key's state, opened by this process.
#[derive(Debug)]
pub struct Reservations<S> {
    store: S,
    record: Record,
    holder: Holder,
    /// What is left of the open lease, and how many of it were used.
    range: Range<u64>,
    used: u64,
    /// A commit failed, so that the record in the store is unknown.
    failed: bool,
}

impl<S: StateStore> Reservations<S> {
    /// Opens the state of a key.
    ///
    /// A lease that an earlier process left open is counted as lost with the next commit.
    ///
    /// # Errors
    /// [`StateError::Missing`], [`StateError::OtherKey`], [`StateError::Copied`],
    /// [`StateError::RolledBack`]; or the store fails.
    pub fn open(mut store: S, key: &PublicKey, holder: Holder) -> Result<Self, StateError> {
        let record = store.load()?.ok_or(StateError::Missing)?;
        if record.key_id != key_id(key) || record.limit != key.params().signatures() {
            return Err(StateError::OtherKey);
        }
        if record.place != store.place() {
            return Err(StateError::Copied);
        }
        if record.epoch < store.seen() {
            return Err(StateError::RolledBack { found: record.epoch, seen: store.seen() });
        }
        Ok(Self { store, record, holder, range: 0..0, used: 0, failed: false })
    }

    /// Leases `count` indices to this process and commits the lease.
    ///
    /// What is left of the lease before is lost.
    ///
    /// # Errors
    /// [`StateError::Exhausted`], [`StateError::NotEnough`]; or the store fails, and then nothing is
    /// leased that could be used.
    pub fn reserve(&mut self, count: u64, now: u64) -> Result<Lease, StateError> {
        let mut record = self.settled(now)?;
        let from = record.next;
        record.next = Self::end(&record, count)?;
        record.open = Some(OpenLease { from, holder: self.holder.clone() });
        self.commit(record)?;
        self.range = from..self.record.next;
        Ok(Lease { range: self.range.clone(), fencing: self.record.epoch })
    }

    /// Leases `count` indices for good: to another signer of the same key.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_for(&mut self, count: u64, now: u64) -> Result<Lease, StateError> {
        let mut record = self.settled(now)?;
        let from = record.next;
        record.next = Self::end(&record, count)?;
        record.leased += count;
        self.commit(record)?;
        Ok(Lease { range: from..self.record.next, fencing: self.record.epoch })
    }

    /// Takes the next index of the lease, leasing `batch` more (or what is left) where it is used up.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve), and [`StateError::Forked`] in a process that did not open this.
    pub fn next(&mut self, batch: u64, now: u64) -> Result<OneTimeIndex, StateError> {
        if process_id() != self.holder.pid {
            return Err(StateError::Forked { owner: self.holder.pid });
        }
        if self.failed {
            return Err(StateError::Conflict { expected: Some(self.record.epoch) });
        }
        if self.range.is_empty() {
            let left = self.record.limit - self.record.next;
            self.reserve(batch.clamp(1, left.max(1)), now)?;
        }
        let index = self.range.next().ok_or(StateError::Exhausted { limit: self.record.limit })?;
        self.used += 1;
        Ok(OneTimeIndex(index))
    }

    /// Raises the first index that may be leased, passing over those below it.
    ///
    /// # Errors
    /// [`StateError::Backward`], [`StateError::NotEnough`]; or the store fails.
    pub fn resume_at(&mut self, index: u64, now: u64) -> Result<(), StateError> {
        let mut record = self.settled(now)?;
        if index < record.next {
            return Err(StateError::Backward { asked: index, next: record.next });
        }
        if index > record.limit {
            return Err(StateError::NotEnough { asked: index, left: record.limit });
        }
        record.skipped += index - record.next;
        record.next = index;
        self.commit(record)
    }

    /// Accounts for the open lease, so that `status` tells the used from the lost.
    ///
    /// # Errors
    /// The store fails.
    pub fn close(mut self, now: u64) -> Result<Status, StateError> {
        if self.record.open.is_some() {
            let record = self.settled(now)?;
            self.commit(record)?;
        }
        Ok(Status::from(&self.record))
    }

    /// How the indices are spent, as of the last commit.
    #[must_use]
    pub fn status(&self) -> Status {
        Status::from(&self.record)
    }

    /// The index that the next signature will have, if the lease is used up or not.
    #[must_use]
    pub fn upcoming(&self) -> u64 {
        if self.range.is_empty() { self.record.next } else { self.range.start }
    }

    /// The record with the open lease accounted for: what this process used, the rest lost.
    fn settled(&mut self, now: u64) -> Result<Record, StateError> {
        if process_id() != self.holder.pid {
            return Err(StateError::Forked { owner: self.holder.pid });
        }
        if self.failed {
            return Err(StateError::Conflict { expected: Some(self.record.epoch) });
        }
        Ok(settled(&self.record, self.used, now))
    }

    /// The end of a lease of `count` indices.
    fn end(record: &Record, count: u64) -> Result<u64, StateError> {
        let left = record.limit - record.next;
        match count {
            _ if left == 0 => Err(StateError::Exhausted { limit: record.limit }),
            0 => Err(StateError::NotEnough { asked: 0, left }),
            _ if count > left => Err(StateError::NotEnough { asked: count, left }),
            _ => Ok(record.next + count),
        }
    }

    /// Commits, and forgets the lease before: its indices are accounted for in the record.
    fn commit(&mut self, mut record: Record) -> Result<(), StateError> {
        self.range = 0..0;
        let expected = self.record.epoch;
        record.epoch = expected + 1;
        if let Err(error) = self.store.commit(Some(expected), &record) {
            // Nobody knows which record is stored now. Fail closed until the key is opened anew.
            self.failed = true;
            return Err(error);
        }
        self.used = 0;
        self.record = record;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;
    use crate::state::Volatile;

    /// A fork copies the memory and not the process id: as if this were the child.
    #[test]
    fn a_forked_child_cannot_sign() {
        let key = PublicKey::from_parts(Params::XMSS_SHA2_10_256, &[1; 64]).unwrap();
        let mut store = Volatile::new();
        create(&mut store, &key, 0, [0; 16], 0).unwrap();
        let mut state = Reservations::open(store, &key, Holder::new("test")).unwrap();
        state.reserve(10, 0).unwrap();
        state.holder.pid ^= 1;
        let forked = StateError::Forked { owner: state.holder.pid };
        assert_eq!(state.next(1, 0).unwrap_err(), forked);
        assert_eq!(state.reserve(1, 0).unwrap_err(), forked);
        assert_eq!(state.reserve_for(1, 0).unwrap_err(), forked);
        assert_eq!(state.resume_at(100, 0).unwrap_err(), forked);
        assert_eq!(state.close(0).unwrap_err(), forked);
    }
}
