//! What those that watch are told of a ceremony.

use crate::ceremony::Shared;
use crate::ceremony::agreement::Agreement;
use crate::log::CeremonyRecord;
use libp2p::PeerId;
use serde_json::{Value, json};

impl Shared {
    /// A node by name and identity.
    pub(super) fn shown(&self, id: &PeerId) -> Value {
        json!({ "name": self.name(id), "id": id.to_string() })
    }

    fn shown_text(&self, id: &str) -> Value {
        id.parse().map_or_else(|_| json!({ "name": id, "id": id }), |id| self.shown(&id))
    }

    /// A ceremony was proposed, by this node or to it.
    pub(super) fn tell_proposed(&self, record: &CeremonyRecord) {
        let candidates = record.participants.iter().map(|id| self.shown_text(id));
        let fields = json!({
            "ceremony": record.id,
            "kind": record.kind,
            "key": record.key,
            "digest": record.digest,
            "proposer": self.shown_text(&record.proposer),
            "candidates": candidates.collect::<Vec<_>>(),
        });
        self.events.tell("ceremony_proposed", fields);
    }

    /// The participants are known, and the rounds begin.
    pub(super) fn tell_started(&self, agreement: &Agreement) {
        let participants: Vec<_> = agreement.peers().map(|id| self.shown(&id)).collect();
        let id = agreement.proposed.id.to_string();
        let fields = json!({ "ceremony": id, "participants": participants });
        self.events.tell("ceremony_started", fields);
    }

    /// The ceremony ended here, and these are blamed.
    pub(super) fn tell_ended(&self, record: &CeremonyRecord) {
        for blame in &record.blames {
            let fields = json!({
                "ceremony": record.id,
                "peer": self.shown_text(&blame.peer),
                "reporter": self.shown_text(&blame.reporter),
                "round": blame.round,
                "fault": blame.fault,
                "evidence": blame.evidence,
            });
            self.events.tell("blame", fields);
        }
        let took = record.ended_ms.unwrap_or_default().saturating_sub(record.started_ms);
        let fields = json!({
            "ceremony": record.id,
            "kind": record.kind,
            "key": record.key,
            "state": record.state,
            "result": record.result,
            "reason": record.reason,
            "took_ms": took,
        });
        self.events.tell("ceremony_ended", fields);
    }
}
