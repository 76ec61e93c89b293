//! Splits text into sentences.

use std::ops::Range;

/// Abbreviations that never end a sentence; in lower case, without the last dot.
const NEVER_LAST: &[&str] = &[
    "adm", "bzgl", "bzw", "ca", "capt", "cf", "d.h", "dept", "dr", "e.g", "eg", "ggf", "gov",
    "i.e", "ie", "inkl", "m.a.w", "messrs", "mgr", "mme", "mr", "mrs", "ms", "mt", "prof", "rev",
    "s.a", "sgt", "sog", "st", "u.a", "vgl", "viz", "vs", "z.b", "zzgl",
];
/// Abbreviations only before a number; elsewhere they are words.
const BEFORE_NUMBER: &[&str] = &[
    "abs", "art", "bd", "ch", "chap", "col", "eq", "eqs", "fig", "figs", "no", "nos", "nr", "op",
    "p", "par", "pp", "ref", "refs", "sec", "sect", "tab", "vol", "vols",
];
/// Abbreviations that end a sentence only before a capital letter.
const MAYBE_LAST: &[&str] = &[
    "a.m", "al", "approx", "apr", "aug", "ave", "blvd", "bros", "co", "corp", "dec", "ed", "eds",
    "etc", "feb", "inc", "jan", "jr", "jul", "jun", "ltd", "mar", "max", "min", "nov", "oct",
    "p.m", "ph.d", "rd", "sep", "sept", "sr", "u.k", "u.s", "u.s.a", "usw",
];
/// Limit on a quotable sentence, in bytes.
const LONG: usize = 600;
/// Limit on an abbreviation, in bytes.
const ABBREVIATION_MAX: usize = 12;

/// Returns the sentences of a text in order, trimmed; together they contain all non-blank text. Blank lines and
/// list items also end a sentence.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(c) = next(text, at) {
        // The whole run of terminators is skipped, so that no run is scanned twice.
        let (is_end, behind) = match c {
            '.' | '!' | '?' | '…' => terminator(text, at),
            '。' | '！' | '？' | '｡' | '．' => (true, after_closers(text, at + c.len_utf8())),
            '\n' => (is_break(text, at), at + 1),
            _ => (false, at + c.len_utf8()),
        };
        at = behind;
        if is_end {
            keep(text, start..at, &mut found);
            start = at;
        }
    }
    keep(text, start..text.len(), &mut found);
    found
}

/// Like [`sentences`], but sentences over [`LONG`] bytes (a log, a table, code) are cut at line ends or spaces,
/// so that each part can be quoted.
pub fn quotable(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for sentence in sentences(text) {
        let mut rest = sentence;
        while let Some(end) = cut(text.get(rest.clone()).unwrap_or_default()) {
            keep(text, rest.start..rest.start + end, &mut found);
            rest.start += end;
        }
        keep(text, rest, &mut found);
    }
    found
}

/// Returns where a too long sentence is cut: at the last line end within the limit, else at the last space.
fn cut(sentence: &str) -> Option<usize> {
    if sentence.len() <= LONG {
        return None;
    }
    let end = sentence.floor_char_boundary(LONG);
    let head = sentence.get(..end).unwrap_or_default();
    let space = head
        .rfind('\n')
        .or_else(|| head.rfind(char::is_whitespace))
        .filter(|at| *at > 0);
    Some(space.unwrap_or(end))
}

fn next(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

fn keep(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let inner = text.get(range.clone()).unwrap_or_default();
    let trimmed = inner.trim_start();
    let start = range.end - trimmed.len();
    let end = start + trimmed.trim_end().len();
    if start < end {
        found.push(start..end);
    }
}

/// Returns whether the terminators at `at` end a sentence, and the offset after them and their closing marks.
fn terminator(text: &str, at: usize) -> (bool, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let run = rest
        .find(|c: char| !matches!(c, '.' | '!' | '?' | '…'))
        .unwrap_or(rest.len());
    let marks = rest.get(..run).unwrap_or_default();
    let end = after_closers(text, at + run);
    let behind = text.get(end..).unwrap_or_default();
    // In decimals, file names, versions and paths, no space follows.
    if !behind.starts_with(char::is_whitespace) {
        return (behind.is_empty(), end);
    }
    let follows = behind.trim_start().chars().find(|c| !is_opener(*c));
    // Text in lower case separates the mark: "of the flow . the results are".
    let apart = text
        .get(..at)
        .unwrap_or_default()
        .ends_with(char::is_whitespace);
    if apart && run == 1 {
        return (true, end);
    }
    // Such as: "Stop!" he said; "... and so on".
    if follows.is_some_and(char::is_lowercase) {
        return (false, end);
    }
    let is_dot = marks == ".";
    (!is_dot || !is_abbreviation(text, at, follows), end)
}

/// Returns the offset after the quotes and brackets that close the sentence.
fn after_closers(text: &str, mut at: usize) -> usize {
    while let Some(c) = next(text, at) {
        if !matches!(
            c,
            '"' | '\''
                | ')'
                | ']'
                | '}'
                | '”'
                | '’'
                | '»'
                | '」'
                | '』'
                | '）'
                | '】'
                | '*'
                | '_'
                | '`'
        ) {
            break;
        }
        at += c.len_utf8();
    }
    at
}

fn is_opener(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '(' | '[' | '“' | '‘' | '„' | '«' | '*' | '_' | '`'
    )
}

/// Returns whether the dot at `at` belongs to an abbreviation, an initial or an ordinal number.
fn is_abbreviation(text: &str, at: usize, follows: Option<char>) -> bool {
    let from = text.floor_char_boundary(at.saturating_sub(ABBREVIATION_MAX));
    let head = text.get(from..at).unwrap_or_default();
    let word = head
        .rsplit(|c: char| !(c.is_alphanumeric() || c == '.'))
        .next()
        .unwrap_or_default();
    let begins_line = || {
        let lead = head.get(..head.len() - word.len()).unwrap_or_default();
        let line = lead.rsplit('\n').next().unwrap_or(lead);
        line.trim().is_empty() && (lead.contains('\n') || from == 0)
    };
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (None, _) => false,
        // Initials, and list items such as "A."; but "I" is a word.
        (Some(letter), None) if letter.is_uppercase() => letter != 'I',
        (Some(digit), _) if digit.is_ascii_digit() => {
            // The number of a list item, or a German date: "1. Mai".
            word.bytes().all(|byte| byte.is_ascii_digit()) && word.len() <= 3 && begins_line()
        }
        _ => {
            let word = word.to_lowercase();
            let listed = |list: &[&str]| list.contains(&word.as_str());
            // Initials without a space between: "J.R.R. Tolkien".
            let is_initials = word.len() > 1
                && word.split('.').all(|part| part.chars().count() == 1)
                && !listed(MAYBE_LAST);
            let starts_new = follows.is_some_and(char::is_uppercase);
            let is_number = follows.is_some_and(|c| c.is_ascii_digit());
            is_initials
                || listed(NEVER_LAST)
                || (listed(BEFORE_NUMBER) && is_number)
                || (listed(MAYBE_LAST) && !starts_new)
        }
    }
}

/// Returns whether the line end at `at` ends a sentence: the next line is blank or a list item.
fn is_break(text: &str, at: usize) -> bool {
    let rest = text.get(at + 1..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or(rest);
    if line.len() > 200 {
        // A line this long counts as not blank; only its beginning matters.
        return is_item(
            line.get(..line.floor_char_boundary(200))
                .unwrap_or_default(),
        );
    }
    line.trim().is_empty() || is_item(line)
}

/// Returns whether a line begins a list item.
pub(crate) fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '•', '–', '‣', '◦', '▪']) {
        return rest.starts_with([' ', '\t']);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..).unwrap_or_default();
    (1..=3).contains(&digits)
        && rest
            .strip_prefix(['.', ')'])
            .is_some_and(|rest| rest.starts_with([' ', '\t']))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        sentences(text)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn sentences_end_where_a_reader_would_say() {
        assert_eq!(
            texts("Dr. Smith paid $3.50. He left at 5 p.m. on Oct. 3. \"Why?\" she asked."),
            [
                "Dr. Smith paid $3.50.",
                "He left at 5 p.m. on Oct. 3.",
                "\"Why?\" she asked."
            ]
        );
        assert_eq!(
            texts("of the flow . the results are given . see fig. 3 ."),
            ["of the flow .", "the results are given .", "see fig. 3 ."]
        );
        assert_eq!(
            texts("let x = a.b(1.5);\nlet y = \"v1.2.3\";"),
            ["let x = a.b(1.5);\nlet y = \"v1.2.3\";"]
        );
        assert_eq!(
            texts("これは文です。次の文です。"),
            ["これは文です。", "次の文です。"]
        );
        assert_eq!(
            texts("Title\n\nText here\n- one\n- two"),
            ["Title", "Text here", "- one", "- two"]
        );
    }

    #[test]
    fn long_ones_are_cut_to_be_quoted() {
        let text = "word ".repeat(1000) + &"x".repeat(3000);
        let parts = quotable(&text);
        assert!(parts.iter().all(|range| range.len() <= LONG));
        let kept: String = parts
            .into_iter()
            .map(|range| text[range].to_owned() + " ")
            .collect();
        assert_eq!(kept.replace(' ', ""), text.replace(' ', ""));
    }

    proptest! {
        #[test]
        fn all_that_is_not_blank_is_in_one_sentence(text in "[a-zA-Z0-9 .!?\n\"'()äß。…-]{0,400}") {
            for ranges in [sentences(&text), quotable(&text)] {
                let mut rest = 0;
                for range in ranges {
                    prop_assert!(rest <= range.start && range.start < range.end);
                    prop_assert!(text[rest..range.start].trim().is_empty());
                    prop_assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
                    rest = range.end;
                }
                prop_assert!(text[rest..].trim().is_empty());
            }
        }
    }
}
