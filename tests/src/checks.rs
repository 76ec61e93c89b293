//! Checks of replies, texts and errors that print all of what they checked.

use std::fmt::Display;

use lore::protocol::{Code, ErrorBody};
use serde_json::Value;

/// Checks that a reply has these fields with these values. Fields that are not named are ignored.
#[track_caller]
pub fn has(reply: &Value, fields: Value) {
    for (name, expected) in fields.as_object().expect("an object of fields") {
        let found = reply.get(name).unwrap_or(&Value::Null);
        assert_eq!(found, expected, "`{name}` of {reply:#}");
    }
}

/// Checks that a text contains all these words.
#[track_caller]
pub fn has_words(text: impl Display, words: &[impl AsRef<str>]) {
    let text = text.to_string();
    for word in words.iter().map(AsRef::as_ref) {
        assert!(text.contains(word), "no {word:?} in: {text}");
    }
}

/// Checks an error's code, and that its message and hint contain the words.
#[track_caller]
pub fn is_refusal(refusal: &ErrorBody, code: Code, words: &[&str]) {
    let hint = refusal.hint.as_deref().unwrap_or_default();
    let said = format!("{} {hint}", refusal.message);
    assert_eq!(refusal.code, code, "{said}");
    has_words(said, words);
}
