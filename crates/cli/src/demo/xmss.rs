//! XMSS: a key in a durable store, a signature, and processes killed while they sign.

use super::Demo;
use crate::failure::{Exit, Failure, Outcome};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How many signing processes are killed.
const KILLS: u32 = 24;

pub(super) fn run(demo: &mut Demo) -> Outcome {
    demo.file("README.md", include_bytes!("../../README.md"))?;
    demo.file("changed.md", b"# Another text\n")?;
    demo.succeeds(
        "Make a key in a durable state store",
        &["xmss", "keygen", "-o", "signer.key", "--params", "XMSS-SHA2_10_256"],
    )?;
    demo.succeeds("Take its public key", &["xmss", "pub", "signer.key", "-o", "signer.pub"])?;
    let start = Instant::now();
    let sign = ["xmss", "sign", "-k", "signer.key", "-o", "readme.sig", "README.md"];
    demo.succeeds("Sign this project's README", &sign)?;
    let whole = start.elapsed();
    let verify = ["xmss", "verify", "-p", "signer.pub", "-s", "readme.sig", "README.md"];
    demo.succeeds("Verify the signature", &verify)?;
    demo.fails(
        "Verify it for another file",
        &["xmss", "verify", "-p", "signer.pub", "-s", "readme.sig", "changed.md"],
        Exit::Verification,
    )?;
    kill(demo, whole)?;
    demo.succeeds("Ask for the state", &["xmss", "status", "signer.key"])?;
    Ok(())
}

/// Kills signing processes at moments spread over a whole signature, signs once more, and looks at
/// every index that left.
fn kill(demo: &mut Demo, whole: Duration) -> Outcome {
    let failed = |error: std::io::Error| Failure::new(Exit::Environment, "demo.kill", error);
    for round in 0..KILLS {
        let signature = format!("killed-{round}.sig");
        let arguments = ["xmss", "sign", "-k", "signer.key", "-o", &signature, "README.md", "-q"];
        let mut process = demo.process(&arguments);
        let mut child =
            process.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)?;
        std::thread::sleep(whole * (KILLS + round) / (2 * KILLS - 4));
        child.kill().map_err(failed)?;
        child.wait().map_err(failed)?;
    }
    let last = ["xmss", "sign", "-k", "signer.key", "-o", "last.sig", "README.md"];
    demo.succeeds("Sign after the processes were killed", &last)?;
    let mut names: Vec<String> = (0..KILLS).map(|round| format!("killed-{round}.sig")).collect();
    names.extend(["readme.sig".into(), "last.sig".into()]);
    let signatures: Vec<Vec<u8>> =
        names.iter().filter_map(|name| std::fs::read(demo.path(name)).ok()).collect();
    let indices: Vec<u32> = signatures.iter().filter_map(|bytes| index(bytes)).collect();
    let distinct: BTreeSet<u32> = indices.iter().copied().collect();
    let told = format!(
        "{KILLS} processes killed, {} signatures left, with indices {indices:?}",
        indices.len()
    );
    let unique = distinct.len() == signatures.len() && indices.len() == signatures.len();
    demo.checks(
        "Look for an index that signed twice",
        &format!("kill -9, {KILLS} times, spread over {:.0} ms", whole.as_secs_f64() * 1e3),
        if unique { Ok(told) } else { Err(told) },
    )
}

/// The index of a raw signature: its first four bytes.
fn index(signature: &[u8]) -> Option<u32> {
    signature.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}
