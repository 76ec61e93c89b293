//! Answers of the page, each with the headers that keep what is stored from doing anything in a browser.

use std::convert::Infallible;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, SET_COOKIE};
use hyper::{Response, StatusCode};
use lore::protocol::ErrorBody;
use serde_json::json;

/// An answer.
pub type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Headers of every answer. Only the page's own files are loaded, nothing is kept, and no other page can frame it.
const SAFE: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=()",
    ),
];

/// The status of an operation's refusal.
const REFUSED: HeaderName = HeaderName::from_static("lore-status");

/// Answers with a text of a type.
pub fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    body(status, kind, Full::new(text.into()).boxed_unsync())
}

/// Answers with a body of a type.
pub fn body(
    status: StatusCode,
    kind: &'static str,
    body: UnsyncBoxBody<Bytes, Infallible>,
) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in SAFE {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    answer
}

/// Answers with JSON.
pub fn json(status: StatusCode, json: impl Into<Bytes>) -> Answer {
    text(status, "application/json", json)
}

/// Answers with a refusal.
pub fn refusal(status: StatusCode, body: &ErrorBody) -> Answer {
    json(status, json!({ "error": body }).to_string())
}

/// Answers with an operation's refusal. Its status is in a header, because browsers report another one than 200 as a fault
/// of the page.
pub fn refused(body: &ErrorBody) -> Answer {
    let mut answer = refusal(StatusCode::OK, body);
    let status = HeaderValue::from(body.code.status());
    answer.headers_mut().insert(REFUSED, status);
    answer
}

/// Answers that the browser may look from now on.
pub fn entered(cookie: &str) -> Answer {
    let mut answer = json(StatusCode::OK, "{}");
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}
