//! Threshold ECDSA on secp256k1 by DKLs23, as an [`Engine`].

use crate::engine::{
    Engine, KeygenSession, NewKey, NewSharing, ReshareSession, Resharing, SignSession,
};
use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use tetralith_tss::dkls23::refute::refute;
use tetralith_tss::engine::{
    Abort, Check, Error, Outgoing, PartyId, Session, SessionId, Threshold,
};
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::{KeyShare, PublicKeyPackage};
use tetralith_tss::reshare::{Reshare, Reshared};
use tetralith_tss::sign::{Sign, Signature};
use zeroize::Zeroizing;

/// DKLs23 on secp256k1: public keys are compressed points, signatures r, s and the recovery number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ecdsa;

impl Engine for Ecdsa {
    fn scheme(&self) -> &'static str {
        "dkls23-secp256k1"
    }

    fn keygen(
        &self,
        session: SessionId,
        me: PartyId,
        threshold: Threshold,
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<KeygenSession, Error> {
        let session = Keygen::new(session, me, threshold, &mut ChaCha20Rng::from_seed(**seed))?;
        let finish = |share: KeyShare| NewKey {
            public_key: share.public().group_key().to_vec(),
            share: share.to_bytes(),
        };
        Ok(Box::new(Mapped { session, finish }))
    }

    fn sign(
        &self,
        session: SessionId,
        share: &[u8],
        signers: &[PartyId],
        digest: &[u8; 32],
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<SignSession, Error> {
        let share = KeyShare::from_bytes(share)?;
        let mut rng = ChaCha20Rng::from_seed(**seed);
        let session = Sign::new(session, &share, signers, *digest, &mut rng)?;
        Ok(Box::new(Mapped {
            session,
            finish: |signature: Signature| signature.to_bytes().to_vec(),
        }))
    }

    fn reshare(
        &self,
        session: SessionId,
        me: PartyId,
        resharing: Resharing<'_>,
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<ReshareSession, Error> {
        let Resharing { old, share, dealers, threshold } = resharing;
        let old = PublicKeyPackage::from_bytes(old)?;
        let share = share.map(KeyShare::from_bytes).transpose()?;
        let mut rng = ChaCha20Rng::from_seed(**seed);
        let session =
            Reshare::new(session, me, &old, share.as_ref(), dealers, threshold, &mut rng)?;
        let finish = |reshared: Reshared| NewSharing {
            public_key: reshared.public().group_key().to_vec(),
            name: reshared.public().key_id(),
            share: match &reshared {
                Reshared::Share(share) => Some(share.to_bytes()),
                Reshared::Left(_) => None,
            },
        };
        Ok(Box::new(Mapped { session, finish }))
    }

    fn public(&self, share: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(KeyShare::from_bytes(share)?.public().to_bytes())
    }

    fn sharing(&self, public: &[u8]) -> Result<(Vec<u8>, Threshold), Error> {
        let public = PublicKeyPackage::from_bytes(public)?;
        Ok((public.group_key().to_vec(), public.threshold()))
    }

    fn refute(&self, broadcasts: &[&[u8]]) -> Option<Check> {
        refute(broadcasts)
    }

    fn verifies(&self, public_key: &[u8], digest: &[u8; 32], signature: &[u8]) -> bool {
        let Ok(key) = public_key.try_into() else { return false };
        Signature::from_bytes(signature).is_ok_and(|signature| signature.verify(key, digest))
    }
}

/// A session whose output is turned into what a node keeps.
struct Mapped<S, F> {
    session: S,
    finish: F,
}

impl<S: Session, T, F: Fn(S::Output) -> T + Send> Session for Mapped<S, F> {
    type Output = T;

    fn outgoing(&mut self) -> Vec<Outgoing> {
        self.session.outgoing()
    }

    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error> {
        self.session.receive(from, bytes)
    }

    fn round(&self) -> u8 {
        self.session.round()
    }

    fn waiting_for(&self) -> Vec<PartyId> {
        self.session.waiting_for()
    }

    fn take_output(&mut self) -> Option<Result<T, Abort>> {
        self.session.take_output().map(|output| output.map(&self.finish))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(sessions: &mut [(PartyId, Box<dyn Session<Output = T>>)]) -> Vec<T> {
        use tetralith_tss::engine::Recipient;
        loop {
            let mut moved = false;
            for index in 0..sessions.len() {
                let from = sessions[index].0;
                for Outgoing { to, bytes, .. } in sessions[index].1.outgoing() {
                    for (party, session) in sessions.iter_mut().filter(|(party, _)| *party != from)
                    {
                        if to == Recipient::All || to == Recipient::One(*party) {
                            session.receive(from, &bytes).unwrap();
                            moved = true;
                        }
                    }
                }
            }
            if !moved {
                return sessions.iter_mut().map(|s| s.1.take_output().unwrap().unwrap()).collect();
            }
        }
    }

    #[test]
    fn a_key_that_was_stored_signs() {
        let threshold = Threshold::new(2, 3).unwrap();
        let seed = |n: u8| Zeroizing::new([n; 32]);
        let begin = |me: PartyId| {
            (me, Ecdsa.keygen(SessionId([1; 32]), me, threshold, &seed(me.get())).unwrap())
        };
        let keys = run(&mut threshold.parties().map(begin).collect::<Vec<_>>());
        let signers = [PartyId::new(1).unwrap(), PartyId::new(3).unwrap()];
        let begin = |me: &PartyId| {
            let share = &keys[usize::from(me.get()) - 1].share;
            let id = SessionId([2; 32]);
            (*me, Ecdsa.sign(id, share, &signers, &[7; 32], &seed(9)).unwrap())
        };
        let signatures = run(&mut signers.iter().map(begin).collect::<Vec<_>>());
        let public: [u8; 33] = keys[0].public_key.as_slice().try_into().unwrap();
        assert!(Signature::from_bytes(&signatures[0]).unwrap().verify(&public, &[7; 32]));
        assert_eq!(signatures[0], signatures[1]);
        assert!(Ecdsa.sign(SessionId([3; 32]), &[1], &signers, &[7; 32], &seed(1)).is_err());
    }
}
