//! Tests of the kinds of code in prose.

use super::check;

#[test]
fn files_and_addresses() {
    check(&[
        (
            "see /etc/hosts and ~/src/main.rs.",
            &["file_path /etc/hosts", "file_path ~/src/main.rs"],
        ),
        (
            "edit daemon/src/lib.rs:12, ./run.sh or Cargo.toml",
            &[
                "file_path daemon/src/lib.rs",
                "file_path ./run.sh",
                "file_path Cargo.toml",
            ],
        ),
        (
            "C:\\Users\\zoe\\a.txt",
            &["file_path C:\\Users\\zoe\\a.txt"],
        ),
        ("yes/no, 24/7, km/h", &[]),
        (
            "at https://example.com/a_(b)?q=1.",
            &["url https://example.com/a_(b)?q=1"],
        ),
        ("<http://10.0.0.1:80/x>", &["url http://10.0.0.1:80/x"]),
        ("http:// and ://x", &[]),
        (
            "db.example.com, api.shop.io and srv01.ams1.example.co.uk",
            &[
                "host db.example.com",
                "host api.shop.io",
                "host srv01.ams1.example.co.uk",
            ],
        ),
        ("self.test or README or foo.bar()", &[]),
        (
            "write to zoe.mueller@example.com.",
            &["email zoe.mueller@example.com"],
        ),
        ("user@ and @host", &[]),
    ]);
}

#[test]
fn issues_and_commits() {
    check(&[
        (
            "issue 12, #34 and rust-lang/rust#567",
            &["issue 12", "issue #34", "issue rust-lang/rust#567"],
        ),
        (
            "CHG-20418 and INC0048213",
            &["issue CHG-20418", "issue INC0048213"],
        ),
        ("the issue is old", &[]),
        (
            "PR #12, pull request 13 and merge request !14",
            &["pull_request #12", "pull_request 13", "pull_request !14"],
        ),
        ("a pull request", &[]),
        ("commit 6f27f63", &["commit 6f27f63"]),
        (
            "6f27f631460c1a1b2c3d4e5f60718293a4b5c6d7",
            &["commit 6f27f631460c1a1b2c3d4e5f60718293a4b5c6d7"],
        ),
        ("commit early", &[]),
        (
            "branch main, the develop branch, feature/login-form",
            &["branch main", "branch develop", "branch feature/login-form"],
        ),
        ("branch `wip`", &["branch wip"]),
        ("a branch of it", &[]),
    ]);
}

#[test]
fn what_programs_are_made_of() {
    check(&[
        (
            "serde@1.0.2, @scope/pkg and requests==2.31.0",
            &[
                "package serde@1.0.2",
                "package @scope/pkg",
                "package requests",
            ],
        ),
        ("cargo add tokio", &["package tokio"]),
        ("the package is old", &[]),
        (
            "call `parse_all()` or `std::mem::swap`",
            &["symbol parse_all()", "symbol std::mem::swap"],
        ),
        ("`not a symbol` and `true`", &[]),
        (
            "E0308, ECONNREFUSED, HTTP 404 and exit code 2",
            &[
                "error_code E0308",
                "error_code ECONNREFUSED",
                "error_code 404",
                "error_code 2",
            ],
        ),
        ("an error occurred", &[]),
        (
            "$HOME, ${RUST_LOG} and LORE_CONFIG_DIR",
            &[
                "environment_variable HOME",
                "environment_variable RUST_LOG",
                "environment_variable LORE_CONFIG_DIR",
            ],
        ),
        ("HOME SWEET HOME", &[]),
    ]);
}

#[test]
fn exceptions_calls_and_diffs() {
    check(&[
        ("it raised a KeyError", &["exception KeyError"]),
        (
            "requests.exceptions.HTTPError: 502; java.lang.NullPointerException",
            &[
                "exception requests.exceptions.HTTPError",
                "exception java.lang.NullPointerException",
            ],
        ),
        ("an Error, an Exception and a Warning", &[]),
        (
            "`round_cents()` and round_cents() are one",
            &["symbol round_cents()", "symbol round_cents()"],
        ),
        ("the `total` and `test` of it", &[]),
        (
            "diff --git a/src/vat.rs b/src/vat.rs\nindex 6f5f4e9..9f46b2c 100644\n--- a/src/vat.rs\n+++ b/src/vat.rs",
            &["file_path src/vat.rs"; 4],
        ),
    ]);
}

#[test]
fn what_every_language_and_machine_has_is_no_entity() {
    check(&[
        (
            "a `u8`, a `usize` and an `f64` in a `Vec` or a `HashMap`",
            &[],
        ),
        ("`uint32_t`, `size_t`, `int64` and `bigint`", &[]),
        ("use `proc_macro`, `derive`, `cfg_attr` and `unsafe`", &[]),
        ("`str`, `tuple`, `None` and `lambda` of Python", &[]),
        ("`println!` and `len()`, then `unwrap()` and print()", &[]),
        (
            "`u8_count`, `usize_max()` and `Vec3` of ours",
            &["symbol u8_count", "symbol usize_max()", "symbol Vec3"],
        ),
        ("make 2>/dev/null </dev/stdin >/dev/fd/3", &[]),
        ("#!/usr/bin/env bash\n#!/bin/sh", &[]),
        ("--- /dev/null\n+++ b/src/new.rs", &["file_path src/new.rs"]),
        (
            "mount /dev/sdb1, see /proc/meminfo and /usr/bin/envsubst",
            &[
                "file_path /dev/sdb1",
                "file_path /proc/meminfo",
                "file_path /usr/bin/envsubst",
            ],
        ),
    ]);
}
