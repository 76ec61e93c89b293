//! Recorded data moves: sessions and whole logs between daemons, imports from other programs, backups.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod backup;
mod everything;
mod files;
mod grown;
mod omitted;
mod session;

use std::path::Path;
use std::process::Output;

/// Returns all output of a program.
fn said(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr];
    texts.map(|text| String::from_utf8_lossy(text)).concat()
}

/// Returns the standard output of a program that must succeed.
fn good(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let said = said(output);
    assert!(!output.status.success(), "not refused: {said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in: {said}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
