//! What clients of the daemon send, over HTTP and as lines: a task within bounds, or an error. Bytes as
//! they are, and good requests with bytes changed.
#![no_main]
#![allow(dead_code)] // the daemon uses all of it

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cli/src/vdf/daemon/request.rs"]
mod request;

use request::{Line, MAX_REQUEST, Task};

const GOOD: [&str; 6] = [
    r#"{"x":"2","t":20}"#,
    r#"{"modulus":"cfa92a1c6559dd55bb75027437309ad3","x":"05","iterations":600000,"proof":"pietrzak"}"#,
    r#"{"submit":{"modulus":"rsa2048","x":"2","t":24,"proof":"n-wesolowski"},"token":"0123"}"#,
    r#"{"status":"cfa92a1c6559dd55bb75027437309ad3"}"#,
    r#"{"watch":"cfa92a1c6559dd55bb75027437309ad3"}"#,
    r#"{"cancel":"cfa92a1c6559dd55bb75027437309ad3","token":"0123"}"#,
];
/// The squarings of the daemon that is asked.
const MOST: u64 = 1 << 40;

fuzz_target!(|input: (u8, Vec<(u8, u8)>, &[u8])| {
    let (which, changes, raw) = input;
    let mut bytes = match GOOD.get(usize::from(which) % (GOOD.len() + 1)) {
        Some(good) => [good.as_bytes(), raw].concat(),
        None => raw.to_vec(),
    };
    for (at, byte) in changes {
        let length = bytes.len().max(1);
        if let Some(old) = bytes.get_mut(usize::from(at) % length) {
            *old = byte;
        }
    }
    if let Ok(value) = request::object(&bytes) {
        assert!(bytes.len() <= MAX_REQUEST);
        if let Ok(task) = Task::parse(value, MOST) {
            assert!(task.iterations <= MOST && task.modulus.bits() >= 64);
        }
    }
    if let Ok(Line::Submit { challenge, .. }) = Line::parse(&bytes) {
        let _ = Task::parse(challenge, MOST);
    }
});
