//! Long texts of repeated names and beginnings without an end. Each byte is examined a few times, not once for every name
//! before it; with quadratic time these tests would never finish.

use super::*;

/// Length of a text: names times bytes is at least of the order of 10^11.
const BYTES: usize = 2 << 20;

/// Repeats a piece and appends a suffix.
fn text(piece: &str, bytes: usize, behind: &str) -> String {
    piece.repeat(bytes / piece.len()) + behind
}

fn redacted(text: &str) -> String {
    Redactor::default()
        .text(text, &mut SecretCounts::default())
        .into_owned()
}

#[test]
fn names_in_one_value_are_looked_at_once() {
    for piece in [
        "authorization=",
        "Authorization:",
        "password=",
        "api_key=",
        "token=,password=",
    ] {
        let text = text(piece, BYTES, "");
        assert_eq!(redacted(&text), text, "{piece}");
    }
}

/// The ends of the value and of the following value are computed once for all names in it.
#[test]
fn ends_are_looked_for_once() {
    let marks = text("password=,token=,", BYTES / 2, &")".repeat(BYTES / 2));
    assert_eq!(redacted(&marks), marks);
    let behind = text(
        "authorization=,token=,",
        BYTES / 2,
        &format!(" {}", "(".repeat(BYTES / 2)),
    );
    assert_eq!(redacted(&behind), behind);
}

#[test]
fn beginnings_of_tokens_are_tried_once() {
    for piece in ["eyJ-", "eyJaaaaaaaaaaaa-"] {
        let one = text(piece, BYTES, "");
        assert_eq!(redacted(&one), one, "{piece}");
        let two = format!("eyJ{}.{one}", "a".repeat(20));
        assert_eq!(redacted(&two), two, "{piece}");
    }
}

/// If one match has other letters or ends too early, the next one is found.
#[test]
fn tokens_behind_beginnings_are_found() {
    let token = format!(
        "eyJ{}.{}.{}",
        made(ALNUM, 30, 1),
        made(ALNUM, 30, 2),
        made(ALNUM, 30, 3)
    );
    for before in [
        "eyj-",
        "eyJ ",
        "eyJabcdefghijk.eyJ.",
        "eyJabcdefghijklmnop.x ",
    ] {
        assert_eq!(
            redacted(&format!("{before}{token}")),
            format!("{before}[redacted:jwt]")
        );
    }
    assert_eq!(redacted(&format!("eyJ-{token}")), "[redacted:jwt]");
}

#[test]
fn headers_of_keys_are_read_once() {
    let label = "-----BEGIN EC PRIVATE KEY-----";
    let text = text(&format!("{label}\nabc: "), 4 * BYTES, "");
    assert_eq!(redacted(&text), text);
}
