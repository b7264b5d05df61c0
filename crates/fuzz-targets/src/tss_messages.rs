//! A party whose messages are changed at will, in key generation and in signing: no panic, no wrong
//! signature, and the honest party never blames itself.

use crate::changes;
use std::sync::{LazyLock, OnceLock};
use tetralith_tss::engine::{Abort, Error, PartyId, Session, SessionId, Threshold};
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

pub(crate) fn shares() -> &'static [KeyShare] {
    static SHARES: OnceLock<Vec<KeyShare>> = OnceLock::new();
    SHARES.get_or_init(|| Network::new(1).run(keygens()).outputs())
}

/// What party 2 sends to party 1 in an honest run.
struct Recorded {
    keygen: Vec<Vec<u8>>,
    sign: Vec<Vec<u8>>,
}

/// Only party 1 runs in a fuzzed execution: it hears a recording of party 2.
static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
    let (mut keygen, mut sign) = (Vec::new(), Vec::new());
    record(keygens(), &mut keygen);
    record(shares().iter().map(signer).collect(), &mut sign);
    Recorded { keygen, sign }
});

fn record<S: Session>(sessions: Vec<(PartyId, S)>, to: &mut Vec<Vec<u8>>) {
    Network::new(1).run_with(sessions, &mut |from, _, bytes: &mut Vec<u8>| {
        if from.get() == 2 {
            to.push(bytes.clone());
        }
        true
    });
}

fn signer(share: &KeyShare) -> (PartyId, Sign) {
    let signers: Vec<PartyId> = shares().iter().map(KeyShare::me).collect();
    let mut rng = rng(share.me().get().into());
    let sign = Sign::new(SessionId([2; 32]), share, &signers, DIGEST, &mut rng);
    (share.me(), sign.expect("a signer"))
}

/// Party 1's result after the messages of which some are changed: which one, and its changes.
fn hear<S: Session>(
    mut session: S,
    messages: &[Vec<u8>],
    mut changes: &[u8],
) -> Option<Result<S::Output, Abort>> {
    let mut messages = messages.to_vec();
    while let Some((&which, rest)) = changes.split_first() {
        let which = usize::from(which) % messages.len();
        changes = changes::apply(rest, &mut messages[which]);
    }
    let liar = PartyId::new(2).expect("party 2");
    for message in &messages {
        session.outgoing();
        match session.receive(liar, message) {
            Ok(()) | Err(Error::Message(_)) => {}
            Err(error) => panic!("receive may only refuse messages, got {error}"),
        }
    }
    let result = session.take_output();
    if let Some(Err(abort)) = &result {
        assert!(abort.blame().is_none_or(|blame| blame.party == liar));
    }
    result
}

/// Runs one input: key generation or signing, and the changes.
pub(crate) fn run(data: &[u8]) {
    let Some((&what, changes)) = data.split_first() else { return };
    if what % 4 == 0 {
        let (_, session) = keygens().swap_remove(0);
        hear(session, &RECORDED.keygen, changes);
        return;
    }
    let (_, session) = signer(&shares()[0]);
    if let Some(Ok(signature)) = hear(session, &RECORDED.sign, changes) {
        assert!(signature.verify(&shares()[0].public().group_key(), &DIGEST));
    }
}
