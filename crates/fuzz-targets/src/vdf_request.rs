//! What clients of the daemon send, over HTTP and as lines: a task within bounds, or an error.

use tetralith_daemon::request::{self, Ask, Line, MAX_REQUEST, Task};

pub(crate) const GOOD: [&str; 7] = [
    r#"{"x":"2","t":20}"#,
    r#"{"seed":"block 840000","t":24,"modulus":"rsa2048","proof":"none"}"#,
    r#"{"modulus":"cfa92a1c6559dd55bb75027437309ad3","x":"05","iterations":600000,"proof":"pietrzak"}"#,
    r#"{"submit":{"modulus":"rsa2048","x":"2","t":24,"proof":"n-wesolowski"},"token":"0123"}"#,
    r#"{"status":"cfa92a1c6559dd55bb75027437309ad3"}"#,
    r#"{"watch":"cfa92a1c6559dd55bb75027437309ad3"}"#,
    r#"{"cancel":"cfa92a1c6559dd55bb75027437309ad3","token":"0123"}"#,
];
/// The squarings of the daemon that is asked.
const MOST: u64 = 1 << 40;

/// Runs one input.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(value) = request::object(bytes) {
        assert!(bytes.len() <= MAX_REQUEST);
        if let Ok(task) = Task::parse(value, MOST) {
            assert!(task.iterations <= MOST && task.modulus.bits() >= 64);
        }
    }
    if let Ok(Line { ask: Ask::Submit(challenge), .. }) = Line::parse(bytes) {
        let _ = Task::parse(challenge, MOST);
    }
}
