//! Text edits that fix a diagnostic, and their display.

use super::outline::Outline;
use super::template::Template;
use std::ops::Range;

/// Texts up to this length are shown completely, in bytes.
const WHOLE_BYTES_MAX: usize = 8 << 10;
/// Context shown before and after a change in a longer text, in bytes.
const AROUND_BYTES: usize = 400;

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

    /// Returns the text with the edit applied; of a long text, only the part around the edit.
    pub(super) fn diff(&self, content: &str) -> String {
        if content.len() + self.text.len() <= WHOLE_BYTES_MAX {
            return self.apply(content);
        }
        let before = content.get(..self.range.start).unwrap_or_default();
        let behind = content.get(self.range.end..).unwrap_or_default();
        let from = line_start(before, before.len().saturating_sub(AROUND_BYTES));
        let to = line_end(behind, AROUND_BYTES);
        let mut text = String::new();
        if from > 0 {
            text.push_str("…\n");
        }
        text.push_str(before.get(from..).unwrap_or_default());
        text.push_str(&self.text);
        text.push_str(behind.get(..to).unwrap_or_default());
        if to < behind.len() {
            text.push_str("\n…\n");
        }
        text
    }
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
