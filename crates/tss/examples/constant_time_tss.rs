//! Makes, refreshes and uses threshold keys with secret randomness; see
//! `crates/kernels/tests/constant_time.rs`.
//!
//! Secret is all that a party draws, and so all that it computes from it, until the library gives it
//! away and says so; the shares and seeds that a party receives in key generation are marked as secret
//! again on their way. With the argument `control` the generator of each party branches on a byte that it
//! drew, which valgrind must report in every protocol.

use chacha20::ChaCha20Rng;
use rand_core::Rng;
use tetralith_kernels::ct;
use tetralith_tss::engine::{Error, PartyId, Session, SessionId, Threshold};
use tetralith_tss::frost::keygen::FrostKeygen;
use tetralith_tss::frost::keys::FrostShare;
use tetralith_tss::frost::sign::FrostSign;
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::KeyShare;
use tetralith_tss::refresh::Refresh;
use tetralith_tss::reshare::{Dealer, Reshare, Reshared};
use tetralith_tss::sign::Sign;
use tetralith_tss::sim::{Network, rng};

/// Draws secrets.
struct Secrets {
    rng: ChaCha20Rng,
    branch: bool,
}

impl rand_core::TryRng for Secrets {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.rng.fill_bytes(bytes);
        ct::secret(bytes);
        if self.branch && bytes.first().is_some_and(|byte| *byte > 7) {
            println!("a branch on a secret");
        }
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Secrets {}

/// A run of a protocol.
struct Run<'a> {
    name: &'static str,
    parties: &'a [PartyId],
    /// How many of the first bytes of round 2's direct messages are secret.
    secret: usize,
}

impl Run<'_> {
    /// Starts and runs the sessions, and says how many errors valgrind saw meanwhile.
    fn outputs<S: Session>(
        &self,
        start: impl Fn(PartyId, &mut Secrets) -> Result<S, Error>,
    ) -> Result<Vec<S::Output>, Error> {
        /// A message's header.
        const HEADER: usize = 41;
        let branch = std::env::args().any(|argument| argument == "control");
        let before = ct::errors();
        let mut sessions = Vec::new();
        for &me in self.parties {
            let mut secrets = Secrets { rng: rng(me.get().into()), branch };
            sessions.push((me, start(me, &mut secrets)?));
        }
        let mut mark = |_: PartyId, _: PartyId, message: &mut Vec<u8>| {
            let (round, recipient) = (message[6], message[8]);
            if round == 2 && recipient != 0 {
                ct::secret(&mut message[HEADER..HEADER + self.secret]);
            }
            true
        };
        let outputs = Network::new(1).run_with(sessions, &mut mark).outputs();
        println!("{}: {} errors", self.name, ct::errors() - before);
        Ok(outputs)
    }
}

fn main() -> Result<(), Error> {
    println!("checked: {}", ct::is_checked());
    let threshold = Threshold::new(2, 2)?;
    let all: Vec<PartyId> = threshold.parties().collect();
    let id = |number| SessionId([number; 32]);

    let run = Run { name: "dkls23-keygen", parties: &all, secret: 64 };
    let shares = run.outputs(|me, rng| Keygen::new(id(1), me, threshold, rng))?;
    let of = |me: PartyId| usize::from(me.get()) - 1;
    let run = Run { name: "dkls23-refresh", parties: &all, secret: 64 };
    let shares = run.outputs(|me, rng| Ok(Refresh::new(id(2), &shares[of(me)], rng)))?;
    // Both deal; the first leaves, and another party gets its number.
    let left = PartyId::new(3)?;
    let dealers = [Dealer { old: all[0], new: left }, Dealer { old: all[1], new: all[1] }];
    let parties = [all[0], all[1], left];
    let run = Run { name: "dkls23-reshare", parties: &parties, secret: 64 };
    let old = shares[0].public();
    let reshared = run.outputs(|me, rng| {
        let dealer = dealers.iter().find(|dealer| dealer.new == me);
        let share = dealer.map(|dealer| &shares[of(dealer.old)]);
        Reshare::new(id(6), me, old, share, &dealers, threshold, rng)
    })?;
    let stays = |reshared| match reshared {
        Reshared::Share(share) => Some(*share),
        Reshared::Left(_) => None,
    };
    let shares: Vec<KeyShare> = reshared.into_iter().filter_map(stays).collect();
    // As an owner keeps them.
    let kept: Result<Vec<_>, _> =
        shares.iter().map(|share| KeyShare::from_bytes(&share.to_bytes())).collect();
    let shares = kept?;
    let run = Run { name: "dkls23-sign", parties: &all, secret: 0 };
    run.outputs(|me, rng| Sign::new(id(3), &shares[of(me)], &all, [7; 32], rng))?;

    let run = Run { name: "frost-keygen", parties: &all, secret: 32 };
    let shares = run.outputs(|me, rng| FrostKeygen::new(id(4), me, threshold, rng))?;
    let kept: Result<Vec<_>, _> =
        shares.iter().map(|share| FrostShare::from_bytes(&share.to_bytes())).collect();
    let shares = kept?;
    let run = Run { name: "frost-sign", parties: &all, secret: 0 };
    run.outputs(|me, rng| FrostSign::new(id(5), &shares[of(me)], &all, b"text", rng))?;
    println!("all: {} errors", ct::errors());
    Ok(())
}
