//! What the participants of a ceremony have agreed to, shown by their signed joins.

use crate::engine::Dealer;
use crate::identity::{domain_hash, sorted};
use crate::shares::{Key, KeyId, SharingId};
use crate::wire::{Body, CeremonyId, Envelope, Job, Join, Proposal, Resharing, peer};
use libp2p::PeerId;
use minicbor::bytes::ByteVec;
use std::sync::Arc;
use tetralith_tss::engine::{PartyId, SessionId, Threshold};

const SESSION: &str = "tetralith/node/session/1";
const ORDER: &str = "tetralith/node/order/1";

/// A proposal as one node received or made it, checked in itself.
#[derive(Clone, Debug)]
pub(crate) struct Proposed {
    pub(crate) id: CeremonyId,
    pub(crate) job: Job,
    pub(crate) proposer: PeerId,
    /// Sorted by identity.
    pub(crate) candidates: Vec<PeerId>,
    /// SHA-256 of the proposal's payload.
    pub(crate) hash: [u8; 32],
    /// The sharing that is to sign.
    pub(crate) key: Option<Arc<Key>>,
    /// What is to be shared anew, and how.
    pub(crate) resharing: Option<Arc<Plan>>,
}

/// A resharing, checked in itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The sharing of which the dealers have shares.
    pub(crate) from: SharingId,
    /// Its parties, in the order of their numbers.
    pub(crate) old: Vec<PeerId>,
    /// What is public of it.
    pub(crate) public: Vec<u8>,
    pub(crate) dealers: Vec<PeerId>,
    pub(crate) number: u64,
    pub(crate) threshold: Threshold,
    /// The new parties, in the order of their numbers.
    pub(crate) parties: Vec<PeerId>,
}

/// How far a resharing may count ahead: a party cannot use up the numbers.
const MOST_AHEAD: u64 = 1 << 16;

impl Plan {
    /// Checks a resharing without what this node has stored of the key.
    pub(crate) fn check(resharing: &Resharing) -> Result<Self, String> {
        let peers = |list: &[ByteVec], what: &str| -> Result<Vec<PeerId>, String> {
            let read: Result<Vec<PeerId>, _> = list.iter().map(peer).collect();
            let read = read.map_err(|error| error.to_string())?;
            match read == sorted(read.clone()) {
                true => Ok(read),
                false => Err(format!("the {what} are not sorted, or one is named twice")),
            }
        };
        let parties = peers(&resharing.parties, "parties")?;
        let threshold = threshold_of(resharing.threshold, parties.len())?;
        let (old, dealers) =
            (peers(&resharing.old, "old parties")?, peers(&resharing.dealers, "dealers")?);
        if let Some(other) = dealers.iter().find(|id| !old.contains(id)) {
            return Err(format!("{other} is to deal and has no share of the key"));
        }
        let from = SharingId { key: KeyId(resharing.key.into()), number: resharing.from };
        let ahead = resharing.number.checked_sub(from.number);
        if !ahead.is_some_and(|ahead| (1..=MOST_AHEAD).contains(&ahead)) {
            let number = resharing.number;
            return Err(format!("sharing {number} cannot follow sharing {}", from.number));
        }
        let (public, number) = (resharing.public.to_vec(), resharing.number);
        Ok(Plan { from, old, public, dealers, number, threshold, parties })
    }

    /// The new sharing.
    pub(crate) fn sharing(&self) -> SharingId {
        SharingId { key: self.from.key, number: self.number }
    }

    /// All that take part: the new parties, and the dealers that leave.
    pub(crate) fn candidates(&self) -> Vec<PeerId> {
        sorted(self.parties.iter().chain(&self.dealers).copied().collect())
    }

    /// Says whether the parties and the threshold stay the same, given the old threshold.
    pub(crate) fn is_refresh(&self, old: u8) -> bool {
        self.parties == self.old && self.threshold.t() == old
    }

    /// The number of a party in the run: its number in the new sharing, or for a dealer that leaves, one
    /// above those.
    fn party(&self, id: &PeerId) -> Option<PartyId> {
        let leave = self.dealers.iter().filter(|dealer| !self.parties.contains(dealer));
        number(self.parties.iter().chain(leave).position(|party| party == id)?)
    }

    /// The dealers by their old and new numbers.
    pub(crate) fn numbers(&self) -> Vec<Dealer> {
        let numbers = self.dealers.iter().filter_map(|id| {
            let old = number(self.old.iter().position(|party| party == id)?)?;
            Some(Dealer { old, new: self.party(id)? })
        });
        numbers.collect()
    }
}

/// The number of the party at a position.
fn number(index: usize) -> Option<PartyId> {
    PartyId::new(u8::try_from(index + 1).ok()?).ok()
}

/// Who takes part in which session.
#[derive(Clone, Debug)]
pub(crate) struct Agreement {
    pub(crate) proposed: Proposed,
    /// The participants, in the order of their numbers.
    pub(crate) roster: Vec<(PeerId, PartyId)>,
    pub(crate) session: SessionId,
    /// The proposer's signed start.
    pub(crate) start: Arc<Envelope>,
}

impl Proposed {
    /// Checks what `envelope` proposes; `key` looks up a key of this node.
    pub(crate) fn check(
        envelope: &Envelope,
        proposal: &Proposal,
        me: PeerId,
        knows: impl Fn(&PeerId) -> bool,
        key: impl Fn(SharingId) -> Option<Arc<Key>>,
    ) -> Result<Self, String> {
        // Before anything is kept under the name: a name that another node's ceremony has, or will have,
        // cannot be taken.
        if envelope.ceremony != CeremonyId::new(&envelope.from, &proposal.nonce) {
            return Err("the ceremony's name is not one of its proposer's".into());
        }
        let candidates: Vec<PeerId> = proposal
            .candidates
            .iter()
            .map(|bytes| peer(bytes).map_err(|error| error.to_string()))
            .collect::<Result<_, _>>()?;
        if candidates != sorted(candidates.clone()) {
            return Err("the candidates are not sorted, or one is named twice".into());
        }
        if !candidates.contains(&me) || !candidates.contains(&envelope.from) {
            return Err("the proposer or this node is not among the candidates".into());
        }
        if let Some(stranger) = candidates.iter().find(|id| **id != me && !knows(id)) {
            return Err(format!("{stranger} is not a peer of this node"));
        }
        let mut resharing = None;
        let key = match &proposal.job {
            Job::Keygen { threshold } => {
                threshold_of(*threshold, candidates.len())?;
                None
            }
            Job::Reshare(asked) => {
                let plan = Plan::check(asked)?;
                if candidates != plan.candidates() {
                    return Err("the candidates are not the new parties and the dealers".into());
                }
                resharing = Some(Arc::new(plan));
                None
            }
            Job::Sign { key: id, sharing, .. } => {
                let number = sharing.unwrap_or_default();
                let id = SharingId { key: KeyId((*id).into()), number };
                let key = key(id).ok_or("this node has no share of the key")?;
                if let Some(other) = candidates.iter().find(|id| !key.parties.contains(id)) {
                    return Err(format!("{other} has no share of the key"));
                }
                if candidates.len() < usize::from(key.threshold) {
                    return Err("fewer candidates than the key needs".into());
                }
                Some(key)
            }
        };
        Ok(Proposed {
            id: envelope.ceremony,
            job: proposal.job.clone(),
            proposer: envelope.from,
            candidates,
            hash: envelope.receipt.payload_hash,
            key,
            resharing,
        })
    }

    /// How many participants there will be.
    pub(crate) fn needed(&self) -> usize {
        super::needed(&self.job, self.candidates.len(), self.key.as_deref())
    }

    /// Says whether `envelope` is a start of this ceremony that its proposer signed for all.
    pub(crate) fn is_start(&self, envelope: &Envelope) -> bool {
        matches!(envelope.body, Body::Start(_))
            && (envelope.from, envelope.ceremony) == (self.proposer, self.id)
            && envelope.to.is_none()
    }

    /// The candidates in the order in which they are preferred: the proposer, who is there, and
    /// then by hash, so that over many ceremonies everybody works equally often.
    pub(crate) fn order(&self, was_absent: impl Fn(&PeerId) -> bool) -> Vec<PeerId> {
        let mut order = self.candidates.clone();
        order.sort_by_cached_key(|id| {
            let rank = domain_hash(ORDER, &[&self.id.0, &id.to_bytes()]);
            (*id != self.proposer, was_absent(id), rank)
        });
        order
    }

    /// The number of a party: its position among the key's parties, or the candidates of a new key.
    fn party(&self, id: &PeerId) -> Option<PartyId> {
        if let Some(plan) = &self.resharing {
            return plan.party(id);
        }
        let parties = self.key.as_ref().map_or(&self.candidates, |key| &key.parties);
        number(parties.iter().position(|party| party == id)?)
    }
}

/// Checks a threshold against the number of parties.
pub(crate) fn threshold_of(threshold: u8, parties: usize) -> Result<Threshold, String> {
    let parties = u8::try_from(parties).map_err(|_| "more than 255 parties".to_owned())?;
    Threshold::new(threshold, parties).map_err(|error| error.to_string())
}

impl Agreement {
    /// Checks the joins that the proposer's start names; `None` if `me` is not among them.
    ///
    /// `nonce` is what this node joined with.
    pub(crate) fn check(
        proposed: Proposed,
        envelope: Envelope,
        me: PeerId,
        nonce: &[u8; 32],
    ) -> Result<Option<Self>, String> {
        let Body::Start(start) = &envelope.body else { return Err("is not a start".into()) };
        // One that is addressed to one node could not be compared with another.
        if !proposed.is_start(&envelope) {
            return Err("is not the proposer's start for all".into());
        }
        let joins: Vec<_> = start.joins.iter().map(|bytes| Envelope::open(bytes)).collect();
        let joins = joins.into_iter().collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
        let mut roster = Vec::with_capacity(joins.len());
        for join in &joins {
            let Body::Join(Join::Accept { nonce: given, proposal, .. }) = &join.body else {
                return Err(format!("{} did not join", join.from));
            };
            if join.ceremony != proposed.id || join.to != Some(proposed.proposer) {
                return Err(format!("the join of {} is for another ceremony", join.from));
            }
            if <[u8; 32]>::from(*proposal) != proposed.hash {
                return Err(format!("{} was sent another proposal", join.from));
            }
            if join.from == me && <[u8; 32]>::from(*given) != *nonce {
                return Err("names a join that this node did not send now".into());
            }
            let party =
                proposed.candidates.contains(&join.from).then(|| proposed.party(&join.from));
            let party = party.flatten().ok_or_else(|| format!("{} was not asked", join.from))?;
            roster.push((join.from, party));
        }
        if !roster.is_sorted_by(|a, b| a.0.to_bytes() < b.0.to_bytes()) {
            return Err("the joins are not in order, or one is named twice".into());
        }
        // That is the order of the numbers, but for the dealers of a resharing that leave.
        roster.sort_by_key(|(_, party)| *party);
        if roster.len() != proposed.needed() {
            return Err(format!("{} participants, {} are needed", roster.len(), proposed.needed()));
        }
        if !roster.iter().any(|(id, _)| *id == me) {
            return Ok(None);
        }
        let mut parts: Vec<&[u8]> = vec![&proposed.id.0, &proposed.hash];
        parts.extend(start.joins.iter().map(|join| join.as_slice()));
        let session = SessionId(domain_hash(SESSION, &parts));
        Ok(Some(Agreement { proposed, roster, session, start: Arc::new(envelope) }))
    }

    /// SHA-256 of the start's payload, which goes with every message.
    pub(crate) fn start_hash(&self) -> [u8; 32] {
        self.start.receipt.payload_hash
    }

    /// Says whether `envelope` is another start of the same ceremony than this node's.
    pub(crate) fn is_contradicted_by(&self, envelope: &Envelope) -> bool {
        self.proposed.is_start(envelope)
            && envelope.receipt.payload_hash != self.start.receipt.payload_hash
    }

    /// The participants' identities.
    pub(crate) fn peers(&self) -> impl Iterator<Item = PeerId> {
        self.roster.iter().map(|(id, _)| *id)
    }

    /// The number of a participant.
    pub(crate) fn party(&self, id: &PeerId) -> Option<PartyId> {
        self.roster.iter().find(|(peer, _)| peer == id).map(|(_, party)| *party)
    }

    /// The participant with a number.
    pub(crate) fn peer(&self, party: PartyId) -> Option<PeerId> {
        self.roster.iter().find(|(_, number)| *number == party).map(|(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use crate::wire::Start;

    const NONCE: [u8; 32] = [9; 32];

    /// Four nodes, the first of which proposes that three sign.
    struct Case {
        nodes: Vec<Identity>,
        key: Arc<Key>,
        proposal: Envelope,
    }

    fn case() -> Case {
        let mut nodes: Vec<_> = (1..=4).map(|seed| Identity::from_seed(&[seed; 32])).collect();
        nodes.sort_by_key(|node| node.id().to_bytes());
        let parties: Vec<_> = nodes.iter().map(Identity::id).collect();
        let id = crate::shares::KeyId([7; 16]);
        let (scheme, public_key) = ("test".into(), vec![]);
        let (number, threshold) = (0, 3);
        let key = Key { id, number, scheme, public_key, threshold, parties: parties.clone() };
        let key = Arc::new(key);
        let job = Job::Sign { key: [7; 16].into(), digest: [1; 32].into(), sharing: None };
        let candidates = parties.iter().map(|id| id.to_bytes().into()).collect();
        let body = Body::Propose(Proposal { job, candidates, nonce: NONCE.into(), speaks: None });
        let id = CeremonyId::new(&nodes[0].id(), &NONCE);
        let bytes = Envelope::seal(&nodes[0], id, None, 0, &body);
        Case { nodes, key, proposal: Envelope::open(&bytes).unwrap() }
    }

    impl Case {
        fn proposed(&self, edit: impl FnOnce(&mut Proposal)) -> Result<Proposed, String> {
            let Body::Propose(mut proposal) = self.proposal.body.clone() else { unreachable!() };
            edit(&mut proposal);
            let me = self.nodes[1].id();
            let knows = |id: &PeerId| self.nodes.iter().any(|node| node.id() == *id);
            let key = |id| (id == self.key.sharing()).then(|| self.key.clone());
            Proposed::check(&self.proposal, &proposal, me, knows, key)
        }

        fn join(&self, node: usize) -> Vec<u8> {
            let hash = self.proposal.receipt.payload_hash;
            let (nonce, proposal) = ([node as u8; 32].into(), hash.into());
            let join = Join::Accept { nonce, proposal, without: Vec::new() };
            self.sealed_join(node, self.proposal.ceremony, join)
        }

        fn sealed_join(&self, node: usize, id: CeremonyId, join: Join) -> Vec<u8> {
            let to = Some(self.nodes[0].id());
            Envelope::seal(&self.nodes[node], id, to, 0, &Body::Join(join))
        }

        fn agree(&self, me: usize, joins: Vec<Vec<u8>>) -> Result<Option<Agreement>, String> {
            let proposed = self.proposed(|_| ()).unwrap();
            let start = Start { joins: joins.into_iter().map(Into::into).collect() };
            let start = self.start(0, None, start);
            Agreement::check(proposed, start, self.nodes[me].id(), &[me as u8; 32])
        }

        fn start(&self, from: usize, to: Option<PeerId>, start: Start) -> Envelope {
            let id = self.proposal.ceremony;
            let bytes = Envelope::seal(&self.nodes[from], id, to, 0, &Body::Start(start));
            Envelope::open(&bytes).unwrap()
        }
    }

    /// A candidate that hears of a proposal first cannot occupy its name at the others, nor can it give a
    /// ceremony of its own that name.
    #[test]
    fn a_name_belongs_to_its_proposer() {
        let case = case();
        let Body::Propose(proposal) = case.proposal.body.clone() else { unreachable!() };
        let check = |node: usize, id: CeremonyId, proposal: &Proposal| {
            let body = Body::Propose(proposal.clone());
            let bytes = Envelope::seal(&case.nodes[node], id, None, 0, &body);
            let key = |_| Some(case.key.clone());
            let envelope = Envelope::open(&bytes).unwrap();
            Proposed::check(&envelope, proposal, case.nodes[1].id(), |_| true, key).map(|p| p.id)
        };
        let id = case.proposal.ceremony;
        assert_eq!(check(0, id, &proposal), Ok(id));
        let refused = Err("the ceremony's name is not one of its proposer's".to_owned());
        // The same proposal under the same name by another, with its nonce or any other.
        assert_eq!(check(2, id, &proposal), refused);
        let other = Proposal { nonce: [8; 32].into(), ..proposal.clone() };
        assert_eq!(check(2, id, &other), refused);
        assert_eq!(check(0, id, &other), refused);
        let own = CeremonyId::new(&case.nodes[2].id(), &NONCE);
        assert_ne!(own, id);
        assert_eq!(check(2, own, &proposal), Ok(own));
    }

    #[test]
    fn participants_find_the_same_session() {
        let case = case();
        let joins = || vec![case.join(0), case.join(1), case.join(3)];
        let one = case.agree(1, joins()).unwrap().unwrap();
        let other = case.agree(3, joins()).unwrap().unwrap();
        assert_eq!(one.session, other.session);
        assert_eq!(one.roster.iter().map(|(_, p)| p.get()).collect::<Vec<_>>(), [1, 2, 4]);
        assert!(case.agree(2, joins()).unwrap().is_none(), "released");
        let others = vec![case.join(0), case.join(1), case.join(2)];
        assert_ne!(case.agree(1, others).unwrap().unwrap().session, one.session);
    }

    #[test]
    fn a_start_that_not_all_agreed_to_is_refused() {
        let case = case();
        let (a, b, c) = (case.join(0), case.join(1), case.join(2));
        let refusal = Join::Refuse("no".into(), None);
        let refusal = case.sealed_join(2, case.proposal.ceremony, refusal);
        let accept = |proposal: [u8; 32]| {
            let (nonce, proposal) = ([2; 32].into(), proposal.into());
            Join::Accept { nonce, proposal, without: Vec::new() }
        };
        let hash = case.proposal.receipt.payload_hash;
        let stale = case.sealed_join(2, CeremonyId([8; 32]), accept(hash));
        let other = case.sealed_join(2, case.proposal.ceremony, accept([0; 32]));
        let replayed = case.sealed_join(1, case.proposal.ceremony, accept(hash));
        let mut forged = c.clone();
        *forged.last_mut().unwrap() ^= 1;
        let all = vec![a.clone(), b.clone(), c.clone(), case.join(3)];
        let cases = [
            ("too few", vec![a.clone(), b.clone()], "2 participants, 3 are needed"),
            ("too many", all, "4 participants, 3 are needed"),
            ("twice", vec![a.clone(), b.clone(), b.clone()], "not in order"),
            ("unordered", vec![a.clone(), c.clone(), b.clone()], "not in order"),
            ("a refusal", vec![a.clone(), b.clone(), refusal], "did not join"),
            ("another ceremony", vec![a.clone(), b.clone(), stale], "another ceremony"),
            ("another proposal", vec![a.clone(), b.clone(), other], "another proposal"),
            ("not my join", vec![a.clone(), replayed, c], "did not send now"),
            ("a forgery", vec![a, b, forged], "signature does not verify"),
        ];
        for (name, joins, reason) in cases {
            let error = case.agree(1, joins).unwrap_err();
            assert!(error.contains(reason), "{name}: {error}");
        }
    }

    /// Two starts of the proposer contradict each other; nothing else does.
    #[test]
    fn only_another_start_of_the_proposer_contradicts() {
        let case = case();
        let joins = |nodes: [usize; 3]| Start {
            joins: nodes.iter().map(|node| case.join(*node).into()).collect(),
        };
        let mine = case.start(0, None, joins([0, 1, 2]));
        let proposed = case.proposed(|_| ()).unwrap();
        let me = case.nodes[1].id();
        let agreement = Agreement::check(proposed.clone(), mine.clone(), me, &[1; 32]);
        let agreement = agreement.unwrap().unwrap();
        let other = joins([0, 1, 3]);
        assert!(!agreement.is_contradicted_by(&mine));
        assert!(agreement.is_contradicted_by(&case.start(0, None, other.clone())));
        assert!(!agreement.is_contradicted_by(&case.start(2, None, other.clone())));
        let direct = case.start(0, Some(me), other);
        assert!(!agreement.is_contradicted_by(&direct));
        assert!(Agreement::check(proposed, direct, me, &[1; 32]).is_err());
    }

    #[test]
    fn malformed_proposals_are_refused() {
        let case = case();
        type Edit = Box<dyn FnOnce(&mut Proposal)>;
        let stranger = Identity::from_seed(&[9; 32]).id().to_bytes();
        let keygen = |threshold| -> Edit { Box::new(move |p| p.job = Job::Keygen { threshold }) };
        let sign = |key: [u8; 16], sharing| {
            let (key, digest) = (key.into(), [1; 32].into());
            Job::Sign { key, digest, sharing }
        };
        let (other_key, other_sharing) = (sign([8; 16], None), sign([7; 16], Some(1)));
        let cases: [(Edit, &str); 10] = [
            (Box::new(|p| p.candidates.reverse()), "not sorted"),
            (Box::new(|p| p.candidates[1] = p.candidates[0].clone()), "not sorted"),
            (Box::new(|p| drop(p.candidates.remove(0))), "not among the candidates"),
            (Box::new(|p| drop(p.candidates.remove(1))), "not among the candidates"),
            (Box::new(|p| p.candidates.truncate(2)), "fewer candidates"),
            (Box::new(|p| p.job = other_key), "no share of the key"),
            (Box::new(|p| p.job = other_sharing), "no share of the key"),
            (Box::new(|p| p.candidates[3] = vec![1, 2].into()), "envelope"),
            (keygen(1), "at least two"),
            (keygen(5), "cannot exceed"),
        ];
        for (edit, reason) in cases {
            let error = case.proposed(edit).unwrap_err();
            assert!(error.contains(reason), "{reason}: {error}");
        }
        let with_stranger = case.proposed(|p| {
            p.candidates.push(stranger.into());
            p.candidates.sort_by_key(|bytes| bytes.to_vec());
        });
        assert!(with_stranger.unwrap_err().contains("is not a peer of this node"));
    }

    #[test]
    fn the_proposer_comes_first_and_the_absent_last() {
        let case = case();
        let proposed = case.proposed(|_| ()).unwrap();
        let absent = case.nodes[2].id();
        let order = proposed.order(|id| *id == absent);
        assert_eq!((order[0], order[3]), (case.nodes[0].id(), absent));
        assert_eq!(order, proposed.order(|id| *id == absent));
    }
}
