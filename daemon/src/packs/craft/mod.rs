//! The craft of context packs: what is relevant, how it is told, and how it fits into a budget. Pure.

mod build;
mod built;
mod entity;
mod fit;
mod ingredients;
pub mod labels;
mod prune;
mod references;
mod relevant;
mod share;
#[cfg(test)]
mod tests;
mod told;

pub use build::build;
pub use built::{Built, LeftOut, Part, SectionName, Why};
pub use entity::summary;
pub use ingredients::{Ingredients, Known, Passage, Purpose, Relation, Source, Told, Value};
pub use prune::{Kept, Weighed, Working, kept, tokens_of};
pub use references::{keys_in, step_names_in};
pub use relevant::{Candidate, relevant};
