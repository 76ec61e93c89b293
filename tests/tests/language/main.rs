//! The language of the project: retired words do not return to the documentation, the help texts or the
//! names in the source. `phrases.txt`, `names.txt` and `identifiers.txt` list them with their replacements.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

const PHRASES: &str = include_str!("phrases.txt");
const NAMES: &str = include_str!("names.txt");
const IDENTIFIERS: &str = include_str!("identifiers.txt");

/// The keywords that declare a name, and the word that `identifiers.txt` has for them.
const DECLARATIONS: [(&str, &str); 8] = [
    ("struct", "type"),
    ("enum", "type"),
    ("union", "type"),
    ("trait", "type"),
    ("type", "type"),
    ("mod", "mod"),
    ("fn", "fn"),
    ("const", "const"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Lists the files below a folder with one of the endings, as paths from the root.
fn files(folder: &str, endings: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if endings.iter().any(|ending| path.ends_with(ending)) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn documents() -> Vec<String> {
    let mut documents = files("docs", &[".md", ".toml"]);
    documents.extend(["README.md", "CHANGELOG.md"].map(str::to_owned));
    documents
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The lines of a list: a retired word and its replacement.
fn retired(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(" → ").unwrap())
}

/// Whether a text contains a phrase that neither begins nor ends within a word.
fn contains(text: &str, phrase: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        !is_word(before.chars().next_back()) && !is_word(after.chars().next())
    })
}

/// The prose of a page in lower case, as one text: without code blocks and code in backticks.
fn prose(page: &str) -> String {
    let mut prose = String::new();
    let mut fence: Option<&str> = None;
    for line in page.lines() {
        let trimmed = line.trim_start();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match fence {
            Some(open) => fence = (trimmed != open).then_some(open),
            None if ticks >= 3 => fence = Some(&trimmed[..ticks]),
            None => {
                let words = line.split('`').step_by(2).collect::<Vec<_>>().join(" ` ");
                let words = words.trim_start_matches(['#', ' ']).to_lowercase();
                prose.push_str(&words);
                prose.push(' ');
            }
        }
    }
    prose.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "retired words:\n{}", found.join("\n"));
}

/// The words and phrases of `phrases.txt` do not occur in the prose of the documentation.
#[test]
fn documents_use_no_retired_phrases() {
    let mut found = Vec::new();
    for path in documents() {
        let prose = prose(&read(&path));
        for (phrase, instead) in retired(PHRASES) {
            if contains(&prose, phrase) {
                found.push(format!("{path}: `{phrase}`; use {instead}"));
            }
        }
    }
    assert_none(&found);
}

/// The settings, codes, operations and commands of `names.txt` do not occur in the documentation. The
/// changelog lists them with their replacements.
#[test]
fn documents_use_no_retired_names() {
    let mut found = Vec::new();
    for path in documents() {
        let text = read(&path);
        for (name, instead) in retired(NAMES) {
            if path != "CHANGELOG.md" && contains(&text, name) {
                found.push(format!("{path}: `{name}`; use `{instead}`"));
            }
        }
    }
    assert_none(&found);
}

/// The types, modules, functions and constants of `identifiers.txt` are not declared in the source.
#[test]
fn the_source_declares_no_retired_identifiers() {
    let mut sources = Vec::new();
    for folder in ["client", "daemon", "tests"] {
        sources.extend(files(folder, &[".rs"]));
    }
    let mut found = Vec::new();
    for path in sources {
        for (at, line) in read(&path).lines().enumerate() {
            let Some((kind, name)) = declaration(line) else {
                continue;
            };
            let declared = format!("{kind} {name}");
            for (identifier, instead) in retired(IDENTIFIERS) {
                if identifier == declared {
                    found.push(format!("{path}:{}: `{identifier}`; use {instead}", at + 1));
                }
            }
        }
    }
    assert_none(&found);
}

/// The kind and name of the first declaration in a line.
fn declaration(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    if line.starts_with("//") {
        return None;
    }
    let mut words = line
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .peekable();
    while let Some(word) = words.next() {
        let kind = DECLARATIONS.iter().find(|(keyword, _)| *keyword == word);
        // `const fn name` declares a function.
        if let (Some((_, kind)), Some(name)) = (kind, words.peek())
            && *name != "fn"
        {
            return Some((kind, name));
        }
    }
    None
}

/// Each check finds what it looks for.
#[test]
fn retired_words_are_recognised() {
    let page = "# Rooms\n\n```\nis told\n```\nThe view is folded\nanew, `told` once.\n";
    let prose = prose(page);
    assert_eq!(prose, "rooms the view is folded anew, ` once.");
    assert!(contains(&prose, "folded anew"));
    assert!(!contains(&prose, "room") && !contains(&prose, "told"));
    let declared = |line: &'static str| declaration(line).unwrap();
    assert_eq!(
        declared("    pub(crate) const fn example(self) {"),
        ("fn", "example")
    );
    assert_eq!(declared("pub struct Example<'a> {"), ("type", "Example"));
    assert_eq!(declaration("/// struct Example"), None);
    for list in [PHRASES, IDENTIFIERS] {
        assert!(retired(list).count() > 3);
    }
}
