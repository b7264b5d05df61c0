//! Any text as node.toml: what is accepted is written so that it is accepted again.

use tetralith_node::config::Config;

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let Ok(config) = Config::from_toml(text) else { return };
    assert_eq!(Config::from_toml(&config.to_toml()).expect("what was written"), config);
}
