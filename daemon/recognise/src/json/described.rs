//! What a JSON object says of itself: its other names, and words for its role, its state and its title.

use super::Flat;
use super::reader::{Document, Node, Value};
use crate::names::shown_name;

/// Keys with other names of an object.
const ALIAS_KEYS: [&str; 8] = [
    "title",
    "vid",
    "sku",
    "full_name",
    "subject",
    "summary",
    "display_name",
    "displayName",
];
/// Keys with the people of an object.
const PEOPLE_KEYS: [&str; 6] = [
    "author", "authors", "user", "assignee", "creator", "customer",
];
/// Keys with the labels of an object.
const LABEL_KEYS: [&str; 2] = ["labels", "tags"];
/// Keys whose values say what an object is or how it is.
const STATE_KEYS: [&str; 11] = [
    "type",
    "category",
    "platform",
    "status",
    "state",
    "role",
    "device_role",
    "conclusion",
    "severity",
    "priority",
    "stage",
];
/// Keys of an object that is such a value.
const VALUE_KEYS: [&str; 4] = ["value", "label", "name", "slug"];
/// Limit on the words that are taken from an object.
pub(super) const WORDS_MAX: usize = 16;
/// Limit on the labels and people of an object whose words are taken.
const LISTED_MAX: usize = 6;
/// Limit on ids and slugs, in bytes.
pub(super) const ID_BYTES_MAX: usize = 128;
/// Limit on a word that is taken, in bytes.
const WORD_BYTES_MAX: usize = 24;

/// Returns the other names of an object.
pub(super) fn aliases_of(document: &Document, at: usize, name: &str) -> Vec<String> {
    let alias = |key: &&str| match text_of(document, at, key) {
        Some(text) => shown_name(text.text()),
        None => number_of(document, at, key),
    };
    // An id of letters and digits is a name, too; one of digits alone counts rows.
    let id = text_of(document, at, "id").and_then(|id| shown_name(id.text()));
    let is_name = |id: &String| {
        id.len() <= ID_BYTES_MAX
            && id.bytes().any(|byte| byte.is_ascii_digit())
            && id.bytes().any(|byte| byte.is_ascii_uppercase())
    };
    let all = ALIAS_KEYS.iter().filter_map(alias);
    all.chain(id.filter(is_name))
        .filter(|alias| alias != name)
        .collect()
}

/// Returns the words for what an object is, how it is, and of its title.
pub(super) fn words_of(document: &Document, at: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut take = |text: &str| {
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            let word = word.to_lowercase();
            let says = word.len() > 2 && word.len() <= WORD_BYTES_MAX;
            if says && words.len() < WORDS_MAX && !words.contains(&word) {
                words.push(word);
            }
        }
    };
    for key in STATE_KEYS {
        let Some((at, node)) = document.member(at, key) else {
            continue;
        };
        match &node.value {
            Value::Text(text) if text.text().len() <= ID_BYTES_MAX => take(text.text()),
            Value::Object => {
                for text in VALUE_KEYS
                    .iter()
                    .filter_map(|key| text_of(document, at, key))
                {
                    if text.text().len() <= ID_BYTES_MAX {
                        take(text.text());
                    }
                }
            }
            _ => {}
        }
    }
    for key in LABEL_KEYS.iter().chain(&PEOPLE_KEYS) {
        let Some((at, node)) = document.member(at, key) else {
            continue;
        };
        let values: Vec<(usize, &Node)> = match node.value {
            Value::List => document.children(at).take(LISTED_MAX).collect(),
            _ => vec![(at, node)],
        };
        for (at, node) in values {
            match &node.value {
                Value::Text(text) if text.text().len() <= WORD_BYTES_MAX => take(text.text()),
                Value::Object => {
                    for text in ["name", "login", "username"]
                        .iter()
                        .filter_map(|key| text_of(document, at, key))
                    {
                        if text.text().len() <= ID_BYTES_MAX {
                            take(text.text());
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let titles = ["title", "subject", "summary", "message"];
    if let Some(title) = titles.iter().find_map(|key| text_of(document, at, key)) {
        take(title.text());
    }
    words
}

pub(super) fn text_of<'d>(document: &'d Document, at: usize, key: &str) -> Option<&'d Flat> {
    match &document.member(at, key)?.1.value {
        Value::Text(text) => Some(text).filter(|text| !text.text().is_empty()),
        _ => None,
    }
}

pub(super) fn number_of(document: &Document, at: usize, key: &str) -> Option<String> {
    match &document.member(at, key)?.1.value {
        Value::Number(number) if number.len() <= ID_BYTES_MAX => Some(number.clone()),
        _ => None,
    }
}
