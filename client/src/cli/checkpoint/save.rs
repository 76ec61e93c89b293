//! `lore checkpoint save`, `fork` and `delete`: what changes the store.

use std::path::PathBuf;

use clap::ValueHint;
use lore::protocol::checkpoints::{
    DeleteArgs, DeleteReply, ForkArgs, ForkReply, SaveArgs, SaveReply, SaveStatus,
};
use serde_json::{Map, Value};

use super::super::exchange::{self, Told, ask, id};
use super::super::given::Guard;
use super::super::status::bytes;
use super::super::{Caller, End, Failure};
use super::context;

/// Save a JSON object as a checkpoint of the session, or of a new one
#[derive(Debug, clap::Args)]
pub struct Save {
    /// File with the context; - or nothing reads it from standard input
    #[arg(value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    #[command(flatten)]
    described: Described,
    /// Save also what the latest checkpoint holds already
    #[arg(long)]
    force: bool,
    /// Refuse unless this is the session's latest checkpoint
    #[arg(long, value_name = "CHECKPOINT")]
    expect: Option<String>,
    #[command(flatten)]
    guard: Guard,
}

/// What is said about a checkpoint.
#[derive(Debug, clap::Args)]
struct Described {
    /// A name to find it by; one with a name never goes by itself
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// A label to find it by, as often as needed; one with a tag never goes by itself
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Vec<String>,
    /// More about it, a JSON object; its contextRules rank keys
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
}

impl Described {
    /// One object of all that was said; --name and --tag go before what stands in --metadata.
    fn into_map(self) -> Result<Option<Map<String, Value>>, Failure> {
        let mut map = exchange::object("--metadata", self.metadata.as_deref())?.unwrap_or_default();
        if let Some(name) = self.name {
            map.insert("name".to_owned(), name.into());
        }
        if !self.tags.is_empty() {
            map.insert("tags".to_owned(), self.tags.into());
        }
        Ok((!map.is_empty()).then_some(map))
    }
}

impl Save {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = SaveArgs {
            session_id: caller.named_session()?,
            metadata: self.described.into_map()?,
            expected_checkpoint_id: self.expect.as_deref().map(id).transpose()?,
            context: context(self.file)?,
            force: self.force.then_some(true),
            fence: self.guard.fence(),
            key: self.guard.key,
            agent: None,
        };
        ask(
            caller,
            "workflow_checkpoint_save",
            &args,
            |reply: &SaveReply| {
                let (checkpoint, session) = (&reply.checkpoint_id, &reply.session_id);
                Told::good(match reply.status {
                    SaveStatus::Saved => format!(
                        "saved as {checkpoint} in session {session}: {} on disk, {} of it new\n",
                        bytes(reply.size_bytes),
                        bytes(reply.new_bytes)
                    ),
                    SaveStatus::SkippedUnchanged => {
                        format!(
                            "unchanged since {checkpoint} in session {session}: nothing saved\n"
                        )
                    }
                })
            },
        )
    }
}

/// Begin a session whose first checkpoint is this one; --session names it
#[derive(Debug, clap::Args)]
pub struct Fork {
    /// The checkpoint to begin from
    checkpoint: String,
    #[command(flatten)]
    described: Described,
    /// Idempotency key: the same call again forks nothing twice
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Fork {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ForkArgs {
            checkpoint_id: id(&self.checkpoint)?,
            // LORE_SESSION names the session that one works in, not the one to be made.
            session_id: caller.session.as_deref().map(id).transpose()?,
            metadata: self.described.into_map()?,
            key: self.key,
            agent: None,
        };
        ask(
            caller,
            "workflow_checkpoint_fork",
            &args,
            |reply: &ForkReply| {
                Told::good(format!(
                    "forked {} into session {} as {}: {} new\n",
                    reply.forked_from,
                    reply.session_id,
                    reply.checkpoint_id,
                    bytes(reply.new_bytes)
                ))
            },
        )
    }
}

/// Delete a checkpoint and free what no other one uses
#[derive(Debug, clap::Args)]
pub struct Delete {
    /// The checkpoint to delete
    checkpoint: String,
    /// Idempotency key: the same call again gives the first reply
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Delete {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = DeleteArgs {
            checkpoint_id: id(&self.checkpoint)?,
            key: self.key,
            agent: None,
        };
        ask(
            caller,
            "workflow_checkpoint_delete",
            &args,
            |reply: &DeleteReply| {
                Told::good(format!(
                    "deleted {} of session {}: {} freed\n",
                    reply.checkpoint_id,
                    reply.session_id,
                    bytes(reply.freed_bytes)
                ))
            },
        )
    }
}
