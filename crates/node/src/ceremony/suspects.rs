//! Who signs next, after runs that failed.
//!
//! A failed run seldom shows who is at fault. What it shows is a *suspect set*: nodes of which at
//! least one lies or is cut off. A false accusation gives the pair of accuser and accused, a check
//! that names nobody gives all signers but this node, a proof gives one node. No honest set of
//! signers contains a whole suspect set, so the next signers never contain one either; they
//! therefore differ from all earlier ones, and with c candidates and t signers a request ends after
//! at most C(c − 1, t − 1) runs. `docs/tss-protocol.md` has the bounds for fewer liars.
//!
//! A *hypothesis* is a smallest set of liars that explains every suspect set. The next signers are
//! those that avoid the most hypotheses: after an accusation that is neither accuser nor accused
//! while enough others are left, and after failures without a name it makes the runs a covering
//! design, which finds one liar in two or three runs whatever the number of candidates.

use crate::ceremony::lock;
use crate::shares::KeyId;
use libp2p::PeerId;
use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Nodes of which at least one is at fault.
pub(crate) type SuspectSet = BTreeSet<PeerId>;

/// Runs that one request makes at most.
pub(crate) const MOST_RUNS: usize = 512;
/// Up to this many other candidates the best signers are found by trying all.
const MOST_EXACT: usize = 16;
/// Comparisons of signers with hypotheses that one choice may cost.
const MOST_COMPARISONS: usize = 1 << 22;
/// Steps of the search among more candidates.
const MOST_STEPS: usize = 1 << 16;
/// How long a suspect set is remembered for later requests.
const MEMORY: Duration = Duration::from_secs(3600);
/// Suspect sets of a key that are remembered.
const MOST_REMEMBERED: usize = 256;

/// The suspect sets that a choice of signers must respect.
#[derive(Clone, Debug, Default)]
pub(crate) struct Suspects {
    sets: Vec<SuspectSet>,
}

impl Suspects {
    /// Adds a set; one that contains another says nothing more and is left out.
    pub(crate) fn add(&mut self, set: SuspectSet) {
        if set.is_empty() || self.sets.iter().any(|known| known.is_subset(&set)) {
            return;
        }
        self.sets.retain(|known| !set.is_subset(known));
        self.sets.push(set);
    }

    /// Adds several sets.
    pub(crate) fn extend(&mut self, sets: impl IntoIterator<Item = SuspectSet>) {
        sets.into_iter().for_each(|set| self.add(set));
    }

    /// Adds all that others hold.
    pub(crate) fn merge(&mut self, other: &Suspects) {
        self.extend(other.sets.iter().cloned());
    }

    /// Says whether the node alone is at fault.
    pub(crate) fn condemns(&self, peer: &PeerId) -> bool {
        self.sets.iter().any(|set| set.len() == 1 && set.contains(peer))
    }

    /// Chooses `count` of `available`, the preferred first, so that they contain no suspect set.
    pub(crate) fn choose(&self, available: &[PeerId], count: usize) -> Option<Vec<PeerId>> {
        if count > available.len() {
            return None;
        }
        let place = |peer: &PeerId| available.iter().position(|other| other == peer);
        let indices = |set: &SuspectSet| set.iter().map(place).collect::<Option<Vec<usize>>>();
        // A set with a member that is not available cannot be contained in the signers.
        let sets: Vec<Vec<usize>> = self.sets.iter().filter_map(indices).collect();
        let chosen = if sets.is_empty() {
            (0..count).collect()
        } else if available.len() <= MOST_EXACT {
            exact(available.len(), count, &sets)?
        } else {
            search(available.len(), count, &sets)?
        };
        Some(chosen.into_iter().map(|index| available[index]).collect())
    }
}

/// The signers, as indices, that avoid the most of the smallest hypotheses.
fn exact(available: usize, count: usize, sets: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mask = |set: &Vec<usize>| set.iter().fold(0u32, |mask, index| mask | 1 << index);
    let sets: Vec<u32> = sets.iter().map(mask).collect();
    let explains = |liars: &u32| sets.iter().all(|set| set & liars != 0);
    for size in 1..=available - count {
        let hypotheses: Vec<u32> = subsets(available, size).filter(explains).collect();
        let Some(first) = hypotheses.first() else { continue };
        let signers: Vec<u32> = subsets(available, count).collect();
        let best = if signers.len().saturating_mul(hypotheses.len()) <= MOST_COMPARISONS {
            let avoided = |signers: &u32| hypotheses.iter().filter(|h| *h & signers == 0).count();
            // The first of the best, for the earlier are preferred: `max_by_key` takes the last.
            *signers.iter().rev().max_by_key(|signers| avoided(signers))?
        } else {
            *signers.iter().find(|signers| *signers & first == 0)?
        };
        return Some((0..available).filter(|index| best >> index & 1 == 1).collect());
    }
    None
}

/// All subsets of 0..n with `size` elements, those with early elements first.
fn subsets(n: usize, size: usize) -> impl Iterator<Item = u32> {
    let mut indices: Option<Vec<usize>> = (size <= n).then(|| (0..size).collect());
    core::iter::from_fn(move || {
        let current = indices.as_mut()?;
        let mask = current.iter().fold(0u32, |mask, index| mask | 1 << index);
        match (0..size).rev().find(|i| current[*i] < n - size + i) {
            Some(at) => {
                current[at] += 1;
                (at + 1..size).for_each(|i| current[i] = current[i - 1] + 1);
            }
            None => indices = None,
        }
        Some(mask)
    })
}

/// Signers that contain no set, the least suspected first, by search with a bounded effort.
fn search(available: usize, count: usize, sets: &[Vec<usize>]) -> Option<Vec<usize>> {
    let weight = |index: usize| {
        let of = sets.iter().filter(|set| set.contains(&index));
        of.map(|set| (1usize << 20) / set.len()).sum::<usize>()
    };
    let mut order: Vec<usize> = (0..available).collect();
    order.sort_by_cached_key(|index| weight(*index));
    let (mut taken, mut next) = (Vec::new(), 0);
    for _ in 0..MOST_STEPS {
        if taken.len() == count {
            let mut chosen: Vec<usize> = taken.iter().map(|place: &usize| order[*place]).collect();
            chosen.sort_unstable();
            return Some(chosen);
        }
        if order.len() - next < count - taken.len() {
            // Too few are left: take the last one back and go on after it.
            next = taken.pop()? + 1;
            continue;
        }
        taken.push(next);
        let has = |index: &usize| taken.iter().any(|place| order[*place] == *index);
        if sets.iter().any(|set| set.iter().all(has)) {
            taken.pop();
        }
        next += 1;
    }
    None
}

/// The suspect sets of earlier requests, by key.
///
/// They are a preference: where they leave no quorum, they are forgotten. A restart forgets them.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<HashMap<KeyId, Vec<(SuspectSet, Instant)>>>);

impl Memory {
    /// Remembers sets of a failed run.
    pub(crate) fn add(&self, key: KeyId, sets: &[SuspectSet], now: Instant) {
        let mut memory = lock(&self.0);
        let known = memory.entry(key).or_default();
        for set in sets {
            known.retain(|(old, _)| old != set);
            known.push((set.clone(), now));
        }
        let surplus = known.len().saturating_sub(MOST_REMEMBERED);
        known.drain(..surplus);
    }

    /// What is remembered of a key.
    pub(crate) fn of(&self, key: &KeyId, now: Instant) -> Suspects {
        let mut suspects = Suspects::default();
        if let Some(known) = lock(&self.0).get_mut(key) {
            known.retain(|(_, when)| now.saturating_duration_since(*when) < MEMORY);
            suspects.extend(known.iter().map(|(set, _)| set.clone()));
        }
        suspects
    }

    /// Forgets what is known of a key.
    pub(crate) fn forget(&self, key: &KeyId) {
        lock(&self.0).remove(key);
    }
}

#[cfg(test)]
mod tests;
