//! Resharing: the same key, shared among other parties or with another threshold.
//!
//! Any t parties of the old sharing are its dealers. A dealer i takes λ_i·x_i, its part of the key, as
//! the constant term of a fresh polynomial, and deals that to the new parties (Desmedt and Jajodia,
//! 1997). Everybody knows the point of each constant term, λ_i·X_i, from the old sharing polynomial in
//! the exponent: it is not sent, and nobody can deal another one. The sum of the constant terms is the
//! key. The rounds are those of key generation, with a new pairwise setup.
//!
//! The new parties who are no dealers deal zero. Dealers who leave take part under numbers above n;
//! they get no share, and what they learn is public.
//!
//! With the same parties and threshold this refreshes a key, and returns a lost share: the dealers
//! are any t who have theirs. All new parties take part, but only t old ones.
//!
//! Fewer than t dealers know nothing of the key, and as one of t is honest, the new polynomial is
//! uniform among those with the key as constant term: old and new shares do not go together.

use chacha20::ChaCha20Rng;
use k256::{ProjectivePoint, Scalar};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroizing;

use super::dkg::lagrange;
use super::keygen::{Constants, Given, KeygenRounds};
use crate::engine::{Abort, Error, Outgoing, PartyId, Session, SessionId, Threshold};
use crate::keys::{KeyShare, PublicKeyPackage};
use crate::machine::Machine;
use crate::oracle::Oracle;

/// A party of the old sharing that deals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealer {
    /// Its number in the old sharing.
    pub old: PartyId,
    /// Its number in this run: that of its new share, or one above n if it gets none.
    pub new: PartyId,
}

/// What a resharing gives to one party.
pub enum Reshared {
    /// Its new share.
    Share(Box<KeyShare>),
    /// It has left; this is the sharing of the others.
    Left(Box<PublicKeyPackage>),
}

impl Reshared {
    /// The public part of the new sharing.
    #[must_use]
    pub fn public(&self) -> &PublicKeyPackage {
        match self {
            Self::Share(share) => share.public(),
            Self::Left(public) => public,
        }
    }
}

impl core::fmt::Debug for Reshared {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Share(share) => share.fmt(f),
            Self::Left(public) => write!(f, "Left({public:?})"),
        }
    }
}

/// One party's side of a resharing.
pub struct Reshare {
    machine: Machine<KeygenRounds>,
    stays: bool,
}

impl Reshare {
    /// Begins to share the key of `old` anew, t-of-n as `threshold` says.
    ///
    /// `session`: the same for all parties, and never used before. `me`: this party's number in the run.
    /// `share`: the old share; only a dealer needs one. `dealers`: exactly as many as the old threshold,
    /// ascending by their old numbers; those that leave have the numbers n + 1, n + 2, … in some order.
    /// `rng`: 32 bytes are drawn from it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the arguments do not fit together.
    pub fn new(
        session: SessionId,
        me: PartyId,
        old: &PublicKeyPackage,
        share: Option<&KeyShare>,
        dealers: &[Dealer],
        threshold: Threshold,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        let parties = check(old, dealers, threshold)?;
        if me.get() > parties {
            return Err(Error::InvalidArgument("this party has no part in the resharing"));
        }
        let olds: Vec<PartyId> = dealers.iter().map(|dealer| dealer.old).collect();
        let mut points = vec![ProjectivePoint::IDENTITY; usize::from(parties)];
        let mut own = Zeroizing::new(Scalar::ZERO);
        for dealer in dealers {
            let factor = lagrange(dealer.old, &olds);
            points[usize::from(dealer.new.get()) - 1] =
                old.commitments().evaluate_vartime(dealer.old) * factor;
            if dealer.new == me {
                let share = share
                    .filter(|share| share.me() == dealer.old && share.public() == old)
                    .ok_or(Error::InvalidArgument("a dealer needs its share of the old sharing"))?;
                *own = factor * share.secret();
            }
        }
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut seed[..]);
        let rng = ChaCha20Rng::from_seed(*seed);
        let numbers: Vec<u8> =
            dealers.iter().flat_map(|dealer| [dealer.old.get(), dealer.new.get()]).collect();
        let context = Oracle::new("context/reshare")
            .absorb(&session.0)
            .absorb(&old.key_id())
            .absorb(&numbers)
            .absorb(&[threshold.t(), threshold.n()])
            .finish();
        let given = Given::Constants(Box::new(Constants { own: *own, points }));
        let (rounds, letters) = KeygenRounds::start(context, me, threshold, given, rng);
        let all = (1..=parties).map(PartyId::new).collect::<Result<_, _>>()?;
        let machine = Machine::new(rounds, me, all, context, letters);
        Ok(Self { machine, stays: threshold.contains(me) })
    }

    /// The protocol's machine, for tests of wiping.
    #[cfg(test)]
    pub(crate) fn machine(&self) -> &Machine<KeygenRounds> {
        &self.machine
    }
}

/// Checks the dealers; returns how many parties there are.
fn check(old: &PublicKeyPackage, dealers: &[Dealer], new: Threshold) -> Result<u8, Error> {
    let refuse = |reason| Err(Error::InvalidArgument(reason));
    if dealers.len() != usize::from(old.threshold().t()) {
        return refuse("the number of dealers is not the old threshold");
    }
    if !dealers.windows(2).all(|pair| pair[0].old < pair[1].old) {
        return refuse("the dealers are not in ascending order");
    }
    if !dealers.iter().all(|dealer| old.threshold().contains(dealer.old)) {
        return refuse("a dealer is no party of this key");
    }
    let mut numbers: Vec<u8> = dealers.iter().map(|dealer| dealer.new.get()).collect();
    numbers.sort_unstable();
    if !numbers.windows(2).all(|pair| pair[0] < pair[1]) {
        return refuse("two dealers have the same number");
    }
    let mut leave = numbers.iter().filter(|&&number| number > new.n());
    if !leave.clone().zip(u16::from(new.n()) + 1..).all(|(&number, next)| u16::from(number) == next)
    {
        return refuse("the dealers that leave are not numbered from n + 1");
    }
    // Their numbers are the next ones up to 255: so the sum is at most that.
    Ok(leave.next_back().copied().unwrap_or(new.n()))
}

impl Session for Reshare {
    type Output = Reshared;

    fn outgoing(&mut self) -> Vec<Outgoing> {
        self.machine.outgoing()
    }

    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error> {
        self.machine.receive(from, bytes)
    }

    fn round(&self) -> u8 {
        self.machine.round()
    }

    fn waiting_for(&self) -> Vec<PartyId> {
        self.machine.waiting_for()
    }

    fn take_output(&mut self) -> Option<Result<Reshared, Abort>> {
        let stays = self.stays;
        let output = self.machine.take_output()?;
        Some(output.map(|share| match stays {
            true => Reshared::Share(Box::new(share)),
            false => Reshared::Left(Box::new(share.public().clone())),
        }))
    }
}

#[cfg(test)]
mod tests;
