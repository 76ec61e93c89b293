//! The caller's rules: layers of key patterns.

use super::{Layer, layer_of_name};

/// Maximum number of rules in `contextRules`.
pub const RULES_MAX: usize = 100;

/// Maximum length of a pattern, in characters.
pub const PATTERN_CHARS_MAX: usize = 256;

/// Patterns and layers in the order written; the first matching pattern decides.
///
/// A pattern must match the whole key, ignoring case: `*` matches any characters or none, `?` exactly one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextRules {
    rules: Vec<(String, Layer)>,
}

impl ContextRules {
    /// Creates rules from patterns and layer names, in the order written.
    ///
    /// # Errors
    /// The first fault as text: an unknown layer, an empty or overlong pattern, too many rules.
    pub fn new<'a>(written: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut rules = Vec::new();
        for (pattern, name) in written {
            let characters = pattern.chars().count();
            let fault = if pattern.is_empty() {
                "a pattern is empty; write the key, with * and ? for what may differ".to_owned()
            } else if characters > PATTERN_CHARS_MAX {
                format!(
                    "a pattern has {characters} characters; at most {PATTERN_CHARS_MAX} are allowed"
                )
            } else if rules.len() == RULES_MAX {
                format!("more than {RULES_MAX} rules; a pattern such as log* stands for many keys")
            } else if let Some(layer) = layer_of_name(name) {
                rules.push((pattern.to_owned(), layer));
                continue;
            } else {
                let name: String = name.chars().take(40).collect();
                format!(
                    "{name:?} (for {pattern:?}) is not a layer; there are CRITICAL, IMPORTANT, USEFUL \
                     and EPHEMERAL"
                )
            };
            return Err(format!("contextRules: {fault}"));
        }
        Ok(Self { rules })
    }

    /// Returns the first pattern that matches the key, with its layer.
    #[must_use]
    pub fn layer(&self, key: &str) -> Option<(&str, Layer)> {
        let mut rules = self.rules.iter();
        let (pattern, layer) = rules.find(|(pattern, _)| matches(pattern, key))?;
        Some((pattern, *layer))
    }
}

/// Returns whether a pattern matches a whole key. Only the last star backtracks, so the time is at most the product of
/// both lengths.
fn matches(pattern: &str, key: &str) -> bool {
    let mut pattern = pattern.chars().flat_map(char::to_lowercase).peekable();
    let mut key = key.chars().flat_map(char::to_lowercase);
    // After the last star: the rest of the pattern, and of the key where the star may match one more character.
    let mut star = None;
    loop {
        if pattern.next_if_eq(&'*').is_some() {
            star = Some((pattern.clone(), key.clone()));
            continue;
        }
        let is_match = match (pattern.next(), key.next()) {
            (None, None) => return true,
            (Some(_), None) => return false,
            (Some(wanted), Some(found)) => wanted == '?' || wanted == found,
            (None, Some(_)) => false,
        };
        if !is_match {
            let Some((behind, from)) = &mut star else {
                return false;
            };
            from.next();
            pattern = behind.clone();
            key = from.clone();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_globs_over_the_whole_key_without_case() {
        for (pattern, key) in [
            ("*", ""),
            ("*", "anything"),
            ("log*", "LogFile"),
            ("*log", "catalog"),
            ("a*b*c", "aXbYbZc"),
            ("?", "é"),
            ("user?", "users"),
            ("**x**", "x"),
            ("ÄPFEL*", "äpfelkorb"),
        ] {
            assert!(matches(pattern, key), "{pattern} {key}");
        }
        for (pattern, key) in [
            ("log", "logs"),
            ("log", "catalog"),
            ("?", ""),
            ("?", "ab"),
            ("a*b*c", "aXbYbZ"),
            ("user?", "user"),
            ("a.c", "abc"),
        ] {
            assert!(!matches(pattern, key), "{pattern} {key}");
        }
    }

    #[test]
    fn the_first_match_in_the_order_written_decides() {
        let rules = ContextRules::new([("log*", "useful"), ("*", "EPHEMERAL")]).unwrap();
        assert_eq!(rules.layer("logs"), Some(("log*", Layer::Useful)));
        assert_eq!(rules.layer("other"), Some(("*", Layer::Ephemeral)));
        assert_eq!(ContextRules::default().layer("other"), None);
    }

    /// A star for each character is the worst a pattern can be.
    #[test]
    fn a_hostile_pattern_ends() {
        let pattern = "*a".repeat(PATTERN_CHARS_MAX / 2) + "b";
        assert!(!matches(&pattern, &"a".repeat(20_000)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let fault = |pattern: &str, layer: &str| ContextRules::new([(pattern, layer)]).unwrap_err();
        let unknown = fault("log*", "vital");
        assert!(
            unknown.contains("\"vital\"") && unknown.contains("EPHEMERAL"),
            "{unknown}"
        );
        assert!(fault("", "useful").contains("empty"));
        assert!(fault(&"x".repeat(257), "useful").contains("257"));
        let many = vec![("x", "useful"); RULES_MAX + 1];
        assert!(
            ContextRules::new(many)
                .unwrap_err()
                .contains("more than 100 rules")
        );
    }
}
