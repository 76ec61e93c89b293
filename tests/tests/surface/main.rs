//! User-visible texts, word for word: help, output, operations and errors.
//!
//! Each snapshot in `snapshots/` is a readable text. A changed wording is a diff of one snapshot. This command
//! rewrites all of them; read the diff before you commit it:
//!
//! ```text
//! INSTA_UPDATE=always cargo test -p tests --test surface
//! ```
//!
//! `.ci/run` sets `INSTA_UPDATE=no`, so CI compares snapshots and never writes one.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;

use tests::{Daemon, Home};

mod commands;
mod help;
mod operations;
mod programs;
mod redact;
mod refusals;

/// Creates a home in `/tmp`, wherever other tests have theirs: some snapshots depend on the length of its path and on the
/// order of its entries.
fn home() -> Home {
    Home::within(env!("CARGO_BIN_EXE_lored-under-test"), Path::new("/tmp"))
}

/// Starts a daemon in such a home, with these settings.
fn serve(settings: &str) -> (Home, Daemon) {
    let home = home();
    home.configure(settings);
    let daemon = home.start();
    (home, daemon)
}

/// Compares a text with its snapshot.
fn assert_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path("snapshots");
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
