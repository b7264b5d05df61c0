//! A party whose messages are changed at will, in key generation and in signing: no panic, no wrong
//! signature, and the honest party never blames itself.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use tetralith_tss::engine::{PartyId, SessionId, Threshold};
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::KeyShare;
use tetralith_tss::sign::Sign;
use tetralith_tss::sim::{Network, rng};

const DIGEST: [u8; 32] = [7; 32];

fn keygens() -> Vec<(PartyId, Keygen)> {
    let threshold = Threshold::new(2, 2).expect("2 of 2");
    let one = |me: PartyId| {
        let keygen = Keygen::new(SessionId([1; 32]), me, threshold, &mut rng(me.get().into()));
        (me, keygen.expect("a party of the two"))
    };
    threshold.parties().map(one).collect()
}

fn shares() -> &'static [KeyShare] {
    static SHARES: OnceLock<Vec<KeyShare>> = OnceLock::new();
    SHARES.get_or_init(|| Network::new(1).run(keygens()).outputs())
}

/// Which message to change (round, direct or broadcast), where, and what to put there.
type Change = (u8, bool, u16, Vec<u8>);

fn apply(changes: &[Change], from: PartyId, bytes: &mut Vec<u8>) {
    for (round, direct, at, patch) in changes {
        if from.get() != 2 || bytes.len() < 9 || bytes[6] != *round || (bytes[8] != 0) != *direct {
            continue;
        }
        let at = usize::from(*at) % bytes.len();
        let end = bytes.len().min(at + patch.len());
        bytes[at..end].copy_from_slice(&patch[..end - at]);
    }
}

fuzz_target!(|data: (bool, Vec<Change>)| {
    let (signing, changes) = data;
    let change = &mut |from, _, bytes: &mut Vec<u8>| {
        apply(&changes, from, bytes);
        true
    };
    if !signing {
        let outcome = Network::new(1).run_with(keygens(), change);
        if let Some(Err(abort)) = &outcome.results[0].1 {
            assert!(abort.blame().is_none_or(|blame| blame.party.get() == 2));
        }
        return;
    }
    let signers: Vec<PartyId> = shares().iter().map(KeyShare::me).collect();
    let one = |share: &KeyShare| {
        let mut rng = rng(share.me().get().into());
        let sign = Sign::new(SessionId([2; 32]), share, &signers, DIGEST, &mut rng);
        (share.me(), sign.expect("a signer"))
    };
    let outcome = Network::new(1).run_with(shares().iter().map(one).collect(), change);
    match &outcome.results[0].1 {
        Some(Ok(signature)) => {
            assert!(signature.verify(&shares()[0].public().group_key(), &DIGEST));
        }
        Some(Err(abort)) => assert!(abort.blame().is_none_or(|blame| blame.party.get() == 2)),
        None => {}
    }
});
