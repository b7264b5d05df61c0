//! A real Prometheus scrapes real nodes, loads the alert rules, and knows every metric of the dashboard.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use nodes::Nodes;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn monitoring() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/monitoring").canonicalize().unwrap()
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("Debian's package prometheus: sh .ci/test-tools");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// The metrics of ours that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = text.split(|c| !is_name(c)).filter(|word| word.starts_with("tetralith_"));
    words.map(str::to_owned).collect()
}

/// The expressions of the dashboard's panels, with its variables filled in.
fn expressions(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let fill = |target: &Value| {
        let text = target["expr"].as_str().unwrap();
        text.replace("$instance", ".*").replace("$__rate_interval", "30s")
    };
    targets.map(fill).collect()
}

/// A Prometheus server that is killed at the end.
struct Prometheus {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    fn start(nodes: &Nodes, count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scrape = |index: usize| {
            json!({
                "job_name": format!("node-{index}"),
                "static_configs": [{ "targets": [nodes.api(index)], "labels": { "job": "tetralith" } }],
                "authorization": { "credentials_file": nodes.folder(index).join("read.token") },
            })
        };
        let config = json!({
            "global": { "scrape_interval": "500ms", "evaluation_interval": "500ms" },
            "rule_files": [monitoring().join("alerts.yml")],
            "scrape_configs": (0..count).map(scrape).collect::<Vec<_>>(),
        });
        // JSON is YAML.
        let path = folder.path().join("prometheus.yml");
        std::fs::write(&path, config.to_string()).unwrap();
        run(Command::new("promtool").args(["check", "config"]).arg(&path));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", path.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        Prometheus { child, url: format!("http://127.0.0.1:{port}"), _folder: folder }
    }

    /// What the server answers, once `good` says so.
    fn until(&self, path: &str, good: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + Duration::from_secs(90);
        loop {
            let (_, answer) = nodes::request("GET", &format!("{}{path}", self.url), &[], None);
            if answer["status"] == "success" && good(&answer["data"]) {
                return answer["data"].clone();
            }
            assert!(Instant::now() < end, "{path}: {answer}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Percent-encodes all but letters and digits.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes()
        .map(|byte| if plain(byte) { (byte as char).into() } else { format!("%{byte:02X}") })
        .collect()
}

#[test]
fn the_rules_do_what_they_say() {
    let folder = monitoring();
    run(Command::new("promtool").args(["check", "rules", "alerts.yml"]).current_dir(&folder));
    run(Command::new("promtool").args(["test", "rules", "alerts_test.yml"]).current_dir(&folder));
    // Each alert is tested there or explained in the manual, and the manual explains no other.
    let rules = std::fs::read_to_string(folder.join("alerts.yml")).unwrap();
    let alerts: BTreeSet<_> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let page = std::fs::read_to_string(folder.join("../../docs/watching.md")).unwrap();
    let explained: BTreeSet<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `Tetralith")?.split_once('`'))
        .collect();
    let explained: BTreeSet<_> =
        explained.iter().map(|(name, _)| format!("Tetralith{name}")).collect();
    assert_eq!(alerts.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(), explained);
}

#[test]
fn prometheus_scrapes_nodes_and_knows_every_metric() {
    let mut nodes = Nodes::start(2, &[("join_ms", "2000")]);
    let prometheus = Prometheus::start(&nodes, 2);
    let key = nodes.keygen(0, 2);
    let (status, signed) = nodes.sign(0, &key, "a message");
    assert_eq!(status, 200, "{signed}");
    let up = |count: usize| {
        move |data: &Value| {
            let targets = data["activeTargets"].as_array().unwrap().iter();
            targets.filter(|target| target["health"] == "up").count() == count
        }
    };
    prometheus.until("/api/v1/targets", up(2));
    // A node ends: the other blames it, and an alert begins to pend.
    nodes.kill(1);
    assert_eq!(nodes.sign(0, &key, "another").0, 502);

    let rules = std::fs::read_to_string(monitoring().join("alerts.yml")).unwrap();
    let dashboard = std::fs::read_to_string(monitoring().join("dashboard.json")).unwrap();
    let needed = &named(&rules) | &named(&dashboard);
    assert!(needed.len() > 15, "{needed:?}");
    let known = |data: &Value| -> BTreeSet<String> {
        data.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let names = "/api/v1/label/__name__/values";
    prometheus.until(names, |data| known(data).contains("tetralith_blames_total"));
    prometheus.until(names, |data| known(data).contains("tetralith_peer_round_trip_seconds"));
    let scraped = known(&prometheus.until(names, |_| true));
    let missing: Vec<_> = needed.difference(&scraped).collect();
    assert!(missing.is_empty(), "not in the scrape: {missing:?}");

    let loaded = prometheus.until("/api/v1/rules", |data| {
        let rules = data["groups"][0]["rules"].as_array().unwrap();
        rules.iter().all(|rule| rule["health"] == "ok")
    });
    let count = rules.matches("- alert: ").count();
    assert_eq!(loaded["groups"][0]["rules"].as_array().unwrap().len(), count);
    prometheus.until("/api/v1/alerts", |data| {
        let alerts = data["alerts"].as_array().unwrap().iter();
        let names: BTreeSet<_> =
            alerts.map(|alert| alert["labels"]["alertname"].as_str().unwrap()).collect();
        names.contains("TetralithPeerDisconnected") && names.contains("TetralithNodeDown")
    });
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    for expression in expressions(&dashboard) {
        let path = format!("/api/v1/query?query={}", encoded(&expression));
        prometheus.until(&path, |data| data["resultType"] == "vector");
    }
    // One that must have a value: so that an expression cannot be empty for its labels' names.
    let path = format!("/api/v1/query?query={}", encoded(&expressions(&dashboard)[0]));
    prometheus.until(&path, |data| !data["result"].as_array().unwrap().is_empty());
}
