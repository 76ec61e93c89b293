//! Text edits that fix a diagnostic, and their display.

use super::outline::Outline;
use super::template::Template;
use std::ops::Range;

/// Texts up to this length are shown completely, in bytes. With it a reply stays below 4 KB.
const WHOLE_BYTES_MAX: usize = 1200;
/// Context shown before and after a change in a longer text, in bytes.
const AROUND_BYTES: usize = 300;

/// A text edit: one range is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// The replaced range, in bytes of the text; empty for an insertion.
    pub(super) range: Range<usize>,
    /// The replacement.
    pub(super) text: String,
}

impl Edit {
    /// Inserts a block with blank lines around it.
    pub(super) fn insert(content: &str, at: usize, block: &str) -> Self {
        let before = content.get(..at).unwrap_or_default();
        let behind = content.get(at..).unwrap_or_default();
        let start = if before.trim_start_matches('\u{feff}').trim().is_empty() {
            ""
        } else {
            gap(before)
        };
        let block = block.trim_matches(['\n', '\r']);
        let end = if behind.trim().is_empty() || behind.starts_with(['\n', '\r']) {
            "\n"
        } else {
            "\n\n"
        };
        Self {
            range: at..at,
            text: format!("{start}{block}{end}"),
        }
    }

    /// Returns the text with the edit applied.
    pub(super) fn apply(&self, content: &str) -> String {
        let before = content.get(..self.range.start).unwrap_or_default();
        let behind = content.get(self.range.end..).unwrap_or_default();
        format!("{before}{}{behind}", self.text)
    }

    /// Returns whether two edits change the same bytes; insertions at one place do not.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let (one, two) = (&self.range, &other.range);
        match (one.is_empty(), two.is_empty()) {
            (true, true) => false,
            (true, false) => two.contains(&one.start),
            (false, true) => one.contains(&two.start),
            (false, false) => one.start < two.end && two.start < one.end,
        }
    }

    /// Returns the text with all edits applied, which do not overlap; of a long text, the part around `shown`.
    pub(super) fn apply_all(edits: &[&Self], content: &str, shown: &Self) -> String {
        let mut edits: Vec<&Self> = edits.to_vec();
        // Stable: insertions at one place stay in order.
        edits.sort_by_key(|edit| edit.range.start);
        let (mut text, mut done, mut around) = (String::new(), 0, 0..0);
        for edit in edits {
            text.push_str(content.get(done..edit.range.start).unwrap_or_default());
            let start = text.len();
            text.push_str(&edit.text);
            if edit == shown {
                around = start..text.len();
            }
            done = edit.range.end;
        }
        text.push_str(content.get(done..).unwrap_or_default());
        part(&text, around)
    }
}

/// Returns a text, or of a long one the part around a line.
pub(super) fn excerpt(text: &str, line: u32) -> String {
    let before = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1) as usize);
    let at = before.map(str::len).sum();
    part(text, at..at)
}

/// Returns a text, or of a long one the part around a range.
fn part(text: &str, around: Range<usize>) -> String {
    if text.len() <= WHOLE_BYTES_MAX {
        return text.to_owned();
    }
    let before = text.get(..around.start).unwrap_or_default();
    let behind = text.get(around.end..).unwrap_or_default();
    let from = line_start(before, before.len().saturating_sub(AROUND_BYTES));
    let to = line_end(behind, AROUND_BYTES);
    let changed = text.get(around).unwrap_or_default();
    let fits = changed.floor_char_boundary(WHOLE_BYTES_MAX);
    let mut shown = String::new();
    if from > 0 {
        shown.push_str("…\n");
    }
    shown.push_str(before.get(from..).unwrap_or_default());
    shown.push_str(changed.get(..fits).unwrap_or_default());
    if fits == changed.len() {
        shown.push_str(behind.get(..to).unwrap_or_default());
    }
    if to < behind.len() || fits < changed.len() {
        shown.push_str("\n…\n");
    }
    shown
}

/// Returns the line ends that are missing for a blank line after a text.
fn gap(before: &str) -> &'static str {
    let line_ends = before.len() - before.trim_end_matches(['\n', '\r']).len();
    let ends = before.get(before.len() - line_ends..).unwrap_or_default();
    match ends.matches('\n').count().max(ends.matches('\r').count()) {
        0 => "\n\n",
        1 => "\n",
        _ => "",
    }
}

/// Returns the start of the first line that begins at this byte or after it.
fn line_start(text: &str, from: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let skipped = rest.iter().position(|byte| *byte == b'\n');
    skipped.map_or(text.len(), |skipped| from + skipped + 1)
}

/// Returns the end of the last line that ends before this byte.
fn line_end(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    let head = text.as_bytes().get(..most).unwrap_or_default();
    let end = head.iter().rposition(|byte| *byte == b'\n');
    end.unwrap_or_default()
}

/// Returns the position for a missing section: before the next existing section in the template's order, else at
/// the end.
pub(super) fn section_place(outline: &Outline<'_>, template: &Template, key: &str) -> usize {
    let order = template.sections.iter().map(|section| &section.key);
    let later = order.skip_while(|one| *one != key).skip(1);
    let next = later.filter_map(|one| outline.section(one)).next();
    match next {
        Some(section) => section.heading.start,
        None if outline.is_open_at_end() => outline.whole().start,
        None => outline.text().len(),
    }
}
