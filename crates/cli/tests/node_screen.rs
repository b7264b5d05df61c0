//! The node's page in a real browser: token, peers, keys, live ceremonies, blame, a signature, a phone.
//!
//! With `TETRALITH_PICTURES=FOLDER` it leaves the pictures of the manual there, in base64.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod browser;
mod nodes;

use browser::Browser;
use nodes::Nodes;
use serde_json::{Value, json};

fn keep(browser: &Browser, name: &str, whole: bool) {
    if let Some(folder) = std::env::var_os("TETRALITH_PICTURES") {
        std::fs::write(std::path::Path::new(&folder).join(name), browser.picture(whole)).unwrap();
    }
}

fn enter(browser: &Browser, token: &str) {
    browser.until("document.getElementById('door').open");
    browser.fill("#token", token);
    browser.click("#door button");
}

fn sign(browser: &Browser, content: &str, signers: &str) {
    browser.run("document.getElementById('outcome').replaceChildren()");
    browser.fill("#sign textarea", content);
    browser.fill("#sign [name=signers]", signers);
    browser.click("#sign button[value=sign]");
    browser.until("document.querySelector('#outcome .answer')");
}

#[test]
fn the_page_shows_a_node_and_signs() {
    let mut nodes = Nodes::start(4, &[("join_ms", "3000"), ("round_ms", "5000")]);
    let key = nodes.keygen(0, 3);
    let origin = format!("http://{}", nodes.api(0));
    let browser = Browser::start(1280, 900);
    browser.open(&format!("{origin}/"));
    enter(&browser, "not a token");
    browser.until("!document.getElementById('door-trouble').hidden");
    enter(&browser, &nodes.token(0));
    browser.until("!document.querySelector('main').hidden");

    // Peers with their latency, the key, and the ceremony that made it, from before the page was opened.
    browser.until("document.querySelectorAll('#peers [data-connected=true]').length === 3");
    browser.until("/\\d\\.\\d ms/.test(document.getElementById('peers').innerText)");
    let keys = browser.run("return document.getElementById('keys').innerText");
    assert!(keys.as_str().unwrap().contains(&key), "{keys}");
    let done = "document.querySelectorAll('#timeline [data-state=done]').length";
    browser.until(&format!("{done} === 1"));
    browser.until("document.getElementById('ready').innerText === 'ready'");
    browser.until("document.getElementById('live').innerText === 'live'");

    // It signs, and shows each signer's rounds.
    sign(&browser, "a payment", "");
    let answer = browser.run("return document.querySelector('#outcome').innerText");
    assert!(answer.as_str().unwrap().contains("Signed by node-"), "{answer}");
    browser.until(&format!("{done} === 2"));
    let lanes = "document.querySelector('#timeline .item').querySelectorAll('.lane')";
    assert_eq!(browser.run(&format!("return {lanes}.length")), 3);
    let rounds = format!("return [...{lanes}].map(lane => lane.querySelectorAll('.span').length)");
    let rounds: Vec<u64> = serde_json::from_value(browser.run(&rounds)).unwrap();
    assert!(rounds.iter().all(|count| *count >= 3), "the join and at least two rounds: {rounds:?}");

    // Another node's ceremony is shown while it runs: one of its signers is stopped meanwhile.
    nodes.signal(3, "STOP");
    std::thread::scope(|scope| {
        let names = ["node-1", "node-2", "node-4"];
        let request = json!({ "key": key, "message": "slow", "signers": names });
        let asked = scope.spawn(|| nodes.post(1, "/v1/sign", request));
        browser.until("document.querySelector('#timeline [data-state=running]')");
        nodes.signal(3, "CONT");
        let (status, signed) = asked.join().unwrap();
        assert_eq!(status, 200, "{signed}");
    });
    browser.until(&format!("{done} === 3 && !document.querySelector('[data-state=running]')"));

    // A node that is gone is shown so, and blamed.
    nodes.kill(3);
    browser.until("document.querySelectorAll('#peers [data-connected=false]').length === 1");
    sign(&browser, "not with it", "node-1, node-2, node-4");
    browser.until("document.querySelector('#outcome .answer.bad')");
    browser.until("/node-4/.test(document.getElementById('blames').innerText)");
    browser.click("#blames summary");
    browser.until("/could not be reached/.test(document.getElementById('blames').innerText)");
    sign(&browser, "without it", "");
    browser.until("document.querySelector('#outcome .answer.good')");

    // A reload asks for no token: the tab keeps it, and nothing else does.
    browser.open(&format!("{origin}/"));
    browser.until("document.querySelectorAll('#timeline [data-state=done]').length >= 4");
    assert_eq!(browser.run("return document.getElementById('door').open"), false);
    assert_eq!(browser.run("return localStorage.length + document.cookie.length"), 0);
    keep(&browser, "node-screen.png.base64", true);

    // On a phone everything fits the width, and a finger's width is left for buttons.
    let phone = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    browser.devtools("Emulation.setDeviceMetricsOverride", phone);
    browser.until("innerWidth === 390 && document.documentElement.scrollWidth <= 390");
    let wide = "return [...document.querySelectorAll('main *')].filter(it => \
                !it.closest('details, .lane') && it.getBoundingClientRect().right > 391).length";
    assert_eq!(browser.run(wide), 0);
    let low = "return [...document.querySelectorAll('main button')].every(it => \
               it.getBoundingClientRect().height >= 40)";
    assert_eq!(browser.run(low), true);
    keep(&browser, "node-screen-phone.png.base64", false);

    // Nothing was loaded from elsewhere, and nothing broke the policy or failed in a script.
    for entry in browser.log("performance") {
        let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
        if message["message"]["method"] == "Network.requestWillBeSent" {
            let url = message["message"]["params"]["request"]["url"].as_str().unwrap();
            // What the browser reads from itself goes over no network.
            let local = url.starts_with("data:") || url.starts_with("chrome://");
            assert!(local || url.starts_with(&origin), "{url}");
        }
    }
    for entry in browser.log("browser") {
        let text = entry["message"].as_str().unwrap();
        // The token that was wrong and the signature that failed.
        let refused = text.contains("status of 401") || text.contains("status of 502");
        assert!(entry["level"] != "SEVERE" || refused, "{entry}");
    }

    // The policy holds: what a page could be made to insert does not run.
    let inserted = "try { document.body.innerHTML = '<b>x</b>'; return 'inserted' } \
                    catch (error) { return error.name }";
    assert_eq!(browser.run(inserted), "TypeError");
    let (_, page) = nodes::request("GET", &format!("{origin}/"), &[], None);
    assert!(!page.as_str().unwrap().contains("<style"), "nothing inline");
    browser.click("#leave");
    browser.until("document.getElementById('door').open");
    assert_eq!(browser.run("return sessionStorage.length"), 0);
}

/// With the token that may only read, the page shows all and says why it does not sign.
#[test]
fn the_read_token_only_reads() {
    let nodes = Nodes::start(2, &[]);
    let key = nodes.keygen(0, 2);
    let browser = Browser::start(900, 900);
    browser.open(&format!("http://{}/", nodes.api(0)));
    let read = std::fs::read_to_string(nodes.folder(0).join("read.token")).unwrap();
    enter(&browser, read.trim());
    browser.until(&format!("document.getElementById('keys').innerText.includes('{key}')"));
    sign(&browser, "a payment", "");
    let answer = browser.run("return document.querySelector('#outcome .bad').innerText");
    assert!(answer.as_str().unwrap().contains("does not have the role request"), "{answer}");
    let (_, log) = nodes.get(0, "/v1/ceremonies");
    assert_eq!(log["ceremonies"].as_array().unwrap().len(), 1, "nothing was signed");
}
