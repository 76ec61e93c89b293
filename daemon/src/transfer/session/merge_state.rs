//! How a session that is imported stands to the one of its id that is there: what is there already is
//! recognised by what it says, so that a file that has grown since is gone on from.
//!
//! Programs that write their files anew put what is new where it belongs: a memory server its entities before
//! all relations. So what is new need not stand at the end of the lines; but it may not be older than what is
//! there, since it is recorded behind it. And a relation to a name whose kind was not known is the same relation
//! once a line tells the kind.

use std::collections::{HashMap, VecDeque};

use lore::protocol::RawObject;
use lored_recognise::{UNKNOWN_KIND, canonical_key};

use super::export::ExportedEvent;
use super::lines::Payload;
use super::payloads::{Entity, Related};
use super::read::{ImportedEvent, ParsedSession};
use super::write::Export;
use crate::canonical::Canonical;
use crate::clock::{Micros, format_time};
use crate::error::{Code, Refusal};
use crate::log::{EventKind, Hash, ImportOrigin, Position};
use crate::sessions;

/// How it stands.
#[derive(Debug, PartialEq, Eq)]
pub enum MergeState {
    /// There is none of its id.
    Absent,
    /// All that it says is there.
    There,
    /// All that is there it says, too, and more: of each of its events whether it is there.
    Grown(Vec<bool>),
    /// It says something else: the number of the event where it does, and what is there instead.
    Differs(u64, String),
}

/// Compares a session with the one of its id, which is there.
///
/// # Errors
/// When what is there cannot be read.
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
    while let Some(event) = events.next()? {
        if let ExportedEvent::Line(payload) = export.shelf.export(&event)? {
            comparing.is_there(&origin(&event.header), &payload)?;
        }
    }
    Ok(comparing.end(&imported.events))
}

/// Places of events in the lines, by what the events say.
type EventIndex = HashMap<Hash, VecDeque<usize>>;

/// The lines on one side, while the events on the other pass by.
struct LineComparison {
    /// The events of the lines that were not met yet, by what they say.
    wanted: EventIndex,
    /// Relations of the lines, by what they say where the kinds of entities are not known.
    blurred: EventIndex,
    /// Of each event of the lines whether it is there.
    is_there: Vec<bool>,
    /// Relations that passed by, name an entity of no known kind, and were not met: number, and what they say.
    unknown: Vec<(u64, Hash)>,
    /// Events that passed by.
    passed: u64,
    /// When the newest of these happened.
    newest: Micros,
    /// The first one that no line says: its number and its kind.
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

    /// An event of the session that is there.
    fn is_there(&mut self, origin: &ImportOrigin, payload: &Payload) -> Result<(), Refusal> {
        self.passed += 1;
        let what = content_hash(origin, payload, None)?;
        let met = self.wanted.get_mut(&what).and_then(VecDeque::pop_front);
        match met.and_then(|index| self.is_there.get_mut(index)) {
            Some(is_there) => *is_there = true,
            // They are found here in what the lines brought, sooner or later.
            None if payload.kind() == EventKind::EntitiesFound => return Ok(()),
            // Others may say exactly what the lines do.
            None if is_unknown(payload) => self.unknown.push((self.passed, what)),
            None => {
                self.other.get_or_insert((self.passed, payload.kind()));
            }
        }
        self.newest = self.newest.max(origin.at);
        Ok(())
    }

    /// Lets relations of names whose kind was not known meet those lines that tell it, of what is left of them.
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
        // Behind all that is there, anything may stand: that is how a session goes on.
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

/// A relation as it would be told if the kind of one entity, of the other, or of both were not known; none of
/// anything else.
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

/// Whether it relates an entity of no known kind.
fn is_unknown(payload: &Payload) -> bool {
    matches!(payload, Payload::EntitiesRelated(related)
        if [&related.from, &related.to].iter().any(|entity| entity.kind == UNKNOWN_KIND))
}

/// What an event says, without what a line may leave out.
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
        // Its hash stands for it.
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
