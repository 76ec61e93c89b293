//! The four layers of a context's keys, and the rules that assign them.
//!
//! The first rule that applies decides: the session's mark, the caller's [`ContextRules`], the key's
//! [`LayerWords`], the [shape](shape) of the value; otherwise the layer is USEFUL.

use std::fmt;

use lore::protocol::names::of_word;

use super::conversation::is_conversation;

pub use lore::protocol::names::LayerName as Layer;
pub use rules::ContextRules;
pub use words::{LayerWords, split};

#[cfg(test)]
mod golden;
mod rules;
mod words;

/// A word makes a list or object CRITICAL only up to this length, in bytes: a goal or an answer is short, and a long list
/// of results is material.
const LONG_BYTES: usize = 16 << 10;

/// All layers, most important first.
pub const LAYERS: [Layer; 4] = [
    Layer::Critical,
    Layer::Important,
    Layer::Useful,
    Layer::Ephemeral,
];

/// Returns the layer of a name, in any case.
fn layer_of_name(name: &str) -> Option<Layer> {
    of_word(&name.trim().to_ascii_uppercase())
}

/// The layer of a key, with the rule that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerAssignment {
    /// The layer.
    pub layer: Layer,
    /// The rule that decided.
    pub rule: Rule,
}

/// The rule that assigned a layer; its text is for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The session marked the key as critical.
    Mark,
    /// A pattern of the caller's `contextRules`.
    Pattern(String),
    /// The key begins with `_`.
    Underscore,
    /// The key ends with the word `at`, so it is a time.
    Time,
    /// A word of the key.
    Word(String),
    /// A CRITICAL word of the key, but a long list or object.
    LongWord(String),
    /// The value is a conversation.
    Conversation,
    /// The value is null, blank or empty.
    Empty,
    /// The value is an embedded file (a base64 data URI).
    Embedded,
    /// No other rule applies: USEFUL.
    Otherwise,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark => f.write_str("marked as critical"),
            Self::Pattern(pattern) => write!(f, "contextRules: {pattern}"),
            Self::Underscore => f.write_str("begins with _"),
            Self::Time => f.write_str("word: at"),
            Self::Word(word) => write!(f, "word: {word}"),
            Self::LongWord(word) => write!(f, "word: {word}, but a long value"),
            Self::Conversation => f.write_str("conversation"),
            Self::Empty => f.write_str("empty value"),
            Self::Embedded => f.write_str("embedded file"),
            Self::Otherwise => f.write_str("otherwise"),
        }
    }
}

/// Returns the rule of a value without useful text: null, blank, without members, or a base64 data URI. Its length
/// does not matter.
///
/// `value` is JSON without white space between its tokens.
#[must_use]
pub fn shape(value: &str) -> Option<Rule> {
    if matches!(value, "null" | "{}" | "[]") {
        return Some(Rule::Empty);
    }
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    if text.starts_with("data:") {
        let kind = text.get(..text.find(',')?)?;
        return kind.ends_with(";base64").then_some(Rule::Embedded);
    }
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let blank = ["\\n", "\\t", "\\r"]
            .iter()
            .find(|blank| rest.starts_with(**blank));
        let bytes = match blank {
            Some(blank) => blank.len(),
            None if first.is_whitespace() => first.len_utf8(),
            None => return None,
        };
        rest = rest.get(bytes..).unwrap_or_default();
    }
    Some(Rule::Empty)
}

impl LayerWords {
    /// Assigns the layer of a top-level key of a context.
    ///
    /// `value` is JSON without white space between its tokens; `is_marked`: the session marked the key as critical.
    #[must_use]
    pub fn place(
        &self,
        key: &str,
        value: &str,
        is_marked: bool,
        rules: &ContextRules,
    ) -> LayerAssignment {
        let (layer, rule) = if is_marked {
            (Layer::Critical, Rule::Mark)
        } else if let Some((pattern, layer)) = rules.layer(key) {
            (layer, Rule::Pattern(pattern.to_owned()))
        } else if let Some(by_words) = self.layer_with(key, value) {
            by_words
        } else if let Some(rule) = shape(value) {
            (Layer::Ephemeral, rule)
        } else {
            (Layer::Useful, Rule::Otherwise)
        };
        LayerAssignment { layer, rule }
    }

    /// Returns the layer that the words of a key speak for, and the value does not contradict.
    fn layer_with(&self, key: &str, value: &str) -> Option<(Layer, Rule)> {
        let is_long = value.len() > LONG_BYTES && value.starts_with(['[', '{']);
        match self.layer(key) {
            Some((Layer::Critical, Rule::Word(word))) if is_long => {
                Some((Layer::Important, Rule::LongWord(word)))
            }
            // A `chatLog` is what was said.
            Some((Layer::Ephemeral, Rule::Word(word)))
                if !self.is_passing(&word) && is_conversation(value) =>
            {
                Some((Layer::Important, Rule::Conversation))
            }
            Some((Layer::Useful, _)) | None if is_conversation(value) => {
                Some((Layer::Important, Rule::Conversation))
            }
            by_words => by_words,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// Each rule yields only to those before it.
    #[test]
    fn mark_then_rules_then_words_then_shape_then_useful() {
        let rules = ContextRules::new([("debug*", "important")]).unwrap();
        let none = ContextRules::default();
        let place = |key: &str, value: &str, is_marked, rules: &ContextRules| {
            let LayerAssignment { layer, rule } =
                LayerWords::default().place(key, value, is_marked, rules);
            format!("{layer:?}: {rule}")
        };
        let debug = |is_marked, rules| place("debugLog", "1", is_marked, rules);
        assert_eq!(debug(true, &rules), "Critical: marked as critical");
        assert_eq!(debug(false, &rules), "Important: contextRules: debug*");
        assert_eq!(debug(false, &none), "Ephemeral: word: debug");
        let unmarked = |key, value| place(key, value, false, &none);
        assert_eq!(unmarked("plan", "null"), "Important: word: plan");
        assert_eq!(unmarked("thing", "null"), "Ephemeral: empty value");
        assert_eq!(unmarked("thing", "1"), "Useful: otherwise");
    }

    /// A conversation is IMPORTANT, and a long list is not CRITICAL by a word alone.
    #[test]
    fn values_correct_the_words() {
        let words = LayerWords::default();
        let place = |key: &str, value: &str, is_marked| {
            let assignment = words.place(key, value, is_marked, &ContextRules::default());
            format!("{:?}: {}", assignment.layer, assignment.rule)
        };
        let talk = r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]"#;
        for key in ["messages", "chatLog", "thing", "userMessages", "report"] {
            assert_eq!(place(key, talk, false), "Important: conversation", "{key}");
        }
        assert_eq!(place("tempMessages", talk, false), "Ephemeral: word: temp");
        assert_eq!(place("_messages", talk, false), "Ephemeral: begins with _");
        let long = format!("[{}1]", "1,".repeat(10_000));
        assert_eq!(place("results", "[1]", false), "Critical: word: results");
        assert_eq!(
            place("results", &long, false),
            "Important: word: results, but a long value"
        );
        assert_eq!(
            place("results", &long, true),
            "Critical: marked as critical"
        );
        let text = format!("\"{}\"", "a".repeat(100_000));
        assert_eq!(place("finalAnswer", &text, false), "Critical: word: answer");
    }

    #[test]
    fn only_a_value_without_use_has_a_shape() {
        for empty in ["null", "{}", "[]", "\"\"", "\" \\n\\t\\r \""] {
            assert_eq!(shape(empty), Some(Rule::Empty), "{empty}");
        }
        assert_eq!(
            shape("\"data:text/plain;base64,AAAA\""),
            Some(Rule::Embedded)
        );
        for some in [
            "0",
            "false",
            "[null]",
            r#""data: 1, 2""#,
            r#""\\n""#,
            r#""data:""#,
            r#"" x""#,
        ] {
            assert_eq!(shape(some), None, "{some}");
        }
    }

    #[test]
    fn layers_have_names_in_any_case() {
        for layer in LAYERS {
            let name = lore::protocol::names::word(layer);
            assert_eq!(
                layer_of_name(&format!(" {}", name.to_lowercase())),
                Some(layer)
            );
        }
        assert_eq!(layer_of_name("vital"), None);
    }
}
