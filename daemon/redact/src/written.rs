//! Recognises text in place of a value: variables, placeholders, program code.

use super::values::is_wordy;

/// Brackets and type separators.
const BRACKETS: [char; 9] = ['(', ')', '[', ']', '{', '}', '<', '>', '|'];

/// Returns whether a value is filled in later: `${PASSWORD}`, `<token>`, `{{ secret }}`, `%s`.
pub(super) fn is_variable(value: &str) -> bool {
    const MARKS: &[&str] = &[
        "${",
        "{{",
        "$(",
        "<",
        "%(",
        "#{",
        "[redacted",
        "\u{2026}",
        "...",
    ];
    let is_shell = value.strip_prefix('$').is_some_and(|name| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    is_shell
        || MARKS.iter().any(|mark| value.contains(mark))
        || matches!(value, "%s" | "%d" | "%v" | "?" | "{}")
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('%') && value.ends_with('%') && value.len() > 2)
}

/// Like [`is_variable`], for a value with any characters: only complete placeholders, from opening to closing mark.
pub(super) fn is_filled_in(value: &str) -> bool {
    const PAIRS: &[(&str, &str)] = &[
        ("${", "}"),
        ("{{", "}}"),
        ("$(", ")"),
        ("%(", ")s"),
        ("#{", "}"),
        ("<%", "%>"),
    ];
    let is_pair = |(open, close): &(&str, &str)| {
        let inside = value.split_once(open);
        inside.is_some_and(|(_, rest)| rest.contains(close))
    };
    let wrapped = [("<", ">"), ("[", "]"), ("(", ")"), ("{", "}")].map(|(open, close)| {
        let inside = value.strip_prefix(open)?.strip_suffix(close)?;
        inside.bytes().all(is_of_words).then_some(())
    });
    let has_none = !value.contains(BRACKETS);
    PAIRS.iter().any(is_pair)
        || wrapped.iter().any(Option::is_some)
        || value.contains("[redacted")
        || (has_none && is_variable(value))
}

/// Returns whether a value is program code where passwords with any characters may occur: a call, an index, a type with
/// its brackets, one of several types, or a name with a sigil.
pub(super) fn is_expression(value: &str) -> bool {
    if !value.contains(BRACKETS) {
        let marked = value.strip_prefix(['&', '#', '.', '\\', '-', '=']);
        return match marked {
            Some(name) => {
                let name = name.trim_start_matches('-');
                name.bytes()
                    .all(|byte| is_of_words(byte) || byte.is_ascii_digit())
                    && is_wordy(name)
            }
            None => is_program(value),
        };
    }
    let is_of_call =
        |byte: u8| is_of_words(byte) || byte.is_ascii_digit() || b"'\"`,/()[]<>?".contains(&byte);
    let name = value.find(['(', '[', '<']).and_then(|at| value.get(..at));
    let is_call = name.is_some_and(|name| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name
                .bytes()
                .all(|byte| is_of_words(byte) || byte.is_ascii_digit())
            && is_wordy(name)
    }) && value
        .trim_end_matches([';', '?', ','])
        .ends_with([')', ']', '>'])
        && value.trim_end_matches([';', ',']).bytes().all(is_of_call);
    let is_type = value.contains('|')
        && value
            .split('|')
            .all(|one| one.len() > 2 && one.bytes().all(|byte| byte.is_ascii_alphabetic()));
    is_call || is_type
}

/// Returns whether a text is program code: a call, a type, a member.
pub(super) fn is_program(value: &str) -> bool {
    const TYPES: &[&str] = &[
        "String",
        "str",
        "Option",
        "None",
        "Some",
        "null",
        "true",
        "false",
        "undefined",
        "SecretStr",
        "Optional",
        "Any",
        "bytes",
        "Vec",
        "Box",
        "int",
        "bool",
        "char",
        "varchar",
        "text",
        "TEXT",
        "VARCHAR",
        "Buffer",
        "Uint8Array",
    ];
    let is_of_numbers = |prefix: char| {
        value
            .strip_prefix(prefix)
            .is_some_and(|rest| matches!(rest, "8" | "16" | "32" | "64" | "128"))
    };
    let is_member = value.contains('.')
        && value.split('.').all(|part| {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            part.bytes()
                .next()
                .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                && part.bytes().all(is_name)
        });
    value.contains(['(', ')', '[', ']', '{', '}', '|'])
        || value.contains("::")
        || value.starts_with(['&', '#', '.', '\\', '-', '='])
        || value
            .strip_prefix('@')
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphabetic()))
        || TYPES.contains(&value)
        || ['u', 'i', 'f'].into_iter().any(is_of_numbers)
        || is_member
}

const fn is_of_words(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.' | b':')
}
