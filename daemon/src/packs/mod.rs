//! Context packs: the relevant context of a message or a task within a token budget; pruning; and provenance of
//! answers.

mod assembly;
pub mod auto_prune;
mod command;
pub mod operations;
mod place;
mod prune;
mod receipt;
mod retrieval;
mod settings;
mod size;
pub mod texts;
mod view;
mod working_set_update;

pub use crate::events::packs::{
    ContextPruned, ContextUnpruned, Item, PackBuilt, PackDependency, PackEvent, PackPurpose,
    Strategy,
};
pub use place::place_of;
pub use receipt::{AddedText, receipt};
pub use settings::PackSettings;
pub use size::{Point, PruneTotals, context_size, prunings, series};
pub use view::{SPACE, apply, forget, forget_outside, forget_own, resting_on, tokens};

use crate::messages;
use crate::sessions::WantedContent;

/// Asks for a session with messages or tool uses; if none has them, for one with anything.
#[must_use]
pub fn content() -> WantedContent {
    WantedContent::new("messages or results of tools", |rows, lines, _| {
        let totals = messages::totals(rows, lines)?;
        Ok(totals.messages > 0 || totals.uses > 0)
    })
    .or_anything()
}

// For the engine's tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{MakePack, UpdateWorkingSet};
    pub(crate) use super::retrieval::TaskScope;
}
