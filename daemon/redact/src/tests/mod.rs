//! Tests with a sample of every kind.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod laws;
mod long;
mod named_samples;
mod samples;
mod texts;

use super::*;
use samples::*;
/// Each sample is found as its kind, and nothing else in the text is.
#[test]
fn every_kind_is_found() {
    let redactor = Redactor::default();
    let mut seen = std::collections::BTreeSet::new();
    for (kind, before, secret, after) in samples() {
        let text = format!("{before}{secret}{after}");
        let mut found = SecretCounts::default();
        let redacted = redactor.text(&text, &mut found);
        assert_eq!(
            redacted,
            format!("{before}[redacted:{kind}]{after}"),
            "{text}"
        );
        assert_eq!(found.iter().collect::<Vec<_>>(), [(kind, 1)]);
        seen.insert(kind);
    }
    let all: std::collections::BTreeSet<&str> = kinds::all().map(|kind| kind.id).collect();
    assert_eq!(seen, all);
    assert!(all.len() >= 60, "{}", all.len());
}

/// A sample is also found in running text, in quotation marks, in Markdown, in a command, and escaped in another text.
#[test]
fn forms_are_found_wherever_they_stand() {
    let redactor = Redactor::default();
    for (kind, before, secret, _) in samples()
        .into_iter()
        .filter(|(_, before, ..)| before.is_empty())
    {
        for (start, end) in [
            ("The key is ", "."),
            ("\"", "\""),
            ("`", "`"),
            ("x=", "&y=1"),
            ("a\\n", "\\nb"),
            ("(", ")"),
            ("é", "é"),
            ("\u{2014}", ","),
        ] {
            let text = format!("{start}{before}{secret}{end}");
            let redacted = redactor.text(&text, &mut SecretCounts::default());
            assert_eq!(redacted, format!("{start}[redacted:{kind}]{end}"), "{text}");
        }
    }
}

/// Truncated secrets, parts of longer strings, and examples are not found.
#[test]
fn near_misses_stay() {
    let redactor = Redactor::default();
    for (kind, before, secret, after) in samples()
        .into_iter()
        .filter(|(_, before, ..)| before.is_empty())
    {
        let short: String = secret.chars().take(secret.len() / 4).collect();
        let inside = format!("x{secret}");
        for text in [format!("{before}{short}{after}"), inside] {
            let found = redactor.findings(&text);
            // Some kinds may begin anywhere: shell texts, or texts between marker lines.
            let may_begin = secret.starts_with(['$', '-']) && text.starts_with('x');
            // A form that begins at a distance before its keyword may match by chance.
            assert!(found.is_empty() || may_begin, "{kind}: {text} {found:?}");
        }
    }
}

/// Patterns compile, keywords are found, and ids are valid in a mark.
#[test]
fn kinds_are_well_formed() {
    for kind in kinds::all() {
        let is_of_id =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(
            kind.id.bytes().all(is_of_id) && kind.id.len() <= 48,
            "{}",
            kind.id
        );
        assert!(
            !kind.what.is_empty() && !kind.what.ends_with('.'),
            "{}",
            kind.id
        );
        match &kind.how {
            kinds::Recogniser::Form(form) => {
                assert!(find::compile(form.pattern).is_ok(), "{}", kind.id);
                for word in form.keywords {
                    assert!(word.len() >= 3, "{word}");
                }
            }
            kinds::Recogniser::Named { pattern, words } => {
                assert!(find::compile(pattern).is_ok(), "{}", kind.id);
                assert!(
                    words
                        .iter()
                        .all(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric()))
                );
            }
            kinds::Recogniser::Meant | kinds::Recogniser::Address => {}
        }
    }
}
