//! Leaves out of a pack what gives orders to a model, claims an identity or rewrites facts, and what others said than the
//! asked origins.

use std::collections::BTreeSet;

use lore::protocol::names::{Part, WhyLeftOut};
use lored_suspicion::Origin;

use super::inputs::{PackInputs, PackMessage, Source};
use super::pack::{BuiltPack, Omission};
use crate::events::packs::Item;
use crate::log::{EventScope, Position};
use crate::store::{Error, Rows};
use crate::trust;

/// Takes the suspicious pieces of a pack out of its inputs, and lists them. Returns whether there were any: then the pack
/// is to be built again.
///
/// # Errors
/// When a row cannot be read.
pub fn leave_out(
    rows: &dyn Rows,
    inputs: &mut PackInputs,
    built: &BuiltPack,
    left_out: &mut Vec<Omission>,
) -> Result<bool, Error> {
    let included: BTreeSet<&Source> = built
        .sections
        .iter()
        .flat_map(|section| &section.sources)
        .collect();
    let before = left_out.len();
    let mut failed = None;
    let mut stays = |source: &Source, text: &str, origin: Origin| {
        let is_left_out = included.contains(source)
            && trust::is_left_out(rows, (scope(source), source.position), text, origin)
                .unwrap_or_else(|error| {
                    failed = Some(error);
                    true
                });
        if is_left_out {
            left_out.push(Omission::of(source, Part::Whole, WhyLeftOut::Suspect));
        }
        !is_left_out
    };
    inputs
        .history
        .retain(|one| stays(&one.source, &one.text, origin(one)));
    inputs
        .passages
        .retain(|one| stays(&one.source, &one.text, Origin::Document));
    inputs
        .values
        .retain(|one| stays(&one.source, &one.json, Origin::Tool));
    inputs.entities.retain(|one| {
        let details = one.details.as_deref().unwrap_or_default();
        stays(
            &one.source,
            &format!("{} {details}", one.name),
            Origin::Tool,
        )
    });
    if let Some((source, topic)) = &inputs.topic
        && !stays(source, topic, Origin::Agent)
    {
        inputs.topic = None;
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(left_out.len() > before),
    }
}

/// Takes undone pieces out of a pack's inputs. They are many at once, so that this comes before the pack is built.
///
/// # Errors
/// When a row cannot be read.
pub fn leave_out_undone(rows: &dyn Rows, inputs: &mut PackInputs) -> Result<(), Error> {
    if trust::last_judgement(rows)? == Position(0) {
        return Ok(());
    }
    let mut failed = None;
    let mut stays = |source: &Source| {
        let undone = trust::is_undone(rows, scope(source), source.position);
        !undone.unwrap_or_else(|error| {
            failed = Some(error);
            true
        })
    };
    inputs.history.retain(|one| stays(&one.source));
    inputs.passages.retain(|one| stays(&one.source));
    inputs.values.retain(|one| stays(&one.source));
    inputs.entities.retain(|one| stays(&one.source));
    inputs.topic = inputs.topic.take().filter(|(source, _)| stays(source));
    failed.map_or(Ok(()), Err)
}

/// Takes out of a pack's inputs what others said than these; entities are known from many texts and go, too. Without
/// origins everything stays.
pub fn keep_origins(inputs: &mut PackInputs, origins: &[Origin]) {
    if origins.is_empty() {
        return;
    }
    inputs.history.retain(|one| origins.contains(&origin(one)));
    if !origins.contains(&Origin::Document) {
        inputs.passages.clear();
    }
    if !origins.contains(&Origin::Tool) {
        inputs.values.clear();
    }
    if !origins.contains(&Origin::Agent) {
        inputs.topic = None;
    }
    inputs.entities.clear();
}

fn scope(source: &Source) -> EventScope<'_> {
    match (&source.session, &source.item) {
        (Some(session), _) => EventScope::Session(session),
        (None, Item::ContextFile(file)) => EventScope::Project(&file.project),
        (None, _) => EventScope::Global,
    }
}

fn origin(piece: &PackMessage) -> Origin {
    match (&piece.source.item, piece.who.as_str()) {
        (Item::Message(_), "user") => Origin::User,
        (Item::Message(_), "tool") | (Item::Step { .. } | Item::Tool(_), _) => Origin::Tool,
        _ => Origin::Agent,
    }
}
