//! Patterns of templates: compiled within limits, with errors that name the position.

use super::PATTERN_BYTES_MAX;
use super::error::{Reason, TemplateError};
use super::read::Table;
use regex::{Regex, RegexBuilder};

/// Maximum size of a compiled pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 256 << 10;

/// A regular expression of a template; `^` and `$` match at line ends.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The pattern is too long, does not parse, or needs too much memory.
    pub(super) fn new(pattern: &str) -> Result<Self, Reason> {
        let bytes = pattern.len();
        if bytes > PATTERN_BYTES_MAX {
            return Err(Reason::PatternTooLong { bytes });
        }
        // Parsed here as well, because that error has the position of the fault.
        let mut parser = regex_syntax::ParserBuilder::new().multi_line(true).build();
        parser.parse(pattern).map_err(|error| fault(&error))?;
        RegexBuilder::new(pattern)
            .multi_line(true)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(COMPILED_BYTES_MAX)
            .build()
            .map(Self)
            .map_err(|_| Reason::PatternTooLarge)
    }

    /// Reads and compiles a pattern, if the key is set.
    pub(super) fn read(
        table: &Table<'_, '_>,
        key: &'static str,
    ) -> Result<Option<Self>, TemplateError> {
        // This limit must not refuse the text first, because a long pattern has a separate error.
        let Some(text) = table.text(key, PATTERN_BYTES_MAX << 8)? else {
            return Ok(None);
        };
        let pattern = Self::new(text.value).map_err(|reason| table.error(text.at, reason));
        pattern.map(Some)
    }

    /// Returns the pattern's text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.as_str()
    }

    /// Returns whether the pattern matches somewhere in a text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns the matches in a text with their start, in order.
    pub(in crate::projects) fn places<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = (usize, &'a str)> {
        let found = self.0.find_iter(text);
        found.map(|found| (found.start(), found.as_str()))
    }

    /// Returns the text that a named group matches.
    pub(in crate::projects) fn group<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        let captures = self.0.captures(text)?;
        captures.name(name).map(|group| group.as_str())
    }
}

/// Converts a parser error to the position and the reason.
fn fault(error: &regex_syntax::Error) -> Reason {
    let (start, message) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => {
            (error.span().start.offset, error.kind().to_string())
        }
        other => (0, other.to_string()),
    };
    Reason::Pattern {
        position: start,
        message,
    }
}
