//! The lines of a file that a sentence is about, from what a call wrote or read.

use std::collections::BTreeSet;

use crate::capture::memory::CallEnd;

/// Lines of a file that are compared.
const LINES_MAX: usize = 4;
/// Bytes of a line that are compared; a longer one is none of a person's.
const LINE_BYTES_MAX: usize = 400;
/// Letters and digits that a line has at least: `}` is in every file.
const LETTERS_MIN: usize = 4;
/// Letters of a word that is compared, and of the beginning that two forms of one word share.
const WORD_MIN: usize = 4;
const STEM: usize = 5;
/// What the redaction of secrets leaves: such a line is in no file.
const REDACTED: &str = "[redacted:";
/// The line that stands for a middle that was left out; those beside it may be cut.
const CUT: &str = "…";
/// How the parameters of a call begin, where it is not known which of them is written.
const PARAMETERS: &str = "{\"";
/// Headers of a file in a patch.
const PATCH_HEADERS: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// Returns the lines of a file, as a call wrote or read it, that a sentence is about: those that share words with it, and of an
/// edit at least its longest ones. `None` if the call is about other files, or shows no such line.
pub(super) fn cited_lines(sentence: &str, path: &str, call: &CallEnd) -> Option<Vec<String>> {
    let is_edit = call.edits.iter().any(|one| one == path);
    if !is_edit && !call.reads.iter().any(|one| one == path) {
        return None;
    }
    let text = if is_edit {
        &call.new_text
    } else {
        &call.outcome
    };
    if text.starts_with(PARAMETERS) {
        return None;
    }
    let all = patched(text, path).unwrap_or_else(|| text.lines().collect());
    let lines = whole(&all).map(|line| match is_edit {
        true => line.trim(),
        false => without_number(line),
    });
    let lines: Vec<&str> = lines.filter(|line| tells_something(line)).collect();
    let name = path.rsplit('/').next().unwrap_or(path);
    let words = words(&sentence.replace(name, " "));
    let mut scored: Vec<(usize, &str)> = lines
        .iter()
        .map(|line| (shared(&words, line), *line))
        .filter(|(score, _)| *score >= if is_edit { 1 } else { 2 })
        .collect();
    if scored.is_empty() && is_edit {
        scored = lines.iter().map(|line| (line.len(), *line)).collect();
    }
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.truncate(LINES_MAX);
    let found: Vec<String> = scored
        .into_iter()
        .map(|(_, line)| line.to_owned())
        .collect();
    (!found.is_empty()).then_some(found)
}

/// Returns the line of a text that says most of what a line said that is not there any more; `None` if none says half of it.
pub(super) fn like(line: &str, text: &str) -> Option<String> {
    let words = words(line);
    let scored = text.lines().map(|one| (shared(&words, one), one.trim()));
    let (score, best) = scored.max_by_key(|(score, _)| *score)?;
    (score > 0 && 2 * score >= words.len()).then(|| best.to_owned())
}

/// Returns the lines that a patch adds to a file; `None` if the text is not a patch.
fn patched<'t>(text: &'t str, path: &str) -> Option<Vec<&'t str>> {
    let header = |line: &'t str| {
        let mut headers = PATCH_HEADERS.iter();
        headers.find_map(|header| line.strip_prefix(header))
    };
    text.lines().find_map(header)?;
    let mut is_own = false;
    let mut added = Vec::new();
    for line in text.lines() {
        if let Some(of) = header(line) {
            is_own = path == of || path.ends_with(&format!("/{}", of.trim_start_matches("./")));
        } else if is_own && (line.starts_with('+') || line == CUT) {
            added.push(line.strip_prefix('+').unwrap_or(line));
        }
    }
    Some(added)
}

/// Leaves out lines beside a cut.
fn whole<'l>(lines: &'l [&'l str]) -> impl Iterator<Item = &'l str> {
    let is_cut = |at: Option<usize>| {
        at.and_then(|at| lines.get(at))
            .is_some_and(|one| *one == CUT)
    };
    let is_whole = move |at: usize| !is_cut(at.checked_sub(1)) && !is_cut(at.checked_add(1));
    let numbered = lines.iter().enumerate();
    numbered
        .filter(move |(at, line)| is_whole(*at) && **line != CUT)
        .map(|(_, line)| *line)
}

/// Takes off the number that tools print before the lines that they read.
fn without_number(line: &str) -> &str {
    let digits = line
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let had_digits = digits.len() < line.trim_start().len();
    let rest = digits.strip_prefix(['→', '\t', '|']);
    rest.filter(|_| had_digits).unwrap_or(line).trim()
}

fn tells_something(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphanumeric());
    line.len() <= LINE_BYTES_MAX && !line.contains(REDACTED) && letters.count() >= LETTERS_MIN
}

/// Returns the words of a text that say something: long ones, by how they begin, and numbers.
fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    let telling = parts.filter(|word| {
        word.chars().count() >= WORD_MIN || word.chars().any(|c| c.is_ascii_digit())
    });
    let stem = |word: &str| word.to_lowercase().chars().take(STEM).collect();
    telling.map(stem).collect()
}

fn shared(words: &BTreeSet<String>, line: &str) -> usize {
    self::words(line).intersection(words).count()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const RULE: &str = "Amounts are rounded to 2 digits in cart.rs, never in the refund.";

    fn edit(new_text: &str) -> CallEnd {
        CallEnd {
            edits: vec!["/shop/src/cart.rs".to_owned()],
            new_text: new_text.to_owned(),
            ..CallEnd::default()
        }
    }

    fn read(outcome: &str) -> CallEnd {
        CallEnd {
            reads: vec!["/shop/src/cart.rs".to_owned()],
            outcome: outcome.to_owned(),
            ..CallEnd::default()
        }
    }

    #[test]
    fn lines_that_share_words_are_cited() {
        let written = "fn total() {\n    round(amount, 2)\n}\nfn logo() {}\n";
        for (call, lines) in [
            (edit(written), Some(vec!["round(amount, 2)"])),
            // Without any, the edit itself is what was said.
            (
                edit("let sum = all();\n}\n"),
                Some(vec!["let sum = all();"]),
            ),
            (edit("}\n"), None),
            (
                read("   11\tfn total() {\n   12\t    round(amount, 2)\n"),
                Some(vec!["round(amount, 2)"]),
            ),
            (
                read("    12→    round(amount, 2)"),
                Some(vec!["round(amount, 2)"]),
            ),
            // One common word of a read is chance.
            (read("fn amount() {}"), None),
            (edit("round(amount, [redacted:token])"), None),
            (edit("{\"do\": \"round(amount, 2)\"}"), None),
            (CallEnd::default(), None),
        ] {
            let found = cited_lines(RULE, "/shop/src/cart.rs", &call);
            let found = found
                .as_ref()
                .map(|lines| lines.iter().map(String::as_str).collect());
            assert_eq!(found, lines, "{call:?}");
        }
    }

    #[test]
    fn a_patch_says_which_file_a_line_is_in() {
        let patch = "*** Begin Patch\n*** Update File: src/logo.rs\n+round(amount, 9)\n*** Update File: src/cart.rs\n@@\n-round(amount)\n+round(amount, 2)\n*** End Patch";
        let found = cited_lines(RULE, "/shop/src/cart.rs", &edit(patch));
        assert_eq!(found.unwrap(), ["round(amount, 2)"]);
    }

    #[test]
    fn lines_beside_a_cut_are_not_compared() {
        let cut = "round(amount, 1)\nround(amo\n…\nount, 5)\nround(amount, 2)";
        let found = cited_lines(RULE, "/shop/src/cart.rs", &edit(cut));
        assert_eq!(found.unwrap(), ["round(amount, 2)", "round(amount, 1)"]);
    }

    #[test]
    fn what_holds_now_says_half_of_it() {
        let text = "fn total() {\n    round(amount, 3)\n}\n";
        assert_eq!(like("round(amount, 2)", text).unwrap(), "round(amount, 3)");
        assert_eq!(like("let gateway = open(port);", text), None);
        assert_eq!(like("", text), None);
    }
}
