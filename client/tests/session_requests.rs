//! The commands for sessions, messages, entities and packs: what they ask the daemon for.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use support::cli::{lore, lore_with, parts};
use support::fixture::Fixture;
/// Every argument is sent in its field; values that come only from the environment are not sent.
#[test]
fn sessions_are_asked_for() {
    let fixture = Fixture::new();
    fixture.check_sent(
        &[
            (
                &[
                    "session",
                    "list",
                    "--user",
                    "u",
                    "--project",
                    "p",
                    "--agent",
                    "x",
                    "--state",
                    "any",
                    "--tag",
                    "a",
                    "--tag",
                    "b",
                    "--limit",
                    "2",
                    "--next",
                    "c",
                ],
                "list_sessions",
                r#"{"user":"u","project":"p","by_agent":"x","state":"any","tags":["a","b"],"limit":2,"next":"c"}"#,
            ),
            (
                &["session", "show", "s1", "--as-of", "7"],
                "get_session",
                r#"{"session":"s1","as_of":7}"#,
            ),
            (&["session", "show"], "get_session", "{}"),
            (
                &[
                    "session",
                    "create",
                    "--id",
                    "mine",
                    "--title",
                    "t",
                    "--user",
                    "u",
                    "--topic",
                    "o",
                    "--tag",
                    "a",
                    "--preference",
                    "theme=\"dark\"",
                    "--preference",
                    "n=1",
                ],
                "create_session",
                r#"{"session":"mine","title":"t","user":"u","topic":"o","tags":["a"],"preferences":{"theme":"dark","n":1}}"#,
            ),
            (
                &[
                    "session",
                    "update",
                    "s1",
                    "--title",
                    "",
                    "--tag",
                    "",
                    "--add-tag",
                    "b",
                    "--remove-tag",
                    "c",
                    "--preference",
                    "n=null",
                    "--fence",
                    "8",
                ],
                "update_session",
                r#"{"session":"s1","title":"","tags":[],"add_tags":["b"],"remove_tags":["c"],"preferences":{"n":null},"fence":8}"#,
            ),
            (
                &["session", "update", "--tag", "x", "--tag", ""],
                "update_session",
                r#"{"tags":["x",""]}"#,
            ),
            (
                &["session", "close", "--reason", "done", "--key", "k"],
                "close_session",
                r#"{"reason":"done","key":"k"}"#,
            ),
            (
                &[
                    "session",
                    "fork",
                    "s1",
                    "--at",
                    "2026-01-01T00:00:00Z",
                    "--as",
                    "s2",
                    "--title",
                    "t",
                ],
                "fork_session",
                r#"{"session":"s1","at":"2026-01-01T00:00:00Z","new_session":"s2","title":"t"}"#,
            ),
            (
                &[
                    "session", "lease", "s1", "--name", "w", "--ms", "5000", "--token", "8",
                ],
                "lease_session",
                r#"{"session":"s1","name":"w","ms":5000,"token":8}"#,
            ),
            (
                &["session", "release", "--token", "8"],
                "release_session",
                r#"{"token":8}"#,
            ),
            (
                &["session", "forget", "s1", "--dry-run"],
                "forget_session",
                r#"{"session":"s1","dry_run":true}"#,
            ),
            (
                &["session", "forget", "s1", "--yes", "--key", "k"],
                "forget_session",
                r#"{"session":"s1","key":"k"}"#,
            ),
            (
                &[
                    "session",
                    "prune",
                    "--strategy",
                    "conservative",
                    "--target",
                    "9",
                ],
                "prune_session",
                r#"{"strategy":"conservative","target":9}"#,
            ),
            (
                &["session", "reset-pruning", "s1"],
                "reset_pruning",
                r#"{"session":"s1"}"#,
            ),
        ],
    );
}

/// Messages, entities, packs and citations are requested in the daemon's format.
#[test]
fn the_rest_is_asked_for() {
    let fixture = Fixture::new();
    fixture.check_sent(
        &[
            (
                &[
                    "message",
                    "record",
                    "--sender",
                    "assistant",
                    "--type",
                    "error",
                    "--tool",
                    "a",
                    "--tool",
                    "b",
                    "--pack",
                    "p-1",
                    "-x",
                ],
                "record_message",
                r#"{"sender":"assistant","content":"-x","type":"error","tools":[{"name":"a"},{"name":"b"}],"pack":"p-1"}"#,
            ),
            (
                &[
                    "message",
                    "list",
                    "s1",
                    "--since",
                    "4",
                    "--sender",
                    "user",
                    "--type",
                    "tool_result",
                    "--limit",
                    "3",
                    "--newest",
                ],
                "list_messages",
                r#"{"session":"s1","limit":3,"since":4,"type":"tool_result","sender":"user","order":"newest"}"#,
            ),
            (
                &["message", "show", "m-1"],
                "list_messages",
                r#"{"message":"m-1"}"#,
            ),
            (
                &[
                    "entity",
                    "list",
                    "--session",
                    "s1",
                    "--kind",
                    "device",
                    "--sort",
                    "recency",
                ],
                "list_entities",
                r#"{"session":"s1","kind":"device","sort":"recency"}"#,
            ),
            (
                &["entity", "list", "--all"],
                "list_entities",
                r#"{"all":true}"#,
            ),
            (
                &["entity", "show", "sw-1", "--kind", "device"],
                "get_entity",
                r#"{"name":"sw-1","kind":"device"}"#,
            ),
            (
                &[
                    "entity",
                    "relate",
                    "device:a",
                    "connected_to",
                    "ip_address:fe80::1",
                ],
                "relate_entities",
                r#"{"from":{"kind":"device","name":"a"},"relation":"connected_to","to":{"kind":"ip_address","name":"fe80::1"}}"#,
            ),
            (
                &["entity", "resolve", "sw-1", "--refresh"],
                "resolve_entity",
                r#"{"name":"sw-1","refresh":true}"#,
            ),
            (
                &["entity", "unmerge", "sw-1", "--kind", "device"],
                "unmerge_entity",
                r#"{"name":"sw-1","kind":"device"}"#,
            ),
            (
                &["pack", "-5 dB?", "--max-tokens", "30"],
                "enrich_message",
                r#"{"message":"-5 dB?","max_tokens":30}"#,
            ),
            (
                &[
                    "pack",
                    "--for-task",
                    "t",
                    "--project",
                    "p",
                    "--session",
                    "s1",
                ],
                "context_pack",
                r#"{"session":"s1","project":"p","query":"t"}"#,
            ),
            (&["why", "p-1"], "why", r#"{"pack":"p-1"}"#),
            (
                &["why", "--step", "2", "--attempt", "1"],
                "why",
                r#"{"step":2,"attempt":1}"#,
            ),
            (
                &[
                    "session", "diff", "s1", "--from", "2", "--to", "7", "--other", "s2",
                ],
                "diff_session",
                r#"{"session":"s1","a":2,"b":7,"other":"s2"}"#,
            ),
            (&["diff", "2"], "diff_session", r#"{"a":2}"#),
            (
                &["diff", "2", "2026-01-01T00:00:00Z"],
                "diff_session",
                r#"{"a":2,"b":"2026-01-01T00:00:00Z"}"#,
            ),
            (
                &["diff", "s1@2", "7"],
                "diff_session",
                r#"{"session":"s1","a":2,"b":7}"#,
            ),
            // The current state: at the log position of the daemon's Welcome.
            (
                &["diff", "s1", "s2"],
                "diff_session",
                r#"{"session":"s1","a":0,"other":"s2"}"#,
            ),
            (
                &["diff", "s1", "s2@7"],
                "diff_session",
                r#"{"session":"s1","a":0,"b":7,"other":"s2"}"#,
            ),
        ],
    );
    let variables = [("LORE_SESSION", "s9")];
    for arguments in [
        &["entity", "list"][..],
        &["pack", "--for-task", "-"],
        &["session", "create"],
    ] {
        lore_with(fixture.home(), &variables, arguments, "read");
        assert!(!fixture.last().1.contains("s9"), "{:?}", fixture.last());
    }
}

/// Texts can also come from a pipe, byte for byte.
#[test]
fn texts_are_read_from_standard_input() {
    let fixture = Fixture::new();
    lore(
        fixture.home(),
        &["message", "record", "--sender", "user"],
        "a\n\u{9b}b\n",
    );
    assert_eq!(
        fixture.last().1,
        "{\"content\":\"a\\n\u{9b}b\\n\",\"sender\":\"user\"}"
    );
    let output = lore(fixture.home(), &["pack", "-"], "é");
    assert_eq!(fixture.last().1, r#"{"message":"é"}"#);
    let (code, out, err) = parts(output);
    assert_eq!((code, out.as_str()), (0, "before\u{9b}\n\nnow\n"));
    assert_eq!(
        err,
        "lore: pack p-1: 20 of 30 tokens, built before\n  history: 1 piece, 12 tokens\n  \
         left out: step 2.1 (text): budget\n"
    );
    let output = lore(fixture.home(), &["pack", "--for-task", "-"], "t");
    assert_eq!(
        fixture.last(),
        ("context_pack".into(), r#"{"query":"t"}"#.into())
    );
    assert_eq!(parts(output).1, "task\n");
}
