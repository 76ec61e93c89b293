//! Finds the `id` of a request, also of one that cannot be parsed.

use rmcp::model::RequestId;

use super::lines::HEAD_BYTES;

/// Maximum size of an id in an answer, in bytes.
const ID_BYTES_MAX: usize = 1024;

/// Parses an id; `None` when it is invalid or too long.
pub fn id_of(json: &str) -> Option<RequestId> {
    if json.len() > ID_BYTES_MAX {
        return None;
    }
    serde_json::from_str(json).ok()
}

/// Finds the `id` of a message that may be truncated or invalid JSON.
pub fn id_in(line: &[u8]) -> Option<RequestId> {
    let head = line.get(..HEAD_BYTES).unwrap_or(line);
    let mut depth = 0_usize;
    let mut at = 0;
    // Whether the last string at depth 1 was `"id"`, and whether its colon was read.
    let mut key_is_id = false;
    while let Some(byte) = head.get(at) {
        match byte {
            b'"' => {
                let end = string_end(head, at)?;
                key_is_id = depth == 1 && head.get(at..end) == Some(b"\"id\"");
                at = end;
                continue;
            }
            b':' if key_is_id => return id_at(head, at + 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            byte if byte.is_ascii_whitespace() => {}
            _ => key_is_id = false,
        }
        at += 1;
    }
    None
}

/// Returns the offset after the closing quote of the string that begins at `start`.
fn string_end(head: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match head.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn id_at(head: &[u8], from: usize) -> Option<RequestId> {
    let rest = head.get(from..)?;
    let start = from + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let end = if head.get(start) == Some(&b'"') {
        string_end(head, start)?
    } else {
        // A number at the end of the received bytes may be incomplete.
        let rest = head.get(start..)?;
        start + rest.iter().position(|byte| matches!(byte, b',' | b'}'))?
    };
    id_of(std::str::from_utf8(head.get(start..end)?).ok()?.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_in_the_beginning_of_a_line() {
        let found = |head: &str| id_in(head.as_bytes()).map(|id| id.to_string());
        let long = format!(r#"{{"id" : "a\"b","params":"{}"#, "x".repeat(10_000));
        assert_eq!(found(&long).as_deref(), Some("a\"b"));
        assert_eq!(found(r#"{"a":{"id":1},"id":-2,"#).as_deref(), Some("-2"));
        assert_eq!(found(r#"{"id":12"#), None);
        assert_eq!(found(r#"{"method":"id","x":3,"#), None);
        assert_eq!(found(r#"{"a":"id","id""#), None);
        assert_eq!(found(r#"{"id":1.5,"#).as_deref(), None);
        let late = format!(r#"{{"params":"{}","id":1}}"#, "x".repeat(5000));
        assert_eq!(found(&late), None);
    }
}
