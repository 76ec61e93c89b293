//! An exported session of arbitrary text is refused with its line or read, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::overview::check_import;

/// Lines that begin as a good export does, so that what is behind them is looked at.
const BEGINNING: &str = concat!(
    r#"{"format":"lore-session","version":1,"session":"s-1"}"#,
    "\n",
    r#"{"n":1,"at":"2026-01-31T12:00:00Z","kind":"SessionCreated","payload":{}}"#,
    "\n",
);

fuzz_target!(|text: &str| {
    let _ = check_import(text);
    if let Err(refusal) = check_import(&format!("{BEGINNING}{text}")) {
        assert!(refusal.message.starts_with("line ") || refusal.message.starts_with("the text has"));
    }
});
