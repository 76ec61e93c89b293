//! An exported log of arbitrary text is read, or refused with its line, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::transfer::check_whole;

/// Lines that begin a valid export, so that the parser reaches the lines after them.
const BEGINNING: &str = concat!(
    r#"{"format":"lore-export","version":1}"#,
    "\n",
    r#"{"at":"2026-01-31T12:00:00Z","kind":"Project","payload":{"project":"web","name":"web","path":"/web"}}"#,
    "\n",
);

fuzz_target!(|text: &str| {
    for text in [text.to_owned(), format!("{BEGINNING}{text}")] {
        if let Err(refusal) = check_whole(&text) {
            assert!(
                refusal.message.starts_with("line ") || refusal.message.starts_with("the text has")
            );
        }
    }
});
