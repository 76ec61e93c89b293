//! Authorization over TCP: local programs that have the token, and no web page by default.
//!
//! A page can make its browser send requests to this port, also under its own name that resolves to
//! this machine (DNS rebinding). So the `Host` must be this machine with our port, an `Origin` must be
//! in the settings, and every request needs the token, which a page does not know by default.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{StatusCode, Uri};
use lore::protocol::{Code, ErrorBody};
use sha2::{Digest, Sha256};

/// Reports how a page came to send a request; only browsers set it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Names that always mean this machine.
const HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Requirements for an HTTP request.
#[derive(Clone)]
pub struct HttpAuth {
    token: [u8; 32],
    port: u16,
    origins: Vec<String>,
}

impl HttpAuth {
    /// Requires this token and this port, and allows pages of these origins.
    #[must_use]
    pub fn new(token: &str, port: u16, origins: Vec<String>) -> Self {
        Self {
            token: Sha256::digest(token).into(),
            port,
            origins,
        }
    }

    /// Returns the origins whose pages may call.
    #[must_use]
    pub fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Checks whether a request is authorized.
    ///
    /// # Errors
    /// The status and the body of the refusal.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, ErrorBody)> {
        self.check_place(uri, headers)?;
        if !self.is_token(headers) {
            let body = ErrorBody::new(
                Code::Unauthorized,
                "the request has no token of this daemon".to_owned(),
            )
            .hint("Send `Authorization: Bearer TOKEN` with the content of http.token in its data folder.");
            return Err((StatusCode::UNAUTHORIZED, body));
        }
        Ok(())
    }

    /// Returns the request's origin if the settings allow it and the request addresses this machine. The token is not
    /// checked.
    #[must_use]
    pub fn page<'h>(&self, uri: &Uri, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let (Some(origin), None) = (origins.next(), origins.next()) else {
            return None;
        };
        self.check_place(uri, headers).is_ok().then_some(origin)
    }

    /// Checks that a request addresses this machine and comes from an allowed origin.
    fn check_place(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, ErrorBody)> {
        let forbidden = |message: String, hint: &str| {
            let body = ErrorBody::new(Code::Forbidden, message).hint(hint);
            Err((StatusCode::FORBIDDEN, body))
        };
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let of_uri = uri.authority().map(|authority| authority.as_str());
        let is_ours = |host: &str| self.is_ours(host);
        if hosts.next().is_some() || !host.is_some_and(is_ours) || !of_uri.is_none_or(is_ours) {
            let hint = "Call it as localhost, 127.0.0.1 or [::1], with its port.";
            return forbidden("the Host is not this machine".to_owned(), hint);
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let is_known = |origin: &HeaderValue| {
            let origin = origin.as_bytes();
            self.origins.iter().any(|known| known.as_bytes() == origin)
        };
        let is_of_known_page = headers.contains_key(ORIGIN);
        if !origins.all(is_known) {
            let hint = "Pages are let in by `http.origins` of the settings alone.";
            return forbidden("pages of this origin may not call".to_owned(), hint);
        }
        let site = headers.get(SEC_FETCH_SITE).map(|site| site.as_bytes());
        if !is_of_known_page && site.is_some_and(|site| site != b"none") {
            let hint = "Pages are let in by `http.origins` of the settings alone.";
            return forbidden("a page without an origin may not call".to_owned(), hint);
        }
        Ok(())
    }

    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            // An IPv6 address without a port also contains colons.
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        port == Some(self.port) && HOSTS.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }

    /// Compares hashes, so the time reveals nothing about the token.
    fn is_token(&self, headers: &HeaderMap) -> bool {
        let mut said = headers.get_all(AUTHORIZATION).iter();
        let (Some(one), None) = (said.next(), said.next()) else {
            return false;
        };
        let Ok(text) = one.to_str() else { return false };
        let Some((scheme, token)) = text.split_once(' ') else {
            return false;
        };
        let hash: [u8; 32] = Sha256::digest(token.trim()).into();
        scheme.eq_ignore_ascii_case("bearer") && hash == self.token
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn status(uri: &str, headers: &[(&str, &str)]) -> u16 {
        let auth = HttpAuth::new("s3cret", 7433, vec!["http://localhost:5173".to_owned()]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        match auth.check(&uri.parse().unwrap(), &map) {
            Ok(()) => 200,
            Err((status, _)) => status.as_u16(),
        }
    }

    const HOME: (&str, &str) = ("host", "localhost:7433");
    const TOKEN: (&str, &str) = ("authorization", "Bearer s3cret");

    #[test]
    fn programs_with_the_token_come_in() {
        for host in [
            "localhost:7433",
            "LocalHost:7433",
            "127.0.0.1:7433",
            "[::1]:7433",
        ] {
            assert_eq!(status("/mcp", &[("host", host), TOKEN]), 200, "{host}");
        }
        let bearer = ("authorization", "bearer s3cret");
        assert_eq!(status("http://localhost:7433/mcp", &[HOME, bearer]), 200);
    }

    #[test]
    fn other_names_are_somebody_elses() {
        for host in [
            "evil.example:7433",
            "localhost",
            "localhost:80",
            "localhost:7434",
            "localhost.evil.example:7433",
            "127.0.0.1.evil.example:7433",
            "[::1]",
            "::1:7433",
            "127.0.0.2:7433",
            "user@localhost:7433",
            "",
        ] {
            assert_eq!(status("/mcp", &[("host", host), TOKEN]), 403, "{host}");
        }
        assert_eq!(status("/mcp", &[TOKEN]), 403, "no host");
        assert_eq!(
            status("/mcp", &[HOME, ("host", "evil.example:7433"), TOKEN]),
            403
        );
        assert_eq!(status("http://evil.example/mcp", &[HOME, TOKEN]), 403);
    }

    #[test]
    fn pages_come_in_where_they_are_named() {
        let page = |origin| status("/mcp", &[HOME, TOKEN, ("origin", origin)]);
        assert_eq!(page("http://localhost:5173"), 200);
        for origin in [
            "http://localhost:5174",
            "https://localhost:5173",
            "null",
            "http://evil.example",
            "",
        ] {
            assert_eq!(page(origin), 403, "{origin}");
        }
        let two = [
            HOME,
            TOKEN,
            ("origin", "http://localhost:5173"),
            ("origin", "http://evil.example"),
        ];
        assert_eq!(status("/mcp", &two), 403);
        for site in ["cross-site", "same-site", "same-origin"] {
            assert_eq!(
                status("/mcp", &[HOME, TOKEN, ("sec-fetch-site", site)]),
                403,
                "{site}"
            );
        }
        assert_eq!(
            status("/mcp", &[HOME, TOKEN, ("sec-fetch-site", "none")]),
            200
        );
    }

    /// An allowed page is recognised by its origin, without the token. A foreign `Host` or a second origin
    /// is refused.
    #[test]
    fn named_pages_are_known() {
        let auth = HttpAuth::new("s3cret", 7433, vec!["http://localhost:5173".to_owned()]);
        let page = |host: &str, origins: &[&str]| {
            let mut headers = HeaderMap::new();
            headers.append(HOST, host.parse().unwrap());
            for origin in origins {
                headers.append(ORIGIN, origin.parse().unwrap());
            }
            auth.page(&Uri::from_static("/mcp"), &headers).cloned()
        };
        let named = "http://localhost:5173";
        assert_eq!(page("localhost:7433", &[named]).unwrap(), named);
        for (host, origins) in [
            ("evil.example:7433", &[named][..]),
            ("localhost:7433", &["http://evil.example"]),
            ("localhost:7433", &["null"]),
            ("localhost:7433", &[named, "http://evil.example"]),
            ("localhost:7433", &[]),
        ] {
            assert_eq!(page(host, origins), None, "{host} {origins:?}");
        }
    }

    #[test]
    fn without_the_token_nobody_comes_in() {
        assert_eq!(status("/mcp", &[HOME]), 401);
        for wrong in [
            "Bearer",
            "Bearer ",
            "Bearer s3cre",
            "Bearer s3crett",
            "Basic s3cret",
            "s3cret",
        ] {
            assert_eq!(
                status("/mcp", &[HOME, ("authorization", wrong)]),
                401,
                "{wrong}"
            );
        }
        assert_eq!(
            status("/mcp", &[HOME, TOKEN, ("authorization", "Bearer x")]),
            401,
            "two"
        );
        assert_eq!(status("/mcp?token=s3cret", &[HOME]), 401, "never in a URL");
    }
}
