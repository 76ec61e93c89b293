//! Passwords in URLs: `scheme://user:password@host`.

use std::ops::Range;

use super::values::is_placeholder;

/// Longest recognised user and password, in bytes.
const PART_BYTES_MAX: usize = 256;

/// Shortest recognised password, in bytes: shorter ones occur only in examples.
const PASSWORD_BYTES_MIN: usize = 4;

/// Returns the password of the URL whose `://` ends at `at`.
pub(super) fn password(text: &str, at: usize) -> Option<Range<usize>> {
    let authority = text.as_bytes().get(at..)?;
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'`<>{}".contains(byte);
    let looked_at = authority.get(..2 * PART_BYTES_MAX).unwrap_or(authority);
    // Most URLs have no password: the first character that rules it out ends the search.
    let colon = looked_at
        .iter()
        .position(|byte| *byte == b':' || *byte == b'@' || is_end(byte))?;
    if looked_at.get(colon) != Some(&b':') || colon > PART_BYTES_MAX {
        return None;
    }
    let rest = looked_at.get(colon + 1..)?;
    let rest = rest.get(..rest.iter().position(is_end).unwrap_or(rest.len()))?;
    let end = rest.iter().rposition(|byte| *byte == b'@')?;
    let has_host = rest
        .get(end + 1)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"[_-".contains(byte));
    let start = at + colon + 1;
    let value = text.get(start..start + end)?;
    (has_host && value.len() >= PASSWORD_BYTES_MIN && !is_placeholder(value))
        .then_some(start..start + end)
}
