//! Any text as node.toml: what is accepted is written so that it is accepted again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_node::config::Config;

fuzz_target!(|text: &str| {
    let Ok(config) = Config::from_toml(text) else { return };
    assert_eq!(Config::from_toml(&config.to_toml()).expect("what was written"), config);
});
