//! Replaces texts that differ between runs: ids, times, hashes, folders, cursors, scores.

use regex::{Captures, Regex};

/// Shapes of ids, with the replacement of each. An id keeps its number, so that a reader recognises it.
const IDS: [(&str, &str); 7] = [
    (
        "checkpoint",
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    ),
    ("session", r"\bs-[0-9a-z]{16}\b"),
    ("message", r"\bm-[0-9a-z]{16}\b"),
    ("tool", r"\bt-[0-9a-z]{16}\b"),
    ("pack", r"\bp-[0-9a-z]{16}\b"),
    ("document", r"\bdoc-[0-9a-z]{16}\b"),
    ("source", r"\bsource-[0-9a-z]{16}\b"),
];

/// Other shapes, with their replacements.
const SHAPES: [(&str, &str); 16] = [
    // A daemon that is idle for some time verifies what its first start made.
    (r"(?m)^verified +up to .*\n", ""),
    (r#"(?m)^ *"verified": \{[^}]*\},\n"#, ""),
    (r"\b\d+ bytes free", "<n> bytes free"),
    (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z", "<time>"),
    (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}", "<local time>"),
    // Of a line of a conversation, and of a heading that was completed.
    (r"(\[[a-z_ ]+) \d{4}-\d{2}-\d{2}\]", "$1 <date>]"),
    (r"\(\d{4}-\d{2}-\d{2}\)", "(<date>)"),
    (r"\bprocess:\d+:\d+", "process:<id>:<start>"),
    (r"\b[0-9a-f]{64}\b", "<hash>"),
    (r"\b[0-9a-f]{32}\b", "<id>"),
    (r"\b[0-9]{16}\b", "<microseconds>"),
    (r#""uid": ?\d+"#, r#""uid": <uid>"#),
    (r"\bagents-[0-9a-f]{8}\b", "<project>"),
    (r"--next \S+", "--next <cursor>"),
    (r#""next": ?"[^"]*""#, r#""next": "<cursor>""#),
    (r"-?\b\d+\.\d{4,}(e-?\d+)?\b", "<score>"),
];

/// Ids in the order of their first occurrence.
#[derive(Default)]
pub struct Redactor {
    seen: Vec<(String, String)>,
    /// Texts and their replacements.
    pub texts: Vec<(String, String)>,
}

impl Redactor {
    /// Replaces all of these in a text.
    pub fn redact(&mut self, text: &str) -> String {
        let texts = self.texts.iter();
        let mut text = texts.fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        for (word, shape) in IDS {
            let shape = Regex::new(shape).unwrap();
            let named = shape.replace_all(&text, |id: &Captures| self.name_of(word, &id[0]));
            text = named.into_owned();
        }
        for (shape, to) in SHAPES {
            text = Regex::new(shape)
                .unwrap()
                .replace_all(&text, to)
                .into_owned();
        }
        text
    }

    fn name_of(&mut self, word: &str, id: &str) -> String {
        if let Some((_, name)) = self.seen.iter().find(|(seen, _)| seen == id) {
            return name.clone();
        }
        if id.trim_end_matches(['0', '-', '4', '8']).len() <= 2 {
            // The script contains it literally.
            return id.to_owned();
        }
        let of_word = |(_, name): &&(String, String)| name.starts_with(&format!("<{word}-"));
        let number = self.seen.iter().filter(of_word).count() + 1;
        let name = format!("<{word}-{number}>");
        self.seen.push((id.to_owned(), name.clone()));
        name
    }

    /// Replaces the names in a line of a script by their ids.
    pub fn fill_in(&self, line: &str) -> String {
        let seen = self.seen.iter();
        seen.fold(line.to_owned(), |line, (id, name)| line.replace(name, id))
    }
}

/// Replaces every number in a redacted text.
pub fn without_numbers(text: &str) -> String {
    let number = Regex::new(r"<[a-z]+-\d+>|\d+(\.\d+)?(e[-+]?\d+)?").unwrap();
    let replaced = number.replace_all(text, |found: &Captures| match &found[0] {
        name if name.starts_with('<') => name.to_owned(),
        _ => "<n>".to_owned(),
    });
    replaced.into_owned()
}
