//! Packs that were made across the sessions of a project, or of documents, and rest on what goes: they name
//! its entities and hold hashes of its sentences, so they go with it.

use std::collections::BTreeMap;

use super::forget_command::EVENTS_MAX;
use super::select::{Selection, StreamPart, Text, called};
use crate::engine::EventLookup;
use crate::error::Refusal;
use crate::log::{Log, Position, StreamName};
use crate::packs::{self, Item, PackDependency};
use crate::store::Rows;

/// What goes, and packs may rest on.
#[derive(Debug, Default)]
pub struct ForgottenContent<'g> {
    /// Sessions, each with the position since which a pack may hold something of it that goes.
    sessions: BTreeMap<&'g str, Position>,
    /// Texts of documents.
    texts: BTreeMap<&'g str, Vec<&'g Text>>,
}

impl<'g> ForgottenContent<'g> {
    /// A whole session.
    #[must_use]
    pub fn session(session: &'g str) -> Self {
        Self {
            sessions: BTreeMap::from([(session, Position(0))]),
            texts: BTreeMap::new(),
        }
    }

    /// All that was selected.
    #[must_use]
    pub fn of(selected: &'g Selection) -> Self {
        let mut going = Self::default();
        for part in &selected.parts {
            if let (StreamName::Session(session), Some(first)) =
                (&part.stream, part.positions.first())
            {
                going.sessions.insert(session, *first);
            }
            for text in &part.texts {
                going.texts.entry(&text.document).or_default().push(text);
            }
        }
        let whole = selected.sessions.iter();
        going
            .sessions
            .extend(whole.map(|(session, _)| (session.as_str(), Position(0))));
        going
    }

    /// Whether a pack that was made at a position rests on something that goes.
    fn has(&self, one: &PackDependency, made: Position) -> bool {
        if let Item::Document { document, .. } = &one.item {
            let texts = self.texts.get(document.as_str());
            return texts.is_some_and(|texts| {
                let mut texts = texts.iter();
                texts.any(|text| text.since < made && made < text.until)
            });
        }
        let session = one.session.as_deref().filter(|_| one.item.is_of_session());
        let since = session.and_then(|session| self.sessions.get(session));
        since.is_some_and(|since| *since < made)
    }

    /// The packs after a position that rest on it.
    ///
    /// # Errors
    /// `CORRUPT` when something cannot be read.
    pub fn packs(
        &self,
        rows: &dyn Rows,
        event_lookup: &dyn EventLookup,
        after: Position,
    ) -> Result<DependentPacks, Refusal> {
        let mut resting = DependentPacks::default();
        if self.sessions.is_empty() && self.texts.is_empty() {
            return Ok(resting);
        }
        let mut is_resting = |one: &PackDependency, made| self.has(one, made);
        for (record, position) in packs::resting_on(rows, after, &mut is_resting)? {
            let event = event_lookup.event(record, position)?;
            let held = event.payload.as_ref().map_or(0, |payload| payload.bytes());
            let stream = StreamName::of(event.scope());
            resting
                .packs
                .entry(stream)
                .or_default()
                .push((position, held));
        }
        // Whoever is forgotten does not wait for a stream that nobody can fold again.
        let log = Log::new(rows);
        let streams: Vec<StreamName> = resting.packs.keys().cloned().collect();
        for stream in streams {
            let end = Position(u64::MAX - 1);
            let events = log.stream(stream.scope(), Position(0), end, EVENTS_MAX + 1)?;
            if events.len() > EVENTS_MAX
                && let Some(packs) = resting.packs.remove(&stream)
            {
                resting.kept.push(format!(
                    "{} context packs that rest on it are in a stream of more than {EVENTS_MAX} events: {}",
                    packs.len(),
                    called(&stream)
                ));
            }
        }
        Ok(resting)
    }
}

/// Packs that rest on what goes.
#[derive(Debug, Default)]
pub struct DependentPacks {
    /// By the streams that they are in: where each is, and what it holds in bytes.
    packs: BTreeMap<StreamName, Vec<(Position, u64)>>,
    /// What stays of them, and why.
    pub kept: Vec<String>,
}

impl DependentPacks {
    /// Adds them to the parts that go; how many of them are new there, and what those hold.
    pub fn add_to(self, parts: &mut Vec<StreamPart>) -> (u64, u64) {
        let (mut events, mut bytes) = (0, 0);
        for (stream, packs) in self.packs {
            let at = parts.iter().position(|part| part.stream == stream);
            let at = at.unwrap_or_else(|| {
                parts.push(StreamPart::of(stream));
                parts.len() - 1
            });
            let Some(part) = parts.get_mut(at) else {
                continue;
            };
            for (position, held) in packs {
                if let Err(place) = part.positions.binary_search(&position) {
                    part.positions.insert(place, position);
                    part.bytes += held;
                    events += 1;
                    bytes += held;
                }
            }
        }
        (events, bytes)
    }
}
