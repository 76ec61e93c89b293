//! Context packs: what a message or a task needs of what is known, within a budget; pruning; and what
//! an answer rested on.

pub mod by_itself;
mod command;
mod craft;
mod gather;
pub mod operations;
mod prune;
mod room;
mod size;
mod turn;
mod view;

pub use crate::events::packs::{
    ContextPruned, ContextUnpruned, Item, MadeFor, PackBuilt, PackEvent, RestsOn, Strategy,
};
pub use room::Room;
pub use size::{Point, Pruned, context_size, prunings, series};
pub use view::{SPACE, apply, forget, forget_outside, forget_own, resting_on, tokens};

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{MakePack, Turn, TurnWorkingSet};
    pub(crate) use super::gather::Among;
}
