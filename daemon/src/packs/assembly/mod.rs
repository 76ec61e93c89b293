//! Assembly of context packs: relevance ranking, rendering, and fitting into a token budget. Pure functions.

mod build;
mod entity;
mod fit;
mod inputs;
pub mod labels;
mod pack;
mod pieces;
mod prune;
mod references;
mod relevant;
pub mod suspects;
#[cfg(test)]
mod tests;

pub use build::build;
pub use entity::summary;
pub use inputs::{PackEntity, PackInputs, PackMessage, Passage, Relation, Source, Value};
pub use pack::{BudgetTooSmall, BuiltPack, Omission};
pub use prune::{PrunedSet, ScoredMessage, WorkingMessages, retain, tokens_of};
pub use references::{keys_in, step_names_in};
pub use relevant::{Candidate, relevant};
