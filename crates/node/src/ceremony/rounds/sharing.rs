//! The rounds of a resharing, and what is stored when.
//!
//! Each new party first stores its new share beside the old one, and then tells the others so in
//! signed words. Whoever has the words of all keeps them with the new share and deletes the old one
//! ([`crate::shares`]). A node that stops in between, or misses a word, asks for it later
//! ([`crate::ceremony::settle`]).

use super::Room;
use crate::ceremony::agreement::Plan;
use crate::ceremony::{Fault, Finished, Shared};
use crate::engine::Resharing;
use crate::shares::{Key, KeyId};

impl Room {
    pub(super) async fn make_sharing(&mut self) -> Result<Finished, Fault> {
        let plan = self.agreement.proposed.resharing.clone();
        let plan = plan.ok_or_else(|| Fault::own("there is nothing to share anew"))?;
        let (me, session, asked) = (self.my_number()?, self.agreement.session, plan.clone());
        let begin = move |shared: &Shared| {
            let deals = asked.dealers.contains(&shared.me());
            let share = deals.then(|| shared.shares.share(&asked.from)).transpose();
            let share = share.map_err(Fault::own)?;
            let resharing = Resharing {
                old: &asked.public,
                share: share.as_deref().map(Vec::as_slice),
                dealers: &asked.numbers(),
                threshold: asked.threshold,
            };
            shared.engine.reshare(session, me, resharing, &shared.fresh()).map_err(Fault::own)
        };
        let session = self.shared.blocking(begin).await.map_err(Fault::own)??;
        let made = self.drive(session).await?;
        let scheme = self.shared.engine.scheme().to_owned();
        let key = Key {
            id: KeyId::of(&scheme, &made.public_key),
            number: plan.number,
            scheme,
            public_key: made.public_key,
            threshold: plan.threshold.t(),
            parties: plan.parties.clone(),
        };
        if key.id != plan.from.key {
            return Err(Fault::own("the resharing gave another key"));
        }
        if let Some(share) = made.share {
            let (key, id) = (key.clone(), self.agreement.proposed.id);
            let prepare = move |shared: &Shared| {
                shared.shares.prepare(key, id, &share, &mut shared.fresh_rng())
            };
            let stored = self.shared.blocking(prepare).await.and_then(|stored| stored);
            stored.map_err(Fault::own)?;
        }
        self.confirm_to(key.stored_hash(&self.agreement.proposed.id), &key.parties).await?;
        self.commit(&plan, key).await
    }

    /// All new parties have stored their shares: the old ones are deleted.
    async fn commit(&self, plan: &Plan, key: Key) -> Result<Finished, Fault> {
        let words = self.confirmations.iter().filter(|(id, _)| key.parties.contains(id));
        let words: Vec<_> = words.map(|(_, (_, word))| word.clone()).collect();
        let stays = key.parties.contains(&self.shared.me());
        let (id, kept, new) = (self.agreement.proposed.id, key.clone(), plan.sharing());
        let commit = move |shared: &Shared| {
            if stays { shared.commit(&kept, id, words) } else { shared.leave(&new) }
        };
        let committed = self.shared.blocking(commit).await.and_then(|committed| committed);
        committed.map_err(Fault::own)?;
        Ok(Finished::Result { key: key.id, bytes: key.public_key })
    }
}
