//! Long texts of names and beginnings that nothing ends: each byte is looked at a few times, not once for
//! every name before it. Were it otherwise, none of these tests would end while somebody waits.

use super::*;

/// Bytes of a text: the product of its names and its bytes is of the order of 10^11 at least.
const BYTES: usize = 2 << 20;

/// A piece again and again, and what is behind it.
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

/// The end of the value, and what is behind the value, are looked for once for all the names in it.
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

/// Where one is written in other letters, or ends too early, the next one is found.
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
