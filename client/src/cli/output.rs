//! What goes to standard output: JSON for programs, tables for people.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

/// The version of what `--json` prints.
const SCHEMA_VERSION: u64 = 1;

/// For whom it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Tables and sentences.
    Human,
    /// The reply as one JSON object.
    Json,
}

/// Writes all of it and flushes.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes a reply, a JSON object, as one line with its `schema_version` before all else. The rest
/// stays as the daemon wrote it.
pub fn write_json(reply: &[u8]) -> io::Result<()> {
    let reply = reply.trim_ascii();
    let Some(members) = reply.strip_prefix(b"{") else {
        return Err(io::Error::other("the daemon's reply is no object"));
    };
    let comma = if members.trim_ascii() == b"}" {
        ""
    } else {
        ","
    };
    let mut line = format!("{{\"schema_version\":{SCHEMA_VERSION}{comma}").into_bytes();
    line.extend(members);
    line.push(b'\n');
    write(&line)
}

/// Whether a person sees standard output.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether colours are welcome: on a terminal that has them, unless `NO_COLOR` says anything.
pub fn may_paint() -> bool {
    paints(is_terminal(), |name| std::env::var_os(name))
}

fn paints(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_unwanted = variable("NO_COLOR").is_some_and(|said| !said.is_empty());
    let is_plain = variable("TERM").is_none_or(|term| term == "dumb");
    is_terminal && !is_unwanted && !is_plain
}

/// Text for one line of a terminal: what could move the cursor, turn the direction of writing or
/// hide is shown as an escape. `width` is in characters; 0 means any.
pub fn shown(text: &str, width: usize) -> String {
    let mut line = String::with_capacity(text.len().min(width.max(16) * 4));
    for (count, character) in text.chars().enumerate() {
        if width > 0 && count + 1 >= width {
            line.push('…');
            break;
        }
        push_shown(&mut line, character);
    }
    line
}

/// The same for text of several lines.
pub fn shown_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ => push_shown(&mut shown, character),
        }
    }
    shown
}

fn push_shown(line: &mut String, character: char) {
    let hidden = matches!(character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    if character.is_control() || hidden {
        line.extend(character.escape_default());
    } else {
        line.push(character);
    }
}

/// A table with a heading; the columns are as wide as they need to be.
pub fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> String {
    let length = |cell: &str| cell.chars().count();
    let mut widths = heading.map(length);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(cell));
        }
    }
    let mut table = String::new();
    let mut push = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (cell, width) in cells.zip(widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - length(cell) + 2));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    };
    push(&mut heading.into_iter());
    for row in rows {
        push(&mut row.iter().map(String::as_str));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_trick_a_terminal_is_shown() {
        assert_eq!(
            shown("a\x1b[31mb\u{202e}c\n", 0),
            "a\\u{1b}[31mb\\u{202e}c\\n"
        );
        assert_eq!(shown("abcdef", 4), "abc…");
        assert_eq!(shown_lines("a\nb\r"), "a\nb\\r");
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
        assert_eq!(table(["n", "word"], &rows), "n   word\n1   é\n22\n");
    }
}
