//! Splits a long file of lines into parts that fit into one call: whole sessions, and lines outside sessions.

use std::io::{self, BufRead};

use serde::Deserialize;

/// Maximum size of a part, in bytes; the daemon refuses more.
pub const BYTES_MAX: usize = 32 << 20;
/// Lines outside sessions are sent when they reach this size, in bytes.
const OUTSIDE_BYTES: usize = 16 << 20;

/// Lines of one call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LineBatch {
    /// Number of the first line.
    pub line: u64,
    /// The lines.
    pub text: String,
}

/// Reads a file part by part.
pub struct Parts<R> {
    from: R,
    lines: u64,
    /// First line of the next part.
    held: Option<String>,
    /// Whether the first line of an export was read.
    is_export: bool,
    /// Whether the last line of a complete file was read.
    pub is_whole: bool,
}

/// Fields that assign a line to a part. The daemon refuses invalid lines.
#[derive(Default, Deserialize)]
struct LineKind {
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    end: Option<serde_json::Value>,
}

impl<R: BufRead> Parts<R> {
    /// Reads from a file.
    pub fn new(from: R) -> Self {
        Self {
            from,
            lines: 0,
            held: None,
            is_export: false,
            is_whole: false,
        }
    }

    /// Returns the next part; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read, is not UTF-8, or a part is too long for one call.
    pub fn next(&mut self) -> io::Result<Option<LineBatch>> {
        let Some(first) = self.line()? else {
            return Ok(None);
        };
        let mut part = LineBatch {
            line: self.lines,
            text: first,
        };
        if is_session(&part.text) {
            while let Some(line) = self.line()? {
                part.text.push_str(&line);
                check(&part)?;
                if is_end(&line) {
                    // A separate session file ends with its session. A session in an export does not end the export.
                    self.is_whole = !self.is_export;
                    return Ok(Some(part));
                }
            }
            return Ok(Some(part));
        }
        self.observe(&part.text);
        while part.text.len() < OUTSIDE_BYTES {
            let Some(line) = self.line()? else { break };
            if is_session(&line) {
                self.lines -= 1;
                self.held = Some(line);
                break;
            }
            self.observe(&line);
            part.text.push_str(&line);
            check(&part)?;
        }
        Ok(Some(part))
    }

    /// Updates the state of the file from a line outside sessions.
    fn observe(&mut self, line: &str) {
        self.is_export |= has_format(line, "lore-export");
        self.is_whole = match self.is_export {
            true => is_end_of_all(line),
            false => is_end(line),
        };
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let line = match self.held.take() {
            Some(line) => line,
            None => {
                let mut bytes = Vec::new();
                let mut limited = io::Read::take(&mut self.from, BYTES_MAX as u64 + 1);
                if limited.read_until(b'\n', &mut bytes)? == 0 {
                    return Ok(None);
                }
                let number = self.lines + 1;
                String::from_utf8(bytes)
                    .map_err(|_| io::Error::other(format!("line {number} is not UTF-8")))?
            }
        };
        self.lines += 1;
        Ok(Some(line))
    }
}

fn check(part: &LineBatch) -> io::Result<()> {
    if part.text.len() <= BYTES_MAX {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "the part that begins at line {} has more than {BYTES_MAX} bytes, the limit of one import",
        part.line
    )))
}

fn kind_of(line: &str) -> LineKind {
    // The first line may begin with a byte order mark.
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    serde_json::from_str(line).unwrap_or_default()
}

fn is_session(line: &str) -> bool {
    has_format(line, "lore-session")
}

fn has_format(line: &str, format: &str) -> bool {
    line.contains(format) && kind_of(line).format.as_deref() == Some(format)
}

fn is_end(line: &str) -> bool {
    line.contains("\"end\"") && kind_of(line).end.is_some()
}

/// Returns whether the line ends an export, not a session.
fn is_end_of_all(line: &str) -> bool {
    let end = line
        .contains("\"end\"")
        .then(|| kind_of(line).end)
        .flatten();
    end.is_some_and(|end| end.get("lines").is_some())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Parts carry their line numbers: lines outside sessions together, and each session as a separate part.
    #[test]
    fn lines_come_in_parts() {
        let outside = "{\"format\":\"lore-export\",\"version\":1}\n{\"kind\":\"Source\"}\n";
        let session =
            "{\"version\":1,\"format\":\"lore-session\"}\n{\"n\":1,\"end\\\"\":1}\n{\"end\":{}}\n";
        let last = "{\"end\":{\"lines\":8}}";
        let text = [outside, session, session, last].concat();
        let mut parts = Parts::new(text.as_bytes());
        let mut found = Vec::new();
        while let Some(part) = parts.next().unwrap() {
            found.push((part.line, part.text));
        }
        let wanted = [(1, outside), (3, session), (6, session), (9, last)];
        let wanted: Vec<_> = wanted
            .iter()
            .map(|(line, text)| (*line, (*text).to_owned()))
            .collect();
        assert_eq!(found, wanted);
        assert!(parts.is_whole);
        let is_whole = |text: &str| {
            let mut parts = Parts::new(text.as_bytes());
            while parts.next().unwrap().is_some() {}
            parts.is_whole
        };
        for cut in [outside, text.strip_suffix(last).unwrap()] {
            assert!(!is_whole(cut), "the last line is missing: {cut}");
            assert!(!is_whole(&format!("\u{feff}{cut}")));
        }
        assert!(is_whole(session), "a session alone");
        assert!(is_whole(&format!("\u{feff}{session}")));
        assert!(Parts::new(&b"\xff\n"[..]).next().is_err());
    }
}
