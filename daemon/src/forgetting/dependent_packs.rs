//! Packs that depend on forgotten content, and were built across the sessions of a project or from documents. They
//! name its entities and hold hashes of its sentences, so they are forgotten with it.

use std::collections::BTreeMap;

use super::forget_command::EVENTS_MAX;
use super::select::{Selection, StreamPart, Text, called};
use crate::engine::EventLookup;
use crate::error::Refusal;
use crate::log::{Log, Position, StreamName};
use crate::packs::texts::{self, PackText};
use crate::packs::{self, Item, PackDependency};
use crate::store::{Error, Rows};

/// Forgotten content that packs may depend on.
#[derive(Debug, Default)]
pub struct ForgottenContent<'g> {
    /// Sessions, each with the first position from which a pack may contain forgotten content.
    sessions: BTreeMap<&'g str, Position>,
    /// Document texts.
    texts: BTreeMap<&'g str, Vec<&'g Text>>,
    /// The first position from which a text may have forgotten content that belongs to no session.
    others: Option<Position>,
}

impl<'g> ForgottenContent<'g> {
    /// Creates the content of a whole session.
    #[must_use]
    pub fn session(session: &'g str) -> Self {
        Self {
            sessions: BTreeMap::from([(session, Position(0))]),
            texts: BTreeMap::new(),
            others: None,
        }
    }

    /// Creates the content of a selection.
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
            if !matches!(part.stream, StreamName::Session(_)) {
                let first = part.positions.first().copied().unwrap_or(Position(0));
                let known = going.others.unwrap_or(first);
                going.others = Some(known.min(first));
            }
        }
        let whole = selected.sessions.iter();
        going
            .sessions
            .extend(whole.map(|(session, _)| (session.as_str(), Position(0))));
        going
    }

    /// Returns whether a pack that was built at a position depends on forgotten content.
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

    /// Returns the packs whose texts may have forgotten content: those of these sessions or with something of them, and for other
    /// content all that might have any of that kind. A text is a copy, so it is better to remove one too many.
    pub fn texts(&self, rows: &dyn Rows) -> Result<Vec<Position>, Error> {
        texts::find(rows, &|text: &PackText, made: Position| {
            let mut sessions = text.sessions.iter();
            let has_session = sessions.any(|session| {
                let since = self.sessions.get(session.as_str());
                since.is_some_and(|since| *since < made)
            });
            has_session || (text.has_others && self.others.is_some_and(|since| since < made))
        })
    }

    /// Finds the dependent packs after a position.
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
        // Forgetting must not be blocked by a stream that cannot be folded again.
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

/// Packs that depend on forgotten content.
#[derive(Debug, Default)]
pub struct DependentPacks {
    /// Position and size in bytes of each pack, by stream.
    packs: BTreeMap<StreamName, Vec<(Position, u64)>>,
    /// Dependent packs that stay, with reasons.
    pub kept: Vec<String>,
}

impl DependentPacks {
    /// Adds the packs to the parts to forget; returns the number and bytes of newly added packs.
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
