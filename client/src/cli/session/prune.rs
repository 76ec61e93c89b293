//! `lore session prune` and `unprune`: how much of a session context packs are made from.

use lore::protocol::packs::{
    PruneSessionArgs, PruneSessionReply, PruneStrategy, UnpruneSessionArgs, UnpruneSessionReply,
};

use crate::cli::exchange::{Told, ask};
use crate::cli::given::{Guard, Which, counted, one_of, word};
use crate::cli::{Caller, End, Failure};

/// How much can be kept.
const STRATEGIES: &[(&str, PruneStrategy)] = &[
    ("comprehensive", PruneStrategy::Comprehensive),
    ("conservative", PruneStrategy::Conservative),
    ("aggressive", PruneStrategy::Aggressive),
];

/// Shrink what context packs are made from; the log keeps everything
#[derive(Debug, clap::Args)]
pub struct Prune {
    #[command(flatten)]
    which: Which,
    /// How much is kept; otherwise comprehensive, conservative keeps twice as much, aggressive half
    #[arg(long, value_parser = one_of(STRATEGIES))]
    strategy: Option<PruneStrategy>,
    /// How many tokens its messages may have
    #[arg(long, value_name = "COUNT")]
    target: Option<u64>,
    #[command(flatten)]
    guard: Guard,
}

impl Prune {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = PruneSessionArgs {
            session: self.which.session()?,
            strategy: self.strategy,
            target: self.target,
            fence: self.guard.fence(),
            key: self.guard.key,
            agent: None,
        };
        ask(caller, "prune_session", &args, pruned)
    }
}

fn pruned(reply: &PruneSessionReply) -> Told {
    let session = &reply.session;
    if !reply.pruned {
        let tokens = reply.tokens_before;
        let strategy = word(&reply.strategy);
        return Told::good(format!(
            "session {session} has {tokens} tokens: nothing to do ({strategy})\n"
        ));
    }
    Told::good(format!(
        "session {session} pruned: {} tokens before, {} after; {}, {} and {} entities left the \
         working set, and stay in the log\n",
        reply.tokens_before,
        reply.tokens_after,
        counted(reply.messages, "message"),
        counted(reply.tools, "tool execution"),
        reply.entities
    ))
}

/// Undo the pruning of a session
#[derive(Debug, clap::Args)]
pub struct Unprune {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    guard: Guard,
}

impl Unprune {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = UnpruneSessionArgs {
            session: self.which.session()?,
            fence: self.guard.fence(),
            key: self.guard.key,
            agent: None,
        };
        ask(
            caller,
            "unprune_session",
            &args,
            |reply: &UnpruneSessionReply| {
                Told::good(format!(
                    "session {} is whole: {} tokens before, {} now\n",
                    reply.session, reply.tokens_before, reply.tokens_after
                ))
            },
        )
    }
}
