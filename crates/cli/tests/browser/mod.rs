//! A real Chromium without a window, driven by WebDriver over HTTP.
#![allow(dead_code, unreachable_pub)] // each test takes what it needs
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use crate::nodes::request;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser that ends with this value.
pub struct Browser {
    driver: Child,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser with a window of this size.
    pub fn start(width: u32, height: u32) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Debian's package chromium-driver: sh .ci/test-tools");
        let said = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = said
            .map(|line| line.unwrap())
            .find_map(|line| Some(line.split_once("successfully on port ")?.1.to_owned()))
            .expect("chromedriver names its port");
        let port: u16 = port.trim_end_matches('.').parse().unwrap();
        let url = format!("http://127.0.0.1:{port}/session");
        let profile = tempfile::tempdir().unwrap();
        let options = json!({ "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--hide-scrollbars", "--no-first-run", "--lang=en-US",
            format!("--window-size={width},{height}"),
            format!("--user-data-dir={}", profile.path().display()),
        ]});
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        }}});
        let mut browser = Browser { driver, session: url.clone(), _profile: profile };
        let (status, made) = request("POST", &url, &[], Some(capabilities));
        assert_eq!(status, 200, "{made}");
        browser.session = format!("{url}/{}", made["value"]["sessionId"].as_str().unwrap());
        browser
    }

    fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) =
            request("POST", &format!("{}/{path}", self.session), &[], Some(body));
        assert_eq!(status, 200, "{path}: {answer}");
        answer["value"].clone()
    }

    pub fn open(&self, url: &str) {
        self.post("url", json!({ "url": url }));
    }

    /// Runs a function's body in the page and returns its value.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true in the page.
    pub fn until(&self, expression: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.run(&format!("return Boolean({expression})")) != true {
            let text = self.run("return document.body.innerText");
            assert!(Instant::now() < end, "not {expression}: {}", text.as_str().unwrap());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("element", json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// Clicks as a user does: what is hidden or covered cannot be clicked.
    pub fn click(&self, selector: &str) {
        self.post(&format!("element/{}/click", self.element(selector)), json!({}));
    }

    /// Types into a field, in place of what is in it.
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/clear"), json!({}));
        self.post(&format!("element/{element}/value"), json!({ "text": text }));
    }

    /// One command of the DevTools protocol.
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.post("goog/cdp/execute", json!({ "cmd": command, "params": parameters }))
    }

    /// What was logged since the last call: `browser` for the console, `performance` for the network.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        self.post("se/log", json!({ "type": kind })).as_array().unwrap().clone()
    }

    /// The picture of the whole page, or of what is on the screen, as PNG in base64.
    pub fn picture(&self, whole: bool) -> String {
        let parameters = json!({ "captureBeyondViewport": whole });
        self.devtools("Page.captureScreenshot", parameters)["data"].as_str().unwrap().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends the browser; the driver is killed afterwards.
        let _ = request("DELETE", &self.session, &[], None);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
