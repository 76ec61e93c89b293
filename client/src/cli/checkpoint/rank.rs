//! `lore checkpoint compress` and `prioritize`: what matters most of a context, given or stored.

use std::path::PathBuf;

use clap::ValueHint;
use lore::protocol::checkpoints::{
    CompressArgs, CompressReply, KeyReport, PrioritizeArgs, PrioritizeReply, Treatment,
};
use lore::protocol::{CheckpointId, RawObject, SessionId};

use super::super::exchange::{self, Told, ask, id};
use super::super::output::{self, shown, table};
use super::super::{Caller, End, Failure};
use super::context;
use super::load::{layer, printed, report, treatment};

/// Which context it is about.
#[derive(Debug, clap::Args)]
struct Subject {
    /// File with a context; - or nothing reads it from standard input
    #[arg(value_hint = ValueHint::FilePath, conflicts_with = "checkpoint")]
    file: Option<PathBuf>,
    /// A stored one instead: that of this checkpoint; --session: the latest of that session
    #[arg(long, value_name = "ID")]
    checkpoint: Option<String>,
    /// Key pattern to layer, a JSON object such as {"log*": "EPHEMERAL"}
    #[arg(long, value_name = "JSON")]
    rules: Option<String>,
}

type Given = (Option<RawObject>, Option<CheckpointId>, Option<SessionId>);

impl Subject {
    /// One of: a context, a checkpoint, a session; the last only if it was said here.
    fn given(&self, caller: &Caller) -> Result<Given, Failure> {
        Ok(match (&self.file, &self.checkpoint, &caller.session) {
            (None, Some(checkpoint), _) => (None, Some(id(checkpoint)?), None),
            (None, None, Some(session)) => (None, None, Some(id(session)?)),
            (file, _, _) => (Some(context(file.clone())?), None, None),
        })
    }
}

/// Show as much of a context as fits into a budget of tokens
#[derive(Debug, clap::Args)]
pub struct Compress {
    #[command(flatten)]
    subject: Subject,
    /// The budget
    #[arg(long, value_name = "COUNT")]
    max_tokens: u64,
}

impl Compress {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let (context, checkpoint_id, session_id) = self.subject.given(caller)?;
        let args = CompressArgs {
            context,
            checkpoint_id,
            session_id,
            max_tokens: self.max_tokens,
            context_rules: exchange::object("--rules", self.subject.rules.as_deref())?,
            at_least: None,
            agent: None,
        };
        ask(
            caller,
            "workflow_context_compress",
            &args,
            |reply: &CompressReply| Told {
                out: printed(&reply.context, output::is_terminal()),
                aside: report(&reply.view),
                end: End::Good,
            },
        )
    }
}

/// Tell how much each key of a context matters, why, and how many tokens it has
#[derive(Debug, clap::Args)]
pub struct Prioritize {
    #[command(flatten)]
    subject: Subject,
    /// Also tell what would be left of each key in so many tokens
    #[arg(long, value_name = "COUNT")]
    max_tokens: Option<u64>,
}

impl Prioritize {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let (context, checkpoint_id, session_id) = self.subject.given(caller)?;
        let args = PrioritizeArgs {
            context,
            checkpoint_id,
            session_id,
            max_tokens: self.max_tokens,
            context_rules: exchange::object("--rules", self.subject.rules.as_deref())?,
            at_least: None,
            agent: None,
        };
        ask(caller, "workflow_context_prioritize", &args, human)
    }
}

fn human(reply: &PrioritizeReply) -> Told {
    if reply.keys.is_empty() {
        return Told::nothing("lore: the context has no keys\n".to_owned());
    }
    let rows: Vec<_> = reply.keys.iter().map(row).collect();
    let mut told = Told::good(table(["key", "layer", "tokens", "left", "why"], &rows));
    told.out += &format!("{} tokens in all\n", reply.tokens);
    if reply.over_budget == Some(true) {
        told.aside = "lore: the critical keys alone take more than --max-tokens\n".to_owned();
    }
    told
}

fn row(key: &KeyReport) -> [String; 5] {
    let left = match (key.tokens_in_view, key.treatment) {
        (Some(tokens), Some(done)) if done != Treatment::Whole => {
            format!("{tokens} ({})", treatment(done))
        }
        (Some(tokens), Some(_) | None) => tokens.to_string(),
        (None, _) => String::new(),
    };
    [
        shown(&key.key, 40),
        layer(key.layer).to_owned(),
        key.tokens.to_string(),
        left,
        shown(&key.reason, 60),
    ]
}
