//! What hooks and transcripts say, in the same words for all hosts.

use serde_json::Value;

use crate::Host;
use crate::handoff::Handoff;
use crate::key::{KEY_WINDOW_MS, Key};
use crate::tools::ToolCall;

/// One thing that happened in a host, as a hook or a line of a transcript reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Where and when it happened.
    pub source: Source,
    /// Who reports it.
    pub origin: Origin,
    /// Its identity among reports of the same origin.
    pub key: Key,
    /// Its identity among reports of other origins, which may lack the ids: a hash of what both know. Never exact.
    pub content_key: Key,
    /// The key of the tool call that it belongs to, the same for the call and its outcome. Not exact if the host gives
    /// no id: then it is a hash of tool and input.
    pub call: Option<Key>,
    /// Bytes of the payload or line that were left out because it was too large. The texts say where.
    pub left_out: usize,
    /// What happened.
    pub what: Observed,
}

/// Who reports an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A hook, as it happened.
    Hook,
    /// A line of a transcript.
    Transcript,
}

/// Where and when something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The host.
    pub host: Host,
    /// The host's id of the session; for a subagent, of the session that it belongs to.
    pub session: Option<String>,
    /// The session that this one was forked from, or that started it, if the host gives a subagent a session of its own.
    /// opencode says so only when
    /// the session starts: a prompt in a session with a parent is another agent's.
    pub parent_session: Option<String>,
    /// The subagent, if it is not the main agent.
    pub agent: Option<Subagent>,
    /// The host's id of the turn or the prompt.
    pub turn: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// Time by the host's clock in milliseconds since 1970, if it reports one.
    pub at_ms: Option<i64>,
}

/// An agent that another one started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subagent {
    /// The host's id.
    pub id: String,
    /// Its kind, as the host names it; may be empty.
    pub kind: String,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// A session started or continued.
    SessionStarted {
        /// Why.
        cause: StartCause,
        /// The model, if known.
        model: Option<String>,
    },
    /// A session ended.
    SessionEnded {
        /// The host's reason; may be empty.
        reason: String,
    },
    /// A prompt, without what hooks added.
    Prompt {
        /// Its text.
        text: String,
        /// Who wrote it.
        author: Author,
    },
    /// A prompt hands the work of another session over.
    HandedOver(Handoff),
    /// A tool was called.
    ToolStarted(ToolCall),
    /// A tool returned.
    ToolDone(ToolCall, Outcome),
    /// A tool failed, or was refused.
    ToolFailed(ToolCall, Outcome),
    /// A message of the agent. The newest one before [`Observed::TurnEnded`], the next prompt or the end of the session
    /// is the answer of the turn.
    Answer {
        /// Its text.
        text: String,
    },
    /// The agent's turn ended.
    TurnEnded {
        /// The host's reason; empty for the usual one.
        reason: String,
    },
    /// The plan or the list of tasks changed.
    Plan {
        /// Its items.
        items: Vec<PlanItem>,
        /// Whether these are all items, instead of only those that changed.
        is_whole: bool,
        /// A plan that is prose; may be empty.
        text: String,
    },
    /// A subagent started.
    SubagentStarted {
        /// The subagent.
        agent: Subagent,
        /// Its task, if known.
        task: Option<String>,
    },
    /// A subagent ended.
    SubagentEnded {
        /// The subagent.
        agent: Subagent,
        /// Its last message, if known.
        answer: Option<String>,
        /// Path of its transcript, if it has one of its own.
        transcript: Option<String>,
    },
    /// The conversation is about to be compacted.
    CompactionStarted {
        /// Who asked for it, such as `auto` or `manual`; may be empty.
        trigger: String,
        /// What the user wants to be kept; may be empty.
        instructions: String,
    },
    /// The conversation was compacted.
    CompactionEnded {
        /// Who asked for it; may be empty.
        trigger: String,
        /// The summary, if known.
        summary: Option<String>,
    },
    /// The host asks a person for permission.
    PermissionAsked {
        /// The call, as far as the host says.
        call: ToolCall,
    },
    /// A permission was given or refused.
    PermissionAnswered {
        /// The host's word for the answer.
        answer: String,
    },
    /// The agent, or a tool server, asks a person.
    Question {
        /// The question; several in lines.
        text: String,
        /// The answers that are offered.
        options: Vec<String>,
    },
    /// A person answered a question.
    Reply {
        /// The question, if known.
        question: String,
        /// The answer.
        text: String,
    },
    /// A call of the model ended; what it took.
    TokensUsed {
        /// The model, if known.
        model: Option<String>,
        /// The tokens.
        tokens: TokenCounts,
    },
    /// A file changed, without the call that changed it.
    FileChanged {
        /// Its path.
        path: String,
    },
    /// The working folder changed.
    FolderChanged {
        /// The new one.
        path: String,
    },
    /// Something that this release does not know.
    Unknown {
        /// The name of the event or the type of the line; empty if it has none, or if it is not JSON.
        name: String,
        /// Size of the payload or line in bytes.
        bytes: usize,
    },
}

/// Tokens of one call of a model, as the host counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Tokens of the request; some hosts count those from the cache, too.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens of the request that came from the provider's cache.
    pub cache_read: u64,
    /// Tokens of the request that were put into the cache.
    pub cache_written: u64,
}

/// Why a session started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartCause {
    /// It is new.
    Startup,
    /// It continues.
    Resume,
    /// It replaces one that was cleared.
    Clear,
    /// It continues after a compaction.
    Compact,
    /// It is a copy of another one.
    Fork,
    /// A cause that this release does not know, in the host's word.
    Other(String),
}

/// Who wrote a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The user, or a program that speaks for the user.
    User,
    /// Another agent: a task for a subagent.
    Agent,
    /// The host itself: a timer, a notification.
    Host,
}

/// The end of a tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The result as the host sends it.
    pub result: Value,
    /// What it says, as text.
    pub text: String,
    /// The error, if it failed.
    pub error: Option<String>,
    /// The exit status of a command, where the host gives it.
    pub exit_status: Option<i64>,
    /// Time that it took in milliseconds.
    pub duration_ms: Option<u64>,
    /// Whether a person stopped or refused it: then it has no cause that could be repaired.
    pub is_interrupted: bool,
    /// Whether the host reports failures at all. If not, a command that failed looks like one that succeeded, until
    /// the transcript says its exit status.
    pub is_certain: bool,
}

/// One item of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanItem {
    /// The host's id; may be empty.
    pub id: String,
    /// What is to be done; may be empty in an update.
    pub text: String,
    /// The host's word for its state; may be empty.
    pub state: String,
}

impl Observed {
    /// Returns the kind as a word in keys and counts. The words never change.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::SessionStarted { .. } => "start",
            Self::SessionEnded { .. } => "end",
            Self::Prompt { .. } => "prompt",
            Self::HandedOver(_) => "handoff",
            Self::ToolStarted(_) => "call",
            // One call has one outcome, whichever event reports it first.
            Self::ToolDone(..) | Self::ToolFailed(..) => "outcome",
            Self::Answer { .. } => "answer",
            Self::TurnEnded { .. } => "turn-end",
            Self::Plan { .. } => "plan",
            Self::SubagentStarted { .. } => "subagent",
            Self::SubagentEnded { .. } => "subagent-end",
            Self::CompactionStarted { .. } => "compaction",
            Self::CompactionEnded { .. } => "compaction-end",
            Self::PermissionAsked { .. } => "permission",
            Self::PermissionAnswered { .. } => "permission-answer",
            Self::Question { .. } => "question",
            Self::Reply { .. } => "reply",
            Self::TokensUsed { .. } => "tokens",
            Self::FileChanged { .. } => "file",
            Self::FolderChanged { .. } => "folder",
            Self::Unknown { .. } => "unknown",
        }
    }

    /// Returns the call and its outcome, if it is one.
    #[must_use]
    pub const fn outcome(&self) -> Option<(&ToolCall, &Outcome)> {
        match self {
            Self::ToolDone(call, outcome) | Self::ToolFailed(call, outcome) => {
                Some((call, outcome))
            }
            _ => None,
        }
    }
}

impl Observation {
    /// Whether both report the same thing, so that only one of them is recorded.
    ///
    /// Equal exact keys decide alone, and so do different ones of the same origin. Otherwise the keys, or for reports of
    /// different origins the content keys, have to be equal and the times at most [`KEY_WINDOW_MS`] apart: a host may
    /// give a hook one id and a transcript another. An unknown time counts as near: set [`Source::at_ms`] to the time of
    /// arrival first.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        if self.key.is_exact() && other.key.is_exact() {
            if self.key == other.key {
                return true;
            }
            if self.origin == other.origin {
                return false;
            }
        }
        let is_near = match (self.source.at_ms, other.source.at_ms) {
            (Some(own), Some(its)) => own.abs_diff(its) <= KEY_WINDOW_MS.unsigned_abs(),
            _ => true,
        };
        is_near
            && (self.key == other.key
                || (self.origin != other.origin && self.content_key == other.content_key))
    }

    /// Whether a hook and a transcript may report this under different ids, or without one: then they meet by content.
    #[must_use]
    pub fn meets_by_content(&self) -> bool {
        let (host, kind) = (self.source.host, self.what.kind());
        let has_ids = match kind {
            "call" | "outcome" => matches!(
                host,
                Host::ClaudeCode | Host::Codex | Host::OpenCode | Host::QwenCode
            ),
            "prompt" => matches!(host, Host::ClaudeCode | Host::Codex | Host::OpenCode),
            _ => false,
        };
        !(has_ids && self.key.is_exact())
    }

    /// Whether another report of this with an exact key of the other origin would have the same key.
    #[must_use]
    pub fn has_common_id(&self) -> bool {
        // Qwen Code's hooks and transcripts count prompts in different ways.
        let is_known_to_differ = self.source.host == Host::QwenCode && self.what.kind() == "prompt";
        self.key.is_exact() && !is_known_to_differ
    }

    /// Returns the keys that the same thing has in another session of the host. A transcript of a fork repeats what was
    /// recorded in [`Source::parent_session`]: look it up there, too.
    #[must_use]
    pub fn keys_in(&self, session: &str) -> [Key; 2] {
        let own = self.source.session.as_deref().unwrap_or_default();
        [&self.key, &self.content_key].map(|key| key.in_session(own, session))
    }

    /// Whether this report of a call's outcome knows what the recorded one does not: the exit status, or that it
    /// failed. Codex's hooks do not report either; its transcript does.
    #[must_use]
    pub fn completes(&self, recorded: &Self) -> bool {
        let (Some((_, own)), Some((_, its))) = (self.what.outcome(), recorded.what.outcome())
        else {
            return false;
        };
        self.is_same(recorded)
            && ((own.is_certain && !its.is_certain)
                || (own.exit_status.is_some() && its.exit_status.is_none()))
    }
}
