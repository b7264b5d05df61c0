//! The signing node: nodes that hold shares of a key make signatures together over libp2p.
//!
//! A node is a folder ([`folder::Folder`]) with a configuration ([`config::Config`]) that names the
//! only peers it talks to. Everything that nodes say to each other is signed by its sender. A
//! ceremony is proposed by any node that its own HTTP API asks, and ends with a result or with
//! stored blame ([`log`]). The protocols come from outside through [`engine::Engine`].
//!
//! What is secret: the identity's seed, the storage key and the shares, all in sealed files
//! ([`folder`]); the API token; and the engine's direct messages, which only the encrypted
//! connection to their recipient carries.
//!
//! ```
//! let text = "name = \"a\"\nlisten = \"/ip4/127.0.0.1/tcp/7100\"\napi = \"127.0.0.1:7200\"\n";
//! let config = tetralith_node::config::Config::from_toml(text)?;
//! assert_eq!(config.timeouts.join().as_secs(), 3);
//! # Ok::<(), tetralith_node::Error>(())
//! ```

/// Keeps what is freed, so that tests can search it for secrets.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: tetralith_kernels::freed::Keeping = tetralith_kernels::freed::Keeping;

mod api;
mod budget;
mod ceremony;
mod codec;
pub mod config;
mod disk;
mod ecdsa;
pub mod engine;
mod error;
mod events;
pub mod folder;
mod hook;
mod identity;
pub mod log;
mod meeting;
mod metrics;
mod node;
pub mod proof;
mod shares;
mod stall;
pub mod tokens;
mod transport;
pub mod types;
#[cfg(test)]
mod wiped;
mod wire;

pub use ecdsa::Ecdsa;
pub use error::Error;
pub use identity::Identity;
pub use node::Node;
#[doc(hidden)]
pub use wire::decodes;
