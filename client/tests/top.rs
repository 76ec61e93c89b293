//! `lore top`: a separate program that is found next to `lore`; if it is missing, the error says how to install it.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn lore(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(folder.join("lore"))
        .env_clear()
        .env("PATH", folder.join("bin"))
        .args(arguments)
        .output()
        .unwrap()
}

fn install(program: &Path, says: &str) {
    std::fs::write(program, format!("#!/bin/sh\necho {says}: \"$@\"\n")).unwrap();
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn the_view_is_found_and_told_all_that_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // A copy, because the real view may be installed next to the real program.
    std::fs::copy(env!("CARGO_BIN_EXE_lore"), path.join("lore")).unwrap();

    let output = lore(path, &["top"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("cargo install --path client/top"), "{said}");

    std::fs::create_dir(path.join("bin")).unwrap();
    install(&path.join("bin/lore-top"), "on PATH");
    let arguments = [
        "--socket", "/s", "--agent", "a b", "top", "--once", "--help",
    ];
    let output = lore(path, &arguments);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "on PATH: --agent a b --socket /s --once --help\n");

    install(&path.join("lore-top"), "beside");
    let output = lore(path, &["top", "--width", "80"]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "beside: --width 80\n"
    );

    let output = lore(path, &["--json", "top"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("lore status --json"), "{said}");
}
