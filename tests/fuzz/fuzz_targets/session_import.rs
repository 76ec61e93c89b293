//! An exported session of arbitrary text is read, or refused with its line, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::transfer::check_import;

/// Lines that begin a valid export, so that the parser reaches the lines after them.
const BEGINNING: &str = concat!(
    r#"{"format":"lore-session","version":1,"session":"s-1"}"#,
    "\n",
    r#"{"n":1,"at":"2026-01-31T12:00:00Z","kind":"SessionCreated","payload":{}}"#,
    "\n",
);

fuzz_target!(|text: &str| {
    let _ = check_import(text);
    if let Err(refusal) = check_import(&format!("{BEGINNING}{text}")) {
        assert!(
            refusal.message.starts_with("line ") || refusal.message.starts_with("the text has")
        );
    }
});
