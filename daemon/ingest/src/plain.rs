//! Plain text and source code; the text is stored unchanged.

use super::blocks::BlockKind;
use super::builder::Draft;
use super::limits::Budget;

/// Bytes after which the first blank line ends a block, so that a long file is more than one block.
const BLOCK_BYTES: usize = 32 << 10;

/// Reads plain text: a prose block, which is split at sentences and blank lines.
pub(super) fn text<'b>(text: String, budget: &'b Budget<'b>) -> Draft<'b> {
    whole(text, BlockKind::Prose, budget)
}

/// Reads source code: a code block, which is split at its least indented lines.
pub(super) fn code<'b>(text: String, budget: &'b Budget<'b>) -> Draft<'b> {
    whole(text, BlockKind::Code, budget)
}

fn whole<'b>(text: String, sort: BlockKind, budget: &'b Budget<'b>) -> Draft<'b> {
    let mut draft = Draft::over(String::new(), budget);
    let mut start = 0;
    while start < text.len() {
        let from = text.ceil_char_boundary(start.saturating_add(BLOCK_BYTES));
        let blank = text.get(from..).and_then(|rest| rest.find("\n\n"));
        let end = blank.map_or(text.len(), |blank| from + blank + 2);
        draft.mark(sort, start..end);
        start = end;
    }
    draft.text = text;
    draft
}

/// A line and its offset.
pub(super) type Line<'t> = (usize, &'t str);

/// Iterates over the lines of a text, without trailing white space.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end())
    })
}
