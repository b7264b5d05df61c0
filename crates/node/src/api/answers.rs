//! What the API answers: failures with stable codes, ceremonies with the names of nodes.

use crate::ceremony::{Refusal, Shared};
use crate::error::Error;
use crate::log::CeremonyRecord;
use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// Seconds after which a client that was turned away may come back.
const RETRY_AFTER: u16 = 2;

/// A failure with its HTTP status.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: Option<String>,
    ceremony: Option<Value>,
    retry_after: bool,
}

impl Failure {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl ToString) -> Self {
        Failure {
            status,
            code,
            message: message.to_string(),
            hint: None,
            ceremony: None,
            retry_after: false,
        }
    }

    /// A request that no node can meet.
    pub(super) fn invalid(code: &'static str, message: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Something that is not here.
    pub(super) fn not_found(code: &'static str, message: impl ToString) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// Says what to do next.
    pub(super) fn hint(mut self, hint: impl ToString) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Says that the same request may be met soon.
    fn retry_after(mut self) -> Self {
        self.retry_after = true;
        self.hint(format!("try again in {RETRY_AFTER} s, or raise limits.queue in node.toml"))
    }

    /// A client that sends more than it may.
    pub(super) fn limited(who: &str, per_second: u32) -> Self {
        let message = format!("{who} sent more than {per_second} requests in a second");
        let mut failure = Self::new(StatusCode::TOO_MANY_REQUESTS, "api.rate", message);
        failure.retry_after = true;
        failure.hint(format!(
            "try again in {RETRY_AFTER} s, or raise clients.requests_per_second in node.toml"
        ))
    }

    pub(super) fn to_json(&self) -> Value {
        let mut body = json!({
            "ok": false, "code": self.code, "message": self.message, "hint": self.hint,
        });
        if let Some(ceremony) = &self.ceremony {
            body["ceremony"] = ceremony.clone();
        }
        body
    }

    /// A ceremony that was not held, or had no result.
    pub(super) fn refused(shared: &Shared, refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(reason) => Self::invalid("request.invalid", reason),
            Refusal::Busy(reason) => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "node.busy", reason).retry_after()
            }
            Refusal::Failed(failed) => {
                let record = failed.record;
                let message = record.reason.clone().unwrap_or_default();
                let mut failure = Self::new(StatusCode::BAD_GATEWAY, "ceremony.failed", message);
                failure.ceremony = Some(ceremony(shared, &record));
                failure.hint(format!("GET /v1/ceremonies/{} says who is blamed", record.id))
            }
            Refusal::Denied(reason) => Self::new(StatusCode::FORBIDDEN, "hook.denied", reason),
            Refusal::Internal(error) => error.into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopping => Self::new(StatusCode::SERVICE_UNAVAILABLE, "node.stopping", error),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "node.internal", error),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.to_json())).into_response();
        if self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER.into());
        }
        response
    }
}

/// Nodes by identity and name.
pub(super) fn parties(shared: &Shared, ids: &[String]) -> Value {
    ids.iter().map(|id| json!({ "name": name(shared, id), "id": id })).collect()
}

/// A ceremony as it is in the log, with names beside the identities.
pub(super) fn ceremony(shared: &Shared, record: &CeremonyRecord) -> Value {
    let mut value = serde_json::to_value(record).unwrap_or_default();
    value["participants"] = parties(shared, &record.participants);
    value["proposer"] = json!({ "name": name(shared, &record.proposer), "id": record.proposer });
    for blame in value["blames"].as_array_mut().into_iter().flatten() {
        for field in ["peer", "reporter"] {
            let id = blame[field].as_str().unwrap_or_default().to_owned();
            blame[field] = json!({ "name": name(shared, &id), "id": id });
        }
    }
    value
}

fn name(shared: &Shared, id: &str) -> String {
    id.parse().map_or_else(|_| id.to_owned(), |id| shared.name(&id))
}
