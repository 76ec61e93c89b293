//! Word boundaries: whether a span of a text is a separate word.

use std::str::FromStr;

/// Which characters may touch a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Edges {
    /// Stands alone: no adjacent letter, digit or `_`, and no `-`, `.`, `/`, `@` or `\` that joins another word.
    #[default]
    Alone,
    /// No adjacent letter, digit or `_`.
    Word,
    /// Any character.
    None,
}

/// The names of [`Edges`] in a pack.
pub(super) const EDGES: [&str; 3] = ["alone", "word", "none"];

impl FromStr for Edges {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "alone" => Ok(Self::Alone),
            "word" => Ok(Self::Word),
            "none" => Ok(Self::None),
            _ => Err(()),
        }
    }
}

impl Edges {
    /// Returns whether the characters around the span are allowed.
    pub(super) fn allow(self, text: &str, start: usize, end: usize) -> bool {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let mut after = text.get(end..).unwrap_or_default().chars();
        let next = after.next();
        let touches = |c: Option<char>| c.is_some_and(is_word);
        match self {
            Self::None => true,
            Self::Word => !touches(before) && !touches(next),
            Self::Alone => {
                let joined_before =
                    before.is_some_and(|c| matches!(c, '-' | '.' | '/' | '@' | '\\'));
                let joins = next.is_some_and(|c| matches!(c, '-' | '.' | '@' | '\\'));
                let joined_after = joins && touches(after.next());
                !touches(before) && !touches(next) && !joined_before && !joined_after
            }
        }
    }
}

/// Returns whether a character is part of a word.
pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Trims trailing sentence punctuation, and a closing bracket that is not opened within the text.
pub(super) fn without_punctuation(text: &str) -> &str {
    let mut rest = text;
    loop {
        let cut = rest.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '"']);
        let cut = unopened(cut, '(', ')')
            .or_else(|| unopened(cut, '[', ']'))
            .unwrap_or(cut);
        if cut.len() == rest.len() {
            return rest;
        }
        rest = cut;
    }
}

fn unopened(text: &str, open: char, close: char) -> Option<&str> {
    let cut = text.strip_suffix(close)?;
    (text.matches(open).count() < text.matches(close).count()).then_some(cut)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_alone_unless_something_joins_it() {
        let alone = |text: &str| {
            let start = text.find("nyc").unwrap();
            Edges::Alone.allow(text, start, start + 3)
        };
        for text in [
            "nyc",
            "(nyc)",
            "at nyc.",
            "nyc, la",
            "nyc's",
            "nyc: up",
            "nyc- down",
            "nyc/1",
        ] {
            assert!(alone(text), "{text}");
        }
        for text in [
            "nyc1",
            "anyc",
            "x-nyc",
            "nyc-x",
            "nyc.example",
            "a@nyc",
            "/nyc",
            "ünyc",
        ] {
            assert!(!alone(text), "{text}");
        }
    }

    #[test]
    fn a_sentence_ends_behind_a_name() {
        assert_eq!(without_punctuation("/etc/hosts."), "/etc/hosts");
        assert_eq!(without_punctuation("http://a/b_(c)."), "http://a/b_(c)");
        assert_eq!(without_punctuation("http://a/b)."), "http://a/b");
        assert_eq!(without_punctuation("..."), "");
    }
}
