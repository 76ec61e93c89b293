//! A file of the spool: a line of JSON about the hook, and the payload as it came.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{PAYLOAD_BYTES_MAX, open};
use crate::paths::our_uid;
use crate::protocol::frame::Hello;

/// Bytes of a header.
const HEADER_BYTES_MAX: u64 = 16 << 10;
/// Larger payloads are shortened before they are recorded, in bytes.
const WHOLE_BYTES_MAX: usize = 4 << 20;

/// What a hook says beside its payload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// Host on the hook's command line.
    pub host: String,
    /// Event on the hook's command line; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub event: String,
    /// Time of arrival, in microseconds since 1970.
    pub received_at_us: u64,
    /// Name of the client, with its version.
    pub client: String,
    /// Agent, as in a Hello.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Working folder of the hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Host session, as in a Hello.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_session: Option<String>,
    /// The host's process, as a host session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Exit status that the host's transcript has, and the payload does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    /// How long the hook waits for the answer in milliseconds, if it is not the default.
    #[serde(skip)]
    pub waits_ms: Option<u64>,
}

/// Returns the time, in microseconds since 1970.
#[must_use]
pub fn now_us() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_microsecond()).unwrap_or_default()
}

/// The arguments of `record_hook`, borrowed: a payload may have megabytes.
#[derive(Serialize)]
struct HookArguments<'a> {
    host: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    event: &'a str,
    payload: &'a str,
    received_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_ms: Option<u64>,
}

/// A waiting payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What the hook says.
    pub header: Header,
    /// The payload, as it came.
    pub payload: Vec<u8>,
}

impl Header {
    /// Returns the arguments of the operation `record_hook`, as JSON. A payload that is delivered twice has the same, so that
    /// it is recorded once.
    #[must_use]
    pub fn arguments(&self, payload: &str) -> Vec<u8> {
        let arguments = HookArguments {
            host: &self.host,
            event: &self.event,
            payload,
            received_at: self.received_at_us / 1000,
            process: self.process.as_deref(),
            exit_status: self.exit_status,
            waits_ms: self.waits_ms,
        };
        // Texts and numbers alone: writing them cannot fail.
        serde_json::to_vec(&arguments).unwrap_or_default()
    }

    /// Returns the Hello with which the hook would have connected.
    #[must_use]
    pub fn hello(&self) -> Hello {
        Hello {
            client: self.client.clone(),
            agent: self.agent.clone(),
            cwd: self.cwd.clone(),
            host_session: self.host_session.clone(),
            ..Hello::default()
        }
    }

    /// Returns the first line of the file.
    pub(super) fn line(&self) -> Vec<u8> {
        // Texts and numbers alone: writing them cannot fail.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

impl Entry {
    /// Returns the arguments of the operation `record_hook`. A large payload is shortened: long texts lose their middle, as
    /// when the operation reads them.
    #[must_use]
    pub fn arguments(&self) -> Vec<u8> {
        self.header.arguments(&text(&self.payload))
    }
}

/// Returns the payload as text, shortened if it is large.
fn text(payload: &[u8]) -> String {
    if payload.len() > WHOLE_BYTES_MAX
        && let Ok(document) = lored_hosts::json::read(payload)
    {
        return document.value.to_string();
    }
    let kept = payload.get(..WHOLE_BYTES_MAX).unwrap_or(payload);
    String::from_utf8_lossy(kept).into_owned()
}

/// Reads a file.
pub(super) fn read(path: &Path) -> io::Result<Entry> {
    let invalid = |what: &'static str| io::Error::new(io::ErrorKind::InvalidData, what);
    let file = open(path, OpenOptions::new().read(true)).map_err(|error| {
        // A link is refused by the system itself, with an error of its own.
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => error,
            _ => io::Error::new(io::ErrorKind::InvalidData, error),
        }
    })?;
    let found = file.metadata()?;
    if found.uid() != our_uid() {
        return Err(invalid("the file belongs to another user"));
    }
    let bytes_max = HEADER_BYTES_MAX + PAYLOAD_BYTES_MAX;
    if found.len() > bytes_max {
        return Err(invalid("the file is too large"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    file.take(bytes_max).read_to_end(&mut bytes)?;
    let line = bytes.iter().position(|byte| *byte == b'\n');
    let line = line.ok_or_else(|| invalid("the file has no header"))?;
    let payload = bytes.split_off(line + 1);
    let header = serde_json::from_slice(&bytes).map_err(|error| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the header is not readable: {error}"),
        )
    })?;
    Ok(Entry { header, payload })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_payloads_keep_their_fields() {
        let long = "x".repeat(WHOLE_BYTES_MAX);
        let payload = format!(r#"{{"tool_response":"{long}","tool_use_id":"t1"}}"#);
        let short = text(payload.as_bytes());
        assert!(short.len() < 1 << 20, "{}", short.len());
        assert!(short.ends_with(r#""tool_use_id":"t1"}"#));
        assert_eq!(text(b"{\"a\":1}"), "{\"a\":1}");
        // Cut off by the hook: not JSON any more.
        let cut = payload.strip_suffix('}').unwrap_or_default();
        assert_eq!(text(cut.as_bytes()).len(), WHOLE_BYTES_MAX);
    }
}
