//! How a session that is imported stands to the one of its id that is there: what is there already is
//! recognised by what it says, so that a file that has grown since is gone on from.
//!
//! Programs that write their files anew put what is new where it belongs: a memory server its entities before
//! all relations. So what is new need not stand at the end of the lines; but it may not be older than what is
//! there, since it is recorded behind it.

use std::collections::{HashMap, VecDeque};

use lore::protocol::RawObject;

use super::lines::Payload;
use super::read::{Event, Imported};
use super::tell::Told;
use super::write::Export;
use crate::canonical::Canonical;
use crate::clock::{Micros, format_time};
use crate::entities::EntitiesFound;
use crate::error::{Code, Refusal};
use crate::log::{Hash, Origin, Position};
use crate::sessions;

/// How it stands.
#[derive(Debug, PartialEq, Eq)]
pub enum Standing {
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
pub fn standing(export: &Export<'_>, imported: &Imported) -> Result<Standing, Refusal> {
    let project = sessions::get(export.shelf.rows, export.session)?.and_then(|row| row.project);
    if project != imported.header.project {
        let named = |project: Option<&String>| {
            project.map_or_else(
                || "no project".to_owned(),
                |one| format!("the project `{one}`"),
            )
        };
        let (here, told) = (
            named(project.as_ref()),
            named(imported.header.project.as_ref()),
        );
        return Ok(Standing::Differs(
            0,
            format!("it is of {here} here, and of {told} there"),
        ));
    }
    let mut comparing = Comparing::of(imported)?;
    let (header, created) = export.beginning()?;
    let created = Payload::SessionCreated(Box::new(created));
    let origin = |header: &crate::log::Header| Origin {
        at: header.happened_at(),
        agent: header.author().to_owned(),
    };
    comparing.is_there(&origin(&header), &created)?;
    let mut events = export.events(Position(0));
    while let Some(event) = events.next()? {
        if let Told::Line(payload) = export.shelf.tell(&event)? {
            comparing.is_there(&origin(&event.header), &payload)?;
        }
    }
    Ok(comparing.end(&imported.events))
}

/// The lines on one side, while the events on the other pass by.
struct Comparing {
    /// The events of the lines that were not met yet, by what they say.
    wanted: HashMap<Hash, VecDeque<usize>>,
    /// Of each event of the lines whether it is there.
    is_there: Vec<bool>,
    /// Events that passed by.
    passed: u64,
    /// When the newest of these happened.
    newest: Micros,
    /// The first one that no line says: its number and its kind.
    other: Option<(u64, &'static str)>,
}

impl Comparing {
    fn of(imported: &Imported) -> Result<Self, Refusal> {
        let mut wanted: HashMap<Hash, VecDeque<usize>> = HashMap::new();
        for (index, event) in imported.events.iter().enumerate() {
            let what = said(&event.origin, &event.payload, event.context.as_ref())?;
            wanted.entry(what).or_default().push_back(index);
        }
        Ok(Self {
            wanted,
            is_there: vec![false; imported.events.len()],
            passed: 0,
            newest: 0,
            other: None,
        })
    }

    /// An event of the session that is there.
    fn is_there(&mut self, origin: &Origin, payload: &Payload) -> Result<(), Refusal> {
        self.passed += 1;
        let what = said(origin, payload, None)?;
        let met = self.wanted.get_mut(&what).and_then(VecDeque::pop_front);
        match met.and_then(|index| self.is_there.get_mut(index)) {
            Some(is_there) => *is_there = true,
            // They are found here in what the lines brought, sooner or later.
            None if payload.kind() == EntitiesFound::KIND => return Ok(()),
            None => {
                self.other.get_or_insert((self.passed, payload.kind()));
            }
        }
        self.newest = self.newest.max(origin.at);
        Ok(())
    }

    fn end(self, events: &[Event]) -> Standing {
        let is_new = |(_, is_there): &(usize, &bool)| !**is_there;
        let Some((first, _)) = self.is_there.iter().enumerate().find(is_new) else {
            return Standing::There;
        };
        let number = |index: usize| index as u64 + 1;
        if let Some((passed, kind)) = self.other {
            let what = format!("event {passed} here, a {kind}, is not in the lines");
            return Standing::Differs(number(first), what);
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
                Standing::Differs(number(index), what)
            }
            None => Standing::Grown(self.is_there),
        }
    }
}

/// What an event says, without what a line may leave out.
fn said(origin: &Origin, payload: &Payload, context: Option<&Canonical>) -> Result<Hash, Refusal> {
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
