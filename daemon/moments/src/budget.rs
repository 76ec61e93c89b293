//! Text within a budget of tokens.
//!
//! Pieces are taken in an order of importance that does not depend on the budget, until the next one does not fit. So a larger
//! budget never holds less, and no text is longer than its budget.

use std::ops::Range;

use crate::text::beginning;

/// Counts the tokens of a text. The count of two joined texts is at most the sum of both.
pub type TokenCount<'a> = &'a dyn Fn(&str) -> usize;

/// What the parts of a text consist of, in order: section and place in the input, each with its range of bytes in the text.
pub type PieceRanges<S> = Vec<((S, usize), Range<usize>)>;

/// Returns the number of pieces that fit, in their order; `text` renders the first of them.
pub(crate) fn fit(
    count: TokenCount,
    budget: usize,
    costs: &[usize],
    text: &dyn Fn(usize) -> String,
) -> usize {
    let mut sum = 0_usize;
    let mut taken = 0;
    for cost in costs {
        sum = sum.saturating_add(*cost);
        if sum > budget {
            break;
        }
        taken += 1;
    }
    // The sum is an upper bound for counters that keep their promise; this is for the others.
    while taken > 0 && count(&text(taken)) > budget {
        taken -= 1;
    }
    taken
}

/// Returns the longest beginning of a text within a budget, that ends at a space if there is one; with `…` if it is cut.
#[must_use]
pub fn cut(text: &str, budget: usize, count: TokenCount) -> String {
    if count(text) <= budget {
        return text.to_owned();
    }
    let (mut low, mut high) = (0, text.len());
    let shortened = |bytes: usize| {
        let start = beginning(text, bytes);
        let end = start
            .rfind(char::is_whitespace)
            .filter(|end| *end * 2 > start.len());
        let start = start
            .get(..end.unwrap_or(start.len()))
            .unwrap_or_default()
            .trim_end();
        if start.is_empty() {
            String::new()
        } else {
            format!("{start} …")
        }
    };
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if count(&shortened(middle)) <= budget {
            low = middle
        } else {
            high = middle - 1
        }
    }
    let found = shortened(low);
    if count(&found) <= budget {
        found
    } else {
        String::new()
    }
}

/// Returns a text in one line, without control characters and marks that change the direction of text.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(4_096));
    let mut is_space = true;
    for c in text.chars() {
        let is_hidden = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        if c.is_whitespace() || (c.is_control() && !is_space) {
            if !is_space {
                line.push(' ');
            }
            is_space = true;
        } else if !is_hidden {
            line.push(c);
            is_space = false;
        }
    }
    line.truncate(line.trim_end().len());
    line
}
