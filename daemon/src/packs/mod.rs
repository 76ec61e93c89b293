//! Context packs: the relevant context of a message or a task within a token budget; pruning; and provenance of
//! answers.

mod assembly;
pub mod auto_prune;
mod command;
pub mod operations;
mod prune;
mod retrieval;
mod settings;
mod size;
mod view;
mod working_set_update;

pub use crate::events::packs::{
    ContextPruned, ContextUnpruned, Item, PackBuilt, PackDependency, PackEvent, PackPurpose,
    Strategy,
};
pub use settings::PackSettings;
pub use size::{Point, PruneTotals, context_size, prunings, series};
pub use view::{SPACE, apply, forget, forget_outside, forget_own, resting_on, tokens};

// For the engine's tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{MakePack, UpdateWorkingSet};
    pub(crate) use super::retrieval::TaskScope;
}
