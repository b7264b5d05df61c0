//! The record that a store keeps, and its encoding.

use super::StateError;
use core::fmt;
use sha2::{Digest, Sha256};

/// Who has a lease or a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Host name, at most 64 bytes.
    pub host: String,
}

impl Holder {
    /// This process on the host of that name.
    #[must_use]
    pub fn new(host: &str) -> Self {
        let mut host = host.to_owned();
        while host.len() > MAX_HOST {
            host.pop();
        }
        Self { pid: process_id(), host }
    }
}

/// This process's id; a browser has none, and does not fork.
pub(super) fn process_id() -> u32 {
    if cfg!(target_family = "wasm") { 1 } else { std::process::id() }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// A range that was leased and not accounted for yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenLease {
    /// Its first index; it ends at the record's `next`.
    pub from: u64,
    /// Who leased it.
    pub holder: Holder,
}

/// The state of one key.
///
/// `used + lost + leased + skipped`, and the length of the open lease, add up to `next`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Whose state this is; see [`key_id`](super::key_id).
    pub key_id: [u8; 32],
    /// Drawn when the state was created: tells two states of one key apart.
    pub store_id: [u8; 16],
    /// Where the store was; see [`StateStore::place`](super::StateStore::place).
    pub place: [u8; 32],
    /// Grows by one with each commit: the fencing number.
    pub epoch: u64,
    /// How many indices the key has.
    pub limit: u64,
    /// The first index that was never leased.
    pub next: u64,
    /// Indices that made a signature.
    pub used: u64,
    /// Indices that were leased and whose holder ended without saying that it used them.
    pub lost: u64,
    /// Indices handed out for good by [`reserve_for`](super::Reservations::reserve_for).
    pub leased: u64,
    /// Indices passed over when the state was restored.
    pub skipped: u64,
    /// The lease in use.
    pub open: Option<OpenLease>,
    /// When the state was created, in seconds since 1970 as the caller gave it.
    pub created: u64,
    /// When the record was committed.
    pub updated: u64,
}

impl Record {
    /// Encodes the record; see `docs/xmss-state.md`.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.key_id);
        bytes.extend_from_slice(&self.store_id);
        bytes.extend_from_slice(&self.place);
        let open = self.open.as_ref();
        let from = open.map_or(self.next, |open| open.from);
        let pid = open.map_or(0, |open| u64::from(open.holder.pid));
        for number in [
            self.epoch,
            self.limit,
            self.next,
            self.used,
            self.lost,
            self.leased,
            self.skipped,
            self.created,
            self.updated,
            from,
            pid,
        ] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        let host = open.map_or("", |open| &open.holder.host);
        bytes.push(u8::from(open.is_some()));
        bytes.push(host.len() as u8);
        bytes.extend_from_slice(host.as_bytes());
        let sum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }

    /// Decodes a record, strictly.
    ///
    /// # Errors
    /// [`StateError::Damaged`], with the rule that is broken.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let (body, sum) = bytes
            .split_last_chunk::<32>()
            .ok_or(StateError::Damaged("shorter than its checksum"))?;
        if !body.starts_with(MAGIC) {
            return Err(StateError::Damaged("no state record of version 1"));
        }
        if Sha256::digest(body)[..] != sum[..] {
            return Err(StateError::Damaged("the checksum is wrong"));
        }
        let mut rest = &body[MAGIC.len()..];
        let record = Self::fields(&mut rest).ok_or(StateError::Damaged("cut short"))??;
        if !rest.is_empty() {
            return Err(StateError::Damaged("trailing bytes"));
        }
        record.consistent().then_some(record).ok_or(StateError::Damaged("its counts disagree"))
    }

    fn fields(rest: &mut &[u8]) -> Option<Result<Self, StateError>> {
        fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
            let (head, tail) = rest.split_first_chunk::<N>()?;
            *rest = tail;
            Some(*head)
        }
        let (key_id, store_id, place) = (take(rest)?, take(rest)?, take(rest)?);
        let mut number = || take::<8>(rest).map(u64::from_be_bytes);
        let (epoch, limit, next) = (number()?, number()?, number()?);
        let (used, lost, leased, skipped) = (number()?, number()?, number()?, number()?);
        let (created, updated, from, pid) = (number()?, number()?, number()?, number()?);
        let [flag, len] = take(rest)?;
        let (host, after) = rest.split_at_checked(len.into())?;
        *rest = after;
        let Ok(host) = core::str::from_utf8(host) else {
            return Some(Err(StateError::Damaged("the host is not text")));
        };
        let open = match (flag, u32::try_from(pid)) {
            (0, Ok(0)) if host.is_empty() && from == next => None,
            (1, Ok(pid)) if host.len() <= MAX_HOST => {
                Some(OpenLease { from, holder: Holder { pid, host: host.into() } })
            }
            _ => return Some(Err(StateError::Damaged("its lease is not well formed"))),
        };
        Some(Ok(Self {
            key_id,
            store_id,
            place,
            epoch,
            limit,
            next,
            used,
            lost,
            leased,
            skipped,
            open,
            created,
            updated,
        }))
    }

    fn consistent(&self) -> bool {
        let open = match &self.open {
            Some(open) => self.next.checked_sub(open.from),
            None => Some(0),
        };
        let parts = [Some(self.used), Some(self.lost), Some(self.leased), Some(self.skipped), open];
        let sum = parts.into_iter().try_fold(0u64, |sum, part| sum.checked_add(part?));
        self.next <= self.limit && sum == Some(self.next)
    }
}

const MAGIC: &[u8] = b"tetralith xmss state 1\n";
const MAX_HOST: usize = 64;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn record() -> Record {
        Record {
            key_id: [1; 32],
            store_id: [2; 16],
            place: [3; 32],
            epoch: 9,
            limit: 1024,
            next: 20,
            used: 7,
            lost: 2,
            leased: 1,
            skipped: 5,
            open: Some(OpenLease { from: 15, holder: Holder { pid: 77, host: "box".into() } }),
            created: 1000,
            updated: 2000,
        }
    }

    #[test]
    fn records_round_trip() {
        let mut r = record();
        assert_eq!(Record::from_bytes(&r.to_bytes()), Ok(r.clone()));
        r.lost += 5;
        r.open = None;
        assert_eq!(Record::from_bytes(&r.to_bytes()), Ok(r));
    }

    #[test]
    fn damage_is_found_at_every_byte() {
        let bytes = record().to_bytes();
        for i in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[i] ^= 1;
            assert!(Record::from_bytes(&bad).is_err(), "byte {i}");
            assert!(Record::from_bytes(&bytes[..i]).is_err(), "cut at {i}");
        }
        assert!(Record::from_bytes(&[bytes, vec![0]].concat()).is_err());
        let mut uneven = record();
        uneven.used += 1;
        assert_eq!(
            Record::from_bytes(&uneven.to_bytes()),
            Err(StateError::Damaged("its counts disagree"))
        );
    }
}
