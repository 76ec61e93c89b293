//! `lore pack`: what a message or a task needs, from what is known, within a budget.

use std::fmt::Write;

use lore::protocol::packs::{
    ContextPackArgs, ContextPackReply, EnrichMessageArgs, EnrichMessageReply, LeftOut, PackSection,
};

use super::exchange::{Told, ask, id};
use super::given::{counted, text, word};
use super::output::{is_terminal, shown, text_for};
use super::{Caller, End, Failure};

/// Print what a message or a task needs, from what is known
///
/// The prompt goes to standard output, as it is into a pipe; what was left out goes to standard
/// error. `lore why PACK` tells what it rests on.
#[derive(Debug, clap::Args)]
pub struct Pack {
    /// The message that is to be answered; - reads it from standard input
    #[arg(required_unless_present = "task", allow_hyphen_values = true)]
    message: Option<String>,
    /// For a task instead, across the sessions of a project; - reads it from standard input
    #[arg(
        id = "task",
        long = "for-task",
        value_name = "QUERY",
        allow_hyphen_values = true,
        conflicts_with = "message"
    )]
    task: Option<String>,
    /// The project, if not that of this folder; --session: one session of it alone
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// How many tokens the prompt may have; otherwise 4000
    #[arg(long, value_name = "COUNT")]
    max_tokens: Option<u64>,
}

impl Pack {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self.task {
            Some(task) => {
                let args = ContextPackArgs {
                    // LORE_SESSION names the session that one works in, not the only one to look in.
                    session: caller.session.as_deref().map(id).transpose()?,
                    project: self.project,
                    query: text("the task", task)?,
                    max_tokens: self.max_tokens,
                    at_least: None,
                    agent: None,
                };
                ask(caller, "context_pack", &args, |reply: &ContextPackReply| {
                    Made {
                        pack: &reply.pack,
                        prompt: &reply.prompt,
                        tokens: (reply.tokens, reply.max_tokens),
                        sections: &reply.sections,
                        left_out: &reply.left_out,
                        cached: reply.cached,
                    }
                    .told(is_terminal())
                })
            }
            None if self.project.is_some() => Err(Failure::Usage(
                "--project goes with --for-task: a message is answered from its session".to_owned(),
            )),
            None => {
                let args = EnrichMessageArgs {
                    session: None,
                    message: text("the message", self.message.unwrap_or_default())?,
                    max_tokens: self.max_tokens,
                    at_least: None,
                    agent: None,
                };
                ask(
                    caller,
                    "enrich_message",
                    &args,
                    |reply: &EnrichMessageReply| {
                        Made {
                            pack: &reply.pack,
                            prompt: &reply.prompt,
                            tokens: (reply.tokens, reply.max_tokens),
                            sections: &reply.sections,
                            left_out: &reply.left_out,
                            cached: reply.cached,
                        }
                        .told(is_terminal())
                    },
                )
            }
        }
    }
}

/// What both replies tell.
struct Made<'r> {
    pack: &'r str,
    prompt: &'r str,
    /// How many there are, and how many there may be.
    tokens: (u64, u64),
    sections: &'r [PackSection],
    left_out: &'r [LeftOut],
    cached: bool,
}

impl Made<'_> {
    fn told(&self, is_terminal: bool) -> Told {
        let (tokens, max_tokens) = self.tokens;
        let cached = if self.cached { ", made before" } else { "" };
        let mut aside = format!(
            "lore: pack {}: {tokens} of {max_tokens} tokens{cached}\n",
            shown(self.pack, 40)
        );
        for section in self
            .sections
            .iter()
            .filter(|section| !section.pieces.is_empty())
        {
            // Writing into a string does not fail.
            let name = word(&section.name);
            let pieces = counted(section.pieces.len() as u64, "piece");
            let _ = writeln!(aside, "  {name}: {pieces}, {} tokens", section.tokens);
        }
        for left in self.left_out {
            let _ = writeln!(
                aside,
                "  left out: {} {} ({}): {}",
                word(&left.piece.kind),
                shown(&left.piece.id, 60),
                word(&left.part),
                word(&left.why)
            );
        }
        Told {
            out: text_for(self.prompt, is_terminal).into_owned() + "\n",
            aside,
            end: End::Good,
        }
    }
}
