//! Parses a single line: its label and value, without layout marks.

/// Limit on a field name, in bytes.
const LABEL_BYTES_MAX: usize = 64;
/// Limit on a line that is split into parts, in bytes, because splitting takes quadratic time in their number.
const PARTS_BYTES_MAX: usize = 4 << 10;

/// A label and the byte offset of its value.
pub(super) struct FieldLabel<'t> {
    pub(super) name: &'t str,
    pub(super) value: usize,
}

/// Returns the length of a line's layout marks: indentation, quotation and list marks, a task's box.
pub(in crate::projects) fn marker_bytes(line: &str) -> usize {
    let mut rest = line.trim_start();
    loop {
        let before = rest;
        if let Some(quoted) = rest.strip_prefix('>') {
            rest = quoted.trim_start();
        }
        for mark in ['-', '*', '+', '\u{2022}'] {
            if let Some(item) = rest.strip_prefix(mark)
                && (item.is_empty() || item.starts_with([' ', '\t']))
            {
                rest = item.trim_start();
            }
        }
        rest = without_number(rest);
        for task in ["[ ]", "[x]", "[X]"] {
            if let Some(item) = rest.strip_prefix(task)
                && (item.is_empty() || item.starts_with([' ', '\t']))
            {
                rest = item.trim_start();
            }
        }
        if rest.len() == before.len() {
            return line.len() - rest.len();
        }
    }
}

fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() || line.len() - rest.len() > 9 {
        return line;
    }
    match rest.strip_prefix(['.', ')']) {
        Some(item) if item.starts_with([' ', '\t']) => item.trim_start(),
        _ => line,
    }
}

/// Parses the label at the start of a part: `Name: …`, `**Name**: …`, `**Name** – …`, `**Name**`
/// alone, or `| Name | … |`.
pub(super) fn label(part: &str) -> Option<FieldLabel<'_>> {
    let start = marker_bytes(part);
    let rest = part.get(start..)?;
    if let Some(cells) = rest.strip_prefix('|') {
        let (name, _) = bounded(cells).split_once('|')?;
        return named(name, start + 1 + name.len() + 1);
    }
    for mark in ["**", "__", "*", "_"] {
        let Some(bold) = rest.strip_prefix(mark) else {
            continue;
        };
        let (name, _) = bounded(bold).split_once(mark)?;
        let behind = bold.get(name.len() + mark.len()..)?;
        // In `**Name: value**` all of the text is bold.
        if let Some((name, _)) = name.trim_end_matches(':').split_once(": ") {
            return named(name, start + mark.len() + name.len() + 1);
        }
        let is_label = behind.trim().is_empty()
            || name.ends_with(':')
            || behind
                .trim_start()
                .starts_with([':', '\u{ff1a}', '-', '–', '—', '=']);
        if !is_label {
            return None;
        }
        let marks = behind.len()
            - behind
                .trim_start_matches([':', '\u{ff1a}', '-', '–', '—', '=', ' '])
                .len();
        return named(name, part.len() - behind.len() + marks);
    }
    let at = bounded(rest).find([':', '\u{ff1a}'])?;
    let mark = rest.get(at..)?.chars().next()?.len_utf8();
    // `http://…` and `module::name` are not labels.
    let behind = rest.get(at + mark..)?;
    if behind.starts_with(['/', ':']) {
        return None;
    }
    named(rest.get(..at)?, start + at + mark)
}

fn named(name: &str, value: usize) -> Option<FieldLabel<'_>> {
    let is_name = name.chars().any(char::is_alphanumeric);
    is_name.then_some(FieldLabel { name, value })
}

/// Returns the start of a text, in which a label must end.
fn bounded(text: &str) -> &str {
    let mut end = text.len().min(LABEL_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Splits a line at semicolons, cells and dashes into parts that can have labels, with their byte offsets.
pub(super) fn parts(line: &str) -> impl Iterator<Item = (usize, &str)> {
    // A table row has one label, in its first cell.
    let is_one = line.len() > PARTS_BYTES_MAX || line.trim_start().starts_with('|');
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let start = from?;
        let rest = line.get(start..)?;
        let cut = if is_one { None } else { separator(rest) };
        from = cut.map(|(_, next)| start + next);
        let end = cut.map_or(rest.len(), |(end, _)| end);
        Some((start, rest.get(..end)?))
    })
}

/// Finds the first separator: the end of the part before it, and the start of the next part.
fn separator(text: &str) -> Option<(usize, usize)> {
    let marks = ["; ", " — ", " – ", " | "];
    let found = marks
        .iter()
        .filter_map(|mark| Some((text.find(mark)?, mark.len())));
    let (at, bytes) = found.min()?;
    Some((at, at + bytes))
}

/// Returns the start of the text after each weak separator. Where a declared name follows, a field begins; any other
/// text belongs to the value before it.
pub(super) fn weak_separators(part: &str) -> Vec<usize> {
    if part.len() > PARTS_BYTES_MAX {
        return Vec::new();
    }
    let mut found: Vec<usize> = Vec::new();
    for mark in [" - ", ". ", " (", " [", ";", ","] {
        found.extend(part.match_indices(mark).map(|(at, _)| at + mark.len()));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Strips the marks around a value.
pub(in crate::projects) fn plain(value: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '|' | '"');
    let dashes = |c: char| marks(c) || matches!(c, ':' | '-' | '–' | '—');
    value.trim_matches(marks).trim_start_matches(dashes)
}

/// Returns the start of a text, to quote it in a message.
pub(super) fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let line = text.lines().next().unwrap_or_default().trim();
    let head: String = line.chars().take(CHARS_MAX).collect();
    if head.len() < line.len() {
        format!("{head}…")
    } else {
        head
    }
}
