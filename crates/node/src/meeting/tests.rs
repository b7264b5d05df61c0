use super::*;
use crate::identity::Identity;

const TIMES: Times = Times {
    join: Duration::from_secs(1),
    party: Duration::from_secs(10),
    result: Duration::from_secs(60),
};

struct Case {
    order: Vec<PeerId>,
    table: Table,
    start: Instant,
    full: Option<Instant>,
}

const ID: CeremonyId = CeremonyId([7; 32]);

impl Case {
    /// Four nodes, of which two are needed.
    fn new(here: &[usize]) -> Self {
        let nodes: Vec<_> = (1..=4).map(|seed| Identity::from_seed(&[seed; 32]).id()).collect();
        let start = Instant::now();
        let order = order(ID, &nodes);
        let mut case = Case { order, table: Table::default(), start, full: None };
        here.iter().for_each(|&rank| case.say(rank, Said::Here, 0));
        case.full = (here.len() >= 2).then_some(start);
        case
    }

    fn say(&mut self, rank: usize, said: Said, at_ms: u64) {
        let at = self.start + Duration::from_millis(at_ms);
        self.table.hear(ID, self.order[rank], said, at);
    }

    /// What a node does, where those of `gone` are not connected.
    fn next(&self, rank: usize, at_ms: u64, gone: &[usize]) -> Step {
        let present = self.table.present(ID);
        let connected = (0..4).filter(|rank| !gone.contains(rank)).map(|rank| self.order[rank]);
        let look = Look {
            order: &self.order,
            needed: 2,
            present: &present,
            since: self.start,
            full: self.full,
        };
        let now = self.start + Duration::from_millis(at_ms);
        look.next(self.order[rank], &connected.collect(), &TIMES, now)
    }

    fn nodes(&self, ranks: &[usize]) -> Step {
        Step::Lead(ranks.iter().map(|&rank| self.order[rank]).collect())
    }

    fn at(&self, ms: u64) -> Step {
        Step::Wait(self.start + Duration::from_millis(ms))
    }
}

fn failed(reason: &str) -> Said {
    Said::Ended(Outcome::Failed(Failed { reason: reason.into(), blamed: Vec::new() }))
}

#[test]
fn all_know_one_leader() {
    let mut case = Case::new(&[0, 1, 2, 3]);
    assert_eq!(case.next(0, 0, &[]), case.nodes(&[0, 1, 2, 3]));
    for rank in 1..4 {
        assert_eq!(case.next(rank, 0, &[]), case.at(1_000));
    }
    case.say(0, Said::Began, 5);
    for rank in 0..4 {
        assert_eq!(case.next(rank, 5_000, &[]), case.at(60_005));
    }
    let nodes: Vec<_> = case.order.iter().rev().copied().collect();
    assert_eq!(order(ID, &nodes), case.order, "whatever the order in the request");
    assert_ne!(order(CeremonyId([8; 32]), &nodes), case.order);
}

#[test]
fn a_leader_that_does_not_answer_is_replaced() {
    // It is here and does not begin; or it is not here; or its connection is broken.
    let case = Case::new(&[0, 1, 2]);
    assert_eq!(case.next(1, 999, &[]), case.at(1_000));
    assert_eq!(case.next(1, 1_000, &[]), case.nodes(&[0, 1, 2]));
    assert_eq!(case.next(2, 1_000, &[]), case.at(2_000));
    let case = Case::new(&[1, 2]);
    assert_eq!(case.next(1, 500, &[]), case.at(1_000));
    assert_eq!(case.next(1, 1_000, &[]), case.nodes(&[1, 2]));
    assert_eq!(case.next(1, 100, &[0]), case.nodes(&[1, 2]));
    assert_eq!(case.next(1, 0, &[0]), case.at(100), "the last one may come in a moment");
    // It began, and is gone; or it takes too long.
    let mut case = Case::new(&[0, 1, 2, 3]);
    case.say(0, Said::Began, 0);
    assert_eq!(case.next(1, 10, &[]), case.at(60_000));
    assert_eq!(case.next(1, 10, &[0]), case.nodes(&[1, 2, 3]));
    assert_eq!(case.next(1, 60_000, &[]), case.nodes(&[0, 1, 2, 3]));
}

#[test]
fn failures_end_after_three_leaders() {
    let mut case = Case::new(&[0, 1, 2, 3]);
    for rank in 0..3 {
        assert_eq!(case.next(rank, 0, &[]), case.nodes(&[0, 1, 2, 3]));
        case.say(rank, Said::Began, 0);
        case.say(rank, failed(&rank.to_string()), 0);
    }
    assert_eq!(case.next(3, 0, &[]), Step::Failed);
    let failed = table::last_failure(&case.order, &case.table.present(ID));
    assert_eq!(failed.reason, "2");
    // A new attempt begins anew.
    (0..4).for_each(|rank| case.say(rank, Said::Left, 0));
    assert!(case.table.present(ID).is_empty());
}

#[test]
fn too_few_wait_for_the_party_and_then_give_up() {
    let case = Case::new(&[1]);
    assert_eq!(case.next(1, 9_999, &[]), case.at(10_000));
    assert_eq!(case.next(1, 10_000, &[]), Step::Short);
}

#[test]
fn what_a_node_says_is_bounded_and_forgotten() {
    let mut table = Table::default();
    let (a, b) = (Identity::from_seed(&[1; 32]).id(), Identity::from_seed(&[2; 32]).id());
    let start = Instant::now();
    let id = |count: u32| CeremonyId(domain_hash("test", &[&count.to_be_bytes()]));
    table.hear(id(0), b, Said::Here, start);
    for count in 0..2_000 {
        table.hear(id(count), a, Said::Here, start);
    }
    let known = (0..2_000).filter(|count| table.present(id(*count)).contains_key(&a)).count();
    assert!(known <= 512, "{known}");
    assert!(table.present(id(0)).contains_key(&b), "others lose nothing");
    table.hear(id(5_000), b, Said::Here, start + Duration::from_secs(601));
    assert!(table.present(id(0)).is_empty());
}
