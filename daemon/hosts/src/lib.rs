//! Hosts of agents: all that lored knows about the programs that run agents, as pure functions.
//!
//! - [`read`] turns what a hook received into a [`HookEvent`] with its [`Observation`]s.
//! - [`transcript::read_line`] turns a record of a transcript into the same observations, with keys by which what was
//!   already recorded from a hook is found again.
//! - [`render`] turns text into what a host's hook has to print, and says with [`Host::reaches`] where that is possible.
//! - [`environment`] says which host, and which of its sessions, started a process.
//! - [`config`] has the hooks that each host needs: events, command, file and format.
//!
//! Nothing here reads files, clocks or the environment, and nothing fails: hosts change every few weeks, so an unknown
//! field is counted, and an unknown event, or a payload that is not JSON, is an observation of its own
//! ([`Observed::Unknown`]). Input is untrusted, and may be of any size: see [`json`] for the limits.
//!
//! ```
//! use lored_hosts::{Host, Moment, OWN_MARKS, Observed, read, render};
//!
//! let payload = br#"{"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "go on", "prompt_id": "p1"}"#;
//! let event = read(Host::ClaudeCode, "", payload, &OWN_MARKS);
//! assert_eq!(event.moment, Some(Moment::Prompt));
//! let prompt = &event.observations[0];
//! assert_eq!(prompt.key.as_str(), "claude-code:s1:prompt:p1");
//! assert!(matches!(&prompt.what, Observed::Prompt { text, .. } if text == "go on"));
//!
//! let output = render(event.host, &event.name, "The port is 8080 (decided on Monday).");
//! assert!(output.stdout.starts_with(br#"{"hookSpecificOutput":{"#));
//! ```
//!
//! What is known from a host that was run, and what only from documentation, stands in `README.md` of this crate.

pub mod config;
pub mod environment;
pub mod events;
mod fields;
mod handoff;
mod host;
pub mod json;
mod key;
mod maker;
mod moment;
mod observation;
mod outcome;
mod own_text;
mod patch;
mod plans;
mod render;
#[cfg(test)]
mod tests;
mod time;
mod tools;
pub mod transcript;

pub use events::{EventKind, HookEvent, is_answered, read};
pub use handoff::Handoff;
pub use host::Host;
pub use key::{KEY_WINDOW_MS, Key};
pub use moment::{Delivery, Moment};
pub use observation::{
    Author, Observation, Observed, Origin, Outcome, PlanItem, Source, StartCause, Subagent,
    TokenCounts,
};
pub use own_text::{OWN_MARKS, OwnMarks};
pub use render::{INJECTED_BYTES_MAX, Output, render, render_question};
pub use tools::{FileChange, FileEdit, ToolCall, ToolKind};
