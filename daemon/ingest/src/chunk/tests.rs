//! Golden lists of chunks, and properties of the chunks of any text.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{Chunk, Sizes, chunks, words};
use crate::sentences::sentences;
use crate::{ExtractedText, Limits, extract};
use proptest::prelude::*;

fn read(name: &str, text: &str) -> ExtractedText {
    extract(text.as_bytes(), name, &Limits::default()).unwrap()
}

fn sizes(words: usize) -> Sizes {
    Sizes { words, overlap: 1 }
}

/// Returns the headings and the text of each chunk.
fn chunk_texts(document: &ExtractedText, words: usize) -> Vec<(String, String)> {
    let found = chunks(document, &sizes(words));
    let reported = found.into_iter().enumerate().map(|(number, chunk)| {
        assert_eq!(chunk.number, number);
        (
            chunk.path.join(" / "),
            document.text[chunk.range].to_owned(),
        )
    });
    reported.collect()
}

fn split(text: &str) -> Vec<&str> {
    let ranges = sentences(text);
    ranges.into_iter().map(|range| &text[range]).collect()
}

/// Texts in lower case, with spaces around punctuation, are still cut between sentences.
#[test]
fn chunks_of_a_lower_case_text_are_whole_sentences() {
    let text = "the flow past a flat plate was measured . ".repeat(30);
    let chunks = chunk_texts(&read("a.txt", &text), 60);
    assert!(chunks.len() > 3);
    for (_, chunk) in chunks {
        assert!(
            chunk.starts_with("the flow") && chunk.ends_with(" ."),
            "{chunk}"
        );
    }
}

#[test]
fn sentences_end_where_a_reader_would_end_them() {
    let cases: &[(&str, &[&str])] = &[
        ("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"]),
        (
            "It costs 3.50 now. Buy v1.2.3 of it.",
            &["It costs 3.50 now.", "Buy v1.2.3 of it."],
        ),
        (
            "Dr. Smith met J. R. R. Tolkien. They ate.",
            &["Dr. Smith met J. R. R. Tolkien.", "They ate."],
        ),
        (
            "See Fig. 3 and e.g. Table 2. No. We won't.",
            &["See Fig. 3 and e.g. Table 2.", "No.", "We won't."],
        ),
        (
            "Wait... what? Yes... Then go.",
            &["Wait... what?", "Yes...", "Then go."],
        ),
        (
            "He said \"Stop!\" and left. \"Go.\" She went.",
            &["He said \"Stop!\" and left.", "\"Go.\"", "She went."],
        ),
        (
            "我们走吧。他来了！好。",
            &["我们走吧。", "他来了！", "好。"],
        ),
        (
            "Use `a.b()` or std::io. Call x.y.z first.",
            &["Use `a.b()` or std::io.", "Call x.y.z first."],
        ),
        (
            "A line\nthat goes on.\n\nA paragraph",
            &["A line\nthat goes on.", "A paragraph"],
        ),
        (
            "Steps:\n1. Do it.\n2. Go on\n- more",
            &["Steps:", "1. Do it.", "2. Go on", "- more"],
        ),
        (
            "At Acme Inc. we met. At Acme Inc. We met.",
            &["At Acme Inc. we met.", "At Acme Inc.", "We met."],
        ),
        ("So am I. You too.", &["So am I.", "You too."]),
        ("(It works.) Well done.", &["(It works.)", "Well done."]),
        ("....", &["...."]),
        (" \n\t ", &[]),
    ];
    for (text, wanted) in cases {
        assert_eq!(split(text), *wanted, "{text:?}");
    }
}

#[test]
fn words_are_counted_as_they_are_read() {
    assert_eq!(words::count("It's a well-kept crate."), 5);
    assert_eq!(words::count("snake_case(x, 42)"), 3);
    assert_eq!(words::count("我们走吧"), 4);
    assert_eq!(words::count(&"x".repeat(48)), 2);
    assert_eq!(words::count("--- *** !!!"), 0);
}

#[test]
fn prose_is_packed_by_section_and_told_again_by_one_sentence() {
    let text = "# Guide\n\n## Start\n\nInstall it first. Then run the tool once. \
        It writes a small file. Read that file now.\n\n## End\n\nRemove it.\n";
    let wanted = [
        (
            "Guide / Start",
            "# Guide\n\n## Start\n\nInstall it first. Then run the tool once.",
        ),
        (
            "Guide / Start",
            "Then run the tool once. It writes a small file.",
        ),
        (
            "Guide / Start",
            "It writes a small file. Read that file now.",
        ),
        ("Guide / End", "## End\n\nRemove it."),
    ];
    let wanted = wanted.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(chunk_texts(&read("a.md", text), 11), wanted);
}

#[test]
fn tables_lists_and_code_stay_whole_where_they_fit() {
    let table = "| a | b |\n| --- | --- |\n| one | two |\n| three | four |";
    let list = "- one two three\n- four five six\n  seven\n- eight nine";
    let code = "```rust\nfn main() {\n\n    run();\n}\n```";
    let text = format!("Some words before all of it.\n\n{table}\n\n{list}\n\n{code}\n");
    let found = chunk_texts(&read("a.md", &text), 10);
    let found: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(found, ["Some words before all of it.", table, list, code]);
}

#[test]
fn what_does_not_fit_is_cut_between_rows_and_items() {
    let rows: String = (0..6)
        .map(|row| format!("| row {row} | value {row} |\n"))
        .collect();
    let table = format!("| k | v |\n| --- | --- |\n{rows}");
    let found = chunk_texts(&read("a.md", &table), 10);
    assert_eq!(
        found[0].1,
        "| k | v |\n| --- | --- |\n| row 0 | value 0 |\n| row 1 | value 1 |"
    );
    assert_eq!(found[1].1, "| row 2 | value 2 |\n| row 3 | value 3 |");
    let list = "- one two three four\n- five six seven eight\n  - nine ten\n- eleven twelve one\n";
    let found = chunk_texts(&read("a.md", list), 8);
    let found: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        found,
        [
            "- one two three four",
            "- five six seven eight\n  - nine ten",
            "- eleven twelve one"
        ]
    );
}

#[test]
fn code_is_cut_between_functions_with_their_comments() {
    let function = |name: &str| {
        format!(
            "/// Does {name}.\nfn {name}(a: u32) -> u32 {{\n    let b = a + 1;\n\n    b * 2\n}}\n"
        )
    };
    let text = format!(
        "use std::io;\n\n{}\n{}\n{}",
        function("one"),
        function("two"),
        function("three")
    );
    let found = chunk_texts(&read("a.rs", &text), 18);
    let found: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
    let trimmed = |name: &str| function(name).trim_end().to_owned();
    assert_eq!(
        found,
        [
            format!("use std::io;\n\n{}", trimmed("one")),
            trimmed("two"),
            trimmed("three")
        ]
    );
}

#[test]
fn data_is_packed_across_its_sections() {
    let text = "name = \"x\"\n\n[server]\nhost = \"a\"\nport = 1\n\n[server.tls]\nkey = \"k\"\n\n[client]\nhost = \"b\"\n";
    let document = read("a.toml", text);
    let all = chunk_texts(&document, 100);
    assert_eq!(all, [(String::new(), text.trim_end().to_owned())]);
    let found = chunk_texts(&document, 9);
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["", "server", "client"]);
    assert!(
        found[1].1.starts_with("[server]") && found[1].1.contains("[server.tls]"),
        "{found:?}"
    );
}

#[test]
fn what_has_no_end_is_cut_at_lines_then_words_then_characters() {
    let words = "word ".repeat(100);
    let found = chunk_texts(&read("a.txt", &words), 10);
    assert_eq!(found.len(), 10);
    assert!(
        found.iter().all(|(_, text)| text.split(' ').count() == 10),
        "{found:?}"
    );
    let found = chunk_texts(&read("a.txt", &"é".repeat(1000)), 8);
    assert!(
        found
            .iter()
            .all(|(_, text)| text.len() <= 8 * 16 && !text.is_empty()),
        "{found:?}"
    );
    assert_eq!(
        found.iter().map(|(_, text)| text.len()).sum::<usize>(),
        2000
    );
    let log = "GET /index 200 ok\n".repeat(50);
    let found = chunk_texts(&read("a.txt", &log), 20);
    assert!(
        found.iter().all(|(_, text)| text.ends_with("ok")),
        "{found:?}"
    );
}

/// Asserts that chunks cover all text except blank ranges, in order and within the sizes, each with new text.
fn assert_whole(document: &ExtractedText, found: &[Chunk], sizes: &Sizes) {
    let text = &document.text;
    let mut done = 0;
    for (number, chunk) in found.iter().enumerate() {
        assert_eq!(chunk.number, number);
        let reported = text.get(chunk.range.clone()).unwrap();
        assert!(words::count(reported) <= sizes.words, "{reported:?}");
        assert!(reported.len() <= sizes.bytes(), "{reported:?}");
        assert!(chunk.range.end > done);
        let gap = text.get(done..chunk.range.start).unwrap_or_default();
        assert!(gap.trim().is_empty(), "{gap:?} is lost");
        done = chunk.range.end;
    }
    assert!(
        text[done..].trim().is_empty(),
        "{:?} is lost",
        &text[done..]
    );
}

/// Generates texts from characters and words that affect splitting.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z]{1,12}",
        "[A-Z][a-z]{0,5}",
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        "[.!?]{1,3}",
        Just("# ".to_owned()),
        Just("- ".to_owned()),
        Just("1. ".to_owned()),
        Just("| a | b |\n| --- | --- |\n".to_owned()),
        Just("```\n".to_owned()),
        Just("    ".to_owned()),
        Just("===\n".to_owned()),
        Just("key: ".to_owned()),
        Just("[a.b]\n".to_owned()),
        Just("{\"a\": [1, {\"b\": \"c\"}]}".to_owned()),
        Just("<p>".to_owned()),
        Just("<table><tr><td>".to_owned()),
        Just("e.g. Dr. J. ".to_owned()),
        Just("我们。".to_owned()),
        Just("\u{301}é’\u{a0}\u{2028}".to_owned()),
        any::<char>().prop_map(String::from),
        "[a-z]{200,300}",
    ];
    proptest::collection::vec(part, 0..120).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn chunks_hold_all_of_any_text(
        text in texts(),
        kind in prop::sample::select(vec!["md", "txt", "rst", "html", "rs", "json", "yaml", "toml", "csv"]),
        words in 8usize..60,
        overlap in 0usize..3,
    ) {
        let sizes = Sizes { words, overlap };
        // Control characters may make the text binary, which is rejected.
        if let Ok(document) = extract(text.as_bytes(), &format!("a.{kind}"), &Limits::default()) {
            assert_whole(&document, &chunks(&document, &sizes), &sizes);
        }
    }

    #[test]
    fn sentences_hold_all_of_any_text(text in texts()) {
        let mut done = 0;
        for range in sentences(&text) {
            prop_assert!(range.start < range.end && range.start >= done);
            prop_assert!(text[done..range.start].trim().is_empty());
            done = range.end;
        }
        prop_assert!(text[done..].trim().is_empty());
    }
}
