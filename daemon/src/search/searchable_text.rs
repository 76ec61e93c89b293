//! What can be found of an event: its searchable texts, the same each time they are asked for.
//!
//! They are made when an event is indexed, and made again when one of them is shown: so the index
//! holds no text, and what is quoted is what the log says.

use crate::checkpoints::{CheckpointEvent, CheckpointSaved, Metadata};
use crate::documents::{self, DocumentEvent};
use crate::events::documents::{DocumentIngested, PartAdded};
use crate::events::entities::EntityEvent;
use crate::events::forgetting::ForgettingEvent;
use crate::events::packs::PackEvent;
use crate::events::sessions::SessionEvent;
use crate::events::{Event, body};
use crate::log::LoggedEvent;
use crate::messages::{MessageEvent, MessageRecorded};
use crate::projects::{ContextWritten, ProjectEvent, VersionMeta};
use crate::steps::{StepEvent, StepRecorded, Text};
use crate::store::{Blobs, Error};
use lored_ingest::{Limits, Sizes};
use lored_retrieval::text::Kind;

/// Pieces of a message, a result or a context file that can be found, at most.
const PIECES_MAX: usize = 64;
/// How much of such a text is cut into pieces, in bytes.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// How much of a text stands beside those that follow it, in bytes.
const BESIDE_BYTES_MAX: usize = 2048;

/// A searchable text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchableText {
    /// Its number in what it belongs to: of a document's chunk that in the document.
    pub number: u32,
    /// The headings that it stands under.
    pub headings: Vec<String>,
    /// The text.
    pub text: String,
    /// Bytes at its beginning that are told again: the last sentence of the piece before. They are shown,
    /// but not found a second time.
    pub reported: usize,
}

impl SearchableText {
    /// What it says that the piece before does not.
    fn own(&self) -> &str {
        self.text.get(self.reported..).unwrap_or(&self.text)
    }
}

/// The texts of an event, and what they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// What they are.
    pub kind: Kind,
    /// What they go with: a document, a context file, a checkpoint, a session.
    pub group: u64,
    /// Their session's or source's hash; 0 when there is none.
    pub session: u64,
    /// The title that stands above all of them.
    pub title: String,
    /// The texts, in order.
    pub all: Vec<SearchableText>,
}

/// What a piece is found by, besides its own words.
impl Pieces {
    /// The text of a piece as it is indexed: with what stands above it.
    #[must_use]
    pub fn indexed(&self, piece: &SearchableText) -> String {
        let mut text = self.title.clone();
        for heading in piece.headings.iter().filter(|one| **one != self.title) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(heading);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(piece.own());
        text
    }

    /// The text of a piece as it is embedded: the title and the innermost heading as sentences before it.
    #[must_use]
    pub fn embedded(&self, piece: &SearchableText) -> String {
        let innermost = piece.headings.last().filter(|one| **one != self.title);
        let mut text = String::new();
        for above in std::iter::once(&self.title).chain(innermost) {
            if !above.is_empty() {
                text.push_str(above);
                text.push_str(". ");
            }
        }
        text.push_str(piece.own());
        text
    }

    /// The beginning of all of it, as it stands beside what follows it in its session.
    #[must_use]
    pub fn extra_text(&self) -> String {
        let mut text = String::new();
        for piece in &self.all {
            if text.len() >= BESIDE_BYTES_MAX {
                break;
            }
            text.push_str(&piece.text);
            text.push('\n');
        }
        text.truncate(text.floor_char_boundary(BESIDE_BYTES_MAX));
        text
    }
}

/// The hash that stands for what pieces go with.
#[must_use]
pub fn hash(kind: &str, parts: &[&str]) -> u64 {
    let mut bytes = kind.as_bytes().to_vec();
    for part in parts {
        bytes.push(0);
        bytes.extend(part.as_bytes());
    }
    let digest = crate::log::Hash::of(&bytes).0;
    let first = digest.first_chunk::<8>().copied().unwrap_or_default();
    // 0 stands for none.
    u64::from_be_bytes(first).max(1)
}

/// The group of a document.
#[must_use]
pub fn of_document(document: &str) -> u64 {
    hash("document", &[document])
}

/// The group of a context file.
#[must_use]
pub fn of_context(project: &str, file_type: &str) -> u64 {
    hash("context", &[project, file_type])
}

/// The hash of a source.
#[must_use]
pub fn of_source(source: &str) -> u64 {
    hash("source", &[source])
}

/// The hash of a session.
#[must_use]
pub fn of_session(session: &str) -> u64 {
    hash("session", &[session])
}

/// The group of a checkpoint.
#[must_use]
pub fn of_checkpoint(checkpoint: &str) -> u64 {
    hash("checkpoint", &[checkpoint])
}

/// Whether an event's kind is one that speaks in a session: a message or a step.
#[must_use]
pub fn is_talk(event: &LoggedEvent) -> bool {
    event.header.session.is_some() && event.header.kind.has(|policy| policy.is_talk)
}

/// The searchable texts of an event; `None` when it has none.
///
/// # Errors
/// [`Error`] when it does not decode, or a text cannot be read.
pub fn pieces(blobs: &Blobs, event: &LoggedEvent) -> Result<Option<Pieces>, Error> {
    let Some(meta) = Event::of(event)? else {
        return Ok(None);
    };
    match meta {
        Event::Step(StepEvent::Recorded(_)) => of_step(blobs, event),
        Event::Message(MessageEvent::Message(_)) => of_message(blobs, event),
        Event::Document(DocumentEvent::Ingested(meta)) => {
            let (document, title) = (meta.document, meta.title);
            of_part(
                blobs,
                event,
                (&document, title, 0),
                body::<DocumentIngested>(event)?.part,
            )
        }
        Event::Document(DocumentEvent::PartAdded(meta)) => {
            let (document, title) = (meta.document, meta.title);
            let part = body::<PartAdded>(event)?.part;
            of_part(blobs, event, (&document, title, meta.first_chunk), part)
        }
        Event::Project(ProjectEvent::Written(version)) => of_version(blobs, event, &version),
        Event::Checkpoint(CheckpointEvent::Saved(saved)) => of_saved(event, &saved),
        Event::Session(
            SessionEvent::Created(_)
            | SessionEvent::Updated
            | SessionEvent::Closed
            | SessionEvent::Leased(_)
            | SessionEvent::Released(_)
            | SessionEvent::Forgotten(_)
            | SessionEvent::Erased,
        )
        | Event::Step(StepEvent::ExtractorRegistered | StepEvent::MappingRegistered)
        | Event::Message(MessageEvent::ToolCall(_))
        | Event::Entity(
            EntityEvent::Extracted(_) | EntityEvent::Related(_) | EntityEvent::Resolved(_),
        )
        | Event::Pack(PackEvent::Built(_) | PackEvent::Pruned(_) | PackEvent::Unpruned(_))
        | Event::Checkpoint(CheckpointEvent::Deleted(_) | CheckpointEvent::KeyMarked(_))
        | Event::Project(
            ProjectEvent::Initialised(_)
            | ProjectEvent::WorktreeSeen(_)
            | ProjectEvent::DraftSaved(_)
            | ProjectEvent::Shared(_),
        )
        | Event::Document(
            DocumentEvent::SourceAdded(_)
            | DocumentEvent::SourceRemoved
            | DocumentEvent::Restatted(_)
            | DocumentEvent::Removed(_)
            | DocumentEvent::FileFailed(_)
            | DocumentEvent::FailureCleared(_),
        )
        | Event::Forgetting(
            ForgettingEvent::Events(_)
            | ForgettingEvent::EventsErased(_)
            | ForgettingEvent::Content(_),
        ) => Ok(None),
    }
}

/// What a version of a context file says.
fn of_version(
    blobs: &Blobs,
    event: &LoggedEvent,
    version: &VersionMeta,
) -> Result<Option<Pieces>, Error> {
    let project = event.header.project.as_deref().unwrap_or_default();
    let Some(content) = body::<ContextWritten>(event)?.content else {
        return Ok(None);
    };
    let content = content.read(blobs)?;
    Ok(Some(Pieces {
        kind: Kind::Context,
        group: of_context(project, &version.file_type),
        session: 0,
        title: version.file_type.replace('_', " "),
        all: cut(&content, "context.md"),
    }))
}

/// What a checkpoint is called, and what is said with it.
fn of_saved(event: &LoggedEvent, saved: &CheckpointSaved) -> Result<Option<Pieces>, Error> {
    let Some(session) = &event.header.session else {
        return Ok(None);
    };
    let metadata = Metadata::of_event(event)?;
    if metadata.map.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_string(&metadata.map).unwrap_or_default();
    Ok(Some(Pieces {
        kind: Kind::Checkpoint,
        group: of_checkpoint(&saved.checkpoint.to_string()),
        session: of_session(session),
        title: String::new(),
        all: vec![SearchableText {
            number: 0,
            headings: Vec::new(),
            text,
            reported: 0,
        }],
    }))
}

/// A part of a document: of which one, its title, and the number of the part's first chunk.
fn of_part(
    blobs: &Blobs,
    event: &LoggedEvent,
    (document, title, first): (&str, String, u32),
    part: documents::TextPart,
) -> Result<Option<Pieces>, Error> {
    let text = part.text.read(blobs)?;
    let mut all = Vec::with_capacity(part.chunks.len());
    let mut ended = 0;
    for (number, (start, end, headings)) in (first..).zip(part.chunks) {
        let reported = ended.min(end).saturating_sub(start) as usize;
        ended = end;
        let headings = part.headings.get(headings as usize);
        all.push(SearchableText {
            number,
            headings: headings.cloned().unwrap_or_default(),
            text: text
                .get(start as usize..end as usize)
                .unwrap_or_default()
                .to_owned(),
            reported,
        });
    }
    Ok(Some(Pieces {
        kind: Kind::Document,
        group: of_document(document),
        session: of_source(event.header.project.as_deref().unwrap_or_default()),
        title,
        all,
    }))
}

/// What a tool returned with the call that it came of.
fn of_step(blobs: &Blobs, event: &LoggedEvent) -> Result<Option<Pieces>, Error> {
    let read = |text: Option<Text>| text.map(|text| text.read(blobs)).transpose();
    let step: StepRecorded = body(event)?;
    let asked = read(step.parameters)?.unwrap_or_default();
    let asked: String = asked.chars().take(500).collect();
    let purpose = step.purpose.unwrap_or_default();
    let title = [step.tool.as_str(), &purpose, &asked].map(str::trim);
    let title: Vec<&str> = title.into_iter().filter(|one| !one.is_empty()).collect();
    let result = match read(step.result)? {
        Some(result) => result,
        None => read(step.error)?.unwrap_or_default(),
    };
    Ok(of_talk(event, Kind::Step, title.join(" "), &result))
}

/// What was said.
fn of_message(blobs: &Blobs, event: &LoggedEvent) -> Result<Option<Pieces>, Error> {
    let content = body::<MessageRecorded>(event)?.content.read(blobs)?;
    Ok(of_talk(event, Kind::Message, String::new(), &content))
}

/// A part of the conversation; `None` outside sessions.
fn of_talk(event: &LoggedEvent, kind: Kind, title: String, text: &str) -> Option<Pieces> {
    let session = event.header.session.as_deref()?;
    let mut all = cut(text, "talk.txt");
    if all.is_empty() && !title.is_empty() {
        all.push(SearchableText {
            number: 0,
            headings: Vec::new(),
            text: String::new(),
            reported: 0,
        });
    }
    Some(Pieces {
        kind,
        group: of_session(session),
        session: of_session(session),
        title,
        all,
    })
}

/// A text cut as documents are, by the ending of a name that it could have.
fn cut(text: &str, name: &str) -> Vec<SearchableText> {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    let text = text.get(..end).unwrap_or_default();
    let whole = || {
        vec![SearchableText {
            number: 0,
            headings: Vec::new(),
            text: text.to_owned(),
            reported: 0,
        }]
    };
    if text.trim().is_empty() {
        return Vec::new();
    }
    // What is short is one piece, as it stands.
    if name.ends_with(".txt") && text.len() < 800 {
        return whole();
    }
    let Ok(extracted) = lored_ingest::extract_whole(text, name, &Limits::default()) else {
        return whole();
    };
    let mut ended = 0;
    let mut pieces = Vec::new();
    let chunks = lored_ingest::chunks(&extracted, &Sizes::default());
    for (number, chunk) in (0..).zip(chunks.into_iter().take(PIECES_MAX)) {
        let reported = ended.min(chunk.range.end).saturating_sub(chunk.range.start);
        ended = chunk.range.end;
        pieces.push(SearchableText {
            number,
            headings: chunk.path,
            text: extracted
                .text
                .get(chunk.range)
                .unwrap_or_default()
                .to_owned(),
            reported,
        });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word of what was said can be found, also those between lines that would be front matter in a
    /// file: the header of a note, the first document of many in YAML.
    #[test]
    fn front_matter_of_what_is_said_is_found() {
        let long = "The cluster answered. ".repeat(50);
        for (fence, name) in [
            ("---", "talk.txt"),
            ("---", "context.md"),
            ("+++", "talk.txt"),
        ] {
            let text = format!("{fence}\nkind = \"zanzibar\"\n{fence}\n{long}\n");
            let text = match fence {
                "+++" => text,
                _ => text.replace(" = ", ": "),
            };
            let pieces = cut(&text, name);
            let all: Vec<&str> = pieces.iter().map(SearchableText::own).collect();
            assert!(all.concat().contains("zanzibar"), "{name}: {all:?}");
        }
    }
}
