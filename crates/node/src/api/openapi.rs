//! The OpenAPI 3.1 document of the API, made from the types of its JSON, and a page that reads it.

use super::gotss::types as gotss;
use super::{Api, screen};
use crate::types as t;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The routes of the document and of its page, which need no token.
pub(super) fn routes() -> Router<Api> {
    Router::new()
        .route("/openapi.json", get(document))
        .route("/reference", get(|| async { file("text/html; charset=utf-8", PAGE) }))
        .route("/reference/reference.js", get(|| async { file("text/javascript", SCRIPT) }))
}

const PAGE: &str = include_str!("../screen/reference.html");
const SCRIPT: &str = include_str!("../screen/reference.js");

fn file(kind: &'static str, content: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind)], screen::HEADERS, content)
}

async fn document(State(api): State<Api>) -> Json<Value> {
    Json(describe(api.shared.config.clients.gotss.is_some()))
}

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One route.
struct Route {
    method: &'static str,
    path: &'static str,
    /// The role that it needs; none for a probe.
    role: Option<&'static str>,
    summary: &'static str,
    body: Option<SchemaOf>,
    answer: Answer,
}

/// What a route answers with.
enum Answer {
    Json(SchemaOf),
    Text(&'static str),
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const fn reads(
    path: &'static str,
    role: Option<&'static str>,
    summary: &'static str,
    answer: Answer,
) -> Route {
    Route { method: "get", path, role, summary, body: None, answer }
}

const fn posts(
    path: &'static str,
    role: &'static str,
    summary: &'static str,
    body: SchemaOf,
    answer: SchemaOf,
) -> Route {
    let (body, answer) = (Some(body), Answer::Json(answer));
    Route { method: "post", path, role: Some(role), summary, body, answer }
}

const READ: Option<&str> = Some("read");
const HTML: Answer = Answer::Text("text/html");
const SCRIPTS: Answer = Answer::Text("text/javascript");

const ROUTES: &[Route] = &[
    posts("/v1/keygen", "request", "Make a key", of::<t::KeygenRequest>, of::<t::KeyInfo>),
    posts("/v1/sign", "request", "Make a signature", of::<t::SignRequest>, of::<t::Signed>),
    posts("/v1/reshare", "request", "Share a key anew", of::<t::ReshareRequest>, of::<t::Reshared>),
    posts(
        "/v1/approvals",
        "approve",
        "Approve a signature or a resharing",
        of::<t::ApprovalRequest>,
        of::<t::Approved>,
    ),
    reads("/v1/keys", READ, "List the keys", Answer::Json(of::<t::KeyList>)),
    reads("/v1/keys/{id}", READ, "Show a key", Answer::Json(of::<t::KeyInfo>)),
    Route {
        method: "delete",
        path: "/v1/keys/{id}",
        role: Some("admin"),
        summary: "Delete this node's share of a key; ?public_key=HEX if the key was confirmed",
        body: None,
        answer: Answer::Json(of::<t::Deleted>),
    },
    reads(
        "/v1/ceremonies",
        READ,
        "List the latest ceremonies; ?limit=N for another number than 50",
        Answer::Json(of::<t::CeremonyList>),
    ),
    reads("/v1/ceremonies/{id}", READ, "Show a ceremony", Answer::Json(of::<t::CeremonyInfo>)),
    reads("/v1/status", READ, "Show the node and its peers", Answer::Json(of::<t::StatusInfo>)),
    reads("/v1/events", READ, "Follow what happens", Answer::Text("text/event-stream")),
    reads("/metrics", READ, "Metrics for Prometheus", Answer::Text("text/plain")),
    reads("/healthz", None, "Does it run?", Answer::Json(of::<t::Fine>)),
    reads("/readyz", None, "Is it ready?", Answer::Json(of::<t::Fine>)),
    reads("/openapi.json", None, "This document", Answer::Text("application/json")),
    reads("/reference", None, "The page that shows this document", HTML),
    reads("/reference/reference.js", None, "Its script", SCRIPTS),
    reads("/", None, "The page that watches the node", HTML),
    reads("/screen/screen.css", None, "Its style", Answer::Text("text/css")),
    reads("/screen/screen.js", None, "Its script", SCRIPTS),
    reads("/screen/api.js", None, "Its requests", SCRIPTS),
    reads("/screen/elements.js", None, "Its elements", SCRIPTS),
    reads("/screen/timeline.js", None, "Its timeline", SCRIPTS),
    reads("/screen/icon.svg", None, "Its icon", Answer::Text("image/svg+xml")),
];

/// The routes of go-tss, where they are on.
const GOTSS: &[Route] = &[
    posts(
        "/keygen",
        "request",
        "go-tss: make a key together with other nodes that are asked for the same",
        of::<gotss::KeygenRequest>,
        of::<gotss::KeygenAnswer>,
    ),
    posts(
        "/keysign",
        "request",
        "go-tss: sign together with other nodes that are asked for the same",
        of::<gotss::KeysignRequest>,
        of::<gotss::KeysignAnswer>,
    ),
    reads("/ping", None, "go-tss: does it run?", Answer::Text("text/plain")),
    reads("/p2pid", None, "go-tss: the node's identity", Answer::Text("text/plain")),
    reads("/status", READ, "go-tss: how many succeeded", Answer::Json(of::<gotss::NodeStatus>)),
    reads("/nodestatus", READ, "go-tss: the same", Answer::Json(of::<gotss::NodeStatus>)),
];

/// Makes the document.
fn describe(with_gotss: bool) -> Value {
    let settings = SchemaSettings::draft2020_12();
    let settings = settings.with(|s| s.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let failure = of::<t::FailureInfo>(&mut generator);
    let mut paths = Map::new();
    for route in ROUTES.iter().chain(GOTSS.iter().filter(|_| with_gotss)) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = route.describe(&mut generator, &failure);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tetralith node",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

impl Route {
    fn describe(&self, generator: &mut SchemaGenerator, failure: &Schema) -> Value {
        let content = match self.answer {
            Answer::Json(schema) => json!({ "application/json": { "schema": schema(generator) } }),
            Answer::Text(kind) => json!({ (kind): {} }),
        };
        let failed = json!({ "application/json": { "schema": failure } });
        let mut value = json!({
            "summary": self.summary,
            "responses": {
                "200": { "description": "what was asked for", "content": content },
                "default": { "description": "a failure", "content": failed },
            },
            "security": [],
        });
        if let Some(role) = self.role {
            value["security"] = json!([{ "token": [role] }]);
            value["description"] = json!(format!("Needs a token with the role {role}."));
        }
        if let Some(body) = self.body {
            let content = json!({ "application/json": { "schema": body(generator) } });
            value["requestBody"] = json!({ "required": true, "content": content });
        }
        if self.path.contains("{id}") {
            value["parameters"] = json!([
                { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } },
            ]);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// All paths that the sources of the API route, and the methods of each.
    fn routed() -> BTreeSet<(String, String)> {
        let sources = [
            include_str!("../api.rs"),
            include_str!("gotss.rs"),
            include_str!("openapi.rs"),
            include_str!("watching.rs"),
        ];
        let mut routed: BTreeSet<(String, String)> =
            screen::paths().map(|path| ("get".to_owned(), path.to_owned())).collect();
        let separator = [".rou", "te("].concat();
        for source in sources {
            for rest in source.split(&separator).skip(1) {
                let Some((path, rest)) =
                    rest.trim_start().strip_prefix('"').and_then(|r| r.split_once('"'))
                else {
                    continue;
                };
                let rest = rest.trim_start_matches([',', ' ', '\n']);
                let method = rest.split('(').next().unwrap_or_default();
                routed.insert((method.to_owned(), path.to_owned()));
            }
        }
        routed
    }

    #[test]
    fn every_route_is_described_and_nothing_else() {
        let document = describe(true);
        let mut described = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                described.insert((method.clone(), path.clone()));
            }
        }
        assert_eq!(described, routed());
        assert!(described.len() > 20, "{described:?}");
        let without = describe(false);
        assert!(without["paths"].get("/keysign").is_none());
    }

    #[test]
    fn every_reference_leads_to_a_schema() {
        fn visit(value: &Value, all: &mut BTreeSet<String>) {
            match value {
                Value::Object(fields) => {
                    if let Some(Value::String(target)) = fields.get("$ref") {
                        all.insert(target.clone());
                    }
                    fields.values().for_each(|value| visit(value, all));
                }
                Value::Array(values) => values.iter().for_each(|value| visit(value, all)),
                _ => {}
            }
        }
        let document = describe(true);
        let mut references = BTreeSet::new();
        visit(&document, &mut references);
        assert!(references.contains("#/components/schemas/SignRequest"), "{references:?}");
        for reference in &references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }
}
