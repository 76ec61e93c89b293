//! Texts of others within our sentences: short, and without characters that would act.

/// The most characters that are quoted of somebody else's text.
const QUOTED_CHARS_MAX: usize = 200;

/// A text of a server's, for a sentence of ours: one line, control and direction characters escaped,
/// cut when it is long.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for (count, character) in text.trim().chars().enumerate() {
        if count == QUOTED_CHARS_MAX {
            quoted.push('…');
            break;
        }
        match character {
            '\n' | '\r' | '\t' => quoted.push(' '),
            '"' | '\'' | '\\' => quoted.push(character),
            _ => quoted.extend(character.escape_debug()),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What acts is escaped, what is long is cut.
    #[test]
    fn texts_are_quoted() {
        assert_eq!(
            quoted(" a \"b\"\n\u{1b}[1m\u{202e}c "),
            "a \"b\" \\u{1b}[1m\\u{202e}c"
        );
        assert_eq!(quoted(&"é".repeat(500)).chars().count(), 201);
    }
}
