//! Makes observations: gives each its keys.

use serde_json::Value;

use crate::key::{Fingerprint, Key, part};
use crate::observation::{Observation, Observed, Origin, Outcome, Source};
use crate::tools::ToolCall;

/// Makes the observations of one payload or line.
#[derive(Debug)]
pub struct Maker {
    pub source: Source,
    pub origin: Origin,
    pub left_out: usize,
    pub made: Vec<Observation>,
}

impl Maker {
    pub const fn new(source: Source, origin: Origin, left_out: usize) -> Self {
        Self {
            source,
            origin,
            left_out,
            made: Vec::new(),
        }
    }

    /// Adds an observation; with an id of the host's, its key is exact.
    pub fn add(&mut self, what: Observed, id: Option<&str>) {
        let scope = self.scope();
        let inner = self.inner_scope();
        let kind = what.kind();
        let key = match id {
            Some(id) if !id.is_empty() => Key::exact(&scope, kind, id),
            _ => Key::of_content(&inner, kind, self.in_turn(&what, true)),
        };
        let content_key = Key::of_content(&inner, kind, self.in_turn(&what, false));
        let call = match &what {
            Observed::ToolStarted(call)
            | Observed::ToolDone(call, _)
            | Observed::ToolFailed(call, _)
            | Observed::PermissionAsked { call } => Some(match call.id.as_deref() {
                Some(id) => Key::exact(&scope, "call", id),
                None => Key::of_content(&inner, "call", call_content(call)),
            }),
            _ => None,
        };
        self.made.push(Observation {
            source: self.source.clone(),
            origin: self.origin,
            key,
            content_key,
            call,
            left_out: self.left_out,
            what,
        });
    }

    /// Hashes what an observation says. The end of a turn says nothing: it differs from others by its turn and its answer,
    /// and where the host has no turns, by the host's time.
    fn in_turn(&self, what: &Observed, is_full: bool) -> Fingerprint {
        let hash = content(what, is_full);
        if !matches!(what, Observed::TurnEnded { .. }) {
            return hash;
        }
        let turn = self.source.turn.as_deref();
        let hash = hash.text(turn.unwrap_or_default());
        let answer = self.made.iter().rev().find_map(|made| match &made.what {
            Observed::Answer { text } => Some(text.as_str()),
            _ => None,
        });
        let at = self
            .source
            .at_ms
            .filter(|_| turn.is_none())
            .map(|at| at.to_string());
        if is_full {
            hash.text(answer.unwrap_or_default())
                .text(at.as_deref().unwrap_or_default())
        } else {
            hash
        }
    }

    /// The host and the session. Ids are unique within it.
    fn scope(&self) -> String {
        let session = self.source.session.as_deref().unwrap_or_default();
        format!("{}:{}", self.source.host.name(), part(session))
    }

    /// The scope of contents: subagents may do the same at the same time.
    fn inner_scope(&self) -> String {
        match &self.source.agent {
            Some(agent) => format!("{}/{}", self.scope(), part(&agent.id)),
            None => self.scope(),
        }
    }
}

fn call_content(call: &ToolCall) -> Fingerprint {
    Fingerprint::new().text(&call.tool).value(&call.input)
}

/// Hashes what an observation says. Two hooks know the same about one event (`is_full`); a hook and a transcript may
/// show a result in different forms, so that only the call counts.
fn content(what: &Observed, is_full: bool) -> Fingerprint {
    let hash = Fingerprint::new();
    match what {
        Observed::SessionStarted { cause, .. } => hash.text(&format!("{cause:?}")),
        // Hooks and transcripts have other words for the reason.
        Observed::SessionEnded { .. } | Observed::TurnEnded { .. } => hash,
        // Gemini's hook has all messages of a turn in one, its transcript each by itself.
        Observed::Answer { text } if !is_full => hash.text(last_line(text)),
        Observed::Prompt { text, .. } | Observed::Answer { text } => hash.text(text),
        Observed::HandedOver(handoff) => hash.text(&handoff.line()),
        Observed::ToolStarted(call) | Observed::PermissionAsked { call } => call_content(call),
        Observed::ToolDone(call, outcome) | Observed::ToolFailed(call, outcome) => {
            let hash = call_content(call);
            if is_full {
                with_result(hash, outcome)
            } else {
                hash
            }
        }
        Observed::Plan { items, text, .. } => items.iter().fold(hash.text(text), |hash, item| {
            // The text is not in every report of a change.
            let text = if item.id.is_empty() { &item.text } else { "" };
            hash.text(&item.id).text(text).text(&item.state)
        }),
        Observed::SubagentStarted { agent, .. } | Observed::SubagentEnded { agent, .. } => {
            hash.text(&agent.id)
        }
        // A summary has two forms; within the window there is one compaction.
        Observed::CompactionStarted { .. } | Observed::CompactionEnded { .. } => hash,
        Observed::PermissionAnswered { answer } => hash.text(answer),
        Observed::Question { text, .. } => hash.text(text),
        Observed::Reply { question, text } => hash.text(question).text(text),
        Observed::TokensUsed { tokens, .. } => {
            hash.text(&format!("{} {}", tokens.input, tokens.output))
        }
        Observed::FileChanged { path } | Observed::FolderChanged { path } => hash.text(path),
        Observed::Unknown { name, bytes } => hash.text(name).text(&bytes.to_string()),
    }
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or_default()
}

fn with_result(hash: Fingerprint, outcome: &Outcome) -> Fingerprint {
    let error = outcome.error.as_deref().unwrap_or_default();
    match &outcome.result {
        Value::Null => hash.text(error),
        result => hash.value(result).text(error),
    }
}
