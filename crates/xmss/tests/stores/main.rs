//! The stores that several signers share, on real servers: no index twice, whoever is killed.

#![cfg(all(unix, feature = "postgres", feature = "etcd"))]
#![allow(clippy::unwrap_used)]

mod etcd;
mod kills;
mod postgres;
mod server;
#[path = "../servers/mod.rs"]
mod servers;
mod sharing;
mod tls;

use tetralith_xmss::state::{Holder, Reservations, StateError, StateStore};
use tetralith_xmss::{Params, PublicKey};

fn key() -> PublicKey {
    let params = Params::from_name("XMSS-SHA2_20_256").unwrap();
    PublicKey::from_parts(params, &vec![1; 2 * params.n()]).unwrap()
}

fn signer(name: &str) -> Holder {
    Holder { pid: 7, host: name.into() }
}

fn take<S: StateStore>(state: &mut Reservations<S>, batch: u64) -> Result<u64, StateError> {
    state.next(batch, 0).map(|index| index.value())
}
