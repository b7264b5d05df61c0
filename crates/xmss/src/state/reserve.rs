//! Leasing indices: the same for every store.

use super::create::{key_id, settle};
use super::process::Process;
use super::record::MAX_LEASES;
use super::{Holder, OpenLease, Record, Seen, StateError, StateStore, Status};
use crate::keys::PublicKey;
use core::ops::Range;

/// The right to use one index once: made by a lease, consumed by a signature.
///
/// Neither `Clone` nor `Copy`, and no way to make one but [`Reservations::next`].
#[derive(Debug)]
#[must_use = "an index that is not used is lost"]
pub struct OneTimeIndex {
    index: u64,
    fencing: u64,
}

impl OneTimeIndex {
    /// Which index it is.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.index
    }

    /// The fencing number of the lease that it is from.
    #[must_use]
    pub fn fencing(&self) -> u64 {
        self.fencing
    }

    pub(crate) fn into_inner(self) -> u64 {
        self.index
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

/// A key's state, opened by this process.
#[derive(Debug)]
pub struct Reservations<S> {
    store: S,
    record: Record,
    holder: Holder,
    process: Process,
    /// What is left of the lease in use, and its fencing number.
    range: Range<u64>,
    fencing: u64,
    /// The fencing numbers of leases that are or may be this process's in the record, and how many
    /// of their indices were used.
    own: Vec<(u64, u64)>,
    /// A commit failed, so that the record in the store is unknown.
    failed: bool,
}

impl<S: StateStore> Reservations<S> {
    /// Opens the state of a key.
    ///
    /// A lease that an earlier process left open is counted as lost with the next commit, unless the
    /// store is shared: there it may be in use.
    ///
    /// # Errors
    /// [`StateError::Missing`], [`StateError::OtherKey`], [`StateError::Copied`],
    /// [`StateError::RolledBack`]; or the store fails.
    pub fn open(mut store: S, key: &PublicKey, holder: Holder) -> Result<Self, StateError> {
        let record = checked(&mut store)?;
        if record.key_id != key_id(key) || record.limit != key.params().signatures() {
            return Err(StateError::OtherKey);
        }
        Ok(Self {
            store,
            record,
            holder,
            process: Process::current(),
            range: 0..0,
            fencing: 0,
            own: Vec::new(),
            failed: false,
        })
    }

    /// Leases `count` indices to this process and commits the lease.
    ///
    /// What is left of the lease before is lost.
    ///
    /// # Errors
    /// [`StateError::Exhausted`], [`StateError::Ended`], [`StateError::NotEnough`]; or the store fails,
    /// and then nothing is leased that could be used.
    pub fn reserve(&mut self, count: u64, now: u64) -> Result<Lease, StateError> {
        self.check_process()?;
        self.lease(|_| count, now)
    }

    /// Leases `count` indices for good: to another signer of the same key.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_for(&mut self, count: u64, now: u64) -> Result<Lease, StateError> {
        self.check_process()?;
        let mut range = 0..0;
        self.change(now, |record| {
            range = Self::advance(record, count)?;
            record.leased += count;
            Ok(())
        })?;
        Ok(Lease { range, fencing: self.record.epoch })
    }

    /// Leases all that is left for good, from the index `from` on, and gives the state the number `mark`,
    /// by which this commit is recognized later: see [`store_id`](Self::store_id).
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve); [`StateError::Conflict`] where another signer leased `from`.
    pub fn hand_over(&mut self, from: u64, mark: [u8; 16], now: u64) -> Result<Lease, StateError> {
        self.check_process()?;
        let mut range = 0..0;
        self.change(now, |record| {
            if record.next != from {
                return Err(StateError::Conflict { expected: Some(record.epoch - 1) });
            }
            let left = record.left();
            range = Self::advance(record, left)?;
            record.leased += left;
            record.store_id = mark;
            Ok(())
        })?;
        Ok(Lease { range, fencing: self.record.epoch })
    }

    /// The number of the state: drawn when it was created, restored or handed over.
    #[must_use]
    pub fn store_id(&self) -> [u8; 16] {
        self.record.store_id
    }

    /// Takes the next index of the lease, leasing `batch` more (or what is left) where it is used up.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve), and [`StateError::Forked`] in a process that did not open this.
    pub fn next(&mut self, batch: u64, now: u64) -> Result<OneTimeIndex, StateError> {
        self.check_process()?;
        if self.range.is_empty() {
            self.lease(|left| batch.clamp(1, left.max(1)), now)?;
        }
        let index = self.range.next().ok_or(StateError::Exhausted { limit: self.record.limit })?;
        if let Some((_, used)) = self.own.last_mut() {
            *used += 1;
        }
        Ok(OneTimeIndex { index, fencing: self.fencing })
    }

    /// Raises the first index that may be leased, passing over those below it.
    ///
    /// # Errors
    /// [`StateError::Backward`], [`StateError::PastEnd`], [`StateError::Ended`]; or the store fails.
    pub fn resume_at(&mut self, index: u64, now: u64) -> Result<(), StateError> {
        self.check_process()?;
        self.change(now, |record| {
            if index < record.next {
                return Err(StateError::Backward { asked: index, next: record.next });
            }
            if index > record.limit {
                return Err(StateError::PastEnd { asked: index, limit: record.limit });
            }
            if index > record.until {
                return Err(StateError::Ended { until: record.until });
            }
            record.skipped += index - record.next;
            record.next = index;
            Ok(())
        })
    }

    /// Accounts for the open lease, so that `status` tells the used from the lost.
    ///
    /// # Errors
    /// The store fails.
    pub fn close(mut self, now: u64) -> Result<Status, StateError> {
        self.check_process()?;
        if self.failed || !self.own.is_empty() || self.abandoned() {
            self.change(now, |_| Ok(()))?;
        }
        Ok(Status::from(&self.record))
    }

    /// How the indices are spent, as of the last commit.
    #[must_use]
    pub fn status(&self) -> Status {
        Status::from(&self.record)
    }

    /// How many indices this process can still use: what remains of its lease, and what nobody leased.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.record.left() + (self.range.end - self.range.start)
    }

    /// The index that the next signature will have, if the lease is used up or not. In a shared store
    /// another signer may lease it first.
    #[must_use]
    pub fn upcoming(&self) -> u64 {
        if self.range.is_empty() { self.record.next } else { self.range.start }
    }

    /// Whether an earlier holder of a store that is not shared left a lease open.
    fn abandoned(&self) -> bool {
        !self.store.shared() && !self.record.leases.is_empty()
    }

    fn lease(&mut self, count: impl Fn(u64) -> u64, now: u64) -> Result<Lease, StateError> {
        let holder = self.holder.clone();
        let mut range = 0..0;
        self.change(now, |record| {
            range = Self::advance(record, count(record.left()))?;
            if record.leases.len() >= MAX_LEASES {
                let oldest = record.leases[0].fencing;
                settle(record, |lease| (lease.fencing == oldest).then_some(0));
            }
            let (from, end, holder) = (range.start, range.end, holder.clone());
            let fencing = record.epoch;
            record.leases.push(OpenLease { from, end, fencing, at: now, holder });
            Ok(())
        })?;
        (self.range, self.fencing) = (range, self.record.epoch);
        Ok(Lease { range: self.range.clone(), fencing: self.fencing })
    }

    /// Moves `next` past `count` indices, which are nobody else's then.
    fn advance(record: &mut Record, count: u64) -> Result<Range<u64>, StateError> {
        let (from, left) = (record.next, record.left());
        if left == 0 {
            return Err(match record.until {
                until if until < record.limit => StateError::Ended { until },
                limit => StateError::Exhausted { limit },
            });
        }
        if count == 0 || count > left {
            return Err(StateError::NotEnough { asked: count, left });
        }
        record.next += count;
        Ok(from..record.next)
    }

    /// Commits the record with its leases accounted for and changed by `change`; its epoch is then the
    /// commit's already.
    ///
    /// The lease in use ends here: whatever comes of the commit, none of its indices is given again.
    /// The caller has checked the process.
    fn change(
        &mut self,
        now: u64,
        mut change: impl FnMut(&mut Record) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        if self.failed {
            if !self.store.shared() {
                return Err(StateError::Conflict { expected: Some(self.record.epoch) });
            }
            self.reload()?;
        }
        for _ in 0..MAX_RACES {
            let expected = self.record.epoch;
            let mut record = self.record.clone();
            self.settle_own(&mut record);
            record.epoch = expected + 1;
            record.updated = now;
            change(&mut record)?;
            self.range = 0..0;
            match self.store.commit(Some(expected), &record) {
                Ok(()) => {
                    let leased = record.leases.last().filter(|last| last.fencing == record.epoch);
                    self.own = leased.map(|last| (last.fencing, 0)).into_iter().collect();
                    self.record = record;
                    return Ok(());
                }
                Err(StateError::Conflict { .. }) if self.store.shared() => {
                    self.failed = true;
                    self.reload()?;
                }
                Err(error) => {
                    // Nobody knows which record is stored now. Fail closed: until the key is opened
                    // anew, or where signers share the store, until the record is loaded again. What
                    // this commit leased is never used, and accounted for where it did take place.
                    self.failed = true;
                    self.own.push((record.epoch, 0));
                    return Err(error);
                }
            }
        }
        Err(StateError::Conflict { expected: Some(self.record.epoch) })
    }

    /// Loads the record again, which must not be from before what this process has seen.
    fn reload(&mut self) -> Result<(), StateError> {
        let record = checked(&mut self.store)?;
        if record.key_id != self.record.key_id || record.limit != self.record.limit {
            return Err(StateError::OtherKey);
        }
        Seen::default().with(&self.record).check(&record)?;
        if record.epoch == self.record.epoch && record != self.record {
            // Two records of one epoch: the state went back, and somebody went on from there.
            return Err(StateError::Copied);
        }
        self.own.retain(|(fencing, _)| record.leases.iter().any(|lease| lease.fencing == *fencing));
        self.record = record;
        self.failed = false;
        Ok(())
    }

    /// Accounts for this process's leases; in a store that is not shared also for those of a holder
    /// before it, which must have ended.
    fn settle_own(&self, record: &mut Record) {
        let alone = !self.store.shared();
        settle(record, |lease| {
            let own = self.own.iter().find(|(fencing, _)| *fencing == lease.fencing);
            let own = own.filter(|_| lease.holder == self.holder);
            own.map(|(_, used)| *used).or(alone.then_some(0))
        });
    }

    fn check_process(&self) -> Result<(), StateError> {
        match self.process.is_current() {
            true => Ok(()),
            false => Err(StateError::Forked { owner: self.process.id() }),
        }
    }
}

/// The record of a store, if it is at its place and not from before what was seen.
fn checked(store: &mut impl StateStore) -> Result<Record, StateError> {
    let record = store.load()?.ok_or(StateError::Missing)?;
    refusal(store, &record).map_or(Ok(record), Err)
}

/// Why a signer would refuse the record that was loaded from a store, if it would: it is not at its
/// place, or from before what was seen.
pub fn refusal(store: &impl StateStore, record: &Record) -> Option<StateError> {
    if record.place != store.place() {
        return Some(StateError::Copied);
    }
    store.check(record).err()
}

/// Commits that other signers may win before one gives up.
const MAX_RACES: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;
    use crate::state::{Volatile, create};

    /// A fork copies the memory and not the process id: as if this were the child.
    #[test]
    fn a_forked_child_cannot_sign() {
        let key = PublicKey::from_parts(Params::XMSS_SHA2_10_256, &[1; 64]).unwrap();
        // The second child has its parent's number, in a namespace of its own.
        for namespace in [false, true] {
            let mut store = Volatile::new();
            create(&mut store, &key, 0, [0; 16], 0).unwrap();
            let mut state = Reservations::open(store, &key, Holder::new("test")).unwrap();
            state.reserve(10, 0).unwrap();
            state.process.alter(namespace);
            let forked = StateError::Forked { owner: state.process.id() };
            assert_eq!(state.next(1, 0).unwrap_err(), forked);
            assert_eq!(state.reserve(1, 0).unwrap_err(), forked);
            assert_eq!(state.reserve_for(1, 0).unwrap_err(), forked);
            assert_eq!(state.resume_at(100, 0).unwrap_err(), forked);
            assert_eq!(state.close(0).unwrap_err(), forked);
        }
    }
}
