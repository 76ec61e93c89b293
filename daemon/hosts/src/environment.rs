//! Who started a process: the variables that hosts set for commands, hooks and MCP servers, and the metadata of calls.
//!
//! Only names of this list are ever looked at. Hooks have the user's API keys in their environment: it is never recorded.

use serde_json::Value;

use crate::fields::owned;
use crate::host::Host;

/// The host that started a process, as its environment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The host.
    pub host: Host,
    /// The host's id of the session, where it says so.
    pub session: Option<String>,
    /// Whether the process runs in the host's sandbox, where sockets are refused.
    pub is_sandboxed: bool,
}

/// A host's variables: one that says that it is this host, and those with the session's id.
struct Variables {
    host: Host,
    marks: &'static [&'static str],
    sessions: &'static [&'static str],
}

/// The innermost host first: programs that one host starts in another have the variables of both. Seen with the hosts that
/// were run; Cursor's and Cline's from what other programs look for.
const VARIABLES: &[Variables] = &[
    Variables {
        host: Host::QwenCode,
        marks: &["QWEN_CODE"],
        sessions: &["QWEN_CODE_SESSION_ID"],
    },
    Variables {
        host: Host::GeminiCli,
        marks: &["GEMINI_CLI"],
        sessions: &["GEMINI_SESSION_ID"],
    },
    Variables {
        host: Host::CopilotCli,
        marks: &["COPILOT_CLI"],
        sessions: &["COPILOT_AGENT_SESSION_ID"],
    },
    Variables {
        host: Host::Codex,
        marks: &["CODEX_SANDBOX", "CODEX_CI"],
        sessions: &["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
    },
    Variables {
        host: Host::OpenCode,
        marks: &["OPENCODE"],
        sessions: &[],
    },
    Variables {
        host: Host::Cursor,
        marks: &["CURSOR_AGENT"],
        sessions: &[],
    },
    Variables {
        host: Host::Cline,
        marks: &["CLINE_ACTIVE"],
        sessions: &[],
    },
    Variables {
        host: Host::ClaudeCode,
        marks: &["CLAUDECODE"],
        sessions: &["CLAUDE_CODE_SESSION_ID"],
    },
];

/// Variables that a sandbox sets.
const SANDBOXES: &[&str] = &["SANDBOX_RUNTIME", "CODEX_SANDBOX_NETWORK_DISABLED"];

/// Returns the host that started the process whose variables `get` returns; `None` if no host did.
///
/// A session's id is that of the process's start: Claude Code keeps the same MCP server after `/clear`, which
/// then has the old id. Codex's MCP servers have none: see [`session_of_call`].
#[must_use]
pub fn caller(get: impl Fn(&str) -> Option<String>) -> Option<Caller> {
    let filled = |name: &&str| get(name).filter(|value| !value.is_empty());
    let found = VARIABLES.iter().find_map(|known| {
        let session = known.sessions.iter().find_map(filled);
        let is_marked = known.marks.iter().find_map(filled).is_some();
        (session.is_some() || is_marked).then_some((known.host, session))
    });
    found.map(|(host, session)| Caller {
        host,
        session,
        is_sandboxed: is_sandboxed(&get),
    })
}

/// Returns whether the process whose variables `get` returns runs in the sandbox of a host, known or not.
#[must_use]
pub fn is_sandboxed(get: impl Fn(&str) -> Option<String>) -> bool {
    SANDBOXES
        .iter()
        .any(|name| get(name).is_some_and(|value| !value.is_empty()))
}

/// Returns the session of a call of an MCP tool, from the `_meta` of its parameters. Codex says it there alone.
#[must_use]
pub fn session_of_call(meta: &Value) -> Option<String> {
    owned(
        meta,
        &["sessionId", "threadId", "x-codex-turn-metadata.session_id"],
    )
}

/// Returns the host's id of a call of an MCP tool, from the `_meta` of its parameters: the same as in its hooks.
#[must_use]
pub fn id_of_call(meta: &Value) -> Option<String> {
    owned(meta, &["claudecode/toolUseId", "callId"])
}
