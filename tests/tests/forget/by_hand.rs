//! `lore forget` as people and scripts use it: counted first, done after confirmation, refused with the reason.

use std::process::Command;

use serde_json::{Value, json};
use tests::{Daemon, Home, serve};

/// Runs `lore forget`; returns exit code, standard output and standard error.
fn forget(home: &Home, words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
        .arg("forget")
        .args(words)
        .env_clear()
        .env("LORE_HOME", home.path())
        // No terminal for the confirmation.
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

fn record(daemon: &Daemon, session: &str, steps: usize) {
    daemon.call("create_session", json!({"session": session}));
    for _ in 0..steps {
        let step = json!({"session": session, "tool": "t", "result": "what is said"});
        daemon.call("record_step", step);
    }
}

fn events(daemon: &Daemon) -> Value {
    daemon.call("status", json!({}))["counts"]["events"].clone()
}

/// A dry run, and a run without `--yes` or a terminal, count the selected events and change nothing. The real run
/// forgets exactly those, the same key again returns the same reply, and the session is gone.
#[test]
fn it_is_counted_and_then_done() {
    let (home, daemon) = serve!();
    record(&daemon, "gone", 2);
    record(&daemon, "kept", 1);
    let before = events(&daemon);
    let gone = ["--session", "gone"];
    for (more, said) in [
        (vec!["--dry-run"], "a dry run: nothing was forgotten"),
        (vec![], "add --yes to do it"),
    ] {
        let (code, out, err) = forget(&home, &[&gone[..], &more].concat());
        assert_eq!(code, 0, "{err}");
        assert!(
            out.starts_with("3 events, ") && out.contains("would be forgotten"),
            "{out}"
        );
        assert!(out.contains("1  session\n"), "{out}");
        assert!(err.contains(said), "{err}");
        assert_eq!(events(&daemon), before);
    }
    let (code, out, _) = forget(&home, &[&gone[..], &["--json", "--dry-run"]].concat());
    let counted: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 0);
    assert_eq!(counted["events"], 3);
    assert_eq!(counted["sessions"], 1);
    for _ in 0..2 {
        let (code, out, err) = forget(&home, &[&gone[..], &["--yes", "--key", "k"]].concat());
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(
            out.starts_with("3 events, ") && out.contains(" forgotten\n"),
            "{out}"
        );
        assert!(!out.contains("would"), "{out}");
    }
    let (code, _, err) = forget(&home, &[&gone[..], &["--yes"]].concat());
    assert!(code == 1 && err.contains("was forgotten on 2"), "{err}");
    let steps = daemon.call("list_steps", json!({"session": "kept"}));
    assert_eq!(steps["steps"].as_array().unwrap().len(), 1);
    daemon.verify();
}

/// Invalid arguments are refused with a suggestion. The exit code distinguishes a refusal from a usage error, and
/// nothing is forgotten.
#[test]
fn what_makes_no_sense_is_refused() {
    let (home, daemon) = serve!();
    record(&daemon, "kept", 1);
    let before = events(&daemon);
    for (words, code, said) in [
        (
            vec!["--yes"],
            1,
            "Give at least one of `--session`, `--project`",
        ),
        (
            vec!["--session", "nope", "--yes"],
            1,
            "session `nope` not found",
        ),
        (vec!["--session", "a b", "--yes"], 2, "letters, digits"),
        (
            vec!["--from", "yesterday", "--yes"],
            2,
            "such as 2026-01-31T12:00:00Z",
        ),
        (
            vec!["--from", "2026-13-01T00:00:00Z", "--yes"],
            1,
            "`from` is not a valid time",
        ),
        (vec!["--origin", "bogus", "--yes"], 1, "`file:/PATH`"),
        (
            vec!["--session", "kept", "--yes", "--dry-run"],
            2,
            "cannot be used with",
        ),
    ] {
        let (is, out, err) = forget(&home, &words);
        assert_eq!((is, out.as_str()), (code, ""), "{words:?}: {err}");
        assert!(err.contains(said), "{words:?}: {err}");
    }
    let (code, out, _) = forget(&home, &["--json", "--session", "nope", "--yes"]);
    let refusal: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!(refusal["error"]["code"], "SESSION_NOT_FOUND");
    assert_eq!(events(&daemon), before);
}
