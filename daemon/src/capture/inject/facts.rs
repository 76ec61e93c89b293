//! What was said in a project that lasts, with its versions.

use lore::protocol::names::FactState;
use lored_moments::{CUE_COUNTS, Freshness, Speaker, VersionState};

use super::knowledge::KnownItem;
use super::{Writer, project_named};
use crate::capture::memory::KnownSentence;
use crate::error::Refusal;
use crate::locks::lock_unpoisoned;
use crate::operation::Context;
use crate::projects::Coordination;
use crate::state::State;

/// What was said that lasts, with its versions.
pub struct FactEntry {
    /// The statement.
    pub known: KnownSentence,
    /// Its session.
    pub session: String,
    /// What became of it.
    pub state: FactState,
    /// Whether what it cites is as it was.
    pub freshness: Option<Freshness>,
    /// What it replaced, the last one last, each with its session.
    pub replaces: Vec<(KnownSentence, String)>,
    /// Statements of others that contradict it, while the dispute is open.
    pub disputed_with: Vec<(KnownSentence, String)>,
}

/// Returns what was said in a project that lasts, in the order in which it was said.
///
/// Reads the log; do not call it on the event loop.
///
/// # Errors
/// When a row or record cannot be read.
pub fn facts_of(
    cx: &Context,
    state: &State,
    project: Option<String>,
    folder: Option<&str>,
) -> Result<Vec<FactEntry>, Refusal> {
    let project = project_named(cx, state, project, String::new())?;
    let writer = Writer::new(cx, folder, Coordination::Off)?;
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    knowledge.catch_up(&project, None);
    let versions = &knowledge.versions;
    let others = |places: &[usize]| {
        let known = places
            .iter()
            .filter_map(|place| knowledge.known.get(*place));
        known
            .map(|one| (one.known.clone(), one.session.clone()))
            .collect::<Vec<_>>()
    };
    let is_fact = |one: &KnownItem| one.known.is_remembered || one.known.sentence.cue >= CUE_COUNTS;
    let known = knowledge.known.iter().enumerate();
    let facts = known.filter(|(_, one)| is_fact(one)).map(|(place, one)| {
        let disputed_with = others(versions.disputes(place));
        FactEntry {
            known: one.known.clone(),
            session: one.session.clone(),
            state: match versions.state(place) {
                VersionState::Current if disputed_with.is_empty() => FactState::Current,
                VersionState::Current => FactState::Disputed,
                VersionState::Repeated(_) => FactState::Repeated,
                VersionState::Replaced(_) => FactState::Replaced,
            },
            freshness: one.cited.freshness(&writer),
            replaces: others(versions.replaced_by(place)),
            disputed_with,
        }
    });
    Ok(facts.collect())
}

/// Returns what a statement replaces, and which ones of others it contradicts, each with its session.
///
/// Reads the log; do not call it on the event loop.
///
/// # Errors
/// When a row or record cannot be read.
pub fn effect_of(
    cx: &Context,
    state: &State,
    project: Option<String>,
    (text, speaker, author): (&str, Speaker, &str),
) -> Result<[Vec<(KnownSentence, String)>; 2], Refusal> {
    let project = project_named(cx, state, project, String::new())?;
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    knowledge.catch_up(&project, None);
    let effect = knowledge.effect(text, speaker, author);
    Ok([effect.replaces, effect.contradicts].map(|places| {
        let known = places
            .iter()
            .filter_map(|place| knowledge.known.get(*place));
        known
            .map(|one| (one.known.clone(), one.session.clone()))
            .collect()
    }))
}
