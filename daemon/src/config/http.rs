//! `[http]`: MCP over HTTP on a TCP port of this machine, off unless it is set.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use serde::Deserialize;

use super::Error;
use super::setting::{Setting, ValueType};

/// The settings of MCP over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    /// The loopback address to listen on; `None` when HTTP is off.
    pub listen: Option<SocketAddr>,
    /// Origins of web pages that may call.
    pub origins: Vec<String>,
}

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpTable {
    listen: Option<String>,
    origins: Vec<String>,
}

impl HttpTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[
        Setting::of_own(
            "http.listen",
            ValueType::Text,
            "Address for MCP over HTTP: `127.0.0.1` or `[::1]` with a port, such as `127.0.0.1:7433`. Not \
                served when absent. Each request needs the token from the file http.token in the data folder.",
        ),
        Setting::of_own(
            "http.origins",
            ValueType::Texts,
            "Origins of web pages that may call, such as `http://localhost:5173`. None when absent.",
        ),
    ];

    /// Returns the settings of the table.
    ///
    /// # Errors
    /// When the address is not an accepted loopback address, or an origin is invalid.
    pub fn settings(self) -> Result<Http, Error> {
        let listen = self.listen.as_deref().map(address).transpose()?;
        if let Some(origin) = self.origins.iter().find(|origin| !is_origin(origin)) {
            return Err(Error::Whole(format!(
                "the setting `http.origins` has {origin:?}; an origin is a scheme, a host and, if it is \
                 not the scheme's own, a port, as `http://localhost:5173`"
            )));
        }
        Ok(Http {
            listen,
            origins: self.origins,
        })
    }
}

fn address(text: &str) -> Result<SocketAddr, Error> {
    let wrong = |problem: &str| {
        Error::Whole(format!(
            "the setting `http.listen` is {text:?}; {problem}, as \"127.0.0.1:7433\" or \"[::1]:7433\""
        ))
    };
    let address: SocketAddr = text
        .parse()
        .map_err(|_| wrong("it must be an address and a port"))?;
    if !address.ip().is_loopback() {
        return Err(wrong(
            "other machines are not served: it must be an address of loopback",
        ));
    }
    // Requests to any other loopback address fail the check of the `Host` header.
    if address.ip() != Ipv4Addr::LOCALHOST && address.ip() != Ipv6Addr::LOCALHOST {
        return Err(wrong(
            "of loopback's addresses it must be 127.0.0.1 or [::1]",
        ));
    }
    if address.port() == 0 {
        return Err(wrong("the port must not be 0"));
    }
    Ok(address)
}

fn is_origin(text: &str) -> bool {
    let host = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    host.is_some_and(|host| {
        !host.is_empty()
            && host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    use super::*;

    fn parse(text: &str) -> Result<Http, Error> {
        let text = format!("[http]\n{text}");
        Config::parse(&text, Path::new("config.toml")).map(|config| config.http)
    }

    #[test]
    fn loopback_alone() {
        assert_eq!(parse("").unwrap(), Http::default());
        let http = parse("listen = \"[::1]:7433\"\norigins = [\"http://localhost:5173\"]").unwrap();
        assert_eq!(http.listen.unwrap().port(), 7433);
        for (text, reported) in [
            ("listen = \"0.0.0.0:7433\"", "loopback"),
            ("listen = \"192.168.0.1:7433\"", "loopback"),
            ("listen = \"[::]:7433\"", "loopback"),
            ("listen = \"127.0.0.2:7433\"", "must be 127.0.0.1 or [::1]"),
            ("listen = \"localhost:7433\"", "an address and a port"),
            ("listen = \"7433\"", "an address and a port"),
            ("listen = \"127.0.0.1:0\"", "the port"),
            ("origins = [\"*\"]", "an origin is"),
            ("origins = [\"null\"]", "an origin is"),
            ("origins = [\"http://a/b\"]", "an origin is"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(reported), "{text}: {error}");
        }
    }
}
