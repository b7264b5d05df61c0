//! The state: no index twice, whatever fails or is killed.

#![allow(clippy::unwrap_used)]

mod disk;
mod faults;
#[cfg(unix)]
mod kills;
mod rules;
mod shared;
mod signer;

use tetralith_xmss::state::{Holder, Reservations, StateError, StateStore};
use tetralith_xmss::{Params, PublicKey};

/// A public key of a height; states do not care whether anybody has its secret.
fn public(name: &str) -> PublicKey {
    let params = Params::from_name(name).unwrap();
    PublicKey::from_parts(params, &vec![1; 2 * params.n()]).unwrap()
}

fn holder() -> Holder {
    Holder::new("test")
}

/// Takes an index; what it would sign is of no matter here.
fn take<S: StateStore>(state: &mut Reservations<S>, batch: u64) -> Result<u64, StateError> {
    state.next(batch, 0).map(|index| index.value())
}
