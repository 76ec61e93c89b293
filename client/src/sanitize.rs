//! Makes recorded text safe to display on a terminal: deceptive characters are escaped, numbers are shortened, and
//! payloads take one line.

use serde_json::Value;

/// Width of a summary, in characters.
const SUMMARY_CHARS: usize = 80;
/// Shortest run of hexadecimal digits that is taken for a hash.
const HASH_DIGITS: usize = 24;
/// Width of one value in a summary, in characters.
const VALUE_CHARS: usize = 32;

/// Escapes text for one terminal line: cursor movements, changes of the writing direction and invisible characters
/// become escapes. `width` is in characters; 0 means no limit.
#[must_use]
pub fn sanitize(text: &str, width: usize) -> String {
    let mut line = String::with_capacity(text.len().min(width.max(16) * 4));
    let mut characters = text.chars().enumerate().peekable();
    while let Some((count, character)) = characters.next() {
        if width > 0 && count + 1 >= width && characters.peek().is_some() {
            line.push('…');
            break;
        }
        push_sanitized(&mut line, character);
    }
    line
}

/// Like the single-line function, for text of several lines.
#[must_use]
pub fn sanitize_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ => push_sanitized(&mut shown, character),
        }
    }
    shown
}

fn push_sanitized(line: &mut String, character: char) {
    if is_hidden(character) {
        line.extend(character.escape_default());
    } else {
        line.push(character);
    }
}

/// Returns whether a character moves the cursor, changes the writing direction or is invisible, and so could hide
/// something, such as an instruction, from the reader.
///
/// Variation selectors (U+FE00 to U+FE0F) only choose an appearance and are not deceptive.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_control();
    }
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}'              // soft hyphen, joiner, Arabic letter mark
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // fillers of Hangul
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' // inherent vowels, selectors
            | '\u{200b}'..='\u{200f}'                     // zero width, marks of direction
            | '\u{2028}'..='\u{202e}'                     // separators, embeddings, overrides
            | '\u{2060}'..='\u{206f}'                     // invisible operators, isolates
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'        // byte order mark, annotations
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' // shorthand and music controls
            | '\u{e0000}'..='\u{e0fff}'                   // tags, selectors: text that nobody sees
        )
}

/// Formats seconds for people.
#[must_use]
pub fn duration(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest} s"),
        (0, 0, _) => format!("{minutes} min {rest} s"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (_, _, _) => format!("{days} d {hours} h"),
    }
}

/// Formats bytes for people.
#[must_use]
pub fn bytes(count: u64) -> String {
    let mut rest = count;
    let mut tenths = 0;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if rest < 1024 {
            return if unit == "B" {
                format!("{rest} B")
            } else {
                format!("{rest}.{tenths} {unit}")
            };
        }
        tenths = rest % 1024 * 10 / 1024;
        rest /= 1024;
    }
    format!("{rest}.{tenths} TiB")
}

/// Summarises a payload by its most informative fields.
#[must_use]
pub fn summary(payload: &Value) -> String {
    let Value::Object(fields) = payload else {
        return "(forgotten)".to_owned();
    };
    let mut summary = String::new();
    for (name, value) in fields {
        let value = match value {
            Value::Null => continue,
            // Hashes tell people nothing.
            Value::String(text) if is_hash(text) => continue,
            Value::String(text) => sanitize(text, VALUE_CHARS),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(items) => format!("[{}]", items.len()),
            Value::Object(fields) => format!("{{{}}}", fields.len()),
        };
        if !summary.is_empty() {
            summary.push(' ');
        }
        summary.push_str(&sanitize(name, VALUE_CHARS));
        summary.push('=');
        summary.push_str(&value);
    }
    sanitize(&summary, SUMMARY_CHARS)
}

fn is_hash(text: &str) -> bool {
    text.len() >= HASH_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_could_trick_a_terminal_is_shown() {
        assert_eq!(
            sanitize("a\x1b[31mb\u{202e}c\n", 0),
            "a\\u{1b}[31mb\\u{202e}c\\n"
        );
        assert_eq!(sanitize("abcdef", 4), "abc…");
        assert_eq!(sanitize("abcd", 4), "abcd");
        assert_eq!(sanitize_lines("a\nb\r"), "a\nb\\r");
        assert_eq!(
            sanitize("\u{61c}\u{ad}\u{e0041}é漢\u{fe0f}", 0),
            "\\u{61c}\\u{ad}\\u{e0041}é漢\u{fe0f}"
        );
    }

    #[test]
    fn sizes_and_times_are_short() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(5 << 40), "5.0 TiB");
        assert_eq!(duration(59), "59 s");
        assert_eq!(duration(3_700), "1 h 1 min");
        assert_eq!(duration(90_000), "1 d 1 h");
    }

    #[test]
    fn a_summary_is_one_short_line() {
        let payload = json!({"step": 3, "tool": "git\nlog", "ok": true, "none": null, "list": [1, 2],
            "map": {"a": 1}, "long": "x".repeat(100)});
        let summary = summary(&payload);
        assert!(
            summary.starts_with("step=3 tool=git\\nlog ok=true list=[2] map={1} long=xxx"),
            "{summary}"
        );
        assert_eq!(summary.chars().count(), SUMMARY_CHARS);
        assert_eq!(super::summary(&Value::Null), "(forgotten)");
        let saved = json!({"checkpoint": "c1", "hash": "4658be465bb31b5c538d8c5911ae6f00"});
        assert_eq!(super::summary(&saved), "checkpoint=c1");
    }
}
