//! reStructuredText: its headings become sections; the text is stored unchanged.

use super::blocks::BlockKind;
use super::builder::{Draft, short};
use super::limits::Budget;
use super::plain::{Line, lines};
use std::ops::Range;

/// Limit on the styles of rules. Rules of further styles do not make headings.
const STYLES_MAX: usize = 64;

/// A heading: its level from 1, its title, and its range including the rules.
type Heading = (u32, String, Range<usize>);

pub(super) fn read<'b>(text: String, budget: &'b Budget<'b>) -> Draft<'b> {
    let headings = headings(&text);
    let mut draft = Draft::over(text, budget);
    for (level, title, range) in headings {
        if draft.title.is_none() {
            draft.title = Some(short(&title));
        }
        if draft.section(level, &title, range.start) {
            draft.mark(BlockKind::Heading, range);
        }
    }
    draft
}

/// Finds the headings: lines with a punctuation rule below, or above and below. Levels follow the order in
/// which the styles of rules first appear.
fn headings(text: &str) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut styles: Vec<(char, bool)> = Vec::new();
    let mut above: Option<Line<'_>> = None;
    let mut title: Option<Line<'_>> = None;
    for line in lines(text) {
        if let (Some(mark), Some((title_at, title))) = (rule(line.1), title)
            && is_title(title, line.1)
        {
            let over = above.filter(|over| over.1 == line.1);
            let style = (mark, over.is_some());
            let known = styles.iter().position(|other| *other == style);
            let level = known.unwrap_or(styles.len());
            // A title may be indented only between two rules.
            let is_heading =
                (over.is_some() || !title.starts_with([' ', '\t'])) && level < STYLES_MAX;
            if is_heading {
                if known.is_none() {
                    styles.push(style);
                }
                let start = over.map_or(title_at, |over| over.0);
                let range = start..line.0 + line.1.len();
                headings.push((level as u32 + 1, title.trim().to_owned(), range));
            }
        }
        above = title;
        title = Some(line);
    }
    headings
}

fn is_title(title: &str, rule_below: &str) -> bool {
    let title_chars = title.trim().chars().count();
    title_chars > 0 && rule(title).is_none() && title_chars <= rule_below.len()
}

/// Returns the character of a punctuation rule; `None` for other lines.
fn rule(line: &str) -> Option<char> {
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 3 && line.chars().all(|c| c == mark)).then_some(mark)
}
