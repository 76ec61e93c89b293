//! Compares an imported session with the existing session of its id. Existing events are recognised by content, so
//! a file that has grown is appended to.
//!
//! Programs that rewrite their files put new data where it belongs: a memory server writes entities before
//! all relations. So new events need not be at the end of the lines. But they may not be older than the existing
//! ones, because they are recorded after them. A relation to an entity of unknown kind equals the same relation
//! with the kind known.

use std::collections::{HashMap, VecDeque};

use lore::protocol::RawObject;
use lored_recognise::{UNKNOWN_KIND, canonical_key};

use super::export::ExportedEvent;
use super::kinds::{Entity, Payload, Related};
use super::read::{ImportedEvent, ParsedSession};
use super::write::Export;
use crate::canonical::Canonical;
use crate::clock::{Micros, format_time};
use crate::error::{Code, Refusal};
use crate::log::{EventKind, Hash, ImportOrigin, Position};
use crate::sessions;

/// Result of the comparison.
#[derive(Debug, PartialEq, Eq)]
pub enum MergeState {
    /// The session does not exist.
    Absent,
    /// All imported events exist.
    There,
    /// The import contains all existing events and new ones; for each event whether it exists.
    Grown(Vec<bool>),
    /// The sessions differ: the number of the first different event, and the content here.
    Differs(u64, String),
}

/// Compares an imported session with the existing session of its id.
pub fn standing(export: &Export<'_>, imported: &ParsedSession) -> Result<MergeState, Refusal> {
    let project = sessions::get(export.shelf.rows, export.session)?.and_then(|row| row.project);
    if project != imported.header.project {
        let named = |project: Option<&String>| {
            project.map_or_else(
                || "no project".to_owned(),
                |one| format!("the project `{one}`"),
            )
        };
        let (here, reported) = (
            named(project.as_ref()),
            named(imported.header.project.as_ref()),
        );
        return Ok(MergeState::Differs(
            0,
            format!("it is of {here} here, and of {reported} there"),
        ));
    }
    let mut comparing = LineComparison::of(imported)?;
    let (header, created) = export.beginning()?;
    let created = Payload::SessionCreated(Box::new(created));
    let origin = |header: &crate::log::Header| ImportOrigin {
        at: header.happened_at(),
        agent: header.author().to_owned(),
    };
    comparing.is_there(&origin(&header), &created)?;
    let mut events = export.events(Position(0));
    while let Some((_, event)) = events.next()? {
        // What cannot be read cannot be compared.
        let event = event?;
        if let ExportedEvent::Line(payload) = export.shelf.convert(&event)? {
            comparing.is_there(&origin(&event.header), &payload)?;
        }
    }
    Ok(comparing.end(&imported.events))
}

/// Indexes of imported events by content hash.
type EventIndex = HashMap<Hash, VecDeque<usize>>;

/// The imported events, compared with the existing events one by one.
struct LineComparison {
    /// Unmatched imported events, by content.
    wanted: EventIndex,
    /// Imported relations, by their content with unknown entity kinds.
    blurred: EventIndex,
    /// For each imported event whether it exists.
    is_there: Vec<bool>,
    /// Existing, unmatched relations with an entity of unknown kind: number and content hash.
    unknown: Vec<(u64, Hash)>,
    /// Number of existing events compared.
    passed: u64,
    /// Time of the newest existing event.
    newest: Micros,
    /// The first existing event that is not imported: its number and kind.
    other: Option<(u64, EventKind)>,
}

impl LineComparison {
    fn of(imported: &ParsedSession) -> Result<Self, Refusal> {
        let (mut wanted, mut blurred) = (EventIndex::new(), EventIndex::new());
        for (index, event) in imported.events.iter().enumerate() {
            let what = content_hash(&event.origin, &event.payload, event.context.as_ref())?;
            wanted.entry(what).or_default().push_back(index);
            for related in less_known(&event.payload) {
                let what = content_hash(&event.origin, &related, None)?;
                blurred.entry(what).or_default().push_back(index);
            }
        }
        Ok(Self {
            wanted,
            blurred,
            is_there: vec![false; imported.events.len()],
            unknown: Vec::new(),
            passed: 0,
            newest: 0,
            other: None,
        })
    }

    /// Matches an existing event with an imported one.
    fn is_there(&mut self, origin: &ImportOrigin, payload: &Payload) -> Result<(), Refusal> {
        self.passed += 1;
        let what = content_hash(origin, payload, None)?;
        let met = self.wanted.get_mut(&what).and_then(VecDeque::pop_front);
        match met.and_then(|index| self.is_there.get_mut(index)) {
            Some(is_there) => *is_there = true,
            // Extraction will find the same entities in the imported texts.
            None if matches!(
                payload.kind(),
                EventKind::EntitiesFound | EventKind::EntitiesMerged
            ) =>
            {
                return Ok(());
            }
            // Deferred, because an exact match with a later event has priority.
            None if is_unknown(payload) => self.unknown.push((self.passed, what)),
            None => {
                self.other.get_or_insert((self.passed, payload.kind()));
            }
        }
        self.newest = self.newest.max(origin.at);
        Ok(())
    }

    /// Matches existing relations of unknown kind with the remaining imported relations.
    fn meet_unknown(&mut self) {
        for (passed, what) in std::mem::take(&mut self.unknown) {
            let lines = self.blurred.entry(what).or_default();
            let mut is_met = false;
            while !is_met && let Some(index) = lines.pop_front() {
                let is_there = self.is_there.get_mut(index);
                is_met = is_there.is_some_and(|is_there| !std::mem::replace(is_there, true));
            }
            if !is_met {
                let other = (passed, EventKind::EntitiesRelated);
                self.other = Some(self.other.map_or(other, |known| known.min(other)));
            }
        }
    }

    fn end(mut self, events: &[ImportedEvent]) -> MergeState {
        self.meet_unknown();
        let is_new = |(_, is_there): &(usize, &bool)| !**is_there;
        let Some((first, _)) = self.is_there.iter().enumerate().find(is_new) else {
            return MergeState::There;
        };
        let number = |index: usize| index as u64 + 1;
        if let Some((passed, kind)) = self.other {
            let what = format!("event {passed} here, a {kind}, is not in the lines");
            return MergeState::Differs(number(first), what);
        }
        // After the last existing event, any new event is allowed: the session continues there.
        let end = self.is_there.iter().rposition(|is_there| *is_there);
        let end = end.map_or(0, |last| last + 1);
        let between = self.is_there.iter().zip(events).take(end);
        let older = between
            .enumerate()
            .find(|(_, (is_there, event))| !**is_there && event.origin.at < self.newest);
        match older {
            Some((index, (_, event))) => {
                let what = format!(
                    "it is of {} and not here, where there are newer ones up to {}",
                    format_time(event.origin.at),
                    format_time(self.newest)
                );
                MergeState::Differs(number(index), what)
            }
            None => MergeState::Grown(self.is_there),
        }
    }
}

/// Returns a relation's variants with the kind of one or both entities unknown; empty for other events.
fn less_known(payload: &Payload) -> Vec<Payload> {
    let Payload::EntitiesRelated(related) = payload else {
        return Vec::new();
    };
    let blurred = |entity: &Entity| Entity {
        kind: UNKNOWN_KIND.to_owned(),
        key: canonical_key(UNKNOWN_KIND, &entity.name),
        name: entity.name.clone(),
    };
    let (from, to) = (blurred(&related.from), blurred(&related.to));
    let ends = [
        (from.clone(), related.to.clone()),
        (related.from.clone(), to.clone()),
        (from, to),
    ];
    let reported = ends.into_iter().map(|(from, to)| {
        let relation = related.relation.clone();
        Box::new(Related { from, relation, to })
    });
    let others = reported.filter(|reported| reported != related);
    others.map(Payload::EntitiesRelated).collect()
}

/// Whether it relates an entity of unknown kind.
fn is_unknown(payload: &Payload) -> bool {
    matches!(payload, Payload::EntitiesRelated(related)
        if [&related.from, &related.to].iter().any(|entity| entity.kind == UNKNOWN_KIND))
}

/// Hashes an event's content, without the fields that a line may omit.
fn content_hash(
    origin: &ImportOrigin,
    payload: &Payload,
    context: Option<&Canonical>,
) -> Result<Hash, Refusal> {
    let bare = if let Payload::MessageRecorded(message) = payload {
        let mut message = message.clone();
        message.tokens = None;
        Some(Payload::MessageRecorded(message))
    } else if let Payload::CheckpointSaved(checkpoint) = payload {
        let mut checkpoint = checkpoint.clone();
        let hash = context.map(|context| Hash::of(context.text.as_bytes()).to_string());
        checkpoint.hash = hash.or(checkpoint.hash);
        // Its hash represents it.
        checkpoint.context = RawObject::default();
        checkpoint.checkpoint.make_ascii_lowercase();
        checkpoint.forked_from = checkpoint.forked_from.map(|id| id.to_ascii_lowercase());
        Some(Payload::CheckpointSaved(checkpoint))
    } else {
        None
    };
    let payload = bare.as_ref().unwrap_or(payload);
    let text = serde_json::to_string(payload).map_err(|error| {
        Refusal::new(Code::Internal, format!("a line does not encode: {error}"))
    })?;
    let (at, agent) = (origin.at, &origin.agent);
    let whole = format!("{at}\n{agent:?}\n{}\n{text}", payload.kind());
    Ok(Hash::of(whole.as_bytes()))
}
