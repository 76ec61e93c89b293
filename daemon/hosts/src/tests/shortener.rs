//! Tests of texts that are shortened as they pass by: they are read as if they had come whole.

use proptest::prelude::*;
use serde_json::json;

use crate::json::{Shortener, TEXT_BYTES_MAX, read};

/// Shortens a text that comes in parts of this size.
fn shortened(text: &[u8], part_bytes: usize) -> Vec<u8> {
    let mut shortener = Shortener::default();
    let mut result = Vec::new();
    for part in text.chunks(part_bytes) {
        shortener.push(part, &mut result);
    }
    shortener.finish(&mut result);
    result
}

/// Repeats a raw string until it has this number of bytes or a few more, in an object between other fields.
fn with_text(raw: &str, bytes: usize) -> String {
    let text = raw.repeat(bytes.div_ceil(raw.len().max(1)));
    format!(r#"{{"a \"b":[1,"x"],"stdout":"{text}","tool_use_id":"t\\"}}"#)
}

#[test]
fn long_texts_lose_their_middle_and_say_how_much() {
    let text = with_text("x", 5 << 20);
    let short = shortened(text.as_bytes(), 64 << 10);
    assert!(short.len() < TEXT_BYTES_MAX + 64, "{}", short.len());
    let document = read(&short).unwrap();
    assert_eq!(document, read(text.as_bytes()).unwrap());
    assert_eq!(document.cuts.len(), 1);
    assert_eq!(document.cuts[0].pointer, "/stdout");
    let stdout = document.value["stdout"].as_str().unwrap();
    let note = format!("x\n[... {} bytes left out ...]\nx", document.left_out);
    assert!(stdout.contains(&note));
    assert_eq!(document.left_out + stdout.len() - note.len() + 2, 5 << 20);
}

#[test]
fn what_is_shortened_twice_reports_all_that_is_missing() {
    // Bytes that are no UTF-8 become longer when they are read.
    let mut text = with_text("x", 5 << 20).into_bytes();
    let at = text.len() - 1000;
    text[at..at + 500].fill(0xFF);
    let once = read(&text).unwrap();
    let again = read(once.value.to_string().as_bytes()).unwrap();
    let note = |value: &serde_json::Value| {
        let stdout = value["stdout"].as_str().unwrap();
        assert_eq!(stdout.matches(" bytes left out ...]").count(), 1);
        stdout.len()
    };
    let bytes = once.left_out + note(&once.value) - note(&again.value);
    assert!(
        again.left_out.abs_diff(bytes) < 64,
        "{} {bytes}",
        again.left_out
    );
}

#[test]
fn short_texts_and_what_is_not_json_are_unchanged() {
    let lists =
        json!({"a": vec!["x \" \\ \u{e9}"; 100_000], "b": "y".repeat(TEXT_BYTES_MAX)}).to_string();
    for text in [
        lists.as_str(),
        "",
        "garbage",
        "\"",
        "{\"a\":\"b\\",
        "\\\"\\\\\"\"",
    ] {
        for part_bytes in [1, 7, 64 << 10] {
            assert!(
                shortened(text.as_bytes(), part_bytes) == text.as_bytes(),
                "{text:.40}"
            );
        }
    }
    // Without its end a long string is none.
    let open = with_text("x", 1 << 20);
    let open = open.split_at(1 << 19).0;
    assert!(read(&shortened(open.as_bytes(), 4096)).is_err());
}

#[test]
fn what_follows_short_texts_may_follow_as_it_is() {
    let (mut shortener, mut result) = (Shortener::default(), Vec::new());
    shortener.push(br#"{"a":"b","c":"begins"#, &mut result);
    assert!(shortener.pass_all(&mut result));
    assert_eq!(result, br#"{"a":"b","c":"begins"#);
    shortener.push(&vec![b'x'; 2 * TEXT_BYTES_MAX], &mut result);
    let passed = result.len();
    assert!(!shortener.pass_all(&mut result) && result.len() == passed);
    shortener.push(b"\"}", &mut result);
    assert!(shortener.pass_all(&mut result) && read(&result).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands where the text is divided and cut: escapes, their halves, characters, and bytes that are none.
    #[test]
    fn a_shortened_text_is_read_as_the_whole(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("\\\\"), Just("\\\""), Just("\\n"), Just("\\u00e9"), Just("\\ud83d\\ude00"), Just("\\ud83d"),
                Just("é"), Just("😀"), Just("x"), Just("plain text, of no use to anyone; "),
            ],
            1..40,
        ),
        bytes in TEXT_BYTES_MAX - 600..2 * TEXT_BYTES_MAX,
        part_bytes in prop_oneof![1_usize..2000, 60_000_usize..300_000],
    ) {
        let text = with_text(&pieces.concat(), bytes);
        let short = shortened(text.as_bytes(), part_bytes);
        prop_assert!(short.len() <= text.len().min(TEXT_BYTES_MAX + 64));
        prop_assert_eq!(read(&short).unwrap(), read(text.as_bytes()).unwrap());
    }
}
