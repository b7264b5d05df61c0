//! Making a state, and making it usable again.

use super::{OpenLease, Record, StateError, StateStore};
use crate::keys::PublicKey;
use sha2::{Digest, Sha256};

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
/// [`StateError::Exists`] where the store holds a record, [`StateError::PastEnd`] where the key has
/// no index `resume_at`, [`StateError::Backward`] where the key is known to have leased it; or the
/// store fails.
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
    if store.load()?.is_some() {
        return Err(StateError::Exists);
    }
    make(store, key, resume_at, None, store_id, now)
}

/// Makes a lost, copied or rolled-back state usable again, from `resume_at` on, and before `until`
/// where only a range of the indices is for this place.
///
/// Where there is no record, one is created; where there is, it goes forward and belongs to this place
/// from now on, and without an `until` keeps the end that it had. `store_id`: 16 random bytes.
///
/// # Errors
/// [`StateError::Backward`] where the record or this place knows `resume_at` to be leased already,
/// [`StateError::OtherKey`], [`StateError::PastEnd`], [`StateError::Ended`]; or the store fails.
///
/// # Security
/// `resume_at` must lie above every index that any copy of the state may have used.
pub fn restore(
    store: &mut impl StateStore,
    key: &PublicKey,
    resume_at: u64,
    until: Option<u64>,
    store_id: [u8; 16],
    now: u64,
) -> Result<(), StateError> {
    let Some(found) = store.load()? else {
        return make(store, key, resume_at, until, store_id, now);
    };
    if found.key_id != key_id(key) || found.limit != key.params().signatures() {
        return Err(StateError::OtherKey);
    }
    let seen = store.seen(&found.key_id);
    let next = found.next.max(seen.next);
    if resume_at < next {
        return Err(StateError::Backward { asked: resume_at, next });
    }
    let mut record = found.clone();
    record.until = until.unwrap_or(record.until);
    within(resume_at, record.until, record.limit)?;
    settle(&mut record, |_| Some(0));
    record.skipped += resume_at - record.next;
    record.next = resume_at;
    record.place = store.place();
    record.store_id = store_id;
    record.epoch = found.epoch.max(seen.epoch) + 1;
    record.updated = now;
    store.commit(Some(found.epoch), &record)
}

fn make(
    store: &mut impl StateStore,
    key: &PublicKey,
    resume_at: u64,
    until: Option<u64>,
    store_id: [u8; 16],
    now: u64,
) -> Result<(), StateError> {
    let limit = key.params().signatures();
    let (key_id, until) = (key_id(key), until.unwrap_or(limit));
    within(resume_at, until, limit)?;
    let seen = store.seen(&key_id);
    let next = seen.next;
    if resume_at < next {
        return Err(StateError::Backward { asked: resume_at, next });
    }
    let record = Record {
        key_id,
        store_id,
        place: store.place(),
        epoch: seen.epoch + 1,
        limit,
        until,
        next: resume_at,
        used: 0,
        lost: 0,
        leased: 0,
        skipped: resume_at,
        leases: Vec::new(),
        created: now,
        updated: now,
    };
    store.commit(None, &record)
}

/// A range must lie in its key, and have an index: to go to its end would spend all that is left, for good.
fn within(resume_at: u64, until: u64, limit: u64) -> Result<(), StateError> {
    match resume_at.max(until) {
        asked if asked > limit || resume_at == limit => Err(StateError::PastEnd { asked, limit }),
        _ if resume_at >= until => Err(StateError::Ended { until }),
        _ => Ok(()),
    }
}

/// Accounts for the open leases of which `used` knows how many indices made a signature; the rest of
/// their indices is lost.
pub(super) fn settle(record: &mut Record, used: impl Fn(&OpenLease) -> Option<u64>) {
    let (mut sum_used, mut sum_lost) = (0, 0);
    record.leases.retain(|lease| {
        let Some(used) = used(lease) else { return true };
        let used = used.min(lease.len());
        sum_used += used;
        sum_lost += lease.len() - used;
        false
    });
    record.used += sum_used;
    record.lost += sum_lost;
}
