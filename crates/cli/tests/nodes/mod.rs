//! Signing nodes as processes of the real command, on loopback, and their clients.
#![allow(dead_code, unreachable_pub)] // each test takes what it needs
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

pub mod hostile;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Some nodes that know each other, of which any may run.
pub struct Nodes {
    root: tempfile::TempDir,
    nodes: Vec<Option<Child>>,
}

impl Nodes {
    /// Makes the folders of `count` nodes without a passphrase; none runs yet.
    pub fn new(count: usize) -> Self {
        let root = tempfile::tempdir().unwrap();
        let made = Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["cluster", "--init-only", "--no-passphrase", "--nodes", &count.to_string()])
            .arg("--dir")
            .arg(root.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let nodes = (0..count).map(|_| None).collect();
        Nodes { root, nodes }
    }

    /// Makes `count` nodes with these fields, runs them and waits until all are connected.
    pub fn start(count: usize, fields: &[(&str, &str)]) -> Self {
        let mut nodes = Self::new(count);
        for index in 0..count {
            fields.iter().for_each(|(field, value)| nodes.set(index, field, value));
            nodes.run(index);
        }
        (0..count).for_each(|index| nodes.wait_connected(index, count - 1));
        nodes
    }

    pub fn folder(&self, index: usize) -> PathBuf {
        self.root.path().join(format!("node-{}", index + 1))
    }

    /// Gives a field of a node's `node.toml`, which writes all its fields, another value.
    pub fn set(&self, index: usize, field: &str, value: &str) {
        let path = self.folder(index).join("node.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        let mut found = false;
        let lines = text.lines().map(|line| {
            let it = line.split_once(" = ").is_some_and(|(name, _)| name == field) && !found;
            found |= it;
            if it { format!("{field} = {value}\n") } else { format!("{line}\n") }
        });
        let text: String = lines.collect();
        assert!(found, "{field} is in no line of {text}");
        std::fs::write(&path, text).unwrap();
    }

    /// The first value of a field of a node's `node.toml`, without quotes.
    pub fn field(&self, index: usize, field: &str) -> String {
        let text = std::fs::read_to_string(self.folder(index).join("node.toml")).unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(&format!("{field} = ")));
        value.unwrap().trim_matches('"').to_owned()
    }

    /// Runs a node, and waits until its API answers.
    pub fn run(&mut self, index: usize) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
        command.args(["node", "run", "--threads", "2"]).arg(self.folder(index));
        self.run_as(index, &mut command);
    }

    /// Runs a node by another command.
    pub fn run_as(&mut self, index: usize, command: &mut Command) {
        self.spawn(index, command);
        self.until(index, "it answers", |nodes| nodes.ask(index, "GET", "/healthz", None).0 == 200);
    }

    /// Runs a node by a command, and does not wait for it.
    pub fn spawn(&mut self, index: usize, command: &mut Command) {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.log(index));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.unwrap());
        self.nodes[index] = Some(command.spawn().unwrap());
    }

    /// Adds tables to a node's `node.toml`.
    pub fn add(&self, index: usize, text: &str) {
        let path = self.folder(index).join("node.toml");
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{before}\n{text}\n")).unwrap();
    }

    fn log(&self, index: usize) -> PathBuf {
        self.folder(index).join("node.log")
    }

    /// What a node wrote to its log.
    pub fn logged(&self, index: usize) -> String {
        std::fs::read_to_string(self.log(index)).unwrap()
    }

    pub fn until(&self, index: usize, what: &str, check: impl Fn(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !check(self) {
            assert!(Instant::now() < end, "node {index}: not {what}: {}", self.logged(index));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a node has so many peers connected.
    pub fn wait_connected(&self, index: usize, count: usize) {
        self.until(index, "connected", |nodes| {
            let (_, status) = nodes.get(index, "/v1/status");
            let peers = status["peers"].as_array().into_iter().flatten();
            peers.filter(|peer| peer["connected"] == true).count() == count
        });
    }

    pub fn pid(&self, index: usize) -> u32 {
        self.nodes[index].as_ref().unwrap().id()
    }

    /// Sends a signal, such as `STOP`, to a node.
    pub fn signal(&self, index: usize, signal: &str) {
        let pid = self.pid(index).to_string();
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success()
        );
    }

    /// Kills a node, and waits for its process.
    pub fn kill(&mut self, index: usize) {
        let mut child = self.nodes[index].take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub fn api(&self, index: usize) -> String {
        self.field(index, "api")
    }

    pub fn token(&self, index: usize) -> String {
        std::fs::read_to_string(self.folder(index).join("api.token")).unwrap().trim().to_owned()
    }

    /// One HTTP exchange with the token; status 0 where there was none.
    pub fn ask(&self, index: usize, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let token = format!("Bearer {}", self.token(index));
        let url = format!("http://{}{path}", self.api(index));
        request(method, &url, &[("authorization", &token)], body)
    }

    pub fn get(&self, index: usize, path: &str) -> (u16, Value) {
        self.ask(index, "GET", path, None)
    }

    pub fn post(&self, index: usize, path: &str, body: Value) -> (u16, Value) {
        self.ask(index, "POST", path, Some(body))
    }

    /// Makes a key of all nodes and returns its name.
    pub fn keygen(&self, index: usize, threshold: u8) -> String {
        let (status, key) = self.post(index, "/v1/keygen", json!({ "threshold": threshold }));
        assert_eq!(status, 200, "{key}");
        key["key"].as_str().unwrap().to_owned()
    }

    /// Makes a key of these nodes and returns its name.
    pub fn keygen_of(&self, index: usize, threshold: u8, parties: &[&str]) -> String {
        let request = json!({ "threshold": threshold, "parties": parties });
        let (status, key) = self.post(index, "/v1/keygen", request);
        assert_eq!(status, 200, "{key}");
        key["key"].as_str().unwrap().to_owned()
    }

    pub fn sign(&self, index: usize, key: &str, message: &str) -> (u16, Value) {
        self.post(index, "/v1/sign", json!({ "key": key, "message": message }))
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// One HTTP exchange; status 0 where there was none.
pub fn request(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: Option<Value>,
) -> (u16, Value) {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some(Duration::from_secs(120)))
        .build()
        .into();
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let Ok(mut response) = agent.run(request.body(body).unwrap()) else { return (0, Value::Null) };
    let text = response.body_mut().read_to_string().unwrap_or_default();
    let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    (response.status().as_u16(), value)
}

/// The names of those that a failed request's ceremony blames.
pub fn blamed(failed: &Value) -> Vec<String> {
    let blames = failed["ceremony"]["blames"].as_array().into_iter().flatten();
    blames.map(|blame| blame["peer"]["name"].as_str().unwrap().to_owned()).collect()
}

/// The path of a file in a folder whose name ends so.
pub fn file_ending(folder: &Path, end: &str) -> PathBuf {
    let mut entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| path.to_string_lossy().ends_with(end)).unwrap()
}
