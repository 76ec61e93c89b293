//! What lored says to an agent at each moment, and when it says nothing: pure functions from what was recorded to lines of text.
//!
//! - [`durable()`] finds the sentences of a message that hold for longer than its turn, [`choice()`] a question with its reply.
//! - [`failures`] reads outputs and command lines, finds what mended a failure, and matches new failures with known ones.
//! - [`select_for_prompt`] and [`select_for_edit`] choose among a project's [`Items`], or nothing.
//! - [`brief()`] and [`compose_lines`] word what is said, within a budget of tokens.
//! - [`work_in_flight`] is what a session needs after its conversation was compacted.
//!
//! Nothing here reads files, clocks or the environment, and nothing fails. Inputs are untrusted and may be of any size: what is
//! read of them is bounded. `README.md` of this crate has the figures of its judging cases.
//!
//! ```
//! use lored_moments::{DurableKind, Message, durable};
//!
//! let found = durable(&Message::prompt("We decided to store prices as integer cents. Can you fix the test?"));
//! assert_eq!(found.len(), 1);
//! assert_eq!(found[0].kind, DurableKind::Decision);
//! ```

mod antecedent;
mod brief;
mod budget;
mod choice;
mod compaction;
mod contradiction;
mod cues;
mod durable;
mod edit;
mod explanation;
pub mod failures;
mod items;
mod lasting;
mod missing;
mod numbered;
mod passing;
mod prompt;
mod quotations;
mod reproach;
#[cfg(test)]
mod tests;
mod text;
mod versions;
mod wording;

pub use brief::{Brief, BriefInput, BriefSection, NoteEntry, SessionEntry, brief};
pub use budget::{PieceRanges, TokenCount, cut, one_line};
pub use choice::{AnsweredQuestion, choice};
pub use compaction::{
    CommandEntry, Composed, DecisionEntry, FileEntry, PlanEntry, Section, TOKENS, WorkInFlight,
    work_in_flight,
};
pub use contradiction::{Relation, Statement};
pub use durable::{
    CUE_CANDIDATE, CUE_COUNTS, DurableKind, DurableSentence, Message, Speaker, asks_to_remember,
    durable, message_sentences,
};
pub use edit::{EditFeatures, EditQuery, cites, edit_score, edit_subject, select_for_edit};
pub use items::{Item, ItemSource, ItemText, Items, uses};
pub use lasting::sentence_features;
pub use prompt::{
    PastScores, PromptFeatures, Query, ScoredItem, Selection, prompt_score, select_for_prompt,
};
pub use quotations::{Quotations, QuotedLine};
pub use text::language::Language;
pub use versions::{VersionEffect, VersionState, Versions};
pub use wording::{
    ComposedLines, Freshness, Heading, OTHERS_TOKENS, OtherVersion, Provenance, changed_line,
    compose_lines, item_line, other_line, repair_line,
};
