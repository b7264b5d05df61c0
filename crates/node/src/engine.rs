//! The protocols that a node runs, behind one trait, so that ceremonies know none of them.

use tetralith_tss::engine::{Check, Error, PartyId, Session, SessionId, Threshold};
pub use tetralith_tss::reshare::Dealer;
use zeroize::Zeroizing;

/// What a key generation yields to one party.
pub struct NewKey {
    /// The group's public key, the same for all.
    pub public_key: Vec<u8>,
    /// This party's share, encoded.
    pub share: Zeroizing<Vec<u8>>,
}

impl core::fmt::Debug for NewKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "NewKey({})", hex::encode(&self.public_key))
    }
}

/// What a resharing yields to one party.
pub struct NewSharing {
    /// The group's public key, which a resharing does not change.
    pub public_key: Vec<u8>,
    /// The name of the new sharing, the same for all of its parties and no other's.
    pub name: [u8; 32],
    /// This party's share, encoded; none if the party leaves.
    pub share: Option<Zeroizing<Vec<u8>>>,
}

impl core::fmt::Debug for NewSharing {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "NewSharing({})", hex::encode(self.name))
    }
}

/// What all parties of a resharing agree on, and this party's part.
#[derive(Clone, Copy)]
pub struct Resharing<'a> {
    /// What is public of the old sharing, as [`Engine::public`] yields it.
    pub old: &'a [u8],
    /// This party's old share, if it is one of the dealers.
    pub share: Option<&'a [u8]>,
    /// Those who deal, by their old and new numbers.
    pub dealers: &'a [Dealer],
    /// The new threshold.
    pub threshold: Threshold,
}

/// A session that yields a new sharing.
pub type ReshareSession = Box<dyn Session<Output = NewSharing>>;
/// A session that yields a key.
pub type KeygenSession = Box<dyn Session<Output = NewKey>>;
/// A session that yields an encoded signature, which the engine has verified.
pub type SignSession = Box<dyn Session<Output = Vec<u8>>>;

/// A signature scheme with its threshold protocol.
///
/// Both calls may take some milliseconds for each peer; a node makes them where blocking is allowed.
pub trait Engine: Send + Sync + 'static {
    /// The stable name that keys are stored under, such as `dkls23-secp256k1`.
    fn scheme(&self) -> &'static str;

    /// Begins to make a key.
    ///
    /// # Errors
    /// An argument is refused.
    ///
    /// # Security
    /// `seed` is fresh for every call: all of the session's randomness comes from it.
    fn keygen(
        &self,
        session: SessionId,
        me: PartyId,
        threshold: Threshold,
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<KeygenSession, Error>;

    /// Begins to sign `digest` with the other `signers`; `share` is what [`Engine::keygen`] yielded.
    ///
    /// # Errors
    /// The share does not decode, or an argument is refused.
    ///
    /// # Security
    /// `seed` is fresh for every call: the nonce comes from it.
    fn sign(
        &self,
        session: SessionId,
        share: &[u8],
        signers: &[PartyId],
        digest: &[u8; 32],
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<SignSession, Error>;

    /// Begins to share a key anew, among the same or other parties.
    ///
    /// # Errors
    /// The scheme cannot reshare, something does not decode, or an argument is refused.
    ///
    /// # Security
    /// `seed` is fresh for every call: all of the session's randomness comes from it.
    fn reshare(
        &self,
        session: SessionId,
        me: PartyId,
        resharing: Resharing<'_>,
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<ReshareSession, Error> {
        let _ = (session, me, resharing, seed);
        Err(Error::InvalidArgument("this scheme cannot reshare"))
    }

    /// What is public of the sharing that `share` belongs to.
    ///
    /// # Errors
    /// The share does not decode, or the scheme cannot reshare.
    fn public(&self, share: &[u8]) -> Result<Vec<u8>, Error> {
        let _ = share;
        Err(Error::InvalidArgument("this scheme cannot reshare"))
    }

    /// The public key, threshold and number of parties of a sharing, from what is public of it.
    ///
    /// # Errors
    /// It does not decode, or the scheme cannot reshare.
    fn sharing(&self, public: &[u8]) -> Result<(Vec<u8>, Threshold), Error> {
        let _ = public;
        Err(Error::InvalidArgument("this scheme cannot reshare"))
    }

    /// Says which check one party's broadcasts of one session fail in themselves, so that anybody
    /// can see it: `broadcasts` are encoded messages in the order of their rounds.
    ///
    /// `None` if they pass, if the check needs messages that are not there, or if the scheme has no
    /// such checks. No messages of a party that follows the protocol are ever refuted.
    fn refute(&self, broadcasts: &[&[u8]]) -> Option<Check> {
        let _ = broadcasts;
        None
    }
    /// Says whether this is a signature of `digest` under a public key, in variable time.
    ///
    /// A node asks it of signatures that others made. Without an answer none of them is believed.
    fn verifies(&self, public_key: &[u8], digest: &[u8; 32], signature: &[u8]) -> bool {
        let _ = (public_key, digest, signature);
        false
    }
}
