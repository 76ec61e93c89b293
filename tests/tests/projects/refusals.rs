//! Invalid contents are refused with a suggestion, and the last good content stays.

use lore::protocol::Code;
use serde_json::json;
use tests::{has, has_words, is_refusal, serve, transports};

use super::{get, init, path_of, summary, text, update, write};

/// Unknown types are refused with the known ones, on every transport.
#[test]
fn unknown_types_are_told_with_those_that_there_are() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    for (door_name, mut endpoint) in transports!(home, daemon) {
        for name in [
            "get_context",
            "update_context",
            "append_context",
            "clear_context",
            "context_history",
            "diff_context",
            "get_template",
        ] {
            for unknown in [
                "bug", "Bugs", "../bugs", "bugs/x", "bugs.md", "", "x\0", "ü",
            ] {
                let mut args = json!({"project_id": project, "file_type": unknown});
                match name {
                    "update_context" => args["content"] = "# X\n".into(),
                    "append_context" => args["entry"] = "# X\n".into(),
                    _ => {}
                }
                let refused = endpoint.call(name, &args).unwrap_err();
                assert_eq!(
                    refused["code"], "INVALID_INPUT",
                    "{door_name} {name}: {refused}"
                );
                let hint = text(&refused["hint"]);
                for known in [
                    "`bugs`",
                    "`features`",
                    "`mental_model`",
                    "`session_summary`",
                ] {
                    assert!(hint.contains(known), "{door_name} {name}: {refused}");
                }
                if unknown.starts_with("bug") {
                    assert!(hint.contains("Did you mean `bugs`?"), "{unknown}: {hint}");
                }
            }
        }
    }
    assert!(
        !home.data().join("projects").join(&project).exists(),
        "nothing was written"
    );
}

/// Empty, blank, oversized and non-UTF-8 content is refused as invalid input and does not count as an attempt. The
/// existing content stays, on disk too.
#[test]
fn what_is_no_text_is_refused() {
    let (home, daemon) = serve!("[projects]\ncontent_bytes_max = 100000\n");
    let project = init(&home, &daemon, "stall");
    let good = summary(&["a till"]);
    write(&daemon, &project, "session_summary", &good);
    let long = summary(&["x".repeat(100_000).as_str()]);
    for (content, words) in [
        ("", vec!["empty", "clear_context"]),
        (" \r\n\t ", vec!["empty"]),
        ("\u{feff}\n", vec!["empty"]),
        (&long, vec!["100000", "content_bytes_max"]),
        ("# Log\0", vec!["U+0000", "not Markdown"]),
        ("\u{7f}ELF\u{1}", vec!["U+007F"]),
    ] {
        let args =
            json!({"project_id": project, "file_type": "session_summary", "content": content});
        is_refusal(
            &daemon.refusal("update_context", args),
            Code::InvalidInput,
            &words,
        );
        let args = json!({"project_id": project, "file_type": "session_summary", "entry": content});
        is_refusal(
            &daemon.refusal("append_context", args),
            Code::InvalidInput,
            &words[..1],
        );
    }
    let only_headings = update(
        &daemon,
        &project,
        "session_summary",
        "# A\n\n## 2025-01-01\n\n### Added\n",
    );
    has(&only_headings, json!({"status": "correction_needed"}));
    assert_eq!(
        only_headings["attempt_count"], 1,
        "what is not text was no attempt"
    );
    let now = get(&daemon, &project, "session_summary");
    has(&now, json!({"content": good, "version": 1}));
    assert_eq!(
        std::fs::read_to_string(path_of(&home, &project, "session_summary")).unwrap(),
        good
    );
    for file_type in ["mental_model", "bugs", "features"] {
        let headings =
            "# A\n\n## System Overview\n\n## Components\n\n## Open Issues\n\n## Resolved Issues\n";
        let reply = update(&daemon, &project, file_type, headings);
        assert_eq!(
            reply["status"], "correction_needed",
            "{file_type}: {reply:#}"
        );
    }
    daemon.verify();
}

/// Twenty megabytes are refused before validation, and the daemon continues; the last good content is unchanged.
#[test]
fn twenty_megabytes_are_refused() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let good = summary(&["a till"]);
    write(&daemon, &project, "session_summary", &good);
    let content = "x".repeat(20 << 20);
    let args = json!({"project_id": project, "file_type": "session_summary", "content": content});
    let refused = daemon.refusal("update_context", args);
    assert!(
        refused.code == Code::InvalidInput,
        "{}: {}",
        refused.code.as_str(),
        refused.message
    );
    assert_eq!(get(&daemon, &project, "session_summary")["content"], good);
    daemon.verify();
}

/// Line ends of another system and a byte order mark are preserved, and added entries use the same line ends.
#[test]
fn line_ends_and_marks_are_kept() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let content = format!("\u{feff}{}", summary(&["a till"]).replace('\n', "\r\n"));
    write(&daemon, &project, "session_summary", &content);
    assert_eq!(
        get(&daemon, &project, "session_summary")["content"],
        content
    );
    let entry = "## 2025-04-01: more\n\n### Fixed\n\n- a lamp\n";
    let args = json!({"project_id": project, "file_type": "session_summary", "entry": entry});
    assert_eq!(daemon.call("append_context", args)["success"], true);
    let now = get(&daemon, &project, "session_summary");
    let now = text(&now["content"]);
    assert!(now.starts_with("\u{feff}# Session Summary\r\n"), "{now:?}");
    has_words(now, &["## 2025-04-01: more\r\n\r\n### Fixed\r\n"]);
    assert_eq!(now.matches('\n').count(), now.matches("\r\n").count());
    let on_disk = std::fs::read_to_string(path_of(&home, &project, "session_summary")).unwrap();
    assert_eq!(on_disk, now);
}

/// Unknown versions, sections and budgets are reported with the valid ones.
#[test]
fn what_is_not_there_is_told() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let project_id = [("$project", project.as_str())];
    let unwritten = r#"get_context {"project_id": "$project", "file_type": "session_summary", "version": 1} => NOT_FOUND `version` is 1 | ever written"#;
    daemon.refuses(unwritten, &project_id);
    write(&daemon, &project, "session_summary", &summary(&["a", "b"]));
    let reason = "x".repeat(2000);
    let values = [project_id[0], ("$reason", reason.as_str())];
    daemon.refuses(include_str!("refused.txt"), &values);
    assert_eq!(get(&daemon, &project, "session_summary")["version"], 1);
}
