//! Tests of transcripts beside the golden ones.

use std::fs;

use super::{TRANSCRIPTS, fixture, transcript};
use crate::transcript::{FileState, exit_status, find_call, read_line, records};
use crate::{Author, Host, OWN_MARKS, Observed};

#[test]
fn every_line_of_the_fixtures_is_known() {
    for (host, name) in TRANSCRIPTS {
        for made in transcript(host, name) {
            assert!(
                !matches!(made.what, Observed::Unknown { .. }),
                "{name}: {made:?}"
            );
        }
    }
}

#[test]
fn outcomes_know_their_calls() {
    for (host, name) in TRANSCRIPTS {
        for made in transcript(host, name) {
            if let Some((call, _)) = made.what.outcome() {
                assert!(!call.tool.is_empty(), "{name}: {made:?}");
            }
        }
    }
}

/// A file that grows is read in parts: the state is all that has to be kept.
#[test]
fn reading_in_parts_is_reading_as_a_whole() {
    for (host, name) in TRANSCRIPTS {
        let bytes = fs::read(fixture(&format!("transcript-{name}"))).unwrap();
        let mut state = FileState::new(host);
        state.describe(&bytes);
        let mut parts = Vec::new();
        for record in records(host, &bytes) {
            let mut later = state.clone();
            parts.extend(read_line(&mut later, record, &OWN_MARKS));
            state = later;
        }
        assert_eq!(parts, transcript(host, name), "{name}");
    }
}

#[test]
fn a_subagents_file_is_of_the_session_and_the_subagent() {
    for (host, name, session, agent) in [
        (
            Host::ClaudeCode,
            "claude-code-subagent.jsonl",
            "98f1a43e",
            "a1e2c13b",
        ),
        (
            Host::Codex,
            "codex-subagent.jsonl",
            "01a207ab-d203",
            "01a207ab-e3e8",
        ),
        (
            Host::QwenCode,
            "qwen-subagent.jsonl",
            "e1ab535e",
            "general-purpose",
        ),
    ] {
        let made = transcript(host, name);
        for made in &made {
            assert!(
                made.source.session.as_deref().unwrap().starts_with(session),
                "{made:?}"
            );
            assert!(
                made.source.agent.as_ref().unwrap().id.starts_with(agent),
                "{made:?}"
            );
        }
        let task = made.iter().find_map(|made| match &made.what {
            Observed::Prompt { text, author } => Some((text.as_str(), *author)),
            _ => None,
        });
        assert_eq!(
            task,
            Some(("SUBTASK-1 look around", Author::Agent)),
            "{name}"
        );
    }
}

#[test]
fn unknown_lines_are_counted() {
    let mut state = FileState::new(Host::ClaudeCode);
    let made = read_line(&mut state, br#"{"type":"brand-new","x":1}"#, &OWN_MARKS);
    let Observed::Unknown { name, bytes } = &made[0].what else {
        panic!("{made:?}")
    };
    assert_eq!((name.as_str(), *bytes), ("brand-new", 26));
    assert_eq!(read_line(&mut state, b"{\"torn", &OWN_MARKS).len(), 1);
    assert_eq!(read_line(&mut state, b"  \n", &OWN_MARKS), []);
}

#[test]
fn what_we_injected_is_not_a_prompt() {
    let own = OWN_MARKS.wrap("use port 8080").replace('\n', "\\n");
    let line = format!(
        r#"{{"type":"user","sessionId":"s","promptId":"p","message":{{"role":"user","content":"{own}\ngo"}}}}"#
    );
    let made = read_line(
        &mut FileState::new(Host::ClaudeCode),
        line.as_bytes(),
        &OWN_MARKS,
    );
    let Observed::Prompt { text, .. } = &made[0].what else {
        panic!("{made:?}")
    };
    assert_eq!(text, "go");
}

#[test]
fn a_prompt_of_several_lines_is_one_of_aider() {
    let history = b"# aider chat started at 2026-11-23 10:18:36\n\n> Aider v1\n\n#### one  \n#### two  \n\nYes.\n\nReally.\n\n> Tokens: 1\n";
    let blocks = records(Host::Aider, history);
    let mut state = FileState::new(Host::Aider);
    let made: Vec<_> = blocks
        .into_iter()
        .flat_map(|block| read_line(&mut state, block, &OWN_MARKS))
        .map(|made| made.what)
        .collect();
    assert_eq!(made.len(), 3);
    assert_eq!(
        made[1],
        Observed::Prompt {
            text: "one\ntwo".to_owned(),
            author: Author::User
        }
    );
    assert_eq!(
        made[2],
        Observed::Answer {
            text: "Yes.\n\nReally.".to_owned()
        }
    );
}

/// A fork repeats lines of another session: they have that session's keys, or are found there.
#[test]
fn lines_of_a_fork_are_those_of_its_parent() {
    let read = |state: &mut FileState, line: &str| read_line(state, line.as_bytes(), &OWN_MARKS);
    let line = |session: &str, more: &str| {
        format!(
            r#"{{"type":"user","sessionId":"{session}","promptId":"p","message":{{"role":"user","content":"go"}}{more}}}"#
        )
    };
    let own = read(&mut FileState::new(Host::ClaudeCode), &line("s1", ""));
    let copied = line(
        "s2",
        r#","forkedFrom":{"sessionId":"s1","messageUuid":"u"}"#,
    );
    assert_eq!(
        read(&mut FileState::new(Host::ClaudeCode), &copied)[0].key,
        own[0].key
    );

    let meta = |id: &str, more: &str| {
        format!(
            r#"{{"type":"session_meta","payload":{{"id":"{id}","session_id":"{id}","cwd":"/p"{more}}}}}"#
        )
    };
    let prompt = r#"{"type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":"go"}]}}}"#;
    let mut parent = FileState::new(Host::Codex);
    read(&mut parent, &meta("c1", ""));
    let own = read(&mut parent, prompt).remove(0);
    let mut fork = FileState::new(Host::Codex);
    read(&mut fork, &meta("c2", r#","forked_from_id":"c1""#));
    assert_eq!(read(&mut fork, &meta("c1", "")), []);
    let copied = read(&mut fork, prompt).remove(0);
    assert_eq!(copied.source.session.as_deref(), Some("c2"));
    assert_eq!(copied.source.parent_session.as_deref(), Some("c1"));
    assert_ne!(copied.key, own.key);
    assert_eq!(copied.keys_in("c1"), [own.key, own.content_key]);
}

#[test]
fn the_end_of_a_transcript_has_the_exit_status_of_a_command() {
    let bytes = fs::read(fixture("transcript-codex.jsonl")).unwrap();
    let made = transcript(Host::Codex, "codex.jsonl");
    let mut seen = Vec::new();
    for (call, outcome) in made.iter().filter_map(|one| one.what.outcome()) {
        let (Some(id), Some(status)) = (&call.id, outcome.exit_status) else {
            continue;
        };
        assert_eq!(exit_status(Host::Codex, id, &bytes), Some(status));
        // A part of it, which begins within a line.
        let part = bytes.get(100..).unwrap();
        assert_eq!(exit_status(Host::Codex, id, part), Some(status));
        seen.push(status);
    }
    assert!(seen.contains(&0) && seen.contains(&3), "{seen:?}");
    assert_eq!(exit_status(Host::Codex, "call_none", &bytes), None);
}

#[test]
fn only_commands_of_codex_are_looked_up() {
    let payload = |event: &str, tool: &str| {
        format!(
            r#"{{"transcript_path":"/t","hook_event_name":"{event}","tool_name":"{tool}","tool_use_id":"c1"}}"#
        )
    };
    let ended = payload("PostToolUse", "Bash");
    let sought = find_call(Host::Codex, ended.as_bytes()).unwrap();
    assert_eq!((sought.path, sought.id), ("/t", "c1"));
    assert_eq!(find_call(Host::ClaudeCode, ended.as_bytes()), None);
    for (event, tool) in [("PreToolUse", "Bash"), ("PostToolUse", "apply_patch")] {
        assert_eq!(
            find_call(Host::Codex, payload(event, tool).as_bytes()),
            None
        );
    }
    assert_eq!(find_call(Host::Codex, b"{\"hook_event_name\": null}"), None);
}
