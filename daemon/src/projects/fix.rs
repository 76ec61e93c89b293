//! Changes to a text that mend it, and how they are shown.

use super::outline::Outline;
use super::template::Template;
use std::ops::Range;

/// Texts up to this length are shown as a whole, in bytes.
const WHOLE_BYTES_MAX: usize = 8 << 10;
/// How much is shown before and behind a change of a longer one, in bytes.
const AROUND_BYTES: usize = 400;

/// A change of a text: a part of it replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// What is replaced, in bytes of the text; empty where something is put in.
    pub(super) range: Range<usize>,
    /// By what.
    pub(super) text: String,
}

impl Edit {
    /// Puts in something that stands by itself: blank lines come around it.
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

    /// The text with the change.
    pub(super) fn apply(&self, content: &str) -> String {
        let before = content.get(..self.range.start).unwrap_or_default();
        let behind = content.get(self.range.end..).unwrap_or_default();
        format!("{before}{}{behind}", self.text)
    }

    /// The text with the change; of a long one, only what is around it.
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

/// What is missing for a blank line behind a text.
fn gap(before: &str) -> &'static str {
    let line_ends = before.len() - before.trim_end_matches(['\n', '\r']).len();
    let ends = before.get(before.len() - line_ends..).unwrap_or_default();
    match ends.matches('\n').count().max(ends.matches('\r').count()) {
        0 => "\n\n",
        1 => "\n",
        _ => "",
    }
}

/// The start of the first line that begins at a byte or behind it.
fn line_start(text: &str, from: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let skipped = rest.iter().position(|byte| *byte == b'\n');
    skipped.map_or(text.len(), |skipped| from + skipped + 1)
}

/// The end of the last line that ends before a byte.
fn line_end(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    let head = text.as_bytes().get(..most).unwrap_or_default();
    let end = head.iter().rposition(|byte| *byte == b'\n');
    end.unwrap_or_default()
}

/// Where a section that is not there belongs: before the next one of the template's order that is
/// there, else at the end.
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
