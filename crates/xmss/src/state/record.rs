//! The record that a store keeps, and its encoding.

use super::StateError;
use super::process::Process;
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
        Self { pid: Process::current().id(), host }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// A range that was leased and not accounted for yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenLease {
    /// Its first index.
    pub from: u64,
    /// The index after its last.
    pub end: u64,
    /// Its fencing number: the epoch that its commit made.
    pub fencing: u64,
    /// When it was leased, as its holder's clock said: to be shown, never to be trusted.
    pub at: u64,
    /// Who leased it.
    pub holder: Holder,
}

impl OpenLease {
    pub(super) fn len(&self) -> u64 {
        self.end - self.from
    }
}

/// The state of one key.
///
/// `used + lost + leased + skipped`, and the lengths of the open leases, add up to `next`.
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
    /// The first index that this state does not give: `limit`, or the end of the range it was restored for.
    pub until: u64,
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
    /// The leases in use, oldest first: one at most, but in a store that signers share.
    pub leases: Vec<OpenLease>,
    /// When the state was created, in seconds since 1970 as the caller gave it.
    pub created: u64,
    /// When the record was committed.
    pub updated: u64,
}

impl Record {
    /// Indices that can still be leased.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.until.saturating_sub(self.next)
    }

    /// Encodes the record; see `docs/xmss-state.md`.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.key_id);
        bytes.extend_from_slice(&self.store_id);
        bytes.extend_from_slice(&self.place);
        for number in [
            self.epoch,
            self.limit,
            self.until,
            self.next,
            self.used,
            self.lost,
            self.leased,
            self.skipped,
            self.created,
            self.updated,
        ] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.push(self.leases.len() as u8);
        for lease in &self.leases {
            for number in [lease.from, lease.end, lease.fencing, lease.at] {
                bytes.extend_from_slice(&number.to_be_bytes());
            }
            bytes.extend_from_slice(&lease.holder.pid.to_be_bytes());
            bytes.push(lease.holder.host.len() as u8);
            bytes.extend_from_slice(lease.holder.host.as_bytes());
        }
        let sum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }

    /// Whether bytes begin as a record does.
    #[cfg(feature = "sqlite")]
    pub(super) fn is_begun_by(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Decodes a record, strictly.
    ///
    /// # Errors
    /// [`StateError::Damaged`], with the rule that is broken; [`StateError::Kind`] for a database.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        if bytes.starts_with(SQLITE) {
            return Err(StateError::Kind("the state is an SQLite database: name it sqlite:PATH"));
        }
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
        let record = Self::fields(&mut rest).ok_or(StateError::Damaged("cut short"))?;
        if !rest.is_empty() {
            return Err(StateError::Damaged("trailing bytes"));
        }
        if record.leases.len() > MAX_LEASES || !record.leases.iter().all(host_is_well_formed) {
            return Err(StateError::Damaged("its leases are not well formed"));
        }
        record.consistent().then_some(record).ok_or(StateError::Damaged("its counts disagree"))
    }

    fn fields(rest: &mut &[u8]) -> Option<Self> {
        let (key_id, store_id, place) = (take(rest)?, take(rest)?, take(rest)?);
        let mut number = || take::<8>(rest).map(u64::from_be_bytes);
        Some(Self {
            key_id,
            store_id,
            place,
            epoch: number()?,
            limit: number()?,
            until: number()?,
            next: number()?,
            used: number()?,
            lost: number()?,
            leased: number()?,
            skipped: number()?,
            created: number()?,
            updated: number()?,
            leases: {
                let [count] = take(rest)?;
                (0..count).map(|_| lease(rest)).collect::<Option<_>>()?
            },
        })
    }

    fn consistent(&self) -> bool {
        let leased = self
            .leases
            .iter()
            .map(|lease| lease.end.checked_sub(lease.from).filter(|len| *len > 0));
        let parts = [Some(self.used), Some(self.lost), Some(self.leased), Some(self.skipped)];
        let sum =
            parts.into_iter().chain(leased).try_fold(0u64, |sum, part| sum.checked_add(part?));
        let ordered = self
            .leases
            .windows(2)
            .all(|pair| pair[0].end <= pair[1].from && pair[0].fencing < pair[1].fencing);
        let last = self
            .leases
            .last()
            .is_none_or(|last| last.end <= self.next && last.fencing <= self.epoch);
        // The stores' columns are signed.
        i64::try_from(self.epoch).is_ok_and(|epoch| epoch < i64::MAX)
            && self.until <= self.limit
            && self.next <= self.limit
            && sum == Some(self.next)
            && ordered
            && last
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

fn lease(rest: &mut &[u8]) -> Option<OpenLease> {
    let mut number = || take::<8>(rest).map(u64::from_be_bytes);
    let (from, end, fencing, at) = (number()?, number()?, number()?, number()?);
    let pid = u32::from_be_bytes(take(rest)?);
    let [len] = take(rest)?;
    let (host, after) = rest.split_at_checked(len.into())?;
    *rest = after;
    // What is not UTF-8 becomes longer than any host may be.
    let host = core::str::from_utf8(host).map_or_else(|_| "?".repeat(MAX_HOST + 1), str::to_owned);
    Some(OpenLease { from, end, fencing, at, holder: Holder { pid, host } })
}

fn host_is_well_formed(lease: &OpenLease) -> bool {
    lease.holder.host.len() <= MAX_HOST
}

const MAGIC: &[u8] = b"tetralith xmss state 1\n";
/// How an SQLite database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// More than any record has in its encoding.
#[cfg(feature = "file")]
pub(super) const MAX_BYTES: usize = 1 << 14;
const MAX_HOST: usize = 64;
/// Open leases that a record has at most; the oldest is then counted as lost.
pub(super) const MAX_LEASES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(from: u64, end: u64, fencing: u64) -> OpenLease {
        OpenLease { from, end, fencing, at: 3, holder: Holder { pid: 77, host: "box".into() } }
    }

    fn record() -> Record {
        Record {
            key_id: [1; 32],
            store_id: [2; 16],
            place: [3; 32],
            epoch: 9,
            limit: 1024,
            until: 900,
            next: 20,
            used: 7,
            lost: 2,
            leased: 1,
            skipped: 5,
            leases: vec![lease(12, 14, 7), lease(17, 20, 9)],
            created: 1000,
            updated: 2000,
        }
    }

    #[test]
    fn records_round_trip() {
        let mut r = record();
        assert_eq!(Record::from_bytes(&r.to_bytes()), Ok(r.clone()));
        r.lost += 5;
        r.leases.clear();
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
        let wrong: [&dyn Fn(&mut Record); 5] = [
            &|r| r.leases[0].end = 18,
            &|r| r.leases.swap(0, 1),
            &|r| r.leases[1].fencing = 10,
            &|r| r.leases[0].from = 15,
            &|r| r.until = 1025,
        ];
        for (i, change) in wrong.into_iter().enumerate() {
            let mut bad = record();
            change(&mut bad);
            assert!(Record::from_bytes(&bad.to_bytes()).is_err(), "{i}");
        }
        let mut full = record();
        full.leases = vec![lease(0, 0, 1); MAX_LEASES + 1];
        let unformed = Err(StateError::Damaged("its leases are not well formed"));
        assert_eq!(Record::from_bytes(&full.to_bytes()), unformed);
        let mut bytes = record().to_bytes();
        let host = bytes.len() - 32 - 3;
        bytes[host] = 0xff;
        let body = bytes.len() - 32;
        let sum = Sha256::digest(&bytes[..body]);
        bytes[body..].copy_from_slice(&sum);
        assert_eq!(Record::from_bytes(&bytes), unformed);
    }
}
