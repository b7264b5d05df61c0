use super::*;
use crate::identity::Identity;

fn peers(count: usize) -> Vec<PeerId> {
    (1..=count).map(|seed| Identity::from_seed(&[seed as u8; 32]).id()).collect()
}

fn binomial(n: usize, k: usize) -> usize {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// What liars do with a run that they take part in: the suspect set that the run ends with.
type Strategy = fn(signers: &[PeerId], liars: &SuspectSet, run: usize) -> SuspectSet;

fn of<'a>(signers: &'a [PeerId], liars: &'a SuspectSet, lie: bool) -> Vec<&'a PeerId> {
    signers.iter().filter(|peer| liars.contains(peer) == lie).collect()
}

/// A pair of a liar and an honest node, by the run's number, or of two liars.
fn accuse(signers: &[PeerId], liars: &SuspectSet, run: usize) -> SuspectSet {
    let (lying, honest) = (of(signers, liars, true), of(signers, liars, false));
    let accused = honest.get(run % honest.len().max(1)).or(lying.last()).copied();
    [Some(lying[run % lying.len()]), accused].into_iter().flatten().copied().collect()
}

const STRATEGIES: [Strategy; 3] = [
    |signers, _, _| signers.iter().copied().collect(),
    accuse,
    |signers, liars, run| match run % 2 {
        0 => signers.iter().copied().collect(),
        _ => accuse(signers, liars, run),
    },
];

/// Runs of a request whose liars spoil every run that they are in.
fn runs(t: usize, others: &[PeerId], liars: &SuspectSet, strategy: Strategy) -> usize {
    let mut suspects = Suspects::default();
    for run in 1.. {
        let signers = suspects.choose(others, t - 1).expect("an honest set is left");
        if of(&signers, liars, true).is_empty() {
            return run;
        }
        suspects.add(strategy(&signers, liars, run));
    }
    unreachable!()
}

/// Every threshold up to 5 of 9, every set of up to n − t liars: the request always ends, within the
/// bound; with fewer liars it ends as early as `docs/tss-protocol.md` says.
#[test]
fn a_quorum_of_honest_nodes_is_always_found() {
    let mut worst = [0; 5];
    for n in 2..=9 {
        let others = &peers(n)[1..];
        for t in 2..=n.min(5) {
            for liars in 0..1u32 << (n - 1) {
                let count = liars.count_ones() as usize;
                if count > n - t {
                    continue;
                }
                let lies = |index: &usize| liars >> index & 1 == 1;
                let liars = (0..n - 1).filter(lies).map(|index| others[index]).collect();
                for strategy in STRATEGIES {
                    let runs = runs(t, others, &liars, strategy);
                    assert!(runs <= binomial(n - 1, t - 1), "{t} of {n}, {count} liars: {runs}");
                    if (t, n) == (5, 9) {
                        worst[count] = runs.max(worst[count]);
                    }
                }
            }
        }
    }
    assert_eq!(worst, WORST_5_OF_9);
}

/// Most runs of 5 of 9 with no, one, … four liars; `docs/tss-protocol.md` states them.
const WORST_5_OF_9: [usize; 5] = [1, 2, 6, 14, 70];

/// The worst of all that liars can do, run by run: name nobody, or accuse any signer.
fn worst(t: usize, others: &[PeerId], liars: &SuspectSet, suspects: &Suspects) -> usize {
    let signers = suspects.choose(others, t - 1).expect("an honest set is left");
    let lying = of(&signers, liars, true);
    let pairs = lying
        .iter()
        .flat_map(|liar| signers.iter().map(|accused| SuspectSet::from([**liar, *accused])));
    let all = (!lying.is_empty()).then(|| signers.iter().copied().collect());
    let next = pairs.chain(all).map(|set| {
        let mut suspects = suspects.clone();
        suspects.add(set);
        worst(t, others, liars, &suspects)
    });
    1 + next.max().unwrap_or(0)
}

#[test]
fn no_choice_of_lies_exceeds_the_bound() {
    for (t, n) in [(2, 3), (2, 4), (3, 4), (2, 5), (3, 5), (4, 5), (4, 6)] {
        let others = &peers(n)[1..];
        for count in 0..=n - t {
            // Whatever the order of preference: the liars may be preferred or not.
            for liars in subsets(n - 1, count) {
                let lies = |index: &usize| liars >> index & 1 == 1;
                let liars = (0..n - 1).filter(lies).map(|index| others[index]).collect();
                let runs = worst(t, others, &liars, &Suspects::default());
                assert!(runs <= binomial(n - 1, t - 1), "{t} of {n}, {count} liars: {runs}");
            }
        }
    }
}

/// Neither accuser nor accused signs while enough others are left; then only one of them.
#[test]
fn accuser_and_accused_are_left_out_together() {
    let peers = peers(5);
    let mut suspects = Suspects::default();
    suspects.add(SuspectSet::from([peers[0], peers[1]]));
    assert_eq!(suspects.choose(&peers, 3), Some(peers[2..].to_vec()));
    let four = suspects.choose(&peers, 4).unwrap();
    assert!(!(four.contains(&peers[0]) && four.contains(&peers[1])));
    assert_eq!(suspects.choose(&peers, 5), None);
    assert_eq!(suspects.choose(&peers[..1], 1), Some(vec![peers[0]]));
    suspects.add(SuspectSet::from([peers[0]]));
    assert!(suspects.condemns(&peers[0]) && !suspects.condemns(&peers[1]));
    assert_eq!(suspects.choose(&peers, 4), Some(peers[1..].to_vec()));
}

/// With more candidates than can be tried in full, one liar and two are still found soon.
#[test]
fn a_large_group_finds_few_liars_soon() {
    let others = &peers(30)[1..];
    for (t, liars, most) in [(20, &[3][..], 4), (20, &[0, 28], 24), (11, &[0, 5], 12)] {
        let liars = liars.iter().map(|index| others[*index]).collect();
        for strategy in STRATEGIES {
            let runs = runs(t, others, &liars, strategy);
            assert!(runs <= most, "{t} of 30, {} liars: {runs}", liars.len());
        }
    }
}

#[test]
fn memory_is_bounded_and_ends() {
    let (peers, key, memory) = (peers(200), KeyId([1; 16]), Memory::default());
    let start = Instant::now();
    for pair in peers.windows(2).chain(peers.windows(2)) {
        memory.add(key, &[pair.iter().copied().collect()], start);
    }
    for three in peers.windows(3) {
        memory.add(key, &[three.iter().copied().collect()], start);
    }
    assert_eq!(lock(&memory.0)[&key].len(), MOST_REMEMBERED);
    assert!(memory.of(&KeyId([2; 16]), start).sets.is_empty());
    assert!(!memory.of(&key, start).sets.is_empty());
    assert!(memory.of(&key, start + MEMORY).sets.is_empty());
    memory.add(key, &[SuspectSet::from([peers[0]])], start);
    memory.forget(&key);
    assert!(memory.of(&key, start).sets.is_empty());
}
