//! What one line says: its label and value, without the marks that only lay it out.

/// Longest name of a field on a line, in bytes.
const LABEL_BYTES_MAX: usize = 64;
/// Longer lines are one part, in bytes: looking for parts takes the square of their number.
const PARTS_BYTES_MAX: usize = 4 << 10;

/// A label and where its value begins, in bytes of the line.
pub(super) struct FieldLabel<'t> {
    pub(super) name: &'t str,
    pub(super) value: usize,
}

/// How long what only lays a line out is: indentation, quotation and list marks, a task's box.
pub(super) fn marker_bytes(line: &str) -> usize {
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

/// The label that a part of a line begins with: `Name: …`, `**Name**: …`, `**Name** – …`, `**Name**`
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
        // `**Name: value**` is all in bold.
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
    // `http://…` and `module::name` are no labels.
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

/// The beginning of a text in which a label has to end.
fn bounded(text: &str) -> &str {
    let mut end = text.len().min(LABEL_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The parts of a line that may have labels of their own: between semicolons, in cells, after dashes.
/// Where each begins, and its text.
pub(super) fn parts(line: &str) -> impl Iterator<Item = (usize, &str)> {
    // A row of a table has one label, in its first cell.
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

/// The first place where a line may be cut: the end of the part before it, the start of the next one.
fn separator(text: &str) -> Option<(usize, usize)> {
    let marks = ["; ", " — ", " – ", " | "];
    let found = marks
        .iter()
        .filter_map(|mark| Some((text.find(mark)?, mark.len())));
    let (at, bytes) = found.min()?;
    Some((at, at + bytes))
}

/// A value without the marks around it.
pub(super) fn plain(value: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '|' | '"');
    let dashes = |c: char| marks(c) || matches!(c, ':' | '-' | '–' | '—');
    value.trim_matches(marks).trim_start_matches(dashes)
}

/// The beginning of what somebody wrote, to say it again.
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
