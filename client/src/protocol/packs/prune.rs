//! Wire types of `prune_session` and `reset_pruning`.

use lore_wire::wire;

use super::super::SessionId;

/// Strategy of a pruning.
#[wire]
pub enum PruneStrategy {
    /// Keeps 10 messages and 5 important ones, 20 entities, 20 tool executions; starts at 4000 tokens.
    Comprehensive,
    /// Keeps twice as much; starts at 8000 tokens.
    Conservative,
    /// Keeps half as much; starts at 2000 tokens.
    Aggressive,
}

/// Arguments of `prune_session`.
#[wire(args(session, .., fence, key, agent))]
#[derive(Default)]
pub struct PruneSessionArgs {
    /// How much is kept (default `comprehensive`).
    pub strategy: Option<PruneStrategy>,
    /// Token limit of the messages: pruning starts above it, and removes more if the strategy's
    /// numbers leave more. Default: the strategy's limit.
    pub target: Option<u64>,
}

/// Reply of `prune_session`.
#[wire(reply(
    position = "Position of the write in the log; if nothing was pruned, that of the snapshot.",
    durable,
    chosen_by,
    warnings
))]
pub struct PruneSessionReply {
    /// The session.
    pub session: SessionId,
    /// Whether anything was pruned; false if the session is small enough.
    pub pruned: bool,
    /// The strategy.
    pub strategy: PruneStrategy,
    /// Tokens of the messages in the working set before.
    pub tokens_before: u64,
    /// Tokens of the messages in the working set after.
    pub tokens_after: u64,
    /// Messages removed from the working set; the log keeps them, and `list_messages` shows them.
    pub messages: u64,
    /// Tool executions removed from the working set.
    pub tools: u64,
    /// Entities removed from the working set.
    pub entities: u64,
}

/// Arguments of `reset_pruning`.
#[wire(args(session, fence, key, agent))]
#[derive(Default)]
pub struct ResetPruningArgs {}

/// Reply of `reset_pruning`.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct ResetPruningReply {
    /// The session.
    pub session: SessionId,
    /// Tokens of the messages in the working set before.
    pub tokens_before: u64,
    /// Tokens of the messages in the working set after.
    pub tokens_after: u64,
}
