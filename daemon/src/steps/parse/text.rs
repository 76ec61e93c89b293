//! Text that is not JSON as a whole: its `key: value` lines, and the JSON within it.

use super::flat::{Source, Span};
use super::json;
use super::nodes::{Kind, NodeId, NodeLabel, Nodes};
use super::scan::ParentSlot;
use super::{Block, Document, python, tables};
use crate::steps::words;
use std::collections::HashMap;

/// Maximum length of the key of a `key: value` line, in characters.
const KEY_CHARS_MAX: usize = 64;

/// Limit of the bytes read without finding JSON: a multiple of the text's length, and an absolute maximum.
const VAIN_FACTOR: usize = 8;
const VAIN_BYTES_MAX: usize = 32 << 20;

/// Adds a text: it is copied to the flat text with its JSON parsed, and its lines become fields.
pub(super) fn read(source: &Source<'_>, out: &mut Nodes) -> Document {
    let start = out.flat.here();
    let (blocks, source_spans) = copy_with_blocks(source, out);
    let mined = Span {
        start,
        end: out.flat.here(),
    };
    let (tables, table_spans) = tables::read(source, out);
    let mut taken = source_spans;
    taken.extend(table_spans);
    taken.sort_unstable();
    let lines = read_lines(source, out, &taken);
    Document {
        json: None,
        blocks,
        lines,
        tables,
        mined,
    }
}

/// Copies the text and parses the JSON in it. Returns the blocks and their spans in the source.
fn copy_with_blocks(source: &Source<'_>, out: &mut Nodes) -> (Vec<Block>, Vec<(usize, usize)>) {
    let text: &str = &source.text;
    let bytes = text.as_bytes();
    let mut vain_left = text.len().saturating_mul(VAIN_FACTOR).min(VAIN_BYTES_MAX);
    let (mut blocks, mut spans) = (Vec::new(), Vec::new());
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = next_bracket(bytes, at) {
        at = found + 1;
        if !may_begin(text, found) {
            continue;
        }
        out.flat.copy(source, copied, found);
        copied = found;
        let before = out.checkpoint();
        let node = out.len();
        let flat_start = out.flat.here();
        let place = ParentSlot::New {
            parent: None,
            label: NodeLabel::Root,
        };
        let mut read = json::read(source, out, found, place, 0);
        if let Err(end) = read {
            out.back_to(before);
            // Programs print their own values, too: single quotes, None, True.
            read = python::read(source, out, found, place).map_err(|tried| tried.max(end));
            vain_left = vain_left.saturating_sub(end - found);
        }
        let (Ok(end) | Err(end)) = read;
        if read.is_ok() && is_block(text, found, end) {
            let span = Span {
                start: flat_start,
                end: out.flat.here(),
            };
            blocks.push(Block { node, span });
            spans.push((found, end));
            copied = end;
            at = end;
        } else {
            out.back_to(before);
            vain_left = vain_left.saturating_sub(end - found + 1);
            if vain_left == 0 {
                break;
            }
        }
    }
    out.flat.copy(source, copied, text.len());
    (blocks, spans)
}

fn next_bracket(bytes: &[u8], from: usize) -> Option<usize> {
    let ahead = bytes.get(from..)?;
    let found = ahead.iter().position(|byte| matches!(byte, b'{' | b'['))?;
    Some(from + found)
}

/// Returns whether JSON may begin at a bracket. Cheaply rejects an index (`a[0]`) and most prose and code.
fn may_begin(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let inside = bytes.get(at + 1..).unwrap_or_default();
    let first = inside.iter().find(|byte| !byte.is_ascii_whitespace());
    match bytes.get(at) {
        Some(b'{') => matches!(first, Some(b'"' | b'\'')),
        Some(b'[') => {
            let is_index = before
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_])\x1b".contains(byte));
            let value = matches!(
                first,
                Some(
                    b'{' | b'[' | b'"' | b'\'' | b'-' | b'0'
                        ..=b'9' | b't' | b'f' | b'n' | b'T' | b'F' | b'N'
                )
            );
            value && !is_index
        }
        _ => false,
    }
}

/// Returns whether a parsed block is data and not the text of a link, `[1](…)`.
fn is_block(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let inside = text
        .get(start + 1..end.saturating_sub(1))
        .unwrap_or_default();
    // A footnote or a timestamp counted from start-up: `[1]`, `[76818.869303]`.
    let is_mark = inside
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_link = matches!(bytes.get(end), Some(b'(' | b'[' | b':'));
    !(bytes.get(start) == Some(&b'[') && (is_link || is_mark))
}

/// Adds the `key: value` lines as the fields of one document. If two lines have the same key, the later one wins.
fn read_lines(source: &Source<'_>, out: &mut Nodes, blocks: &[(usize, usize)]) -> Option<NodeId> {
    let mut lines = Vec::new();
    let mut latest = HashMap::new();
    let mut blocks = blocks.iter().peekable();
    let text: &str = &source.text;
    let is_settings = is_settings(text);
    let (mut commits, mut git) = (0, Vec::new());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        while blocks.peek().is_some_and(|(_, end)| *end <= at) {
            blocks.next();
        }
        if blocks.peek().is_some_and(|(from, _)| *from <= at) {
            continue;
        }
        if let Some(head) = git_head(line) {
            commits += usize::from(head.is_commit);
            if commits <= 1 {
                git.extend(head.fields(text));
            }
            continue;
        }
        // Of several commits of a log, the first one answers.
        if commits > 1 {
            continue;
        }
        let field = match is_settings {
            true => setting_of(line),
            false => field_of(line),
        };
        if let Some((key, value)) = field {
            latest.insert(words::hash(key), lines.len());
            lines.push((
                offset(text, key),
                key.len(),
                offset(text, value),
                value.len(),
            ));
        }
    }
    if lines.is_empty() && git.is_empty() {
        return None;
    }
    let root = out.push(None, NodeLabel::Root, Kind::Object, Span::default())?;
    for (number, (key, key_len, value, value_len)) in lines.into_iter().enumerate() {
        let word = text.get(key..key + key_len).unwrap_or_default();
        if latest.get(&words::hash(word)) != Some(&number) {
            continue;
        }
        let key = copy(source, out, key, key_len);
        let value = copy(source, out, value, value_len);
        let place = ParentSlot::New {
            parent: Some(root),
            label: NodeLabel::Key(key),
        };
        super::scan::Scan::new(source, out, 0, 0).leaf(place, Kind::String, value);
    }
    for (word, at, len) in git {
        let key = named(out, word, source.raw_of(at));
        let value = copy(source, out, at, len);
        out.push(Some(root), NodeLabel::Key(key), Kind::String, value);
    }
    out.close(root, None);
    Some(root)
}

/// Writes a key that the text does not have.
fn named(out: &mut Nodes, word: &str, raw: u32) -> Span {
    let start = out.flat.here();
    word.chars().for_each(|c| out.flat.push(c, raw));
    Span {
        start,
        end: out.flat.here(),
    }
}

/// A line in which git names a commit or a branch.
struct GitHead<'t> {
    commit: Option<&'t str>,
    branch: Option<&'t str>,
    /// Whether it begins a commit of a log.
    is_commit: bool,
}

impl GitHead<'_> {
    /// Returns its fields: key, offset and length.
    fn fields(&self, text: &str) -> Vec<(&'static str, usize, usize)> {
        let named = [("commit", self.commit), ("branch", self.branch)];
        named
            .into_iter()
            .filter_map(|(key, value)| value.map(|value| (key, offset(text, value), value.len())))
            .collect()
    }
}

/// Returns what git says in a line: `commit HASH`, `[branch HASH] subject`, `On branch NAME`, `HEAD is now at HASH`.
fn git_head(line: &str) -> Option<GitHead<'_>> {
    let is_hash = |word: &&str| {
        (7..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let line = line.trim_end();
    let first = |rest: &'_ str| rest.split(' ').next().map(str::len).unwrap_or_default();
    if let Some(rest) = line.strip_prefix("commit ") {
        let hash = rest.get(..first(rest)).filter(is_hash)?;
        return Some(GitHead {
            commit: Some(hash),
            branch: None,
            is_commit: true,
        });
    }
    if let Some(rest) = line.strip_prefix("HEAD is now at ") {
        let commit = rest.get(..first(rest)).filter(is_hash);
        return commit.map(|hash| GitHead {
            commit: Some(hash),
            branch: None,
            is_commit: false,
        });
    }
    if let Some(branch) = line.strip_prefix("On branch ") {
        let is_name = !branch.is_empty() && !branch.contains(' ');
        return is_name.then_some(GitHead {
            commit: None,
            branch: Some(branch),
            is_commit: false,
        });
    }
    let (head, _) = line.strip_prefix('[')?.split_once("] ")?;
    let mut words = head.split(' ');
    let (branch, hash) = (words.next()?, head.rsplit(' ').next().filter(is_hash)?);
    let is_head = branch.len() < head.len() && !branch.contains([',', '"', '\'']);
    is_head.then_some(GitHead {
        commit: Some(hash),
        branch: Some(branch),
        is_commit: false,
    })
}

fn copy(source: &Source<'_>, out: &mut Nodes, at: usize, len: usize) -> Span {
    let start = out.flat.here();
    out.flat.copy(source, at, at + len);
    Span {
        start,
        end: out.flat.here(),
    }
}

/// Returns the offset of `part` within `text`.
pub(super) fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Parses a `key: value` line.
pub(super) fn field_of(line: &str) -> Option<(&str, &str)> {
    let line = without_bullet(line.trim());
    let (key, value) = line.split_once(':')?;
    // Times of day and URLs contain a colon as well.
    let digits_around = key.ends_with(|c: char| c.is_ascii_digit())
        && value.starts_with(|c: char| c.is_ascii_digit());
    if digits_around || value.starts_with("//") || value.starts_with(':') {
        return None;
    }
    let (key, value) = without_emphasis(key.trim(), value.trim());
    let value = without_quotes(value);
    let allowed = |c: char| c.is_alphanumeric() || " _-./".contains(c);
    let valid = key.chars().count() <= KEY_CHARS_MAX
        && key.chars().all(allowed)
        && key.chars().any(char::is_alphabetic);
    (valid && !value.is_empty()).then_some((key, value))
}

/// Returns whether all lines of a text are `key = value`: settings, or a record as databases print it.
fn is_settings(text: &str) -> bool {
    let lines = text.lines().map(str::trim);
    let mut lines = lines
        .filter(|line| !line.is_empty() && !line.starts_with(['#', ';', '[']))
        .peekable();
    let is_setting = |line: &str| setting_key(line).is_some();
    lines.peek().is_some() && lines.all(is_setting)
}

fn setting_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = setting_key(line.trim())?;
    let value = without_quotes(value);
    (!value.is_empty()).then_some((key, value))
}

/// Parses a `key = value` line. The key is one word; the value may be empty.
fn setting_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let allowed = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let is_key = key.chars().count() <= KEY_CHARS_MAX
        && key.starts_with(char::is_alphabetic)
        && key.chars().all(allowed);
    is_key.then_some((key, value.trim()))
}

/// Strips `- `, `* `, `+ `, `• `, `1. ` and `1) `.
fn without_bullet(line: &str) -> &str {
    for bullet in ["- ", "* ", "+ ", "• "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return rest.trim_start();
        }
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    match numbered {
        Some(rest) if !line.starts_with(['.', ')']) => rest.trim_start(),
        Some(_) | None => line,
    }
}

/// Strips Markdown's `**key:** value`, `**key**: value`, `_key_: value` and code ticks.
fn without_emphasis<'a>(key: &'a str, value: &'a str) -> (&'a str, &'a str) {
    for mark in ["**", "__", "*", "`"] {
        let Some(inner) = key.strip_prefix(mark) else {
            continue;
        };
        if let Some(inner) = inner.strip_suffix(mark) {
            return (inner.trim(), value);
        }
        if let Some(rest) = value.strip_prefix(mark) {
            // Several fields on one line: `**Total:** 6 | **Showing:** 6`.
            let first = rest.split(" | ").next().unwrap_or(rest);
            let several = rest.contains(&format!(" | {mark}"));
            return (inner.trim(), if several { first } else { rest }.trim());
        }
    }
    (key, value)
}

/// Strips a pair of quotes around the whole value, and the comma behind it, as in code.
fn without_quotes(value: &str) -> &str {
    let bare = value.strip_suffix(',').unwrap_or(value);
    for quote in ['"', '\''] {
        let inner = bare
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty() && !inner.contains(quote)) {
            return inner;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_give_key_and_value() {
        for (line, key, value) in [
            ("Status: in progress", "Status", "in progress"),
            ("  - Request id :  9f0c ", "Request id", "9f0c"),
            ("- **id:** 103", "id", "103"),
            ("**Owner**: Zoë", "Owner", "Zoë"),
            ("**Total:** 6 | **Showing:** 6", "Total", "6"),
            ("1. name: web-02", "name", "web-02"),
            (
                "title: \"Memory: an overview\"",
                "title",
                "Memory: an overview",
            ),
            (
                "URL: https://tickets.example.com/1",
                "URL",
                "https://tickets.example.com/1",
            ),
            ("id: \"city-tool\",", "id", "city-tool"),
            ("cities: Oslo,", "cities", "Oslo,"),
            ("Größe: 5", "Größe", "5"),
            ("src/report.rs:unused", "src/report.rs", "unused"),
        ] {
            assert_eq!(field_of(line), Some((key, value)), "{line}");
        }
    }

    #[test]
    fn a_text_of_settings_alone_gives_them() {
        assert!(is_settings("  id = 70010\n  note = \n status=paid"));
        assert!(is_settings(
            "# os\nID=debian\n[more]\nNAME=\"Debian GNU/Linux\"\n"
        ));
        assert!(!is_settings("let x = 5;\nname = y"));
        assert!(!is_settings("a = 1\nb: 2"));
        assert!(!is_settings(""));
        assert_eq!(
            setting_of("NAME=\"Debian GNU/Linux\"\n"),
            Some(("NAME", "Debian GNU/Linux"))
        );
        assert_eq!(setting_of("  note = "), None);
        assert_eq!(
            setting_of("url = https://x.example/?a=b"),
            Some(("url", "https://x.example/?a=b"))
        );
    }

    #[test]
    fn other_lines_give_nothing() {
        for line in [
            "no colon here",
            "key:",
            ": value",
            "https://example.com/a",
            "2026-11-21T21:53:08Z started",
            "core::panicking::panic_fmt",
            "fn main() { a: b }",
            "{\"id\": 5}",
        ] {
            assert_eq!(field_of(line), None, "{line}");
        }
        let long = format!("{}: x", "k".repeat(65));
        assert_eq!(field_of(&long), None);
    }
}
