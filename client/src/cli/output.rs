//! Standard output: JSON for programs, tables for people.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use lore::sanitize::is_hidden;
pub use lore::sanitize::{sanitize, sanitize_lines};

/// Version of the `--json` output.
const SCHEMA_VERSION: u64 = 1;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// People: tables and sentences.
    Human,
    /// Programs: the reply as one JSON object.
    Json,
}

/// Writes all bytes and flushes.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes a reply, a JSON object, as one line with `schema_version` as its first member. The rest is unchanged.
pub fn write_json(reply: &[u8]) -> io::Result<()> {
    let reply = reply.trim_ascii();
    let Some(members) = reply.strip_prefix(b"{") else {
        return Err(io::Error::other("the daemon's reply is not an object"));
    };
    let comma = if members.trim_ascii() == b"}" {
        ""
    } else {
        ","
    };
    let mut line = format!("{{\"schema_version\":{SCHEMA_VERSION}{comma}").into_bytes();
    line.extend(members);
    line.push(b'\n');
    write_json_lines(&line)
}

/// Writes whole lines of JSON, escaped by [`json_for`].
pub fn write_json_lines(lines: &[u8]) -> io::Result<()> {
    match std::str::from_utf8(lines) {
        Ok(lines) => write(json_for(lines, is_terminal()).as_bytes()),
        Err(_) => Err(io::Error::other("the daemon's reply is not UTF-8")),
    }
}

/// Returns JSON unchanged for a pipe. For a terminal, it replaces unsafe characters with equivalent JSON
/// escapes.
pub fn json_for(json: &str, is_terminal: bool) -> Cow<'_, str> {
    let is_tricky = |character| is_hidden(character) && !matches!(character, '\n' | '\r' | '\t');
    if !is_terminal || !json.contains(is_tricky) {
        return Cow::Borrowed(json);
    }
    let mut tame = String::with_capacity(json.len());
    for character in json.chars() {
        if is_tricky(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing into a string does not fail.
                let _ = write!(tame, "\\u{unit:04x}");
            }
        } else {
            tame.push(character);
        }
    }
    Cow::Owned(tame)
}

/// Returns multi-line text unchanged for a pipe. For a terminal, it applies [`sanitize_lines`].
pub fn text_for(text: &str, is_terminal: bool) -> Cow<'_, str> {
    match is_terminal {
        true => Cow::Owned(sanitize_lines(text)),
        false => Cow::Borrowed(text),
    }
}

/// Returns whether standard output is a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether colours may be used: on a terminal that supports them, if `NO_COLOR` is empty.
pub fn may_paint() -> bool {
    paints(is_terminal(), |name| std::env::var_os(name))
}

fn paints(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_unwanted = variable("NO_COLOR").is_some_and(|said| !said.is_empty());
    let is_plain = variable("TERM").is_none_or(|term| term == "dumb");
    is_terminal && !is_unwanted && !is_plain
}

/// Formats names and values, one per line; omits empty values.
pub fn facts<N: Into<String>>(facts: impl IntoIterator<Item = (N, String)>) -> String {
    let rows: Vec<_> = facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| [name.into(), value])
        .collect();
    table(&["", ""], &rows).trim_start().to_owned()
}

/// Formats a table with a heading and columns as wide as needed.
pub fn table<R: AsRef<[String]>>(heading: &[&str], rows: &[R]) -> String {
    let length = |cell: &str| cell.chars().count();
    let mut widths: Vec<usize> = heading.iter().map(|cell| length(cell)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = (*width).max(length(cell));
        }
    }
    let mut table = String::new();
    let mut push = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (cell, width) in cells.zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - length(cell) + 2));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    };
    push(&mut heading.iter().copied());
    for row in rows {
        push(&mut row.as_ref().iter().map(String::as_str));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe gets every byte. JSON on a terminal is escaped but equivalent.
    #[test]
    fn json_is_tame_on_a_terminal() {
        let json = "{\"a\":\"\u{9b}31m\u{202e}é\u{e0041}\u{7f}\"}\n";
        assert_eq!(json_for(json, false), json);
        let tame = json_for(json, true);
        assert_eq!(
            tame,
            "{\"a\":\"\\u009b31m\\u202eé\\udb40\\udc41\\u007f\"}\n"
        );
        let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).ok();
        assert_eq!(read(&tame), read(json));
        assert_eq!(text_for("a\n\u{9b}", true), "a\n\\u{9b}");
        assert_eq!(text_for("a\n\u{9b}", false), "a\n\u{9b}");
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let painted = |is_terminal, no_color: &str, term: Option<&str>| {
            paints(is_terminal, |name| match name {
                "NO_COLOR" => Some(no_color.into()),
                _ => term.map(OsString::from),
            })
        };
        assert!(painted(true, "", Some("xterm")));
        assert!(!painted(false, "", Some("xterm")));
        assert!(!painted(true, "1", Some("xterm")));
        assert!(!painted(true, "", Some("dumb")));
        assert!(!painted(true, "", None));
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [
            ["1".to_owned(), "é".to_owned()],
            ["22".to_owned(), String::new()],
        ];
        assert_eq!(table(&["n", "word"], &rows), "n   word\n1   é\n22\n");
    }
}
