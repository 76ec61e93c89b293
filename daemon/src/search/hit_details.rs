//! Resolves keys of hits to their texts in the log and to their origin.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use lored_retrieval::text::{Kind, number_of, position_of};
use lored_suspicion::{Origin, is_suspicious};

use super::searchable_text::{Pieces, SearchableText, pieces};
use crate::budget;
use crate::checkpoints::{CheckpointEvent, Metadata};
use crate::clock::{Micros, format_time};
use crate::documents::operations::{chunk_index, content::modified};
use crate::documents::{self, Catalogue, DocumentEvent, Root};
use crate::error::Refusal;
use crate::events;
use crate::events::messages::ToolRecorded;
use crate::events::steps::{StepAssigned, StepRecorded};
use crate::events::trust::Judgement;
use crate::log::{LoggedEvent, Position};
use crate::messages::{self, MessageEvent, Sender};
use crate::operation::Context;
use crate::projects::FileVersion;
use crate::sessions;
use crate::state::State;
use crate::store::Error;
use crate::trust;

/// Maximum number of events whose texts are cached during a search.
const KEPT_MAX: usize = 128;

/// Reads the details of hits; each event is read once.
pub struct Reader<'r> {
    cx: &'r Context,
    state: &'r State,
    catalogue: &'r Catalogue,
    kept: RefCell<HashMap<u64, Option<Rc<Read>>>>,
    sources: RefCell<HashMap<String, Root>>,
}

/// A hit with its text and its origin.
#[derive(Clone, Debug)]
pub struct HitDetails {
    /// The kind of the text.
    pub kind: Kind,
    /// Its id: of a document with the chunk's number, of a message, or of a step.
    pub id: String,
    /// The document's id.
    pub document: Option<String>,
    /// The document's context, otherwise the session or project.
    pub context_id: String,
    /// The display name of `context_id`.
    pub context_name: String,
    /// The document's category.
    pub category: Option<String>,
    /// The document's file name.
    pub file_name: Option<String>,
    /// The document's file type.
    pub file_type: Option<String>,
    /// The document's path.
    pub file_path: Option<String>,
    /// The document's title, or a description of another text.
    pub title: String,
    /// The document's tags.
    pub tags: Vec<String>,
    /// The chunk's name.
    pub chunk_index: Option<String>,
    /// The chunk's number in its document, or the piece's number in its event.
    pub chunk: u32,
    /// The headings above the text.
    pub headings: Vec<String>,
    /// The session of the text.
    pub session: Option<String>,
    /// The step's number.
    pub step: Option<u64>,
    /// The author.
    pub agent: Option<String>,
    /// Whose words it is.
    pub origin: Origin,
    /// What a person says about it.
    pub judgement: Judgement,
    /// Time of the file's last change, or of the recording, formatted.
    pub modified: String,
    /// Whether the file has changed since it was ingested.
    pub changed: Option<bool>,
    /// Position of the event with the text.
    pub position: Position,
    /// Time of that event.
    pub time: Micros,
    /// The text.
    pub text: String,
}

impl HitDetails {
    /// Whether it is given to no model unless it is asked for: it gives orders to one, or a person has rejected it.
    #[must_use]
    pub fn is_suspect(&self) -> bool {
        match self.judgement {
            Judgement::Accepted => false,
            Judgement::Rejected => true,
            Judgement::Open => is_suspicious(&self.text, self.origin),
        }
    }
}

/// An event with its texts.
struct Read {
    event: LoggedEvent,
    pieces: Pieces,
}

/// A text with its event.
struct IndexedEvent {
    read: Rc<Read>,
    at: usize,
}

impl IndexedEvent {
    fn piece(&self) -> Option<&SearchableText> {
        self.read.pieces.all.get(self.at)
    }
}

impl<'r> Reader<'r> {
    /// Creates a reader of a state, with its documents.
    #[must_use]
    pub fn new(cx: &'r Context, state: &'r State, catalogue: &'r Catalogue) -> Self {
        Self {
            cx,
            state,
            catalogue,
            kept: RefCell::default(),
            sources: RefCell::default(),
        }
    }

    /// Returns the indexed form of a text, including its title; `None` if the text no longer exists.
    #[must_use]
    pub fn text(&self, key: u64) -> Option<String> {
        let unit = self.unit(key).ok()??;
        Some(unit.read.pieces.indexed(unit.piece()?))
    }

    /// Returns the details of a hit; `None` if the text no longer exists.
    pub fn described(&self, key: u64) -> Result<Option<HitDetails>, Refusal> {
        let Some(unit) = self.unit(key)? else {
            return Ok(None);
        };
        match unit.piece() {
            Some(piece) => self.describe(&unit, piece),
            None => Ok(None),
        }
    }

    /// Returns the details of every text of an event; none if it no longer exists.
    pub fn texts_of(&self, position: Position) -> Result<Vec<HitDetails>, Refusal> {
        let Some(read) = self.read(position)?.map(Rc::new) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for at in 0..read.pieces.all.len() {
            let unit = IndexedEvent {
                read: Rc::clone(&read),
                at,
            };
            if let Some(piece) = unit.piece()
                && let Some(details) = self.describe(&unit, piece)?
            {
                found.push(details);
            }
        }
        Ok(found)
    }

    fn unit(&self, key: u64) -> Result<Option<IndexedEvent>, Error> {
        let position = position_of(key);
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        let read = match kept.get(&position) {
            Some(read) => read.clone(),
            None => {
                let read = self.read(Position(position))?.map(Rc::new);
                kept.insert(position, read.clone());
                read
            }
        };
        Ok(read.map(|read| IndexedEvent {
            read,
            at: number_of(key),
        }))
    }

    fn read(&self, position: Position) -> Result<Option<Read>, Error> {
        let log = self.state.log();
        let Some(event) = log.at(position)? else {
            return Ok(None);
        };
        match budget::passing(|| pieces(&log, &self.cx.blobs, &event)) {
            Ok(Some(pieces)) => Ok(Some(Read { event, pieces })),
            Ok(None) => Ok(None),
            Err(error @ Error::Corrupt { .. }) => {
                tracing::warn!(%position, %error, "a damaged hit is omitted");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn describe(
        &self,
        unit: &IndexedEvent,
        piece: &SearchableText,
    ) -> Result<Option<HitDetails>, Refusal> {
        let event = &unit.read.event;
        let header = &event.header;
        if trust::is_undone(self.state, event.scope(), event.position())? {
            return Ok(None);
        }
        let mut result = HitDetails {
            id: String::new(),
            kind: unit.read.pieces.kind,
            document: None,
            context_id: String::new(),
            context_name: String::new(),
            category: None,
            file_name: None,
            file_type: None,
            file_path: None,
            title: unit.read.pieces.title.clone(),
            tags: Vec::new(),
            chunk_index: None,
            headings: piece.headings.clone(),
            session: None,
            step: None,
            agent: Some(header.author().to_owned()).filter(|agent| !agent.is_empty()),
            modified: format_time(header.happened_at()),
            changed: None,
            origin: match unit.read.pieces.kind {
                Kind::Document | Kind::Context => Origin::Document,
                Kind::Step => Origin::Tool,
                Kind::Message | Kind::Checkpoint => Origin::Agent,
            },
            judgement: trust::judgement(self.state, event.scope(), event.position())?,
            position: event.position(),
            chunk: piece.number,
            time: header.happened_at(),
            text: piece.text.clone(),
        };
        let is_there = match unit.read.pieces.kind {
            Kind::Document => self.describe_document(event, piece, &mut result)?,
            Kind::Message | Kind::Step | Kind::Checkpoint => {
                self.describe_talk(event, unit.at, &mut result)?
            }
            Kind::Context => self.describe_context(event, unit.at, &mut result)?,
        };
        Ok(is_there.then_some(result))
    }

    fn describe_document(
        &self,
        event: &LoggedEvent,
        piece: &SearchableText,
        result: &mut HitDetails,
    ) -> Result<bool, Refusal> {
        let document = match DocumentEvent::of(event)? {
            Some(DocumentEvent::Ingested(taken)) => taken.document,
            Some(DocumentEvent::PartAdded(continued)) => continued.document,
            _ => return Ok(false),
        };
        let Some(entry) = self.catalogue.get(&document) else {
            return Ok(false);
        };
        let position = event.position().0;
        if !entry.row.parts.iter().any(|part| part.position == position) {
            return Ok(false);
        }
        let taken = &entry.row.taken;
        // A judgement about a document names its first part.
        result.judgement = trust::judgement(self.state, event.scope(), entry.row.version())?;
        let root = self.root_of(&entry.row.source)?;
        let number = u64::from(piece.number);
        result.id = format!("{document}#{number}");
        result.document = Some(document);
        result.context_id.clone_from(&taken.context_id);
        result.context_name.clone_from(&taken.context_name);
        result.category.clone_from(&taken.category);
        result.file_name = Some(entry.row.file_name().to_owned());
        result.file_type = Some(taken.file_type.clone());
        result.title.clone_from(&taken.title);
        result.tags.clone_from(&taken.tags);
        result.chunk_index = Some(chunk_index(entry.row.file_name(), number));
        result.agent = None;
        result.modified = modified(&entry.row);
        result.changed = Some(root.is_changed(taken));
        let path = root.file_path(&taken.path);
        result.file_path = Some(path.to_string_lossy().into_owned());
        Ok(true)
    }

    fn root_of(&self, source: &str) -> Result<Root, Error> {
        let mut sources = self.sources.borrow_mut();
        if let Some(root) = sources.get(source) {
            return Ok(root.clone());
        }
        let row = documents::source(self.state, source)?;
        let root = row.map(|row| Root::of(&row.added)).unwrap_or_default();
        sources.insert(source.to_owned(), root.clone());
        Ok(root)
    }

    fn describe_talk(
        &self,
        event: &LoggedEvent,
        at: usize,
        result: &mut HitDetails,
    ) -> Result<bool, Refusal> {
        let Some(session) = &event.header.session else {
            return Ok(false);
        };
        if !sessions::exists(self.state, session)? {
            return Ok(false);
        }
        let title = sessions::details(self.state, session)?.title;
        result.context_id.clone_from(session);
        result.context_name = title.unwrap_or_else(|| session.clone());
        result.session = Some(session.clone());
        let piece = |id: String| match at {
            0 => id,
            at => format!("{id}#{at}"),
        };
        match result.kind {
            Kind::Message => {
                let Some(MessageEvent::Message(said)) = MessageEvent::of(event)? else {
                    return Ok(false);
                };
                result.id = piece(said.id);
                result.title = sender(said.sender).to_owned();
                result.origin = messages::origin(said.sender);
            }
            Kind::Step => match MessageEvent::of(event)? {
                Some(MessageEvent::ToolCall(call)) => {
                    result.id = piece(call.id);
                    result.title = events::body::<ToolRecorded>(event)?.tool;
                }
                Some(MessageEvent::Message(_)) | None => {
                    let (numbered, body): (StepAssigned, StepRecorded) = events::both(event)?;
                    result.id = piece(format!("{session}/steps/{}", numbered.step));
                    result.step = Some(u64::from(numbered.step));
                    result.title = body.tool;
                }
            },
            Kind::Checkpoint => {
                let Some(CheckpointEvent::Saved(saved)) = CheckpointEvent::of(event)? else {
                    return Ok(false);
                };
                result.id = piece(saved.checkpoint.to_string());
                let name = Metadata::of_event(event)?.name;
                result.title = name.unwrap_or_else(|| result.id.clone());
            }
            Kind::Document | Kind::Context => return Ok(false),
        }
        Ok(true)
    }

    fn describe_context(
        &self,
        event: &LoggedEvent,
        at: usize,
        result: &mut HitDetails,
    ) -> Result<bool, Refusal> {
        let Some(FileVersion {
            project, file_type, ..
        }) = FileVersion::made_by(event)?
        else {
            return Ok(false);
        };
        let newest = crate::projects::file(self.state, &project, &file_type)?;
        if newest.is_none_or(|row| row.position != event.position().0) {
            return Ok(false);
        }
        let name = crate::projects::name_of(self.state, &project)?;
        result.id = format!("{project}/{file_type}#{at}");
        result.context_name = name.unwrap_or_else(|| project.clone());
        result.context_id = project;
        result.file_name = Some(format!("{file_type}.md"));
        result.file_type = Some("md".to_owned());
        result.chunk_index = Some(chunk_index(&format!("{file_type}.md"), at as u64));
        result.title = file_type;
        Ok(true)
    }
}

/// Returns the display name of a sender.
fn sender(sender: Sender) -> &'static str {
    match sender {
        Sender::User => "user",
        Sender::Assistant => "assistant",
        Sender::System => "system",
        Sender::Tool => "tool",
    }
}
