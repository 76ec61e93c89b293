//! Tests of keys: what is said twice is the same, what happens twice is not.

use std::collections::HashMap;

use serde_json::json;

use super::{
    PAYLOAD_HOSTS, TRANSCRIPTS, event, event_of, payload, payloads, read_value, transcript,
};
use crate::{Host, KEY_WINDOW_MS, Key, Observation, Observed};

/// Records observations as a daemon does, by lookups of keys alone.
#[derive(Default)]
struct DuplicateFilter {
    by_key: HashMap<String, Vec<Observation>>,
    kept: Vec<Observation>,
}

impl DuplicateFilter {
    fn record(&mut self, new: Observation) -> bool {
        let keys = [
            new.key.as_str().to_owned(),
            new.content_key.as_str().to_owned(),
        ];
        let is_known = keys.iter().any(|key| {
            let known = self.by_key.get(key).into_iter().flatten();
            known.into_iter().any(|known| new.is_same(known))
        });
        if !is_known {
            for key in keys {
                self.by_key.entry(key).or_default().push(new.clone());
            }
            self.kept.push(new);
        }
        !is_known
    }
}

/// Observations of one kind that matter for "once".
fn kinds(observations: &[Observation], kind: &str) -> usize {
    observations
        .iter()
        .filter(|made| made.what.kind() == kind)
        .count()
}

#[test]
fn a_redelivery_has_the_same_keys() {
    for host in PAYLOAD_HOSTS {
        for (name, value) in payloads(host) {
            let first = read_value(host, event_of(host, &name), &value);
            let second = read_value(host, event_of(host, &name), &value);
            for (one, two) in first.observations.iter().zip(&second.observations) {
                assert!(one.is_same(two), "{name}");
            }
        }
    }
}

#[test]
fn keys_have_a_form_and_a_length() {
    let all = PAYLOAD_HOSTS.into_iter().flat_map(|host| {
        let names = payloads(host);
        names
            .into_iter()
            .flat_map(move |(name, _)| event(host, &name).observations)
    });
    let read = TRANSCRIPTS
        .into_iter()
        .flat_map(|(host, name)| transcript(host, name));
    for made in all.chain(read) {
        for key in [&made.key, &made.content_key].into_iter().chain(&made.call) {
            let text = key.as_str();
            assert!(
                text.len() <= 350 && text.bytes().all(|byte| byte.is_ascii_graphic()),
                "{text}"
            );
            assert!(text.starts_with(made.source.host.name()), "{text}");
        }
        assert!(!made.content_key.is_exact());
    }
}

#[test]
fn two_hosts_that_read_one_file_record_once() {
    let mut value = payload(Host::Cursor, "beforeSubmitPrompt");
    let own = read_value(Host::Cursor, "", &value);
    value["hook_event_name"] = json!("UserPromptSubmit");
    let of_claude = read_value(Host::ClaudeCode, "", &value);
    assert!(own.observations[0].is_same(&of_claude.observations[0]));
}

#[test]
fn a_call_has_one_outcome_whichever_event_reports_it() {
    for (host, one, two) in [
        (Host::ClaudeCode, "PostToolUse", "PostToolBatch"),
        (Host::QwenCode, "PostToolUse", "PostToolBatch"),
    ] {
        let (one, two) = (event(host, one), event(host, two));
        assert_eq!(one.observations[0].key, two.observations[0].key);
        assert!(one.observations[0].key.is_exact());
    }
}

#[test]
fn a_call_and_its_outcome_belong_together() {
    for (host, before, after) in [
        (Host::ClaudeCode, "PreToolUse", "PostToolUse"),
        (Host::Codex, "PreToolUse", "PostToolUse"),
        (Host::GeminiCli, "BeforeTool", "AfterTool"),
        (Host::CopilotCli, "preToolUse", "postToolUse"),
        (Host::OpenCode, "tool.execute.before", "tool.execute.after"),
        (Host::Cline, "PreToolUse", "PostToolUse"),
    ] {
        let (before, after) = (event(host, before), event(host, after));
        let call = before.observations[0].call.clone().unwrap();
        assert_eq!(Some(&call), after.observations[0].call.as_ref(), "{host:?}");
        let has_id = !matches!(host, Host::GeminiCli | Host::CopilotCli);
        assert_eq!(call.is_exact(), has_id);
    }
}

#[test]
fn inexact_keys_are_equal_only_for_a_while() {
    let at = |ms: i64, result: &str| {
        let mut value = payload(Host::GeminiCli, "AfterTool");
        value["timestamp"] = json!(1_700_000_000_000 + ms);
        value["tool_response"]["llmContent"] = json!(result);
        read_value(Host::GeminiCli, "", &value)
            .observations
            .remove(0)
    };
    let first = at(0, "a");
    assert!(!first.key.is_exact());
    assert!(first.is_same(&at(KEY_WINDOW_MS, "a")));
    assert!(!first.is_same(&at(KEY_WINDOW_MS + 1, "a")));
    // The same call with another result is another call: a test that now succeeds.
    assert!(!first.is_same(&at(5, "b")));
    assert_eq!(first.call, at(5, "b").call);
}

#[test]
fn turns_that_end_shortly_after_each_other_are_two() {
    let mut value = payload(Host::ClaudeCode, "Stop");
    let first = read_value(Host::ClaudeCode, "", &value);
    value["prompt_id"] = json!("another");
    let second = read_value(Host::ClaudeCode, "", &value);
    assert!(!first.observations[1].is_same(&second.observations[1]));
}

/// The rig ran each host once: its hooks saw the first session that its transcript has. What both know is the same.
#[test]
fn a_transcript_that_is_read_after_the_hooks_adds_only_what_they_did_not_see() {
    for (host, name, session, known) in [
        (
            Host::ClaudeCode,
            "claude-code.jsonl",
            "98f1a43e",
            vec!["prompt", "outcome", "answer"],
        ),
        (
            Host::Codex,
            "codex.jsonl",
            "01a207ab-d203",
            vec!["prompt", "outcome", "answer"],
        ),
        (
            Host::GeminiCli,
            "gemini.jsonl",
            "3f1f17b7",
            vec!["prompt", "outcome", "answer"],
        ),
        (
            Host::QwenCode,
            "qwen.jsonl",
            "e1ab535e",
            vec!["prompt", "outcome", "answer", "plan"],
        ),
        (
            Host::CopilotCli,
            "copilot.jsonl",
            "eb765119",
            vec!["prompt", "outcome", "subagent", "subagent-end"],
        ),
        (
            Host::OpenCode,
            "opencode.json",
            "ses_df82f708",
            vec!["prompt", "outcome", "answer"],
        ),
    ] {
        let mut recorded = DuplicateFilter::default();
        for (payload, _) in payloads(host) {
            for made in event(host, &payload).observations {
                let is_own = made
                    .source
                    .session
                    .as_deref()
                    .is_some_and(|id| id.starts_with(session));
                // A hook without a time arrives within the window of its line; here the times are far away.
                if is_own {
                    recorded.record(made);
                }
            }
        }
        let of_hooks = recorded.kept.len();
        let read = transcript(host, name);
        let hooks: Vec<_> = recorded.kept.clone();
        for kind in known {
            let seen = hooks
                .iter()
                .filter(|made| made.what.kind() == kind && made.source.agent.is_none());
            for hook in seen {
                assert!(
                    read.iter().any(|line| line.is_same(hook)),
                    "{host:?} {kind} {hook:#?}"
                );
            }
        }
        for made in read {
            recorded.record(made);
        }
        // A second reading adds nothing.
        let count = recorded.kept.len();
        assert!(count > of_hooks);
        for made in transcript(host, name) {
            assert!(!recorded.record(made.clone()), "{made:#?}");
        }
        assert_eq!(kinds(&recorded.kept, "unknown"), 0);
    }
}

#[test]
fn a_transcript_completes_what_a_hook_could_not_know() {
    let hook = event(Host::Codex, "PostToolUse").observations.remove(0);
    let line = transcript(Host::Codex, "codex.jsonl")
        .into_iter()
        .find(|made| made.key == hook.key)
        .unwrap();
    assert!(line.completes(&hook) && !hook.completes(&line));
    assert_eq!(line.what.outcome().unwrap().1.exit_status, Some(0));
}

#[test]
fn ids_of_any_form_make_keys() {
    let long = "x".repeat(5_000);
    for id in ["", "a:b", "a b", "ü", long.as_str(), "~x"] {
        let value = json!({
            "session_id": id, "hook_event_name": "PostToolUse", "tool_name": "T", "tool_use_id": id,
            "tool_input": {}, "tool_response": "r",
        });
        let event = read_value(Host::ClaudeCode, "", &value);
        let key: &Key = &event.observations[0].key;
        assert_eq!(key.is_exact(), !id.is_empty());
        assert!(key.as_str().len() < 350);
        assert_eq!(key.as_str().matches(':').count(), 3, "{}", key.as_str());
        assert!(matches!(event.observations[0].what, Observed::ToolDone(..)));
    }
}
