//! Values assigned to names in a text: `API_KEY=…`, `"password": "…"`, `token: …`, `--secret …`,
//! `<password>…</password>`, headers and connection strings.

use std::ops::Range;

use super::names::{NAME_BYTES_MAX, SecretName, meaning};
use super::rules::MARK;
use super::values::Setting;

/// A named value.
#[derive(Debug)]
pub(super) struct AssignedValue<'t> {
    /// Name.
    pub name: &'t str,
    /// Kind of secret that the name announces.
    pub meaning: SecretName,
    /// Range of the value.
    pub value: Range<usize>,
    /// Confidence that it is a value.
    pub setting: Setting,
    /// Whether it is part of a connection string.
    pub is_connection: bool,
}

/// Limit on the blanks around a separator.
const BLANKS_MAX: usize = 16;
/// Limit on the names examined within one value: real texts nest no deeper.
const WITHIN_MAX: usize = 8;

/// The last unquoted value. Names within it share it, so its ends are computed only once.
#[derive(Default)]
pub(super) struct UnquotedRun {
    at: Range<usize>,
    /// Its end without trailing punctuation; before its beginning when it is punctuation only.
    kept_end: usize,
    /// End of the next value, after blanks; computed on demand.
    behind_end: Option<usize>,
    /// End of the last value within it, and the number of names that it has contained.
    value_end: usize,
    names: usize,
}

/// Returns the name that a keyword is part of.
pub(super) fn name_at(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let behind = bytes
        .get(keyword.end..)?
        .iter()
        .take(NAME_BYTES_MAX)
        .take_while(is_of_name)
        .count();
    let before = bytes
        .get(..keyword.start)?
        .iter()
        .rev()
        .take(NAME_BYTES_MAX)
        .take_while(is_of_name)
        .count();
    let (mut start, end) = (keyword.start - before, keyword.end + behind);
    // An escaped line end is not part of a name.
    if before > 0
        && start > 0
        && bytes.get(start - 1) == Some(&b'\\')
        && bytes.get(start).is_some_and(|byte| b"nrt".contains(byte))
    {
        start += 1;
    }
    // The kind in a redaction mark is not a name.
    let is_mark = bytes.get(..start)?.ends_with(MARK.as_bytes());
    (!is_mark).then_some(start..end)
}

/// Returns whether something may be assigned to a name in raw JSON. `false` is definite, unless an escape precedes the
/// name or encodes what follows it. Most names occur in sentences.
pub(super) fn may_be_in_json(json: &str, name: &Range<usize>) -> bool {
    let bytes = json.as_bytes();
    let mut rest = NameSuffix {
        bytes,
        at: name.end,
    };
    let written = json.get(name.clone()).unwrap_or_default();
    let is_escaped_after = |rest: &NameSuffix<'_>| {
        let mut ahead = NameSuffix { ..*rest };
        ahead.blanks();
        ahead.peek() == Some(b'\\')
    };
    rest.may_assign(written)
        || is_escaped_after(&rest)
        || rest.is_paired(bytes.get(..name.start).unwrap_or_default())
}

/// Returns the value assigned to the name that a keyword is part of.
pub(super) fn at<'t>(
    text: &'t str,
    keyword: Range<usize>,
    run: &mut UnquotedRun,
) -> Option<AssignedValue<'t>> {
    let range = name_at(text, keyword)?;
    let written = text.get(range.clone())?;
    let name = written.trim_matches(['-', '.']);
    let bytes = text.as_bytes();
    let mut rest = NameSuffix {
        bytes,
        at: range.end,
    };
    if rest.is_paired(bytes.get(..range.start)?) {
        let meaning = meaning(name)?;
        let (value, _) = rest.value(meaning, run)?;
        return Some(AssignedValue {
            name,
            meaning,
            value,
            // Environment variable names do not occur in prose by chance.
            setting: match name.bytes().any(|byte| byte.is_ascii_lowercase()) {
                true => Setting::Prose,
                false => Setting::Data,
            },
            is_connection: false,
        });
    }
    if !rest.may_assign(written) {
        return None;
    }
    let meaning = meaning(name)?;
    let before = bytes
        .get(..range.start)?
        .iter()
        .rev()
        .find(|byte| **byte != b' ')
        .copied();
    let of = |value, setting| AssignedValue {
        name,
        meaning,
        value,
        setting,
        is_connection: before == Some(b';') && meaning == SecretName::Password,
    };
    if before == Some(b'<') && rest.take(b">") {
        let value = rest.until(|byte| matches!(byte, b'<' | b'\n'))?;
        return bytes
            .get(value.end..)?
            .starts_with(b"</")
            .then(|| of(value, Setting::Data));
    }
    let is_quoted_name = rest.quote().is_some();
    rest.take(b"]");
    let blanks = rest.blanks();
    let is_option = written.starts_with("--") && blanks > 0;
    let Some(separator) = rest.separator() else {
        let is_word = is_option && rest.peek().is_some_and(|byte| byte != b'-');
        return is_word
            .then(|| rest.value(meaning, run))
            .flatten()
            .map(|(value, _)| of(value, Setting::Prose));
    };
    let after = rest.blanks();
    let (value, is_quoted) = rest.value(meaning, run)?;
    let is_variable = separator == b'='
        && blanks == 0
        && after == 0
        && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_data = is_variable || (is_quoted && (is_quoted_name || separator == b'='));
    Some(of(
        value,
        if is_data {
            Setting::Data
        } else {
            Setting::Prose
        },
    ))
}

/// Returns whether the text that follows is assigned to one of these names, in any case.
fn is_value_of(before: &[u8], names: &[&str]) -> bool {
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    let before = before.strip_suffix(b"'").unwrap_or(before);
    let name = before.trim_ascii_end();
    let Some(name) = name.strip_suffix(b":").or_else(|| name.strip_suffix(b"=")) else {
        return false;
    };
    let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let word = name.iter().rev().take(8).take_while(is_of_word).count();
    let word = name.get(name.len() - word..).unwrap_or_default();
    names
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// The text after a name.
struct NameSuffix<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl NameSuffix<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns whether the name is itself a value whose own value comes next: `name: TOKEN`, then `value: …`, as in lists
    /// of variables, or `key="TOKEN" value="…"`. If so, moves to that value.
    fn is_paired(&mut self, before: &[u8]) -> bool {
        if !is_value_of(before, &["name", "key"]) {
            return false;
        }
        let mut ahead = Self { ..*self };
        ahead.quote();
        let blanks = ahead.blanks();
        let is_next_line = ahead.take(b"\r\n") || ahead.take(b"\n") || ahead.take(b"\\n");
        if !is_next_line && blanks == 0 {
            return false;
        }
        ahead.blanks();
        let is_value = ahead.take(b"value") || ahead.take(b"Value");
        ahead.blanks();
        if !is_value || ahead.separator().is_none() {
            return false;
        }
        ahead.blanks();
        self.at = ahead.at;
        true
    }

    /// Returns whether a value may follow; cheap, because most names occur in sentences.
    fn may_assign(&self, written: &str) -> bool {
        match self.peek() {
            Some(b' ' | b'\t') if !written.starts_with("--") => {
                let mut ahead = Self { ..*self };
                ahead.blanks();
                matches!(ahead.peek(), Some(b'=' | b':'))
            }
            Some(byte) => b"=: \t\"'`\\]>".contains(&byte),
            None => false,
        }
    }

    fn take(&mut self, wanted: &[u8]) -> bool {
        let is_there = self
            .bytes
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(wanted));
        if is_there {
            self.at += wanted.len();
        }
        is_there
    }

    fn blanks(&mut self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest
            .iter()
            .take(BLANKS_MAX)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        self.at += count;
        count
    }

    /// Reads a quotation mark and the backslashes before it: returns their count and the mark.
    fn quote(&mut self) -> Option<(usize, u8)> {
        let rest = self.bytes.get(self.at..)?;
        let slashes = rest
            .iter()
            .take(4)
            .take_while(|byte| **byte == b'\\')
            .count();
        let mark = rest
            .get(slashes)
            .copied()
            .filter(|byte| b"\"'`".contains(byte))?;
        self.at += slashes + 1;
        Some((slashes, mark))
    }

    /// Reads an assignment operator: `=`, `:`, `:=`, `=>`; not comparisons or path separators.
    fn separator(&mut self) -> Option<u8> {
        for separator in [&b":="[..], b"=>"] {
            if self.take(separator) {
                return Some(b'=');
            }
        }
        let rest = self.bytes.get(self.at..)?;
        let (first, second) = (*rest.first()?, rest.get(1).copied().unwrap_or_default());
        let assigns = match first {
            b'=' => !matches!(second, b'=' | b'~'),
            b':' => second != b':',
            _ => false,
        };
        if assigns {
            self.at += 1;
        }
        assigns.then_some(first)
    }

    /// Reads a value; returns its range and whether it is quoted.
    fn value(
        &mut self,
        meaning: SecretName,
        run: &mut UnquotedRun,
    ) -> Option<(Range<usize>, bool)> {
        let Some((slashes, mark)) = self.quote() else {
            return self.unquoted(meaning, run).map(|value| (value, false));
        };
        let rest = self.bytes.get(self.at..)?;
        let mut escaped = 0;
        for (at, byte) in rest.iter().enumerate() {
            match *byte {
                b'\n' => return None,
                b'\\' => escaped += 1,
                byte if byte == mark
                    && (escaped == slashes || (slashes == 0 && escaped % 2 == 0)) =>
                {
                    let end = self.at + at - slashes;
                    return (end > self.at).then_some((self.at..end, true));
                }
                _ => escaped = 0,
            }
        }
        None
    }

    /// Reads an unquoted value: up to a blank, or a character that no value contains.
    fn unquoted(&mut self, meaning: SecretName, run: &mut UnquotedRun) -> Option<Range<usize>> {
        let is_end = |byte: u8| b"\"'`;&<>\\".contains(&byte) || byte.is_ascii_whitespace();
        if run.at.contains(&self.at) {
            run.names = if self.at < run.value_end {
                run.names + 1
            } else {
                0
            };
        } else {
            let at = self.until(is_end)?;
            let kept = self.kept(at.clone()).map_or(0, |kept| kept.end);
            *run = UnquotedRun {
                at,
                kept_end: kept,
                ..UnquotedRun::default()
            };
        }
        if run.names > WITHIN_MAX {
            return None;
        }
        let start = self.at;
        match meaning {
            SecretName::Password => {
                run.value_end = run.at.end;
                (start < run.kept_end).then_some(start..run.kept_end)
            }
            SecretName::Authorization => {
                // A scheme and its credentials.
                self.at = run.at.end;
                let behind = || {
                    self.blanks();
                    self.until(is_end).map_or(run.at.end, |next| next.end)
                };
                run.value_end = *run.behind_end.get_or_insert_with(behind);
                Some(start..run.value_end)
            }
            SecretName::Secret | SecretName::ApiKey | SecretName::Token => {
                let value = self.bytes.get(start..run.at.end)?;
                let length = value.iter().position(|byte| *byte == b',');
                run.value_end = start + length.unwrap_or(value.len());
                self.kept(start..run.value_end)
            }
        }
    }

    /// Strips trailing punctuation from a value.
    fn kept(&self, value: Range<usize>) -> Option<Range<usize>> {
        let bytes = self.bytes.get(value.clone())?;
        let last = bytes.iter().rposition(|byte| !b",.)]}:!".contains(byte))?;
        Some(value.start..value.start + last + 1)
    }

    fn until(&self, is_end: impl Fn(u8) -> bool) -> Option<Range<usize>> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest
            .iter()
            .position(|byte| is_end(*byte))
            .unwrap_or(rest.len());
        (length > 0).then_some(self.at..self.at + length)
    }
}
