//! Exports that are killed, at the command.

use super::Place;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

const EXPORT: &str = "export k --format qrl-seed -o out";

#[test]
fn a_killed_export_loses_nothing() {
    let place = Place::with_key();
    let start = Instant::now();
    place.done(EXPORT);
    let whole = start.elapsed();
    let mut finished = 0;
    for step in 0..KILLS {
        let place = Place::with_key();
        assert_eq!(place.sign_at("sqlite:k.state"), 0);
        let mut child = place.command(EXPORT).spawn().unwrap();
        std::thread::sleep(whole * step / KILLS + Duration::from_millis(1));
        let _ = child.kill();
        let killed: Value =
            serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap_or_default();
        if place.at("out").exists() {
            // It was done, told or not.
            place.refused(EXPORT, 3, "io.exists");
        } else {
            assert!(killed.is_null(), "{killed}");
            let again = place.done(EXPORT);
            let found = ["moved", "next", "left"].map(|name| again.object[name].clone());
            assert_eq!(found, [Value::from(true), 1.into(), 15.into()], "{}", again.object);
            finished += 1;
        }
        let seed = fs::read_to_string(place.at("out")).unwrap();
        assert_eq!(seed.trim().len(), 102);
        place.refused("sign -k k --force m", 4, "state.exhausted");
        let left = place.names().into_iter().filter(|name| name.contains(".export-")).count();
        assert_eq!(left, 0, "{:?}", place.names());
    }
    assert!(finished > 0);
}

const KILLS: u32 = 60;
