//! A context that was read with the help of another one is what it would be without.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fmt::Write;
use std::sync::Arc;

use lored_redact::{Redactor, SecretCounts};
use proptest::prelude::*;

use super::scanner::common_prefix;
use super::*;
use crate::canonical::quoted;

/// JSON in which things change.
#[derive(Clone, Debug)]
enum Json {
    Raw(String),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

/// Choices that repeat for a seed.
struct SeededChoices(u64);

impl SeededChoices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    fn words(&mut self, count: usize) -> String {
        const WORDS: [&str; 12] = [
            "merge",
            "é",
            "\u{1F600}",
            "\n",
            "\"quoted\"",
            "token",
            "login",
            "\\",
            "deploy",
            "a/b",
            "node",
            "_",
        ];
        (0..count)
            .map(|_| format!("{}{} ", WORDS[self.below(12)], self.below(100)))
            .collect()
    }

    fn key(&mut self) -> String {
        const KEYS: [&str; 14] = [
            "id",
            "role",
            "content",
            "name",
            "value",
            "state",
            "messages",
            "password",
            "é",
            "\u{E000}",
            "\u{1F600}",
            "a\"b",
            "header",
            "plan",
        ];
        match self.below(3) {
            0 => KEYS[self.below(14)].to_owned(),
            _ => format!("k{:03}", self.below(300)),
        }
    }

    fn value(&mut self, depth: usize) -> Json {
        match self.below(if depth == 0 { 4 } else { 8 }) {
            0 => Json::Raw(
                ["1", "1.0", "-0", "true", "null", "12345678901234567890"][self.below(6)]
                    .to_owned(),
            ),
            1..=3 => {
                let count = [1, 3, 30][self.below(3)];
                Json::Text(self.words(count))
            }
            4 | 5 => {
                let count = [0, 3, 12][self.below(3)];
                Json::List((0..count).map(|_| self.value(depth - 1)).collect())
            }
            _ => self.map(depth - 1),
        }
    }

    fn map(&mut self, depth: usize) -> Json {
        let count = [0, 4, 20][self.below(3)];
        let mut members: Vec<(String, Json)> = Vec::new();
        for _ in 0..count {
            let key = self.key();
            if !members.iter().any(|(known, _)| *known == key) {
                members.push((key, self.value(depth)));
            }
        }
        Json::Map(members)
    }

    /// Changes something at a random place.
    fn change(&mut self, json: &mut Json, depth: usize) {
        match json {
            Json::List(items) if !items.is_empty() && self.below(4) > 0 => {
                let at = self.below(items.len());
                self.change(&mut items[at], depth);
            }
            Json::Map(members) if !members.is_empty() && self.below(4) > 0 => {
                let at = self.below(members.len());
                self.change(&mut members[at].1, depth);
            }
            Json::List(items) => {
                let (at, other) = (self.below(items.len() + 1), self.below(items.len()));
                match self.below(4) {
                    0 if !items.is_empty() => drop(items.remove(other)),
                    1 if !items.is_empty() => items.swap(0, other),
                    2 => items.push(self.value(depth)),
                    _ => items.insert(at, self.value(depth)),
                }
            }
            Json::Map(members) => {
                let (key, other) = (self.key(), self.below(members.len()));
                match self.below(4) {
                    0 if !members.is_empty() => drop(members.remove(other)),
                    1 if !members.is_empty() => members.swap(0, other),
                    _ if members.iter().all(|(known, _)| *known != key) => {
                        let at = self.below(members.len() + 1);
                        members.insert(at, (key, self.value(depth)));
                    }
                    _ => {}
                }
            }
            Json::Text(text) if self.below(2) == 0 => text.push_str("more"),
            Json::Raw(_) | Json::Text(_) => *json = self.value(depth),
        }
    }
}

impl Json {
    fn write(&self, blanks: &str, out: &mut String) {
        let mut separator = "";
        match self {
            Self::Raw(raw) => out.push_str(raw),
            Self::Text(text) => out.push_str(&quoted(text)),
            Self::List(items) => {
                let _ = write!(out, "[{blanks}");
                for item in items {
                    out.push_str(separator);
                    item.write(blanks, out);
                    out.push_str(blanks);
                    separator = ",";
                }
                out.push(']');
            }
            Self::Map(members) => {
                let _ = write!(out, "{{{blanks}");
                for (key, item) in members {
                    let _ = write!(out, "{separator}{}{blanks}:{blanks}", quoted(key));
                    item.write(blanks, out);
                    separator = ",";
                }
                let _ = write!(out, "{blanks}}}");
            }
        }
    }

    fn text(&self, blanks: &str) -> String {
        let mut out = String::new();
        self.write(blanks, &mut out);
        out
    }
}

fn known(raw: &str, rules: &Arc<Rules>) -> Arc<KnownContext> {
    let canonical = Arc::new(Canonical::of(raw).unwrap());
    Arc::new(KnownContext {
        rules: Arc::clone(rules),
        raw: Arc::new(raw.as_bytes().to_vec()),
        values_max: values_max(raw),
        hash: TextHash::of(canonical.text.as_bytes()),
        canonical,
        units: OnceLock::new(),
        pieces: Vec::new(),
    })
}

fn is_clean(redactor: &Redactor, text: &[u8]) -> bool {
    let mut found = SecretCounts::default();
    matches!(redactor.json(text, &mut found), Cow::Borrowed(_)) && found.is_empty()
}

/// Compares `raw` with what is known, and checks everything about the result.
fn checked(raw: &str, known: &Arc<KnownContext>, redactor: &Redactor) -> Option<KnownContext> {
    let around = |inner: &[u8]| [b"{\"context\":", inner, b"}"].concat();
    let whole = is_clean(redactor, &around(raw.as_bytes()));
    let was_clean = is_clean(redactor, &around(&known.raw));
    let text = format!("{raw},\"key\":1}}");
    let (mut reread, end) = compared(text.as_bytes(), known, |rest, end| {
        assert_eq!(end, raw.len());
        if was_clean {
            assert_eq!(is_clean(redactor, &around(rest)), whole, "{raw}");
        }
        true
    })?;
    assert_eq!(end, raw.len());
    let canonical = Canonical::of(raw).unwrap();
    assert_eq!(*reread.canonical, canonical);
    let mut made = String::new();
    for one in reread.edits.segments() {
        made += match one.from {
            Some(from) => &known.canonical.text[from..from + one.bytes],
            None => &canonical.text[one.at..one.at + one.bytes],
        };
    }
    assert_eq!(made, canonical.text);
    let shared = reread.edits.shared_beginning();
    let hash = known.hash.after(canonical.text.as_bytes(), shared);
    assert_eq!(hash.hash, TextHash::of(canonical.text.as_bytes()).hash);
    let units = reread.units();
    for unit in units.get().unwrap().as_ref().unwrap().iter().skip(1) {
        let form = |text: &str| match unit.key {
            0 => format!("{{\"k\":{text}}}"),
            _ => format!("{{{text}}}"),
        };
        let read = Canonical::of(&form(&raw[unit.raw()])).unwrap();
        assert_eq!(read.text, form(&canonical.text[unit.canonical()]));
    }
    Some(KnownContext {
        rules: Arc::clone(&known.rules),
        raw: Arc::new(raw.as_bytes().to_vec()),
        values_max: reread.values_max,
        canonical: reread.canonical,
        units,
        hash,
        pieces: Vec::new(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Contexts that change step by step, in any notation, have the canonical text, the edits and the units that they have
    /// when they are read whole. What is new in them has a secret if and only if the whole has one.
    #[test]
    fn contexts_are_as_if_they_were_read_whole(seed in 1_u64.., blanks in "[ \n]{0,2}") {
        let redactor = Redactor::default();
        let rules = redactor.rules();
        let mut choices = SeededChoices(seed);
        let mut json = choices.map(2);
        let mut last = known(&json.text(&blanks), &rules);
        for _ in 0..8 {
            for _ in 0..choices.below(3) {
                choices.change(&mut json, 1);
            }
            if !matches!(json, Json::Map(_)) {
                json = Json::Map(vec![("v".to_owned(), json)]);
            }
            let raw = json.text(&blanks);
            last = match checked(&raw, &last, &redactor) {
                Some(next) => Arc::new(next),
                None => known(&raw, &rules),
            };
        }
    }
}

fn context(messages: usize) -> Vec<String> {
    let message = |n| format!(r#"{{"id":"m-{n}","content":"{}"}}"#, "word ".repeat(20));
    (0..messages).map(message).collect()
}

fn text(messages: &[String], more: &str) -> String {
    format!(
        r#"{{"messages":[{}],"big":{{"list":[{0}]}}{more}}}"#,
        messages.join(",")
    )
}

/// An append, a change, a removal and a new key leave little to read.
#[test]
fn only_what_is_new_is_read() {
    let redactor = Redactor::default();
    let before = context(100);
    let last = known(&text(&before, ""), &redactor.rules());
    let mut appended = before.clone();
    appended.push(before[3].replace("m-3", "m-100"));
    let mut changed = before.clone();
    changed[50] = changed[50].replace("m-50", "m-x");
    let mut removed = before.clone();
    removed.remove(20);
    let cases = [
        (text(&appended, ""), 400),
        (text(&changed, ""), 400),
        (text(&removed, ""), 60),
        (text(&before, r#","new":1"#), 60),
        (text(&before, ""), 40),
    ];
    for (raw, rest_max) in cases {
        let mut rest_bytes = usize::MAX;
        let compared = compared(raw.as_bytes(), &last, |rest, _| {
            rest_bytes = rest.len();
            true
        });
        assert!(rest_bytes < rest_max, "{rest_bytes}");
        let (reread, _) = compared.unwrap();
        let same = common_prefix(
            reread.canonical.text.as_bytes(),
            last.canonical.text.as_bytes(),
        );
        let shared = reread.edits.shared_beginning();
        assert!(shared <= same && shared + 200 > same, "{shared} of {same}");
        assert!(checked(&raw, &last, &redactor).is_some());
    }
}

/// What is not JSON is left to those who say why, also where it is near what is known.
#[test]
fn what_is_not_json_is_read_whole() {
    let redactor = Redactor::default();
    let raw = text(&context(40), r#","last":"x""#);
    let last = known(&raw, &redactor.rules());
    let is_read = |raw: &str| compared(raw.as_bytes(), &last, |_, _| true).is_some();
    assert!(is_read(&raw));
    let at = raw.find("\"m-20\"").unwrap();
    for (old, new) in [
        ("},{", "},,{"),
        ("},{", "} {"),
        ("},{", "},1 2,{"),
        ("}],\"big\"", "},],\"big\""),
        ("}],\"big\"", "}},\"big\""),
        ("]},\"last\"", "]],\"last\""),
        ("\"last\":\"x\"", "\"last\":\"\\x\""),
        ("\"last\":\"x\"", "\"last\":\"x\",\"messages\":1"),
        ("\"last\":\"x\"", "\"last\":\"x\",\"last\":\"x\""),
        ("\"last\":\"x\"", "\"last\":\"x\","),
        ("\"last\":\"x\"", "\"last\":01"),
        ("\"last\":\"x\"", "\"last\":"),
        ("\"last\":\"x\"", "\"last\" \"x\""),
        ("\"last\":\"x\"", "\"l\\u0061st\":\"x\""),
    ] {
        let broken = if old == "},{" {
            format!("{}{}", &raw[..at], raw[at..].replacen(old, new, 1))
        } else {
            raw.replacen(old, new, 1)
        };
        assert_ne!(broken, raw, "{old}");
        assert!(!is_read(&broken), "{old} became {new}");
    }
    for end in [0, 1, 10, at, raw.len() - 1] {
        assert!(!is_read(&raw[..end]), "{end}");
    }
}

/// A list of which nearly everything is new is compared in time that grows with its length only.
#[test]
fn new_lists_take_no_longer_than_their_length() {
    let redactor = Redactor::default();
    let list = |first: usize| {
        let items: Vec<String> = (first..first + 60_000)
            .map(|n| format!("\"item {n:030}\""))
            .collect();
        format!(r#"{{"list":[{}]}}"#, items.join(","))
    };
    let last = known(&list(0), &redactor.rules());
    let is_read = |raw: &str| compared(raw.as_bytes(), &last, |_, _| true).is_some();
    assert!(!is_read(&list(1_000_000)), "mostly new");
    assert!(is_read(&list(0)));
}
