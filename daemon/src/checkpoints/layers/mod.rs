//! The four layers of a context's keys, and what puts a key into one.
//!
//! The first of these that says something decides: the session's mark, the caller's
//! [`ContextRules`], the key's [`LayerWords`], the [shape](shape) of the value; else USEFUL.

use std::fmt;

pub use rules::ContextRules;
pub use words::LayerWords;

#[cfg(test)]
mod golden;
mod rules;
mod words;

/// How much a key matters, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Never shortened, never dropped.
    Critical,
    /// Shortened when needed.
    Important,
    /// Shortened hard.
    Useful,
    /// Dropped first.
    Ephemeral,
}

impl Layer {
    /// All layers, most important first.
    pub const ALL: [Self; 4] = [
        Self::Critical,
        Self::Important,
        Self::Useful,
        Self::Ephemeral,
    ];

    /// The name as callers write and read it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "CRITICAL",
            Self::Important => "IMPORTANT",
            Self::Useful => "USEFUL",
            Self::Ephemeral => "EPHEMERAL",
        }
    }

    /// The layer of a name, in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut layers = Self::ALL.into_iter();
        layers.find(|layer| layer.name().eq_ignore_ascii_case(name.trim()))
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The layer of a key, and what put it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerAssignment {
    /// The layer.
    pub layer: Layer,
    /// The rule that decided.
    pub rule: Rule,
}

/// What put a key into its layer; displayed as a few words for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The session marked the key as critical.
    Mark,
    /// This pattern of the caller's `contextRules`.
    Pattern(String),
    /// The key begins with `_`.
    Underscore,
    /// The key ends with the word `at`: it says when something happened.
    Time,
    /// This word of the key.
    Word(String),
    /// The value is null, blank or has nothing in it.
    Empty,
    /// The value is a file put into text (a base64 data URI).
    Embedded,
    /// Nothing said anything: USEFUL.
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
            Self::Empty => f.write_str("empty value"),
            Self::Embedded => f.write_str("embedded file"),
            Self::Otherwise => f.write_str("otherwise"),
        }
    }
}

/// What the value itself says, whatever its key: nothing of use is in one that is null, blank or
/// without members, nor, for a reader of text, in a base64 data URI. How long a value is says nothing.
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
    /// The layer of a top-level key of a context.
    ///
    /// `value` is JSON without white space between its tokens; `is_marked` says whether the session
    /// marked the key as critical.
    #[must_use]
    pub fn place(
        &self,
        key: &str,
        value: &str,
        is_marked: bool,
        rules: &ContextRules,
    ) -> LayerAssignment {
        if is_marked {
            return LayerAssignment {
                layer: Layer::Critical,
                rule: Rule::Mark,
            };
        }
        if let Some((pattern, layer)) = rules.layer(key) {
            return LayerAssignment {
                layer,
                rule: Rule::Pattern(pattern.to_owned()),
            };
        }
        if let Some((layer, rule)) = self.layer(key) {
            return LayerAssignment { layer, rule };
        }
        match shape(value) {
            Some(rule) => LayerAssignment {
                layer: Layer::Ephemeral,
                rule,
            },
            None => LayerAssignment {
                layer: Layer::Useful,
                rule: Rule::Otherwise,
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn place(key: &str, value: &str, is_marked: bool, rules: &ContextRules) -> (Layer, String) {
        let assignment = LayerWords::default().place(key, value, is_marked, rules);
        (assignment.layer, assignment.rule.to_string())
    }

    /// Each rule yields only to those before it.
    #[test]
    fn mark_then_rules_then_words_then_shape_then_useful() {
        let rules = ContextRules::new([("debug*", "important")]).unwrap();
        let none = ContextRules::default();
        assert_eq!(
            place("debugLog", "1", true, &rules),
            (Layer::Critical, "marked as critical".to_owned())
        );
        assert_eq!(
            place("debugLog", "1", false, &rules),
            (Layer::Important, "contextRules: debug*".to_owned())
        );
        assert_eq!(
            place("debugLog", "1", false, &none),
            (Layer::Ephemeral, "word: debug".to_owned())
        );
        assert_eq!(place("plan", "null", false, &none).0, Layer::Important);
        assert_eq!(
            place("thing", "null", false, &none),
            (Layer::Ephemeral, "empty value".to_owned())
        );
        assert_eq!(
            place("thing", "1", false, &none),
            (Layer::Useful, "otherwise".to_owned())
        );
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
            "\"data: 1, 2\"",
            "\"\\\\n\"",
            "\"data:\"",
            "\" x\"",
        ] {
            assert_eq!(shape(some), None, "{some}");
        }
    }

    #[test]
    fn layers_have_names_in_any_case() {
        for layer in Layer::ALL {
            assert_eq!(Layer::from_name(&layer.name().to_lowercase()), Some(layer));
        }
        assert_eq!(Layer::from_name("vital"), None);
    }
}
