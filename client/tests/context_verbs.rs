//! The commands for context files and projects: requests, output for people, and exit codes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::fs;

use serde_json::Value;
use support::cli::{lore, parts};
use support::contexts::reply;
use support::fixture::Fixture;

fn fixture() -> Fixture {
    Fixture::with(reply)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Checks the requests that runs send: command line, operation and arguments.
fn check_sent(fixture: &Fixture, wanted: &[(&str, &str, &str)]) {
    for (line, operation, args) in wanted {
        let words: Vec<&str> = line.split(' ').collect();
        let (called, sent) = fixture.sends(&words);
        assert_eq!((&*called, json(&sent)), (*operation, json(args)), "{line}");
    }
}

/// Every argument is sent in its field. The default project is the current one, and paths are made absolute.
#[test]
fn context_files_are_asked_for() {
    let fixture = fixture();
    check_sent(
        &fixture,
        &[
            (
                "context get bugs",
                "get_context",
                r#"{"project_id":"current","file_type":"bugs"}"#,
            ),
            (
                "context get bugs --project shop-1 --section open_issues --version 3 --max-tokens 9",
                "get_context",
                r#"{"project_id":"shop-1","file_type":"bugs","section":"open_issues","version":3,"max_tokens":9}"#,
            ),
            (
                "context get bugs --project /srv/shop --draft",
                "get_context",
                r#"{"project_id":"/srv/shop","file_type":"bugs","draft":true}"#,
            ),
            (
                "context get bugs --as-of 7",
                "get_context",
                r#"{"project_id":"current","file_type":"bugs","as_of":7}"#,
            ),
            (
                "context clear bugs --reason moved --expect 3 --key k",
                "clear_context",
                r#"{"project_id":"current","file_type":"bugs","reason":"moved","expected_version":3,"key":"k"}"#,
            ),
            (
                "context history bugs --limit 2 --next c",
                "context_history",
                r#"{"project_id":"current","file_type":"bugs","limit":2,"next":"c"}"#,
            ),
            (
                "context diff bugs",
                "diff_context",
                r#"{"project_id":"current","file_type":"bugs"}"#,
            ),
            (
                "context diff bugs 1 3",
                "diff_context",
                r#"{"project_id":"current","file_type":"bugs","from":1,"to":3}"#,
            ),
            (
                "context list",
                "list_contexts",
                r#"{"project_id":"current"}"#,
            ),
            ("context templates", "list_templates", "{}"),
            (
                "context template runbook --project shop-1",
                "get_template",
                r#"{"file_type":"runbook","project_id":"shop-1"}"#,
            ),
            (
                "project init /srv/shop --name Shop --key k",
                "init_project",
                r#"{"path":"/srv/shop","name":"Shop","key":"k"}"#,
            ),
            (
                "project list --limit 2 --next c",
                "list_projects",
                r#"{"limit":2,"next":"c"}"#,
            ),
        ],
    );
    let here = std::env::current_dir().unwrap();
    let (_, args) = fixture.sends(&["project", "init"]);
    assert_eq!(args, format!(r#"{{"path":"{}"}}"#, here.display()));
    let (_, args) = fixture.sends(&["context", "list", "--project", "src/"]);
    let path = here.join("src/");
    assert_eq!(args, format!(r#"{{"project_id":"{}"}}"#, path.display()));
}

/// Contents are read from a file or from standard input, byte for byte.
#[test]
fn contents_are_read() {
    let fixture = fixture();
    let file = fixture.home().join("bugs.md");
    fs::write(&file, "# Bugs\r\n").unwrap();
    let file = file.to_str().unwrap();
    let args = r##"{"project_id":"current","file_type":"bugs","content":"# Bugs\r\n","key":"k"}"##;
    let sent = fixture.sends(&["context", "update", "bugs", file, "--key", "k"]);
    assert_eq!((&*sent.0, json(&sent.1)), ("update_context", json(args)));
    lore(
        fixture.home(),
        &["context", "append", "bugs", "--expect", "0"],
        "## B-1",
    );
    let args =
        r###"{"project_id":"current","file_type":"bugs","entry":"## B-1","expected_version":0}"###;
    let sent = fixture.last();
    assert_eq!((&*sent.0, json(&sent.1)), ("append_context", json(args)));
    lore(fixture.home(), &["context", "update", "bugs", "-"], "é");
    assert!(fixture.last().1.contains(r#""content":"é""#));
    let (code, _, err) = fixture.run(&["context", "update", "bugs", "/nonexistent/x.md"]);
    assert!(code == 1 && err.contains("/nonexistent/x.md"), "{err}");
    fs::write(fixture.home().join("binary"), [0xff]).unwrap();
    let binary = fixture.home().join("binary");
    let (code, _, err) = fixture.run(&["context", "update", "bugs", binary.to_str().unwrap()]);
    assert!(
        code == 2 && err.contains("no UTF-8") || err.contains("not UTF-8"),
        "{err}"
    );
}

/// A pipe gets exactly the content; its origin and its problems go to standard error.
#[test]
fn contents_are_printed_alone() {
    let fixture = fixture();
    let reported = "lore: bugs of p, version 3, by file at 2026-01-01 00:00:00\n\
                lore: cut; the whole has 9 tokens\n  \
                line 1: error: Missing required section: resolved_issues\\u{1b}\n    add it\n  \
                … and 2 more\n";
    assert_eq!(
        fixture.run(&["context", "get", "bugs"]),
        (0, "# Bugs\r\n\u{9b}".to_owned(), reported.to_owned())
    );
    let reported = "lore: draft of bugs in p, attempt 2 by - at 2026-01-01 00:00:00: not written, because \
                it does not fit\n";
    assert_eq!(
        fixture.run(&["context", "get", "bugs", "--draft"]),
        (0, "# Bugs\n".to_owned(), reported.to_owned())
    );
    let reported = "lore: features of p was never written\n  It is for: What it can do\n  \
                It has the sections a, b\n  \
                `lore context template features --example` prints one that fits; \
                `lore context update features FILE` writes yours\n";
    assert_eq!(
        fixture.run(&["context", "get", "features"]),
        (1, String::new(), reported.to_owned())
    );
    let reported = "lore: cleared of p is empty since version 4, by x at 2026-01-01 00:00:00\n";
    assert_eq!(
        fixture.run(&["context", "get", "cleared"]),
        (1, String::new(), reported.to_owned())
    );
    let template = fixture.run(&["context", "template", "runbook"]);
    let about = "lore: runbook (the project's: /s/.lore/templates/runbook.toml)\n".to_owned();
    let toml = "name = \"runbook\"\n".to_owned();
    assert_eq!(template, (0, toml, about.clone()));
    let example = fixture.run(&["context", "template", "runbook", "--example"]);
    assert_eq!(example, (0, "# Runbook\n".to_owned(), about));
}

/// A content that does not fit is reported with the worst problem, the steps and every line; nothing is changed.
#[test]
fn what_does_not_fit_is_told() {
    let fixture = fixture();
    let update = |content: &str| {
        parts(lore(
            fixture.home(),
            &["context", "update", "bugs"],
            content,
        ))
    };
    assert_eq!(
        update("fits not"),
        (
            1,
            String::new(),
            "lore: bugs of p was not written: Content needs correction\n\
             Missing required section: open_issues\n  \
             1. Add a new section header: ## open issues\n  \
             then: no date (line 7)\n\
             Corrected, with a gap `<...>` for each thing that only you know:\n    \
             x\n\
             All that does not fit:\n  \
             line 1: error: Missing required section: open_issues\n    \
             add a section\n    \
             with bugs\n  \
             line 7: error: no \\u{1b}date\n\
             Attempt 2; your content is kept: `lore context get bugs --draft`\n"
                .to_owned()
        )
    );
    assert_eq!(
        update("never fits"),
        (
            1,
            String::new(),
            "lore: bugs of p was not written: Content did not fit in 4 attempts\n  \
             line 7: error: no date\n    \
             give it\n\
             Read the draft.\n\
             Attempt 4; your content is kept: `lore context get bugs --draft`\n"
                .to_owned()
        )
    );
    let warned = "  line 3: warning: Looks like placeholder text: TODO\n    replace it\n\
                  lore: this replaced version 6 by `x\\u{1b}`\n";
    assert_eq!(
        update("fits"),
        (
            0,
            "bugs of p is at version 7\n".to_owned(),
            warned.to_owned()
        )
    );
}

/// A conflict names the other writer and the next step; both changes go into a file when they were merged.
#[test]
fn conflicts_are_told() {
    let fixture = fixture();
    let file = fixture.home().join("both.md");
    let both = file.to_str().unwrap();
    let said = "lore: `bugs` is at version 5, by `x`; you changed version 1\n";
    let update = |arguments: &[&str]| {
        let all = [&["context", "update", "bugs"], arguments].concat();
        fixture.run(&all)
    };
    let reported = format!(
        "{said}  Their changes and yours do not overlap: --merged FILE writes both to a file\n"
    );
    assert_eq!(update(&["--expect", "1"]), (5, String::new(), reported));
    let reported = format!(
        "{said}  {both} has both changes: check it, then `lore context update bugs {both} --expect 5`\n"
    );
    let merged = update(&["--expect", "1", "--merged", both]);
    assert_eq!(merged, (5, String::new(), reported));
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Both\r\n\u{9b}");
    fs::remove_file(&file).unwrap();
    let (code, _, err) = update(&["--expect", "2", "--merged", both]);
    assert_eq!(code, 5);
    assert!(
        err.contains("`lore context diff bugs 1 5` shows theirs"),
        "{err}"
    );
    assert!(!file.exists(), "nothing was merged");
    let (code, _, err) = update(&["--expect", "3"]);
    assert_eq!((code, &*err), (5, "lore: others write\n  Read it.\n"));
    let (code, _, err) = update(&["--expect", "1", "--merged", "/nonexistent/x"]);
    assert!(code == 1 && err.contains("/nonexistent/x"), "{err}");
    let (code, out, _) = update(&["--expect", "1", "--json"]);
    let refused: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 5);
    assert_eq!(refused["error"]["details"]["merged"], "# Both\r\n\u{9b}");
}

/// Lists, versions, templates and projects are printed as tables; control characters never reach the terminal.
#[test]
fn tables_are_told_to_people() {
    let fixture = fixture();
    assert_eq!(
        fixture.out(&["context", "history", "bugs"]),
        "version  at                   by    change   size     errors  from          sections                      reason\n\
         3        2026-01-03 00:00:00  file  edited   2.0 KiB  1       1, without 2  open_issues, resolved_issues\n\
         2        2026-01-02 00:00:00  -     cleared  0 B      0       -             -                             moved\\u{202e}\n\
         … more: --next c-1\n"
    );
    let never = "lore: features of p was never written\n".to_owned();
    assert_eq!(
        fixture.run(&["context", "history", "features"]),
        (0, String::new(), never)
    );
    assert_eq!(
        fixture.run(&["context", "diff", "bugs"]),
        (
            0,
            "--- bugs version 1\n+++ bugs version 2\n-a\n-b\n+c\u{9b}\n".to_owned(),
            "lore: bugs of p from version 1 to 2: 1 line more, 2 lines less, in open_issues\n"
                .to_owned()
        )
    );
    assert_eq!(
        fixture.out(&["context", "list"]),
        "file type  version  at                   by  size     errors  drafts by  file\n\
         bugs       3        2026-01-03 00:00:00  x   2.0 KiB  1       y, -       /d/bugs.md\n\
         features   -        -                    -   -        -       -          not written: What it can do\n"
    );
    let (code, out, err) = fixture.run(&["context", "templates"]);
    assert_eq!(
        (code, &*out),
        (
            0,
            "file type  from      is for         file\n\
             bugs       built in  What is wrong  -\n\
             runbook    yours     What to do     /c/templates/runbook.toml\n"
        )
    );
    assert_eq!(
        err,
        "lore: /c/templates/b\\u{1b}.toml, line 3: unknown key `nmae`; did you mean `name`?\n  \
         This file is not in force; its last valid version still is\n"
    );
    assert_eq!(
        fixture.out(&["project", "init", "/s/shop"]),
        "project        shop-1\n\
         name           Shop\\u{202e}\n\
         path           /s/shop\n\
         worktree       /s/fix\n\
         branch         fix/it\n\
         context files  /d/projects/shop-1\n\
         is             new\n"
    );
    assert_eq!(
        fixture.out(&["project", "list"]),
        "   project  name   changed              written         worktrees  path\n\
         *  shop-1   Shop   2026-01-02 00:00:00  bugs, features  main, fix  /s/shop\n   \
         other    other  2026-01-01 00:00:00  -               -          /s/other\n\
         … more: --next c-2\n"
    );
    assert_eq!(fixture.run(&["project", "list", "--limit", "1"]).0, 0);
    assert_eq!(
        fixture.out(&["context", "clear", "bugs"]),
        "bugs of p is empty at version 8; its last content: `lore context get bugs --version 7`\n"
    );
    assert_eq!(
        fixture.out(&["context", "clear", "features"]),
        "features of p was empty already\n"
    );
}

/// Programs get the whole reply with its format version; a content that does not fit still exits with 1.
#[test]
fn programs_get_json() {
    let fixture = fixture();
    for (arguments, operation) in [
        (&["context", "get", "bugs", "--json"][..], "get_context"),
        (&["--json", "context", "list"], "list_contexts"),
        (&["context", "templates", "--json"], "list_templates"),
        (&["project", "list", "--json"], "list_projects"),
    ] {
        let (code, out, err) = fixture.run(arguments);
        assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
        let (canned, _) = reply(operation, "").unwrap();
        assert_eq!(out, format!("{{\"schema_version\":1,{}\n", &canned[1..]));
    }
    let unfit = lore(
        fixture.home(),
        &["context", "update", "bugs", "--json"],
        "fits not",
    );
    let (code, out, err) = parts(unfit);
    assert_eq!((code, &*err), (1, ""));
    assert!(out.contains(r#""status":"correction_needed""#), "{out}");
}

/// Invalid arguments are refused before any call; help and completions know every command.
#[test]
fn nonsense_is_refused_and_help_is_there() {
    let fixture = fixture();
    for (line, said) in [
        ("context get", "FILE_TYPE"),
        ("context get bugs --draft --version 3", "--version"),
        (
            "context get bugs --as-of noon",
            "--as-of: \"noon\" is neither",
        ),
        ("context update bugs - --merged x", "--expect"),
        ("context update bugs - --expect new", "--expect"),
        ("context diff bugs one", "FROM"),
        ("project", "init"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (code, out, err) = fixture.run(&words);
        assert_eq!((code, out.as_str()), (2, ""), "{line}: {err}");
        assert!(err.contains(said), "{line}: {err}");
    }
    assert!(fixture.sent.lock().unwrap().is_empty());
    let help = fixture.out(&["context", "update", "--help"]);
    assert!(
        help.contains("code is 1") && help.contains("--merged"),
        "{help}"
    );
    assert!(
        fixture
            .out(&["project", "init", "--help"])
            .contains("worktrees")
    );
    let script = fixture.out(&["completions", "bash"]);
    for verb in ["templates", "history", "append", "--merged", "--expect"] {
        assert!(script.contains(verb), "{verb}");
    }
}
