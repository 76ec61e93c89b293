//! Leaves out of a pack what gives orders to a model, claims an identity or rewrites facts.

use std::collections::BTreeSet;

use lore::protocol::names::{Part, WhyLeftOut};
use lored_suspicion::{Origin, is_suspicious};

use super::inputs::{PackInputs, PackMessage, Source};
use super::pack::{BuiltPack, Omission};
use crate::events::packs::Item;

/// Takes the suspicious pieces of a pack out of its inputs, and lists them. Returns whether there were any: then the pack
/// is to be built again.
pub fn leave_out(inputs: &mut PackInputs, built: &BuiltPack, left_out: &mut Vec<Omission>) -> bool {
    let included: BTreeSet<&Source> = built
        .sections
        .iter()
        .flat_map(|section| &section.sources)
        .collect();
    let before = left_out.len();
    let mut stays = |source: &Source, text: &str, origin: Origin| {
        if !included.contains(source) || !is_suspicious(text, origin) {
            return true;
        }
        left_out.push(Omission::of(source, Part::Whole, WhyLeftOut::Suspect));
        false
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
    if let Some((source, topic)) = &inputs.topic
        && !stays(source, topic, Origin::Agent)
    {
        inputs.topic = None;
    }
    left_out.len() > before
}

fn origin(piece: &PackMessage) -> Origin {
    match (&piece.source.item, piece.who.as_str()) {
        (Item::Message(_), "user") => Origin::User,
        (Item::Message(_), "tool") | (Item::Step { .. } | Item::Tool(_), _) => Origin::Tool,
        _ => Origin::Agent,
    }
}
