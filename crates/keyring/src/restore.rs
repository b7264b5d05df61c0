//! Making a lost, copied or rolled-back state usable again.

use crate::create::{Fresh, draw};
use crate::place::as_url;
use crate::store::Site;
use crate::{Error, Keyring};
use rand_core::CryptoRng;
use std::path::PathBuf;
use tetralith_durable::{beside, folder};
use tetralith_xmss::PublicKey;
use tetralith_xmss::state::{
    self, FileStore, KeyNote, SqliteStore, StateError, StateStore, noted_by,
};

impl Keyring {
    /// Makes the state usable from `resume_at` on, and before `until` where only a range of the indices
    /// is for this place. From now on it is the key's state. Where there was none and it fails, nothing
    /// is left.
    ///
    /// # Errors
    /// [`StateError::Backward`] where anything beside the key knows of a later index; otherwise as
    /// [`state::restore`].
    ///
    /// # Security
    /// `resume_at` must lie above every index that any copy of the key may have used.
    pub fn restore(
        &self,
        resume_at: u64,
        until: Option<u64>,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<state::Status, Error> {
        let (site, public) = (&self.site, &self.public);
        site.place.check_links(&site.files, &site.name)?;
        site.check_spent(public, resume_at)?;
        let fresh = Fresh::of(site);
        let opened = site.open_or_make(public);
        let (mut store, id) = (opened.inspect_err(|_| fresh.sweep(site))?, draw(rng));
        let restored = state::restore(&mut store, public, resume_at, until, id, now);
        if let Err(error) = restored {
            fresh.take_back(&mut store, id);
            return Err(site.refused(exhausted(public, error)));
        }
        let found = store.load().and_then(|record| record.ok_or(StateError::Missing));
        Ok(state::Status::from(&found.map_err(|error| site.refused(error))?))
    }
}

impl Site {
    /// Refuses an index that something beside the key knows to be spent, in whatever store: the key's own
    /// state, the one that its note names, and every other state of this key in its folder.
    pub(crate) fn check_spent(&self, public: &PublicKey, resume_at: u64) -> Result<(), Error> {
        let next = self.next_noted(&state::key_id(public));
        if resume_at >= next {
            return Ok(());
        }
        let backward = StateError::Backward { asked: resume_at, next };
        Err(Error::State { source: exhausted(public, backward), file: None })
    }

    /// The first index that nothing beside the key has seen leased.
    fn next_noted(&self, id: &[u8; 32]) -> u64 {
        let note = KeyNote::read(&self.files.seen()).ok().flatten();
        let of_note = note.as_ref().map(|note| (note.seen.key_id, note.seen.next));
        let states = self.states(note.as_ref());
        let of_locks = states.iter().filter_map(|state| noted_by(&beside(state, ".lock")));
        let of_locks = of_locks.map(|seen| (seen.key_id, seen.next));
        // A file of the folder may be anything: another program's database stays as it is.
        let records = states.iter().filter_map(|state| match FileStore::peek(state) {
            Err(StateError::Kind(_)) => SqliteStore::examine(state).ok(),
            found => found.ok(),
        });
        let of_records = records.map(|record| (record.key_id, record.next));
        let all = of_note.into_iter().chain(of_locks).chain(of_records);
        all.filter(|(of, _)| of == id).map(|(_, next)| next).max().unwrap_or(0)
    }

    /// The files that may be states of this key, whether they are there or not: a state that was renamed,
    /// or whose lock was deleted, lies in the folder under any name.
    fn states(&self, note: Option<&KeyNote>) -> Vec<PathBuf> {
        let mut states = vec![self.files.state()];
        let noted = note.map(|note| as_url(&note.location, &self.files));
        if let Some(("sqlite" | "file", path)) =
            noted.as_deref().and_then(|url| url.split_once(':'))
        {
            states.push(path.into());
        }
        let entries = std::fs::read_dir(folder(self.files.key())).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.extension().is_some_and(|end| end == "lock") {
                states.push(path.with_extension(""));
            } else {
                states.push(path);
            }
        }
        states
    }
}

/// Where no index is left, that is the reason, not the index that was asked for.
pub(crate) fn exhausted(public: &PublicKey, error: StateError) -> StateError {
    let limit = public.params().signatures();
    match error {
        StateError::Backward { next, .. } if next >= limit => StateError::Exhausted { limit },
        error => error,
    }
}
