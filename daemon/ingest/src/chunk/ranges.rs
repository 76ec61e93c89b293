//! The pieces that chunks are made of: sentences, rows, items, lines, and parts of oversized ones.

use super::Sizes;
use super::words::{Count, count};
use crate::sentences::{is_item, sentences};
use crate::{Block, BlockKind};
use std::ops::Range;

/// Default cost of a break before a piece.
const USUAL: u8 = 16;
/// Limit on the indentation that increases the cost of a break.
const INDENT_MAX: usize = 12;

/// A piece of text that is not cut.
#[derive(Debug, Clone)]
pub(super) struct TextRange {
    pub range: Range<usize>,
    pub words: usize,
    /// Cost of beginning a chunk with this piece.
    pub cost: u8,
    /// Whether the piece may be repeated at the beginning of the next chunk.
    pub is_sentence: bool,
    pub is_heading: bool,
}

impl TextRange {
    fn new(text: &str, range: Range<usize>, cost: u8) -> Self {
        Self {
            words: count(text.get(range.clone()).unwrap_or_default()),
            range,
            cost,
            is_sentence: false,
            is_heading: false,
        }
    }

    fn fits(&self, sizes: &Sizes) -> bool {
        self.words <= sizes.words && self.range.len() <= sizes.bytes()
    }
}

/// Splits a block into pieces, in order, each within the sizes.
pub(super) fn pieces(text: &str, block: &Block, sizes: &Sizes) -> Vec<TextRange> {
    let inner = text.get(block.range.clone()).unwrap_or_default();
    let at = block.range.start;
    let whole = || TextRange::new(text, block.range.clone(), USUAL);
    let found = match block.sort {
        BlockKind::Heading => vec![TextRange {
            is_heading: true,
            ..whole()
        }],
        BlockKind::Prose => sentences_of(text, block.range.clone()),
        BlockKind::List | BlockKind::Rows | BlockKind::Code if whole().fits(sizes) => {
            return vec![whole()];
        }
        BlockKind::List => items(text, block.range.clone(), sizes),
        BlockKind::Rows => lines(inner, at)
            .map(|line| TextRange::new(text, line, USUAL))
            .collect(),
        BlockKind::Code => code(text, block.range.clone()),
    };
    let mut out = Vec::with_capacity(found.len());
    for piece in found {
        match piece.fits(sizes) {
            true => out.push(piece),
            false => cut(text, &piece, sizes, &mut out),
        }
    }
    out
}

fn sentences_of(text: &str, range: Range<usize>) -> Vec<TextRange> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let found = sentences(inner).into_iter().map(|sentence| {
        let sentence = range.start + sentence.start..range.start + sentence.end;
        TextRange {
            is_sentence: true,
            ..TextRange::new(text, sentence, USUAL)
        }
    });
    found.collect()
}

/// Iterates over the ranges of non-blank lines, without trailing white space.
fn lines(inner: &str, at: usize) -> impl Iterator<Item = Range<usize>> {
    let mut next = at;
    inner.split_inclusive('\n').filter_map(move |line| {
        let start = next;
        next += line.len();
        let end = start + line.trim_end().len();
        (start < end).then_some(start..end)
    })
}

/// Splits a list into items. A break at a nested item costs more; oversized items become sentences.
fn items(text: &str, range: Range<usize>, sizes: &Sizes) -> Vec<TextRange> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let mut items: Vec<TextRange> = Vec::new();
    for line in lines(inner, range.start) {
        let says = text.get(line.clone()).unwrap_or_default();
        match items.last_mut() {
            Some(last) if !is_item(says) => last.range.end = line.end,
            _ => {
                let cost = USUAL + indent(says).min(INDENT_MAX) as u8;
                items.push(TextRange::new(text, line, cost));
            }
        }
    }
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        let item = TextRange::new(text, item.range, item.cost);
        match item.fits(sizes) {
            true => out.push(item),
            false => out.extend(sentences_of(text, item.range)),
        }
    }
    out
}

/// Splits code into lines. A chunk begins best at a line with little indentation, but not at one that closes
/// the code above, or belongs to a comment or attribute above.
fn code(text: &str, range: Range<usize>) -> Vec<TextRange> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let mut out: Vec<TextRange> = Vec::new();
    let mut end_before = range.start;
    let mut is_led_to = false;
    for line in lines(inner, range.start) {
        let says = text.get(line.clone()).unwrap_or_default();
        let gap = text.get(end_before..line.start).unwrap_or_default();
        let is_after_blank = gap.bytes().filter(|byte| *byte == b'\n').count() > 1;
        end_before = line.end;
        let depth = (indent(says).min(INDENT_MAX) as u8).saturating_mul(2);
        let cost = match () {
            () if closes(says) => u8::MAX,
            () if is_led_to && !is_after_blank => USUAL + depth + 1,
            () => depth + u8::from(!is_after_blank),
        };
        is_led_to = leads(says);
        out.push(TextRange::new(text, line, cost));
    }
    out
}

/// Returns the indentation of a line, in steps of two columns.
fn indent(line: &str) -> usize {
    let mut columns = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4,
            _ => break,
        }
    }
    columns / 2
}

/// Whether a line belongs to the line above.
fn closes(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "end", "else", "elif", "elsif", "fi", "done", "esac", "then", "except", "finally", "catch",
    ];
    let line = line.trim_start();
    let word = line
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(line.len());
    line.starts_with(['}', ')', ']', '{'])
        || line.starts_with("```")
        || line.get(..word).is_some_and(|word| WORDS.contains(&word))
}

/// Whether a line belongs to the line below: a comment, an attribute, a decorator.
fn leads(line: &str) -> bool {
    let line = line.trim_start();
    [
        "//", "#", "/*", "*", "@", "--", ";;", "\"\"\"", "template", "[[",
    ]
    .iter()
    .any(|lead| line.starts_with(lead))
}

/// Cuts an oversized piece at the last line end, else at the last white space, else between any two characters.
fn cut(text: &str, piece: &TextRange, sizes: &Sizes, out: &mut Vec<TextRange>) {
    let mut start = piece.range.start;
    let mut is_first = true;
    while start < piece.range.end {
        let rest = text.get(start..piece.range.end).unwrap_or_default();
        let end = start + cut_at(rest, sizes);
        let part = text.get(start..end).unwrap_or_default();
        let lead = part.len() - part.trim_start().len();
        let range = start + lead..start + part.trim_end().len().max(lead);
        if range.start < range.end {
            out.push(TextRange {
                is_sentence: piece.is_sentence && !is_first && end == piece.range.end,
                is_heading: piece.is_heading,
                ..TextRange::new(text, range, if is_first { piece.cost } else { USUAL + 1 })
            });
            is_first = false;
        }
        start = end;
    }
}

/// Returns the length of the next part, in bytes.
fn cut_at(rest: &str, sizes: &Sizes) -> usize {
    let mut count = Count::default();
    let mut line = None;
    let mut space = None;
    for (at, c) in rest.char_indices() {
        count.push(c);
        if count.words > sizes.words || at + c.len_utf8() > sizes.bytes() {
            // A line end in the second half is preferred to the last white space.
            let line = line.filter(|line| *line > at / 2);
            return line.or(space).unwrap_or(at).max(1);
        }
        if c.is_whitespace() && at > 0 {
            space = Some(at);
            line = (c == '\n').then_some(at).or(line);
        }
    }
    rest.len()
}
