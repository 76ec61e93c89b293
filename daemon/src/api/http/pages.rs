//! What a browser wants to hear before it lets a page call, and before it lets the page read an answer (CORS).
//! It is said of pages that the settings name, and of no others.

use hyper::Method;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};

/// What is said to a page that asks whether it may call.
const WELCOME: [(HeaderName, &str); 3] = [
    (ACCESS_CONTROL_ALLOW_METHODS, "POST"),
    (
        ACCESS_CONTROL_ALLOW_HEADERS,
        "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, \
         last-event-id",
    ),
    // In seconds.
    (ACCESS_CONTROL_MAX_AGE, "600"),
];
/// What a page may read of an answer's head, beside what it always may.
const EXPOSED: &str = "mcp-session-id, www-authenticate";

/// Whether a request asks, as browsers do before a page's own request, if that may be sent. It never has the
/// token.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Says to the browser of a page that it may call.
pub fn welcome(answer: &mut HeaderMap) {
    for (name, value) in WELCOME {
        answer.insert(name, HeaderValue::from_static(value));
    }
}

/// Lets pages of this origin read the answer.
pub fn show(answer: &mut HeaderMap, origin: HeaderValue) {
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    answer.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED),
    );
    answer.append(VARY, HeaderValue::from(ORIGIN));
}
