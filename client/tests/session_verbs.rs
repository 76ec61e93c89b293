//! The commands for sessions, messages, entities and packs: output for people and programs, refusals, and exit codes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use serde_json::Value;
use support::fixture::{Fixture, reply};
/// Sessions are printed as tables and sentences; control characters never reach the terminal.
#[test]
fn sessions_are_told_to_people() {
    let fixture = Fixture::new();
    assert_eq!(
        fixture.out(&["session", "list"]),
        "session  state   last activity        steps  user  agents  tags  project  title\n\
         s1       active  2026-01-02 00:00:00  3            x       a, b           log\\u{1b}[31min\n\
         … more: --next c-1\n"
    );
    let nobody = fixture.run(&["session", "list", "--agent", "nobody"]);
    assert_eq!(nobody, (0, String::new(), "lore: no sessions\n".to_owned()));
    let created = fixture.run(&["session", "create"]);
    let warned = "lore: nearly\\u{1b} full\n".to_owned();
    assert_eq!(created, (0, "s-new\n".to_owned(), warned));
    let shown = fixture.out(&["session", "show", "s1"]);
    for line in [
        "session        s1\n",
        "title          log\\u{1b}in\n",
        "forked from    s0 at 3\n",
        "checkpoints    2, 2.0 KiB\n",
        "tokens         9 (user 4, assistant 5, system 0, tool 0); 9 in the working set, 20 of packs\n",
        "preference theme = \"da\\u{202e}rk\"\n",
        "lease w held by y until 2026-01-02 00:00:30\n",
        "pruned at 2026-01-01 00:00:00 (aggressive): 50 tokens before, 9 after, undone\n",
        "device  sw-1  2         9.6        2026-01-02 00:00:00  site:NYC\n",
        "ping  completed  2026-01-01 00:00:00  x      step 2, attempt 1\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
    assert!(!shown.contains("user  "), "{shown}");
    assert_eq!(
        fixture.out(&["session", "update", "--topic", "x"]),
        "session      s1\ntitle        t\\u{202e}\ntags         a\npreferences  theme=\"dark\"\n"
    );
    assert_eq!(
        fixture.out(&["session", "fork", "s1"]),
        "forked session s1 at 7 as s2\n"
    );
    assert_eq!(
        fixture.out(&["session", "lease"]),
        "lease w of session s1 taken until 2026-01-01 00:00:30: token 8\n"
    );
    assert_eq!(
        fixture.out(&["session", "release", "--token", "8"]),
        "lease w of session s1 released\n"
    );
    assert_eq!(
        fixture.out(&["session", "forget", "s1", "--dry-run"]),
        "session s1 has 1 event, 2.0 KiB: all of it would be gone for good\n"
    );
    assert_eq!(
        fixture.out(&["session", "forget", "s1", "--yes"]),
        "forgot session s1: 1 event, 2.0 KiB\n"
    );
    assert_eq!(
        fixture.out(&["session", "prune", "--strategy", "aggressive"]),
        "session s1 pruned: 5000 tokens before, 900 after; 31 messages, 1 tool execution and 2 \
         entities left the working set, and stay in the log\n"
    );
    assert_eq!(
        fixture.out(&["session", "prune"]),
        "session s1 has 50 tokens: nothing to do (comprehensive)\n"
    );
    assert_eq!(
        fixture.out(&["session", "reset-pruning"]),
        "session s1 is whole: 900 tokens before, 5000 now\n"
    );
}

/// Sizes are a table that ends with the current state.
#[test]
fn sizes_are_told_to_people() {
    let fixture = Fixture::new();
    let asked: &[&str] = &[
        "session",
        "metrics",
        "s1",
        "--since-ms",
        "60000",
        "--limit",
        "5",
    ];
    let args = r#"{"session":"s1","since_ms":60000,"limit":5}"#;
    fixture.check_sent(&[(asked, "metrics", args)]);
    assert_eq!(
        fixture.out(asked),
        "at                   position  working set  entities  tokens\n\
         2026-01-01 00:00:00  4         10           1         10\n\
         now                  9         9            2         30\n"
    );
}

/// Each change is printed on a line, and an empty result is reported.
#[test]
fn differences_are_told_to_people() {
    let fixture = Fixture::new();
    let lines = "~ title \"a\" -> \"b\\u{202e}\"\n+ topic \"x\"\n- preferences.n 1\n+ message m-1\n\
                 + 2 more messages\n- 1 message\n+ device sw-1, mentions: 2\n\
                 ~ site NYC, mentions: 1 -> 4\n+ step 1 x\n~ step 2 x -> y\\u{1b}\n\
                 ~ context /goal\n+ context /a b\n";
    assert_eq!(fixture.out(&["session", "diff", "--from", "2"]), lines);
    assert_eq!(fixture.out(&["diff", "2"]), lines);
    assert_eq!(fixture.out(&["diff", "9"]), "nothing changed from 9 to 9\n");
}

/// Messages, entities and the citations of an answer are printed as tables and sentences.
#[test]
fn the_rest_is_told_to_people() {
    let fixture = Fixture::new();
    assert_eq!(
        fixture.out(&["message", "record", "--sender", "user", "x"]),
        "message m-1 of session s1 (position 9): 4 tokens\n  \
         12 bytes are from a context pack, and do not count\n  device sw\\u{1b}-1\n"
    );
    assert_eq!(
        fixture.out(&["message", "list"]),
        "message  at                   sender  type   tokens  entities  said\n\
         m-1      2026-01-01 00:00:00  user    query  4       1         is it\\n\\u{202e}up\\u{9b}?\n"
    );
    assert_eq!(
        fixture.run(&["message", "list", "--sender", "assistant"]).0,
        0
    );
    let shown = fixture.out(&["message", "show", "m-1"]);
    assert!(
        shown.contains("tools     ping\n")
            && shown.contains("entities  device sw-1\n")
            && shown.ends_with("\n\nis it\n\\u{202e}up\\u{9b}?\n"),
        "{shown}"
    );
    assert_eq!(
        fixture.out(&["entity", "list"]),
        "kind    name          mentions  relevance  last mentioned       part of\n\
         device  sw\\u{202e}-1  2         9.6        2026-01-02 00:00:00  site:NYC\n\
         in all: device 1, site 2\n"
    );
    let shown = fixture.out(&["entity", "show", "sw-1"]);
    for line in [
        "id               7\n",
        "its parts: interface:eth0\n",
        "<connected_to  device  r1    2\n",
        "message m-1        4         2026-01-01 00:00:00  is sw-1\\nup\n",
        "step 2, attempt 3  5         2026-01-01 00:00:00\n",
        "netbox says\n{\n  \"status\": \"up\\u{9b}\"\n}\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
    assert_eq!(
        fixture.out(&[
            "entity",
            "relate",
            "device:a",
            "connected_to",
            "ip_address:fe80::1"
        ]),
        "device:a connected_to ip_address:fe80::1 in session s1 (position 9)\n"
    );
    let found = fixture.out(&["entity", "resolve", "sw-1"]);
    assert!(
        found.contains("found as upstream\n\nnetbox says\n{\n  \"status\": \"act\\u{202e}ive\""),
        "{found}"
    );
    let reported = "lore: the name is unknown\nlore: netbox does not answer\n".to_owned();
    assert_eq!(
        fixture.run(&["entity", "resolve", "nope"]),
        (1, String::new(), reported)
    );
    assert_eq!(
        fixture.out(&["why", "m-1"]),
        "message m-1 of session s1, position 4: MessageRecorded at 2026-01-01 00:00:00 by -\n\
         was made with\n\
         pack      p-1\n\
         made for  a message, SHA-256 ab\n\
         session   s1\n\
         position  3\n\
         at        2026-01-01 00:00:00\n\
         agent     x\n\
         tokens    20 of 30: history 12, message 8\n\
         is based on\n\
         what  id   session    position  event  at  agent\n\
         step  2.1  forgotten  gone      -      -   -\n\
         is used by\n\
         pack  position\n\
         p-2   8\n"
    );
    let (code, out, err) = fixture.run(&["why", "m-9"]);
    assert_eq!((code, err.as_str()), (1, "lore: no pack used it\n"));
    assert!(
        out.starts_with("message m-9 of session s1, position 6"),
        "{out}"
    );
}

/// Programs get the whole reply with its format version, and errors as JSON.
#[test]
fn programs_get_json() {
    let fixture = Fixture::new();
    for (arguments, operation) in [
        (&["session", "list", "--json"][..], "list_sessions"),
        (&["--json", "session", "show"], "get_session"),
        (&["message", "list", "--json"], "list_messages"),
        (&["entity", "list", "--json"], "list_entities"),
        (&["pack", "x", "--json"], "enrich_message"),
        (&["why", "12", "--json"], "why"),
        (&["diff", "2", "--json"], "diff_session"),
    ] {
        let (code, out, err) = fixture.run(arguments);
        assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
        let (canned, _) = reply(operation, "").unwrap();
        assert_eq!(out, format!("{{\"schema_version\":1,{}\n", &canned[1..]));
    }
    let (code, out, err) = fixture.run(&["session", "close", "--json"]);
    assert_eq!((code, err.as_str()), (5, ""));
    let refused: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(refused["error"]["code"], "CONFLICT");
    let (code, out, err) = fixture.run(&["session", "close"]);
    assert_eq!((code, out.as_str()), (5, ""));
    assert_eq!(err, "lore: the lease is lost\n  take it again\n");
}

/// Invalid arguments are refused before any call, with a suggestion.
#[test]
fn nonsense_is_refused() {
    let fixture = Fixture::new();
    for (arguments, said) in [
        (&["session", "show", "s 1"][..], "' '"),
        (
            &["session", "list", "--state", "gone"],
            "active, expired, closed, any",
        ),
        (
            &["session", "create", "--preference", "theme=dark"],
            "theme='\"dark\"'",
        ),
        (&["session", "forget", "s1"], "--yes"),
        (
            &["session", "forget", "s1", "--yes", "--dry-run"],
            "--dry-run",
        ),
        (
            &["session", "fork", "s1", "--at", "noon"],
            "--at: \"noon\" is neither",
        ),
        (&["session", "diff", "s1"], "--from"),
        (&["session", "release"], "--token"),
        (&["message", "record", "x"], "--sender"),
        (
            &["message", "record", "--sender", "nobody", "x"],
            "user, assistant, system, tool",
        ),
        (
            &["message", "list", "--since", "x"],
            "--since: \"x\" is neither",
        ),
        (&["entity", "relate", "a", "is", "b"], "KIND:NAME"),
        (&["entity", "list", "--all", "--project", "p"], "--project"),
        (&["pack"], "MESSAGE"),
        (&["pack", "x", "--for-task", "y"], "--for-task"),
        (&["pack", "x", "--project", "p"], "--for-task"),
        (&["why"], "WHAT"),
        (&["why", "a b"], "' '"),
        (&["diff", "s1"], "s1@POSITION"),
        (&["diff", "s1", "7"], "s1@POSITION"),
        (&["diff", "s1@noon"], "neither a position"),
    ] {
        let (code, out, err) = fixture.run(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(said), "{arguments:?}: {err}");
    }
    assert!(fixture.sent.lock().unwrap().is_empty());
}

/// Help explains how sides and ids are distinguished; completions know every command.
#[test]
fn help_and_completions_know_the_verbs() {
    let fixture = Fixture::new();
    assert!(fixture.out(&["diff", "--help"]).contains("digits alone"));
    assert!(fixture.out(&["pack", "--help"]).contains("lore why PACK"));
    assert!(fixture.out(&["why", "--help"]).contains("p-…"));
    let script = fixture.out(&["completions", "bash"]);
    for verb in [
        "reset-pruning",
        "relate",
        "aggressive",
        "tool_result",
        "recency",
        "--for-task",
    ] {
        assert!(script.contains(verb), "{verb}");
    }
}
