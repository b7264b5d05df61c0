//! The starts of the latest ceremonies, for participants that were told something else.
//!
//! A proposer that sends different starts makes an honest node wait for another that has been
//! released, or has given up. That one shows its start to whoever still sends it messages, and the
//! two starts together are a proof ([`crate::proof`]).

use crate::ceremony::{Shared, lock};
use crate::wire::{Body, CeremonyId, Envelope};
use libp2p::PeerId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// Starts that are kept; each is some kilobytes.
const MOST_STARTS: usize = 64;

/// The starts of the latest ceremonies, and to whom each was shown.
#[derive(Debug, Default)]
pub(crate) struct Starts(Mutex<VecDeque<(Arc<Envelope>, Vec<PeerId>)>>);

impl Starts {
    /// Keeps the start of a ceremony that ended here.
    pub(crate) fn keep(&self, start: &Arc<Envelope>) {
        let mut kept = lock(&self.0);
        if kept.len() == MOST_STARTS {
            kept.pop_front();
        }
        kept.push_back((start.clone(), Vec::new()));
    }

    /// The start of a ceremony, for a node that was not shown it yet and may follow another one.
    fn show(&self, id: CeremonyId, to: PeerId, follows: Option<[u8; 32]>) -> Option<Arc<Envelope>> {
        let mut kept = lock(&self.0);
        let (start, shown) = kept.iter_mut().rev().find(|(start, _)| start.ceremony == id)?;
        if shown.contains(&to) || follows == Some(start.receipt.payload_hash) {
            return None;
        }
        shown.push(to);
        Some(start.clone())
    }
}

/// What a message says that may belong to no ceremony that runs here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stray {
    ceremony: CeremonyId,
    from: PeerId,
    /// The start that its sender follows; none if it asks for one.
    follows: Option<[u8; 32]>,
}

impl Stray {
    /// What a message says, if it may need an answer.
    pub(crate) fn of(envelope: &Envelope) -> Option<Self> {
        let follows = match &envelope.body {
            Body::Protocol(message) => Some(message.start.into()),
            Body::WhichStart => None,
            _ => return None,
        };
        Some(Stray { ceremony: envelope.ceremony, from: envelope.from, follows })
    }
}

impl Shared {
    /// Answers a message of a ceremony that does not run here, if its sender follows another start
    /// than this node did, or asks for it.
    pub(crate) fn answer_stray(self: &Arc<Self>, stray: Option<Stray>) {
        let Some(Stray { ceremony, from, follows }) = stray else { return };
        let Some(start) = self.starts.show(ceremony, from, follows) else { return };
        let body = Body::Started(start.to_bytes().into());
        let frame = self.seal(ceremony, Some(from), 0, &body);
        let (shared, until) = (self.clone(), Instant::now() + self.config.timeouts.join());
        tokio::spawn(async move { shared.deliver(from, frame, until).await });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use crate::wire::Start;

    #[test]
    fn a_start_is_shown_once_to_whoever_follows_another() {
        let nodes = [1, 2].map(|seed| Identity::from_seed(&[seed; 32]));
        let start = |id: u8| {
            let body = Body::Start(Start { joins: vec![vec![id].into()] });
            let bytes = Envelope::seal(&nodes[0], CeremonyId([id; 32]), None, 0, &body);
            Arc::new(Envelope::open(&bytes).unwrap())
        };
        let (starts, to) = (Starts::default(), nodes[1].id());
        starts.keep(&start(1));
        let hash = start(1).receipt.payload_hash;
        assert_eq!(starts.show(CeremonyId([1; 32]), to, Some(hash)), None);
        assert_eq!(starts.show(CeremonyId([2; 32]), to, None), None);
        assert_eq!(starts.show(CeremonyId([1; 32]), to, Some([0; 32])), Some(start(1)));
        assert_eq!(starts.show(CeremonyId([1; 32]), to, None), None, "once");
        for _ in 0..MOST_STARTS {
            starts.keep(&start(2));
        }
        assert_eq!(starts.show(CeremonyId([1; 32]), nodes[0].id(), None), None, "bounded");
    }
}
