//! The signing node: nodes that hold shares of a key make signatures together over libp2p.
//!
//! A node is a folder ([`folder::Folder`]) with a configuration ([`config::Config`]) that names the
//! only peers it talks to. Everything that nodes say to each other is signed by its sender.
//!
//! ```
//! let text = "name = \"a\"\nlisten = \"/ip4/127.0.0.1/tcp/7100\"\napi = \"127.0.0.1:7200\"\n";
//! let config = tetralith_node::config::Config::from_toml(text)?;
//! assert_eq!(config.timeouts.join().as_secs(), 3);
//! # Ok::<(), tetralith_node::Error>(())
//! ```
#![cfg_attr(not(test), allow(dead_code, reason = "the parts above these are not written yet"))]

mod codec;
pub mod config;
mod error;
pub mod folder;
mod identity;
mod transport;
mod wire;

pub use error::Error;
pub use identity::Identity;
