//! The one scheduler of WOTS+ chains, for key generation, signing and verification alike.
//!
//! Chains differ in length. They are sorted, the longest first; each lane takes the next chain as
//! soon as its own ends, so that the lanes run dry together. What remains when few lanes are busy
//! goes on in narrow lanes. Lengths are public: they follow from the message digest, which the
//! signature shows.

use super::{Engine, Lanes, Prefix};

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

impl Engine {
    /// Runs every chain to its end, in place.
    ///
    /// RFC 8391 §3.1.2, Algorithm 2, for many chains.
    pub(crate) fn run_chains(
        &mut self,
        prefixes: &[Prefix],
        chains: &mut Vec<Chain>,
        values: &mut [u8],
    ) {
        chains.retain(|chain| chain.steps() > 0);
        chains.sort_by_key(|chain| core::cmp::Reverse(chain.steps()));
        let n = self.params.n();
        let narrow = self.narrow.width();
        let mut left = core::mem::take(chains);
        if left.len() > narrow {
            left = drive(&mut self.wide, n, prefixes, left, values, narrow);
        }
        drive(&mut self.narrow, n, prefixes, left, values, 0);
    }
}

/// A lane and the chain in it.
struct Busy {
    lane: usize,
    chain: Chain,
}

/// Runs chains until at most `leave` are unfinished, which it returns, their values written back.
fn drive(
    lanes: &mut Lanes,
    n: usize,
    prefixes: &[Prefix],
    chains: Vec<Chain>,
    values: &mut [u8],
    leave: usize,
) -> Vec<Chain> {
    let mut held: Vec<Option<u32>> = vec![None; lanes.width()];
    let mut queue = chains.into_iter();
    let mut busy: Vec<Busy> = Vec::with_capacity(lanes.width());
    let mut enter = |lanes: &mut Lanes, lane: usize, chain: Chain, values: &[u8]| {
        if held[lane] != Some(chain.prefix) {
            lanes.set_prefix(lane, &prefixes[chain.prefix as usize]);
            held[lane] = Some(chain.prefix);
        }
        let at = chain.slot as usize * n;
        lanes.put(lane, false, &values[at..at + n]);
        Busy { lane, chain }
    };
    for (lane, chain) in queue.by_ref().take(lanes.width()).enumerate() {
        busy.push(enter(lanes, lane, chain, values));
    }
    while !busy.is_empty() && (queue.len() > 0 || busy.len() > leave) {
        for Busy { lane, chain } in &busy {
            lanes.set_tail(*lane, [chain.ots, chain.chain, chain.start, 0]);
        }
        lanes.f();
        let mut i = 0;
        while i < busy.len() {
            let Busy { lane, chain } = &mut busy[i];
            chain.start += 1;
            if chain.steps() > 0 {
                i += 1;
                continue;
            }
            let at = chain.slot as usize * n;
            lanes.take(*lane, &mut values[at..at + n]);
            let lane = *lane;
            match queue.next() {
                Some(next) => {
                    busy[i] = enter(lanes, lane, next, values);
                    i += 1;
                }
                None => {
                    busy.swap_remove(i);
                }
            }
        }
    }
    for Busy { lane, chain } in &busy {
        let at = chain.slot as usize * n;
        lanes.take(*lane, &mut values[at..at + n]);
    }
    busy.into_iter().map(|busy| busy.chain).collect()
}
