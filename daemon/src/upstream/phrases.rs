//! Foreign texts in the daemon's messages: short, and without characters that have an effect.

/// Limit on quoted foreign text, in characters.
const QUOTED_CHARS_MAX: usize = 200;

/// Quotes a server's text for a message: one line, with control and direction characters escaped, truncated if
/// long.
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

    /// Control characters are escaped, and long texts are truncated.
    #[test]
    fn texts_are_quoted() {
        assert_eq!(
            quoted(" a \"b\"\n\u{1b}[1m\u{202e}c "),
            "a \"b\" \\u{1b}[1m\\u{202e}c"
        );
        assert_eq!(quoted(&"é".repeat(500)).chars().count(), 201);
    }
}
