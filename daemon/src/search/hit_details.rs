//! Resolves keys of hits to their texts in the log and to their origin.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use lored_retrieval::text::{Kind, number_of, position_of};
use lored_suspicion::{Origin, is_suspicious};

use super::searchable_text::{Pieces, SearchableText, pieces};
use crate::budget;
use crate::cache::Key;
use crate::checkpoints::{CheckpointEvent, Metadata};
use crate::clock::{Micros, format_time};
use crate::documents::operations::{chunk_index, content::modified};
use crate::documents::{self, Catalogue, DocumentEvent, Root};
use crate::error::Refusal;
use crate::events::messages::ToolRecorded;
use crate::events::steps::{StepAssigned, StepRecorded};
use crate::events::trust::Judgement;
use crate::events::{self, KindDecoder as _};
use crate::log::{Hash, LoggedEvent, Position};
use crate::messages::{self, MessageEvent, MessageHead, Sender};
use crate::operation::Context;
use crate::projects::FileVersion;
use crate::sessions;
use crate::state::State;
use crate::store::Error;
use crate::trust;

/// Maximum number of events whose texts are cached during a search.
const KEPT_MAX: usize = 128;

/// Size of an event in the cache beside its texts, and of a text beside its bytes.
const EVENT_BYTES: usize = 1024;
const PIECE_BYTES: usize = 128;

/// Reads the details of hits; each event is read once.
pub struct Reader<'r> {
    cx: &'r Context,
    state: &'r State,
    catalogue: &'r Catalogue,
    kept: RefCell<HashMap<u64, Option<Arc<Read>>>>,
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
    /// The event with the text.
    read: Arc<Read>,
    /// Whether it gives orders to a model.
    is_suspicious: bool,
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
    /// Returns the event with the text. That of a document is without its body, which is the text.
    #[must_use]
    pub fn event(&self) -> &LoggedEvent {
        &self.read.event
    }

    /// Whether it is given to no model unless it is asked for: it gives orders to one, or a person has rejected it.
    #[must_use]
    pub fn is_suspect(&self) -> bool {
        match self.judgement {
            Judgement::Accepted => false,
            Judgement::Rejected => true,
            Judgement::Open => self.is_suspicious,
        }
    }
}

/// An event with its texts.
#[derive(Debug)]
struct Read {
    event: LoggedEvent,
    pieces: Pieces,
    /// Whether each text gives orders to a model, once it was looked at.
    suspicious: Vec<OnceLock<bool>>,
}

impl Read {
    fn new(mut event: LoggedEvent, pieces: Pieces) -> Self {
        // The pieces are the whole text of a document.
        if let (Kind::Document, Some(payload)) = (pieces.kind, &mut event.payload) {
            payload.body = Vec::new();
        }
        Self {
            suspicious: pieces.all.iter().map(|_| OnceLock::new()).collect(),
            event,
            pieces,
        }
    }

    fn is_suspicious(&self, at: usize, origin: Origin) -> bool {
        let text = self.pieces.all.get(at).map_or("", |piece| &piece.text);
        let known = self.suspicious.get(at);
        known.is_some_and(|known| *known.get_or_init(|| is_suspicious(text, origin)))
    }

    /// Returns its size in the cache, in bytes.
    fn bytes(&self) -> usize {
        let texts = self.pieces.all.iter();
        let texts: usize = texts.map(|piece| PIECE_BYTES + piece.text.len()).sum();
        let body = self.event.payload.as_ref();
        EVENT_BYTES + texts + body.map_or(0, |payload| payload.body.len() + payload.meta.len())
    }
}

/// Returns the key of an event with its texts in the cache.
fn cache_key(position: u64) -> Key {
    (
        Position(position),
        Hash(*b"the texts of an event for search"),
    )
}

/// A text with its event.
struct IndexedEvent {
    read: Arc<Read>,
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
        let Some(read) = self.read(position)? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for at in 0..read.pieces.all.len() {
            let unit = IndexedEvent {
                read: Arc::clone(&read),
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
                let read = self.read(Position(position))?;
                kept.insert(position, read.clone());
                read
            }
        };
        Ok(read.map(|read| IndexedEvent {
            read,
            at: number_of(key),
        }))
    }

    fn read(&self, position: Position) -> Result<Option<Arc<Read>>, Error> {
        let log = self.state.log();
        if let Some(read) = self.cx.cache.get::<Read>(&cache_key(position.0))
            && !sessions::is_forgotten(log.rows(), &read.event.header)?
        {
            return Ok(Some(read));
        }
        let Some(event) = log.at(position)? else {
            return Ok(None);
        };
        match budget::passing(|| pieces(&log, &self.cx.blobs, &event)) {
            Ok(Some(pieces)) => {
                let read = Arc::new(Read::new(event, pieces));
                // The text of a checkpoint comes from other events, too.
                if read.pieces.kind != Kind::Checkpoint {
                    let bytes = read.bytes();
                    let key = cache_key(position.0);
                    self.cx.cache.put(key, Arc::clone(&read), bytes);
                }
                Ok(Some(read))
            }
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
            read: Arc::clone(&unit.read),
            is_suspicious: false,
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
        if !is_there {
            return Ok(None);
        }
        result.is_suspicious = unit.read.is_suspicious(unit.at, result.origin);
        Ok(Some(result))
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
                if event.payload.is_none() || event.header.kind != MessageHead::KIND {
                    return Ok(false);
                }
                let said: MessageHead = events::meta(event)?;
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
