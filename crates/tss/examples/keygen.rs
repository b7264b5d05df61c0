//! Prints the least time that a party computes for a key of three of four, and for a signature of three.
//!
//! `TETRALITH_KERNEL` chooses the instructions:
//! `cargo run --release -p tetralith-tss --example keygen`

use std::time::{Duration, Instant};
use tetralith_tss::engine::{Error, PartyId, SessionId, Threshold};
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::KeyShare;
use tetralith_tss::sign::Sign;
use tetralith_tss::sim::{Network, rng};

const RUNS: u8 = 20;

fn main() -> Result<(), Error> {
    let threshold = Threshold::new(3, 4)?;
    let signers: Vec<PartyId> = threshold.parties().take(3).collect();
    let [mut keygen, mut sign] = [Duration::MAX; 2];
    for run in 0..RUNS {
        let id = SessionId([run; 32]);
        let mut random = rng(run.into());
        let start = Instant::now();
        let mut parties = Vec::new();
        for me in threshold.parties() {
            parties.push((me, Keygen::new(id, me, threshold, &mut random)?));
        }
        let shares: Vec<KeyShare> = Network::new(run.into()).run(parties).outputs();
        keygen = keygen.min(start.elapsed() / 4);

        let start = Instant::now();
        let mut parties = Vec::new();
        for share in &shares[..3] {
            parties.push((
                share.me(),
                Sign::new(SessionId([!run; 32]), share, &signers, [7; 32], &mut random)?,
            ));
        }
        drop(Network::new(run.into()).run(parties).outputs());
        sign = sign.min(start.elapsed() / 3);
    }
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!("key generation 3 of 4: {:.2} ms a party", milliseconds(keygen));
    println!("signature by 3: {:.2} ms a party", milliseconds(sign));
    Ok(())
}
