//! Sentences of a message: what its author says, without code, quotes, tables, logs and pasted text.

use super::list::WordList;
use std::ops::Range;

use super::{beginning, is_cjk};

/// Bytes of a message that are read.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// Sentences of a message that are returned.
const SENTENCES_MAX: usize = 512;

/// Longer sentences are lists, logs or encoded data.
pub const SENTENCE_BYTES_MAX: usize = 600;

/// A line of at least this many characters continues in the next one if it ends without a mark.
const WRAPPED_CHARS_MIN: usize = 60;

/// Prose of more lines, or more bytes, than these was probably pasted: only its first and its last paragraph are its
/// author's own.
const OWN_LINES_MAX: usize = 40;
const OWN_BYTES_MAX: usize = 3_000;

/// Words before a dot that does not end a sentence.
static ABBREVIATIONS: WordList = WordList::new(
    "e.g i.e etc vs cf approx no nr z.b bzw usw ca d.h u.a p.ej ej dr mr mrs ms st fig sec",
);

/// A sentence of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its text in one line.
    pub text: String,
    /// Its bytes in the message.
    pub span: Range<usize>,
    /// Whether it ends as a question.
    pub is_question: bool,
}

/// A paragraph in one line, with the place of each byte in the message.
#[derive(Default)]
struct Paragraph {
    text: String,
    places: Vec<usize>,
    lines: usize,
}

impl Paragraph {
    fn push(&mut self, line: &str, at: usize) {
        if !self.text.is_empty() {
            self.text.push(' ');
            self.places.push(at);
        }
        for (offset, c) in line.char_indices() {
            let c = if c.is_whitespace() || c.is_control() {
                ' '
            } else {
                c
            };
            self.text.push(c);
            self.places
                .extend((0..c.len_utf8()).map(|byte| at + offset + byte));
        }
        self.lines += 1;
    }
}

/// Splits what the author of a message says into sentences.
#[must_use]
pub fn sentences(message: &str) -> Vec<Sentence> {
    let message = beginning(message, MESSAGE_BYTES_MAX);
    let (paragraphs, blocks) = paragraphs(message);
    let lines: usize = paragraphs.iter().map(|one| one.lines).sum();
    let bytes: usize = paragraphs.iter().map(|one| one.text.len()).sum();
    let is_pasted = lines > OWN_LINES_MAX || bytes > OWN_BYTES_MAX;
    let last_block = blocks.last().copied().unwrap_or_default();
    let mut found = Vec::new();
    for (paragraph, block) in paragraphs.iter().zip(blocks) {
        if is_pasted && block != 0 && block != last_block {
            continue;
        }
        split(paragraph, &mut found);
        if found.len() >= SENTENCES_MAX {
            found.truncate(SENTENCES_MAX);
            break;
        }
    }
    found
}

/// Returns the paragraphs, and for each the number of its block: what stands between empty lines.
fn paragraphs(message: &str) -> (Vec<Paragraph>, Vec<usize>) {
    let (mut found, mut blocks) = (Vec::<Paragraph>::new(), Vec::new());
    let mut fence: Option<&str> = None;
    let mut tag_depth = 0_usize;
    let (mut block, mut at) = (0, 0);
    let (mut joins, mut is_after_empty) = (false, true);
    for whole in message.split_inclusive('\n') {
        let start = at;
        at += whole.len();
        let line = whole.trim_end();
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| trimmed.starts_with(mark));
        if let Some(mark) = mark {
            match fence {
                Some(open) if open == mark => fence = None,
                Some(_) => {}
                None => fence = Some(mark),
            }
            joins = false;
            continue;
        }
        if fence.is_some() {
            continue;
        }
        // What hosts and tools put around inserted text: `<file>` to `</file>`, each in a line of its own.
        if is_tag(trimmed, "</") {
            tag_depth = tag_depth.saturating_sub(1);
            joins = false;
            continue;
        }
        if is_tag(trimmed, "<") {
            tag_depth += 1;
            joins = false;
            continue;
        }
        if trimmed.is_empty() {
            block += usize::from(!is_after_empty && !found.is_empty());
            (joins, is_after_empty) = (false, true);
            continue;
        }
        let indented = line.len() - trimmed.len();
        let is_code = indented >= 4 && is_after_empty && start > 0;
        if tag_depth > 0 || is_code || is_no_prose(trimmed) {
            joins = false;
            continue;
        }
        is_after_empty = false;
        let (text, is_item) = without_marker(trimmed);
        let offset = start + (line.len() - text.len());
        match found.last_mut() {
            Some(open) if joins && !is_item => open.push(text, offset),
            _ => {
                let mut paragraph = Paragraph::default();
                paragraph.push(text, offset);
                found.push(paragraph);
                blocks.push(block);
            }
        }
        let is_long = text.chars().take(WRAPPED_CHARS_MIN).count() == WRAPPED_CHARS_MIN;
        joins = is_long || text.ends_with(',');
    }
    (found, blocks)
}

/// Whether a line is one tag.
fn is_tag(line: &str, open: &str) -> bool {
    let Some(inner) = line
        .strip_prefix(open)
        .and_then(|rest| rest.strip_suffix('>'))
    else {
        return false;
    };
    let name = inner.split_whitespace().next().unwrap_or_default();
    !name.is_empty()
        && !inner.contains(['<', '>'])
        && !inner.ends_with('/')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Whether a line is a quote, a heading, a row of a table, a log, a trace, a diff or code.
fn is_no_prose(line: &str) -> bool {
    const STARTS: &[&str] = &[
        ">", "|", "# ", "## ", "### ", "#### ", "$ ", "% ", "❯", "➜", "»", "+++", "---", "@@",
        "at ", "File \"", "import ", "from ", "{", "}", "[", "//", "/*", "diff ", "commit ",
        "<!--", "E   ", "==", "~~~",
    ];
    if STARTS.iter().any(|start| line.starts_with(start)) && !is_sentence_after_at(line) {
        return true;
    }
    let starts_with_date = line.bytes().take(4).filter(u8::is_ascii_digit).count() == 4
        && line.as_bytes().get(4) == Some(&b'-');
    let marks = line
        .chars()
        .filter(|c| {
            matches!(
                c,
                '{' | '}' | ';' | '=' | '<' | '>' | '|' | '\\' | '(' | ')'
            )
        })
        .count();
    let letters = line
        .chars()
        .filter(|c| c.is_alphabetic() || is_cjk(*c))
        .count();
    let ends_as_code =
        line.ends_with([';', '{', '}']) || line.ends_with("->") || line.ends_with("=>");
    starts_with_date
        || (marks * 8 > letters && marks > 2)
        || (ends_as_code && marks > 1)
        || letters < 2
}

/// Whether a line that starts as code may start is a sentence: "at night ...", "from now on ...".
fn is_sentence_after_at(line: &str) -> bool {
    let is_word = line.starts_with("at ") || line.starts_with("from ");
    is_word && !line.contains(['(', '{', ';']) && !line.contains(" import ")
}

/// Removes the marker of a list item.
fn without_marker(line: &str) -> (&str, bool) {
    for marker in ["- ", "* ", "+ ", "• ", "– "] {
        if let Some(rest) = line.strip_prefix(marker) {
            let rest = rest.trim_start();
            let rest = rest
                .strip_prefix("[ ] ")
                .or_else(|| rest.strip_prefix("[x] "))
                .unwrap_or(rest);
            return (rest, true);
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits)
        && let Some(rest) = line.get(digits..)
        && let Some(rest) = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    {
        return (rest.trim_start(), true);
    }
    (line, false)
}

/// Splits a paragraph at the marks that end a sentence.
fn split(paragraph: &Paragraph, found: &mut Vec<Sentence>) {
    let text = paragraph.text.as_str();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '。' | '！' | '？' => true,
            '!' | '?' | '…' => next.is_none_or(|next| next.is_whitespace() || next == '"'),
            '.' => next.is_none_or(char::is_whitespace) && ends_sentence(text, at),
            _ => false,
        };
        if ends {
            push(paragraph, start..end, found);
            start = end;
        }
    }
    push(paragraph, start..text.len(), found);
}

/// Whether the dot at a place ends a sentence.
fn ends_sentence(text: &str, dot: usize) -> bool {
    let before = text.get(..dot).unwrap_or_default();
    let word = before
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next()
        .unwrap_or_default();
    let after = text.get(dot + 1..).unwrap_or_default().trim_start();
    let next = after.chars().next();
    // "A. is fine": the letter of an option.
    if word.chars().count() == 1 && next.is_some_and(char::is_lowercase) {
        return false;
    }
    // Ordinals of German dates: "am 3. Mai".
    if !word.is_empty()
        && word.len() <= 2
        && word.bytes().all(|byte| byte.is_ascii_digit())
        && next.is_some()
    {
        return false;
    }
    let lower = word.to_lowercase();
    // "no." and "st." are abbreviations only before a number.
    let needs_number = matches!(lower.as_str(), "no" | "nr" | "st" | "fig" | "sec");
    let is_abbreviation = ABBREVIATIONS.has(&lower)
        && (!needs_number || next.is_some_and(|next| next.is_ascii_digit()));
    !is_abbreviation || next.is_none()
}

fn push(paragraph: &Paragraph, range: Range<usize>, found: &mut Vec<Sentence>) {
    let Some(raw) = paragraph.text.get(range.clone()) else {
        return;
    };
    let trimmed = raw.trim();
    if trimmed.is_empty() || trimmed.len() > SENTENCE_BYTES_MAX {
        return;
    }
    let first = range.start + (raw.len() - raw.trim_start().len());
    let last = first + trimmed.len() - 1;
    let (Some(start), Some(end)) = (paragraph.places.get(first), paragraph.places.get(last)) else {
        return;
    };
    let text = trimmed.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_question = text
        .trim_end_matches(['"', ')', '*', '_', '!'])
        .ends_with(['?', '？'])
        || text.starts_with('¿');
    found.push(Sentence {
        text,
        span: *start..end + 1,
        is_question,
    });
}
