//! The one scheduler of WOTS+ chains, for key generation, signing and verification alike.
//!
//! Chains differ in length. They are sorted, the longest first; each lane takes the next chain as
//! soon as its own ends, so that the lanes run dry together. What remains when few lanes are busy
//! goes on in narrow lanes. Lengths are public: they follow from the message digest, which the
//! signature shows.

use super::{Engine, Lanes, Prefix};
use crate::wots::LAST;

/// A part of a chain: steps `start..end` of chain `chain` of WOTS+ key `ots`.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    /// Which of the prefixes its addresses begin with.
    pub(crate) prefix: u32,
    /// The OTS address word.
    pub(crate) ots: u32,
    /// The chain address word.
    pub(crate) chain: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Which value it starts from and ends in.
    pub(crate) slot: u32,
}

impl Chain {
    fn steps(&self) -> u32 {
        self.end - self.start
    }
}

/// Sorts chains for the scheduler, the longest first, and leaves out those without a step.
pub(crate) fn longest_first(chains: Vec<Chain>) -> Vec<Chain> {
    // The lengths are few: each chain's place is known once they are counted.
    let mut places = [0; LAST as usize + 1];
    for chain in &chains {
        places[chain.steps() as usize] += 1;
    }
    let mut place = 0;
    for length in (1..places.len()).rev() {
        (places[length], place) = (place, place + places[length]);
    }
    let mut sorted = chains.clone();
    for chain in chains {
        let length = chain.steps() as usize;
        if length > 0 {
            sorted[places[length]] = chain;
            places[length] += 1;
        }
    }
    sorted.truncate(place);
    sorted
}

impl Engine {
    /// Runs every chain to its end, in place. They come longest first, and each has a step to go.
    ///
    /// RFC 8391 §3.1.2, Algorithm 2, for many chains.
    pub(crate) fn run_chains(
        &mut self,
        prefixes: &[Prefix],
        chains: impl ExactSizeIterator<Item = Chain>,
        values: &mut [u8],
    ) {
        let (n, few) = (self.params.n(), self.few);
        if chains.len() <= few {
            drive(&mut self.narrow, n, prefixes, chains, values, 0);
        } else {
            let left = drive(&mut self.wide, n, prefixes, chains, values, few);
            drive(&mut self.narrow, n, prefixes, left.into_iter(), values, 0);
        }
    }
}

/// A lane, the chain in it, and the steps that it has left.
struct Busy {
    lane: usize,
    chain: Chain,
    left: u32,
}

impl Busy {
    fn enter(
        lanes: &mut Lanes,
        lane: usize,
        n: usize,
        prefixes: &[Prefix],
        chain: Chain,
        values: &[u8],
    ) -> Self {
        debug_assert!(chain.steps() > 0);
        lanes.set_prefix(lane, &prefixes[chain.prefix as usize]);
        lanes.set_tail(lane, [chain.ots, chain.chain, chain.start, 0]);
        lanes.put(lane, false, &values[chain.slot as usize * n..][..n]);
        Busy { lane, chain, left: chain.steps() }
    }

    fn leave(&self, lanes: &Lanes, n: usize, values: &mut [u8]) {
        lanes.take(self.lane, &mut values[self.chain.slot as usize * n..][..n]);
    }
}

/// Runs chains until at most `leave` are unfinished, which it returns, their values written back.
fn drive(
    lanes: &mut Lanes,
    n: usize,
    prefixes: &[Prefix],
    mut queue: impl ExactSizeIterator<Item = Chain>,
    values: &mut [u8],
    leave: usize,
) -> Vec<Chain> {
    let mut busy: Vec<Busy> = Vec::with_capacity(lanes.width());
    for (lane, chain) in queue.by_ref().take(lanes.width()).enumerate() {
        busy.push(Busy::enter(lanes, lane, n, prefixes, chain, values));
    }
    while queue.len() > 0 || busy.len() > leave {
        // Nothing happens until the first of them ends.
        let steps = busy.iter().map(|busy| busy.left).min().unwrap_or(0);
        lanes.steps(steps);
        let mut i = 0;
        while i < busy.len() {
            busy[i].left -= steps;
            if busy[i].left > 0 {
                i += 1;
                continue;
            }
            busy[i].leave(lanes, n, values);
            match queue.next() {
                Some(next) => {
                    busy[i] = Busy::enter(lanes, busy[i].lane, n, prefixes, next, values);
                    i += 1;
                }
                None => {
                    // The last takes its place, and its turn comes next.
                    busy.swap_remove(i);
                }
            }
        }
    }
    busy.iter().for_each(|busy| busy.leave(lanes, n, values));
    busy.into_iter().map(|busy| Chain { start: busy.chain.end - busy.left, ..busy.chain }).collect()
}
