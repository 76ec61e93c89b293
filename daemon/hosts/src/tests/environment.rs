//! Tests of who started a process, and of what paths of transcripts say.

use serde_json::json;

use crate::Host;
use crate::environment::{Caller, caller, id_of_call, session_of_call};
use crate::transcript::{FileState, PATHS};

/// Returns the caller of a process with these variables.
fn of(variables: &[(&str, &str)]) -> Option<Caller> {
    caller(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn the_environment_names_the_host_and_its_session() {
    let found = of(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "a")]).unwrap();
    assert_eq!(
        (found.host, found.session.as_deref(), found.is_sandboxed),
        (Host::ClaudeCode, Some("a"), false)
    );
    // Qwen Code and Gemini CLI set variables of Claude Code, too, but not these.
    let found = of(&[("QWEN_CODE_SESSION_ID", "q"), ("CLAUDE_PROJECT_DIR", "/p")]).unwrap();
    assert_eq!(
        (found.host, found.session.as_deref()),
        (Host::QwenCode, Some("q"))
    );
    let found = of(&[
        ("CODEX_THREAD_ID", "c"),
        ("CODEX_SANDBOX_NETWORK_DISABLED", "1"),
    ])
    .unwrap();
    assert_eq!((found.host, found.is_sandboxed), (Host::Codex, true));
    // Codex, started by a command of Claude Code.
    let found = of(&[("CLAUDECODE", "1"), ("CODEX_SESSION_ID", "c")]).unwrap();
    assert_eq!(found.host, Host::Codex);
    let found = of(&[("OPENCODE", "1")]).unwrap();
    assert_eq!((found.host, found.session), (Host::OpenCode, None));
    assert_eq!(of(&[("CLAUDECODE", ""), ("PATH", "/bin")]), None);
}

#[test]
fn the_metadata_of_a_call_names_its_session_and_id() {
    let codex = json!({"sessionId": "s", "threadId": "t", "callId": "call_1"});
    assert_eq!(session_of_call(&codex).as_deref(), Some("s"));
    assert_eq!(id_of_call(&codex).as_deref(), Some("call_1"));
    let claude = json!({"claudecode/toolUseId": "toolu_1"});
    assert_eq!(
        (session_of_call(&claude), id_of_call(&claude).as_deref()),
        (None, Some("toolu_1"))
    );
}

#[test]
fn a_path_names_the_session_and_the_subagent() {
    let of = |host, path: &str| {
        let source = FileState::of_path(host, path).source;
        (source.session, source.agent.map(|agent| agent.id))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        of(Host::ClaudeCode, "/h/.claude/projects/-p/s1.jsonl"),
        (some("s1"), None)
    );
    assert_eq!(
        of(
            Host::ClaudeCode,
            "/h/.claude/projects/-p/s1/subagents/agent-a.jsonl"
        ),
        (some("s1"), some("a"))
    );
    assert_eq!(
        of(
            Host::QwenCode,
            "/h/.qwen/projects/-p/subagents/s1/agent-a.jsonl"
        ),
        (some("s1"), some("a"))
    );
    assert_eq!(
        of(
            Host::CopilotCli,
            "/h/.copilot/session-state/s1/events.jsonl"
        ),
        (some("s1"), None)
    );
    assert_eq!(
        of(
            Host::Cline,
            "C:\\h\\.cline\\data\\sessions\\s1\\s1.messages.json"
        ),
        (some("s1"), None)
    );
    assert_eq!(
        of(Host::Codex, "/h/.codex/sessions/2026/11/23/rollout-x.jsonl"),
        (None, None)
    );
    for (host, _) in PATHS {
        assert_eq!(of(*host, "").1, None);
    }
}
