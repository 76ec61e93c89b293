//! `lore docs …`: sources of documents, and what is in them.

mod explore;
mod read;
mod send;
mod sources;

pub use read::range;

use clap::Subcommand;

use super::{Caller, End, Failure, search};

/// Folders and files whose documents every agent finds
#[derive(Debug, Subcommand)]
pub enum Docs {
    Add(sources::Add),
    Remove(sources::Remove),
    List(sources::List),
    Rescan(sources::Rescan),
    Search(search::Documents),
    Show(read::Show),
    Contexts(explore::Contexts),
    Explore(explore::Explore),
    Summary(explore::Summary),
}

impl Docs {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self {
            Self::Add(add) => add.run(caller),
            Self::Remove(remove) => remove.run(caller),
            Self::List(list) => list.run(caller),
            Self::Rescan(rescan) => rescan.run(caller),
            Self::Search(search) => search.run(caller),
            Self::Show(show) => show.run(caller),
            Self::Contexts(contexts) => contexts.run(caller),
            Self::Explore(explore) => explore.run(caller),
            Self::Summary(summary) => summary.run(caller),
        }
    }
}
