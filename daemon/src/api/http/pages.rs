//! CORS headers: permission for pages in the settings to call and to read answers.
//! Other pages get none.

use hyper::Method;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};

/// Headers of the answer to a preflight request.
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
/// Response headers that a page may read in addition to the safelisted ones.
const EXPOSED: &str = "mcp-session-id, www-authenticate";

/// Returns whether the request is a CORS preflight. A preflight never carries the token.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Allows the page to call.
pub fn welcome(answer: &mut HeaderMap) {
    for (name, value) in WELCOME {
        answer.insert(name, HeaderValue::from_static(value));
    }
}

/// Allows pages of this origin to read the answer.
pub fn show(answer: &mut HeaderMap, origin: HeaderValue) {
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    answer.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED),
    );
    answer.append(VARY, HeaderValue::from(ORIGIN));
}
