//! `lore checkpoint …`: an agent's context saved, given back exactly, found, compared and fitted
//! into a budget of tokens.

mod diff;
mod list;
mod load;
mod pretty;
mod rank;
mod save;

use std::path::PathBuf;

use clap::Subcommand;
use lore::protocol::checkpoints::{MarkArgs, MarkReply, MarkStatus};
use lore::protocol::{RawObject, SessionId};

use super::exchange::{Told, ask};
use super::given::file_text;
use super::output::shown;
use super::{Caller, End, Failure};

/// Save an agent's context, and get it back exactly
#[derive(Debug, Subcommand)]
pub enum Checkpoint {
    /// Save a JSON object as a checkpoint of the session, or of a new one
    Save(save::Save),
    /// Print the context of a checkpoint, or of the session's latest
    Load(load::Load),
    /// List the checkpoints of a session, the newest first
    List(list::List),
    /// Mark a key of the session's context: it is never shortened, its newest value never goes
    Critical {
        /// The top-level key
        key: String,
        /// Take the mark back
        #[arg(long)]
        unmark: bool,
    },
    /// Delete a checkpoint and free what no other one uses
    Delete(save::Delete),
    /// Tell what was added (+), removed (-) and changed (~) between two checkpoints
    Diff(diff::Diff),
    /// Begin a session whose first checkpoint is this one; --session names it
    Fork(save::Fork),
    /// Show as much of a context as fits into a budget of tokens
    Compress(rank::Compress),
    /// Tell how much each key of a context matters, why, and how many tokens it has
    Prioritize(rank::Prioritize),
}

impl Checkpoint {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self {
            Self::Save(save) => save.run(caller),
            Self::Load(load) => load.run(caller),
            Self::List(list) => list.run(caller),
            Self::Critical { key, unmark } => critical(caller, key, unmark),
            Self::Delete(delete) => delete.run(caller),
            Self::Diff(diff) => diff.run(caller),
            Self::Fork(fork) => fork.run(caller),
            Self::Compress(compress) => compress.run(caller),
            Self::Prioritize(prioritize) => prioritize.run(caller),
        }
    }
}

fn critical(caller: &mut Caller, context_key: String, unmark: bool) -> Result<End, Failure> {
    let args = MarkArgs {
        context_key,
        session_id: caller.named_session()?,
        unmark: unmark.then_some(true),
        key: None,
        agent: None,
    };
    ask(
        caller,
        "workflow_mark_critical",
        &args,
        |reply: &MarkReply| {
            let message = shown(&reply.message, 0);
            match reply.status {
                MarkStatus::Success => Told::good(message + "\n"),
                MarkStatus::KeyNotFound => Told::nothing(format!("lore: {message}\n")),
            }
        },
    )
}

/// The session that a command has to name.
fn needed_session(caller: &Caller, otherwise: &str) -> Result<SessionId, Failure> {
    caller.named_session()?.ok_or_else(|| {
        Failure::Usage(format!(
            "which session? Name it with --session or LORE_SESSION{otherwise}"
        ))
    })
}

/// The JSON object in a file, or for `-` and nothing on standard input. It is not parsed into
/// anything: what stands there is what is sent.
fn context(file: Option<PathBuf>) -> Result<RawObject, Failure> {
    let file = file.unwrap_or_else(|| PathBuf::from("-"));
    let text = file_text("the context", &file)?;
    RawObject::parse(&text).map_err(|fault| Failure::Usage(format!("the context: {fault}")))
}
