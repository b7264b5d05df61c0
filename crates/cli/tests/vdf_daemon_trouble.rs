//! `tetralith vdf daemon` where its disk or its folder fails: what it says, and how its work goes on.
#![cfg(unix)]

mod daemon;

use daemon::{Daemon, evaluated};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Squarings during which the state is saved some times.
const COUNT: u64 = 10_000_000;

/// A full disk is told with the file and the next step, to clients and to the operator.
#[test]
fn a_full_disk_is_told() {
    if !Path::new("/dev/full").exists() {
        println!("left out: there is no /dev/full here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &[]);
    for (proof, file) in [("none", "run.new"), ("wesolowski", "run.run.new")] {
        // The name is learnt from one that is forgotten at once.
        let id = daemon.submit("b", COUNT, proof);
        let head = format!("DELETE /v1/challenges/{id} HTTP/1.1");
        let head = format!("{head}\r\nauthorization: Bearer {}", daemon.token);
        assert_eq!(daemon.exchange(&head, b"").0, 200);
        let own = folder.path().join("challenges").join(&id);
        while own.exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::fs::create_dir_all(&own).expect("made");
        std::os::unix::fs::symlink("/dev/full", own.join(file)).expect("a link");
        assert_eq!(daemon.submit("b", COUNT, proof), id);
        let failed = daemon.wait(&id);
        assert_eq!((&failed["state"], &failed["code"]), (&json!("failed"), &json!("io.file")));
        let message = failed["message"].as_str().expect("text");
        let kept = own.join("run").display().to_string();
        assert!(message.starts_with(&kept) && message.contains("No space left"), "{failed}");
        let hint = failed["hint"].as_str().expect("a next step");
        assert!(hint.contains("make room") && hint.contains("submit"), "{failed}");
        let event = daemon.event("challenge.failed", &id);
        assert_eq!((&event["code"], &event["hint"]), (&failed["code"], &failed["hint"]));
        assert!(event["message"].as_str().expect("text").contains(message), "{event}");
        // There is room again.
        let _ = std::fs::remove_file(own.join(file));
        assert_eq!(daemon.submit("b", COUNT, proof), id);
        let done = daemon.wait(&id);
        assert_eq!(done["y"], evaluated("b", COUNT).as_str(), "{done}");
    }
}
