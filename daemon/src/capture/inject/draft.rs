//! A text for a model's context, with what its parts rest on.

use std::collections::BTreeSet;
use std::ops::Range;

use lore::protocol::names::{Part, WhyLeftOut};

use super::Writer;
use crate::error::Refusal;
use crate::events::packs::{Item, PackDependency, PackPurpose};
use crate::log::Position;
use crate::packs::texts::OmittedPiece;
use crate::packs::{self, AddedText};
use crate::state::State;

/// Pieces without space in a text that are listed.
const LEFT_OUT_MAX: usize = 20;

/// A text with its sources.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub text: String,
    /// What its parts rest on, in order, each with its range of bytes in the text.
    pub sources: Vec<(PackDependency, Range<usize>)>,
    /// What had no space in it, the most important first.
    pub left_out: Vec<PackDependency>,
    /// The sessions whose content may be in it.
    pub sessions: BTreeSet<String>,
}

impl Draft {
    /// Adds what a part of the text rests on.
    pub fn rests_on(&mut self, (session, item): (String, Item), range: Range<usize>) {
        self.sessions.insert(session.clone());
        let session = Some(session);
        self.sources.push((PackDependency { session, item }, range));
    }

    /// Adds what had no space in the text.
    pub fn leaves_out(&mut self, (session, item): (String, Item)) {
        let session = Some(session);
        self.left_out.push(PackDependency { session, item });
    }
}

/// Returns a draft as it is recorded and given.
///
/// # Errors
/// When a row cannot be read.
pub(super) fn added(
    state: &State,
    writer: &Writer<'_>,
    made_for: PackPurpose,
    wanted: String,
    draft: Draft,
    budget: usize,
) -> Result<AddedText, Refusal> {
    let mut left_out = Vec::new();
    for one in draft.left_out.iter().take(LEFT_OUT_MAX) {
        let position = packs::place_of(state, "", one, Position(u64::MAX))?;
        left_out
            .extend(position.map(|position| {
                OmittedPiece::new(position, Part::Whole, None, WhyLeftOut::Budget)
            }));
    }
    Ok(AddedText {
        made_for,
        wanted,
        tokens: writer.tokens.count(&draft.text) as u64,
        budget: budget as u64,
        text: draft.text,
        sources: draft.sources,
        sessions: draft.sessions,
        left_out,
    })
}
