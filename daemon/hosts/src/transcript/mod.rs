//! Transcripts: the files that hosts themselves write.
//!
//! A file is read record by record ([`records`]), in order, with one [`FileState`] per file. The observations have the
//! same keys as those of hooks where both know the host's ids, and the same content keys otherwise.
//!
//! | host | record |
//! | --- | --- |
//! | Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, pi | a line of JSON |
//! | Gemini CLI's older form | a message of one JSON text |
//! | opencode | a message of the JSON of `opencode export` |
//! | Cline | a message of `ID.messages.json` |
//! | aider | a block of `.aider.chat.history.md` |
//! | Goose | a row of its database: see `goose.rs` |
//! | Cursor | a line of JSON, or a bubble of its database: see `cursor.rs` |

mod aider;
mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod goose;
mod messages;
mod outcome;
mod paths;
mod qwen;
mod tokens;

use std::collections::VecDeque;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::events::{common, empty_source};
use crate::fields::{any, filled, owned, text};
use crate::host::Host;
use crate::json;
use crate::maker::Maker;
use crate::observation::{Observation, Observed, Origin, Source, Subagent};
use crate::outcome::Report;
use crate::own_text::OwnMarks;
use crate::time;
use crate::tools::ToolCall;

pub use outcome::{SoughtCall, TAIL_BYTES, exit_status, find_call};
pub use paths::{DATABASES, Database, PATHS};

/// Calls whose outcome has not come that are remembered.
const CALLS_MAX: usize = 256;
/// Bytes of the records of these calls.
const CALLS_BYTES_MAX: usize = 16 << 20;

/// What the earlier records of a file said about the later ones. Keep it with the place up to which a file was read; if it
/// is lost, read the file from its beginning: the keys of what was recorded are the same.
#[derive(Clone, Debug, PartialEq)]
pub struct FileState {
    /// The session, the subagent, the turn and the working folder. A caller that knows them, from a hook or from the
    /// name of the file, may set them before the first record ([`FileState::of_path`]).
    pub source: Source,
    /// Calls without an outcome, with the size of their records: results often have only an id.
    calls: VecDeque<(ToolCall, usize)>,
    /// Whether the line that describes the session has come.
    is_begun: bool,
    /// The last message whose tokens were counted.
    counted: Option<String>,
    /// The model, where it is not said beside the tokens.
    model: Option<String>,
}

impl FileState {
    /// Returns the state at the beginning of a file.
    #[must_use]
    pub const fn new(host: Host) -> Self {
        Self {
            source: empty_source(host),
            calls: VecDeque::new(),
            is_begun: false,
            counted: None,
            model: None,
        }
    }
}

/// Reads one record. It never fails: a record that is not known becomes an [`Observed::Unknown`], and a known one that
/// says nothing new becomes nothing. The last line of a file that grows may be torn: read only whole lines.
#[must_use]
pub fn read_line(state: &mut FileState, record: &[u8], marks: &OwnMarks<'_>) -> Vec<Observation> {
    let host = state.source.host;
    if record.iter().all(u8::is_ascii_whitespace) {
        return Vec::new();
    }
    if host == Host::Aider {
        return aider::read(state, record, marks);
    }
    let document = match json::read(record) {
        Ok(document) if document.value.is_object() => document,
        _ => {
            let mut maker = Maker::new(state.source.clone(), Origin::Transcript, 0);
            unknown(&mut maker, "", record.len());
            return maker.made;
        }
    };
    let value = &document.value;
    let mut line = Line {
        at_ms: any(value, &["timestamp", "info.time.created", "ts", "created"])
            .and_then(time::read),
        maker: Maker::new(state.source.clone(), Origin::Transcript, document.left_out),
        bytes: record.len(),
        state,
        marks,
    };
    line.maker.source.at_ms = line.at_ms;
    match host {
        Host::ClaudeCode | Host::VsCode => claude::read(&mut line, value),
        Host::Codex => codex::read(&mut line, value),
        Host::GeminiCli => gemini::read(&mut line, value),
        Host::QwenCode => qwen::read(&mut line, value),
        Host::CopilotCli => copilot::read(&mut line, value),
        Host::OpenCode | Host::Cline | Host::Pi => messages::read(&mut line, value),
        Host::Goose => goose::read(&mut line, value),
        Host::Cursor => cursor::read(&mut line, value),
        Host::Aider | Host::Other => line.unknown(value),
    }
    line.maker.made
}

/// Splits a transcript into its records: lines, or the elements of a list within one JSON text.
#[must_use]
pub fn records(host: Host, bytes: &[u8]) -> Vec<&[u8]> {
    match host {
        Host::OpenCode | Host::Cline => json::elements(bytes, "messages"),
        Host::GeminiCli if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => {
            match json::elements(bytes, "messages") {
                // A file of lines that has only its first.
                messages if messages.is_empty() => vec![bytes],
                messages => messages,
            }
        }
        Host::Aider => aider::blocks(bytes),
        _ => bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
            .collect(),
    }
}

/// One record while it is read.
struct Line<'l> {
    maker: Maker,
    state: &'l mut FileState,
    marks: &'l OwnMarks<'l>,
    at_ms: Option<i64>,
    bytes: usize,
}

impl Line<'_> {
    /// Sets a part of the source, for this record and all later ones.
    fn keep(&mut self, set: impl Fn(&mut Source)) {
        set(&mut self.state.source);
        set(&mut self.maker.source);
    }

    /// Takes over session, working folder and subagent, which some hosts repeat in each record.
    fn keep_common(&mut self, value: &Value) {
        let session = owned(value, &["sessionId"]);
        let cwd = owned(value, &["cwd"]);
        let agent = owned(value, &["agentId"]);
        let kind = text(value, &["agentName", "agentType"])
            .unwrap_or_default()
            .to_owned();
        self.keep(|source| {
            if session.is_some() {
                source.session.clone_from(&session);
            }
            if cwd.is_some() {
                source.cwd.clone_from(&cwd);
            }
        });
        let known = self.maker.source.agent.take();
        let agent = agent.map(|id| Subagent { id, kind });
        self.maker.source.agent = match (agent, known) {
            // The file beside the transcript may have told the kind, which its lines do not.
            (Some(agent), Some(known)) if agent.kind.is_empty() && agent.id == known.id => {
                Some(known)
            }
            (agent, known) => agent.or(known),
        };
    }

    /// Adds a call, and remembers it until its outcome comes.
    fn call_started(&mut self, tool: &str, input: &Value, id: Option<String>, beside: &Value) {
        let call = self.call(tool, input, id, beside);
        let calls = &mut self.state.calls;
        calls.push_back((call.clone(), self.bytes));
        let mut bytes: usize = calls.iter().map(|(_, bytes)| bytes).sum();
        while calls.len() > CALLS_MAX || (bytes > CALLS_BYTES_MAX && calls.len() > 1) {
            bytes -= calls.pop_front().map_or(0, |(_, bytes)| bytes);
        }
        common::tool_started(&mut self.maker, call);
    }

    fn call(&self, tool: &str, input: &Value, id: Option<String>, beside: &Value) -> ToolCall {
        let cwd = self.maker.source.cwd.as_deref();
        let mut call = ToolCall::new(tool, input, cwd, beside);
        call.id = id;
        call
    }

    /// Returns the remembered call of that id; a call of which only the id is known otherwise.
    fn pending(&mut self, id: &str) -> ToolCall {
        let place = self
            .state
            .calls
            .iter()
            .position(|(call, _)| call.id.as_deref() == Some(id));
        let pending = place.and_then(|place| self.state.calls.remove(place));
        pending.map(|(call, _)| call).unwrap_or_else(|| ToolCall {
            id: Some(id.to_owned()),
            ..ToolCall::default()
        })
    }

    fn call_ended(&mut self, call: ToolCall, report: &Report<'_>) {
        common::tool_ended(&mut self.maker, call, report, self.marks);
    }

    fn answer(&mut self, text: &str, id: Option<&str>) {
        if !text.trim().is_empty() {
            let text = text.to_owned();
            self.maker.add(Observed::Answer { text }, id);
        }
    }

    /// Counts a record whose type this release does not know.
    fn unknown(&mut self, value: &Value) {
        let name = text(value, &["type"]).unwrap_or_default();
        let part = filled(value, &["payload.type", "subtype"]);
        let name = match part {
            Some(part) => format!("{name}/{part}"),
            None => name.to_owned(),
        };
        unknown(&mut self.maker, &name, self.bytes);
    }
}

/// Adds a record that is not known.
fn unknown(maker: &mut Maker, name: &str, bytes: usize) {
    let name = name.chars().take(64).collect();
    maker.add(Observed::Unknown { name, bytes }, None);
}

/// Returns the report of a result that the host calls a success or a failure.
const fn report(result: &Value, is_failure: bool) -> Report<'_> {
    Report {
        result,
        error: None,
        is_failure,
        is_certain: true,
        is_interrupted: false,
        duration_ms: None,
    }
}
