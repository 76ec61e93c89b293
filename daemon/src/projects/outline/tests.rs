//! Tests of headings, keys, lines and ranges.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

fn keys(text: &str) -> Vec<String> {
    let outline = Outline::of(text);
    let sections = outline.sections().iter();
    sections.map(|section| section.key.clone()).collect()
}

#[test]
fn a_key_is_the_title_in_lower_case_with_underscores() {
    let cases = [
        ("Data Flow", "data_flow"),
        ("  Data \t Flow ", "data_flow"),
        ("DATA FLOW:", "data_flow"),
        ("2. Data Flow", "data_flow"),
        ("2) 🔀 **Data Flow** 🔀", "data_flow"),
        ("data_flow", "data_flow"),
        ("Übersicht", "übersicht"),
        ("Data-Flow (v2)", "data-flow_(v2)"),
        ("C++ & C#", "c++_&_c"),
        ("2025-06-30", "2025-06-30"),
        ("3 ways in", "3_ways_in"),
        ("1.2 Release", "1.2_release"),
        ("🚀", "🚀"),
        ("", "_"),
    ];
    for (title, key) in cases {
        assert_eq!(key_of(title), key, "{title:?}");
    }
}

#[test]
fn headings_are_those_of_commonmark() {
    let text = "# A\n\n```\n## in a fence\n```\n\n~~~md\n## in another\n~~~\n\n    ## in indented code\n\n\
        > ## quoted\n\n- ## in a list\n\n#no space\n\n`## code`\n\n<!--\n## in a comment\n-->\n\n\
        B\nB\n---\n\n   ## C ##\n\n### deeper\n\nD\n===\n## E\n##\n";
    assert_eq!(keys(text), ["a", "b_b", "c", "d", "e", "_"]);
    let levels = Outline::of(text);
    let levels: Vec<u8> = levels.headings().iter().map(|one| one.level).collect();
    assert_eq!(levels, [1, 2, 2, 3, 1, 2, 2]);
}

#[test]
fn sections_have_their_lines_and_ranges() {
    let text = "before\n\n# A\none\n## B\n### b\ntwo\n\nC\n--\nthree";
    let outline = Outline::of(text);
    assert_eq!(outline.slice(&outline.preamble()), "before\n\n");
    let reported: Vec<(u8, u32, &str, &str)> = outline
        .sections()
        .iter()
        .map(|one| {
            (
                one.level,
                one.line,
                outline.slice(&one.heading),
                outline.slice(&one.body),
            )
        })
        .collect();
    assert_eq!(
        reported,
        [
            (1, 3, "# A\n", "one\n"),
            (2, 5, "## B\n", "### b\ntwo\n\n"),
            (2, 9, "C\n--\n", "three"),
        ]
    );
    assert_eq!(outline.line(text.len()), 11);
}

#[test]
fn line_ends_and_byte_order_mark_do_not_matter() {
    let text = "# A\n\none\n\n## B C\n\n- x\n";
    for ends in ["\r\n", "\r"] {
        let other = format!("\u{feff}{}", text.replace('\n', ends));
        let (outline, plain) = (Outline::of(&other), Outline::of(text));
        let lines = |outline: &Outline<'_>| -> Vec<(String, u32)> {
            let sections = outline.sections().iter();
            sections.map(|one| (one.key.clone(), one.line)).collect()
        };
        assert_eq!(lines(&outline), lines(&plain), "{ends:?}");
        let body = &outline.sections()[1].body;
        assert_eq!(outline.slice(body).trim(), "- x", "{ends:?}");
    }
}

#[test]
fn front_matter_is_no_section_and_a_rule_is_no_front_matter() {
    let text = "---\ntitle: x\ntags: [a]\n---\n# A\n";
    assert_eq!(keys(text), ["a"]);
    assert_eq!(keys("---\n\ntext\n\n---\n\n# A\n"), ["a"]);
    // Never closed: a rule and text.
    assert_eq!(keys("---\ntitle: x\n\n# A\n"), ["a"]);
}

#[test]
fn duplicates_are_all_there() {
    assert_eq!(keys("## A\n## a\n## A:\n"), ["a", "a", "a"]);
}

#[test]
fn what_is_open_at_the_end_is_known() {
    for (text, open) in [
        ("a\n```\nb\n", true),
        ("a\n```\nb\n```\n", false),
        ("a\n````\nb\n```\n", true),
        ("a\n<!-- b\n", true),
        ("a\n<!-- b -->\n", false),
        ("<pre>\nb\n", true),
        ("- a\n  ```\n  b\n", false), // ends with its item
        ("", false),
    ] {
        assert_eq!(Outline::of(text).is_open_at_end(), open, "{text:?}");
    }
    assert_eq!(Outline::of("a\n```\nb\n").open_fence(), Some(2));
    assert_eq!(Outline::of("a\n```\nb\n```\n").open_fence(), None);
    assert!(Outline::of("```markdown\n# A\n```\n").is_wrapped());
    assert!(!Outline::of("```sh\nls\n```\n").is_wrapped());
    assert!(!Outline::of("```\n# A\n```\nand more\n").is_wrapped());
}

#[test]
fn tables_items_and_comments_are_found() {
    let text = "| a | b |\n|---|---|\n| `1` | 2 |\n| 3 |\n\n- x\n  - y\n- z\n\n<!-- c -->\nd\n";
    let outline = Outline::of(text);
    let all = outline.whole();
    let tables = outline.tables_in(&all);
    assert_eq!(tables[0].header, ["a", "b"]);
    assert_eq!(tables[0].rows.len(), 2);
    assert_eq!(tables[0].rows[0].cells, ["1", "2"]);
    let depths: Vec<u32> = outline
        .items_in(&all)
        .iter()
        .map(|item| item.depth)
        .collect();
    assert_eq!(depths, [1, 2, 1]);
    let comment = text.find("<!--").unwrap();
    assert!(outline.is_quiet(comment + 5) && !outline.is_quiet(comment - 2));
    assert!(outline.says_something(&(comment..text.len())));
    assert!(!outline.says_something(&(comment..text.len() - 2)));
}
