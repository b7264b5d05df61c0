//! How long the rounds take, and who is in which: for metrics and for those that watch.

use super::Room;
use crate::wire::Job;
use libp2p::PeerId;
use serde_json::json;
use std::collections::HashSet;
use tokio::time::Instant;

/// What was told and measured of a ceremony's rounds.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// The round that this node is in, and since when.
    round: Option<(u8, Instant)>,
    /// Whose messages of which rounds were seen.
    seen: HashSet<(PeerId, u8)>,
}

impl Room {
    /// This node is in a round from now on.
    pub(super) fn enter_round(&mut self, round: u8) {
        self.leave_round();
        self.watched.round = Some((round, Instant::now()));
    }

    /// The round that this node was in is over.
    pub(super) fn leave_round(&mut self) {
        let kind = match self.agreement.proposed.job {
            Job::Keygen { .. } => "keygen",
            Job::Sign { .. } => "sign",
            Job::Reshare(_) => "reshare",
        };
        if let Some((round, since)) = self.watched.round.take() {
            self.shared.metrics.round(kind, round, since.elapsed());
        }
    }

    /// Tells, once, that a participant has sent its message of a round.
    pub(super) fn tell_round(&mut self, party: PeerId, round: u8) {
        if self.watched.seen.insert((party, round)) {
            let ceremony = self.agreement.proposed.id.to_string();
            let party = self.shared.shown(&party);
            let fields = json!({ "ceremony": ceremony, "party": party, "round": round });
            self.shared.events.tell("round", fields);
        }
    }
}
