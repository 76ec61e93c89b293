//! Wire types of context packs, pruning, and the sources of answers.

mod make;
mod prune;
mod why;

pub use make::{
    ContextPackArgs, ContextPackReply, EnrichMessageArgs, EnrichMessageReply, LeftOut, PackSection,
    PackedFile, Part, Piece, PieceKind, SectionName, WhyLeftOut,
};
pub use prune::{
    PruneSessionArgs, PruneSessionReply, PruneStrategy, ResetPruningArgs, ResetPruningReply,
};
pub use why::{
    MadeFor, OmittedEvent, PackRecord, PackSource, PackUse, PackedPart, PackedText, SectionTokens,
    WhyArgs, WhyReply,
};
