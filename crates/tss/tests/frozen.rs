//! The formats and protocols are frozen: seeded runs must not change without a new version.

#![allow(clippy::unwrap_used)] // helpers outside test functions unwrap as well

use tetralith_tss::engine::{PartyId, SessionId, Threshold};
use tetralith_tss::frost::keygen::FrostKeygen;
use tetralith_tss::frost::keys::FrostShare;
use tetralith_tss::frost::sign::FrostSign;
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::KeyShare;
use tetralith_tss::sign::Sign;
use tetralith_tss::sim::{Network, rng};

const FROZEN: &str = include_str!("../../../vectors/tss/frozen.txt");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Keygen among three with threshold two, then a signature of parties 1 and 3.
fn run() -> String {
    let threshold = Threshold::new(2, 3).unwrap();
    let keygen = |me: PartyId| {
        let mut rng = rng(me.get().into());
        (me, Keygen::new(SessionId([1; 32]), me, threshold, &mut rng).unwrap())
    };
    let keygen = Network::new(1).run(threshold.parties().map(keygen).collect());
    let mut lines = vec![format!("keygen-transcript {}", hex(&keygen.transcript))];
    let shares: Vec<KeyShare> = keygen.outputs();
    let public = shares[0].public();
    lines.push(format!("key-id {}", hex(&public.key_id())));
    lines.push(format!("public {}", hex(&public.to_bytes())));
    let signers = [PartyId::new(1).unwrap(), PartyId::new(3).unwrap()];
    let sign = |share: &KeyShare| {
        let mut rng = rng(u64::from(share.me().get()) + 10);
        let sign = Sign::new(SessionId([2; 32]), share, &signers, [3; 32], &mut rng).unwrap();
        (share.me(), sign)
    };
    let sign = Network::new(1).run(vec![sign(&shares[0]), sign(&shares[2])]);
    lines.push(format!("sign-transcript {}", hex(&sign.transcript)));
    lines.push(format!("signature {}", hex(&sign.outputs()[0].to_bytes())));
    lines.extend(frost());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The same with Ed25519.
fn frost() -> [String; 4] {
    let threshold = Threshold::new(2, 3).unwrap();
    let keygen = |me: PartyId| {
        let mut rng = rng(me.get().into());
        (me, FrostKeygen::new(SessionId([1; 32]), me, threshold, &mut rng).unwrap())
    };
    let keygen = Network::new(1).run(threshold.parties().map(keygen).collect());
    let first = format!("frost-keygen-transcript {}", hex(&keygen.transcript));
    let shares: Vec<FrostShare> = keygen.outputs();
    let public = format!("frost-public {}", hex(&shares[0].public().to_bytes()));
    let signers = [PartyId::new(1).unwrap(), PartyId::new(3).unwrap()];
    let sign = |share: &FrostShare| {
        let mut rng = rng(u64::from(share.me().get()) + 10);
        let sign = FrostSign::new(SessionId([2; 32]), share, &signers, b"frozen", &mut rng);
        (share.me(), sign.unwrap())
    };
    let sign = Network::new(1).run(vec![sign(&shares[0]), sign(&shares[2])]);
    let transcript = format!("frost-sign-transcript {}", hex(&sign.transcript));
    [first, public, transcript, format!("frost-signature {}", hex(&sign.outputs()[0]))]
}

#[test]
fn seeded_runs_are_as_recorded() {
    let lines = FROZEN.lines().filter(|line| !line.starts_with('#'));
    let recorded: String = lines.map(|line| format!("{line}\n")).collect();
    assert_eq!(run(), recorded);
}
