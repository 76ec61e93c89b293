//! What can be found of an event: its searchable texts, the same each time they are asked for.
//!
//! They are made when an event is indexed, and made again when one of them is shown: so the index
//! holds no text, and what is quoted is what the log says.

use lored_ingest::{Limits, Sizes};
use lored_retrieval::text::Kind;

use crate::checkpoints::{self, CheckpointFact};
use crate::documents::{self, DocumentFact};
use crate::log::Stamped;
use crate::messages::{self, MessageFact};
use crate::projects::{self, ProjectFact};
use crate::steps::{self, StepRecorded, Text};
use crate::store::{Blobs, Error};

/// Pieces of a message, a result or a context file that can be found, at most.
const PIECES_MAX: usize = 64;
/// How much of such a text is cut into pieces, in bytes.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// How much of a text stands beside those that follow it, in bytes.
const BESIDE_BYTES_MAX: usize = 2048;

/// A searchable text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its number in what it belongs to: of a document's chunk that in the document.
    pub number: u32,
    /// The headings that it stands under.
    pub headings: Vec<String>,
    /// The text.
    pub text: String,
    /// Bytes at its beginning that are told again: the last sentence of the piece before. They are shown,
    /// but not found a second time.
    pub told: usize,
}

impl Piece {
    /// What it says that the piece before does not.
    fn own(&self) -> &str {
        self.text.get(self.told..).unwrap_or(&self.text)
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
    pub all: Vec<Piece>,
}

/// What a piece is found by, besides its own words.
impl Pieces {
    /// The text of a piece as it is indexed: with what stands above it.
    #[must_use]
    pub fn indexed(&self, piece: &Piece) -> String {
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
    pub fn embedded(&self, piece: &Piece) -> String {
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
    pub fn beside(&self) -> String {
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
pub fn is_talk(event: &Stamped) -> bool {
    let kind = event.header.kind.as_str();
    event.header.session.is_some()
        && (kind == StepRecorded::KIND || kind == messages::MessageRecorded::KIND)
}

/// The searchable texts of an event; `None` when it has none.
///
/// # Errors
/// [`Error`] when it does not decode, or a text cannot be read.
pub fn pieces(blobs: &Blobs, event: &Stamped) -> Result<Option<Pieces>, Error> {
    if event.payload.is_none() {
        return Ok(None);
    }
    if let Some(part) = documents::part_of(event)? {
        return of_part(blobs, event, part);
    }
    if is_talk(event) {
        return of_talk(blobs, event);
    }
    if let Some(ProjectFact::Written(written)) = ProjectFact::of(event)? {
        let project = event.header.project.as_deref().unwrap_or_default();
        let (content, _) = projects::brought(event)?;
        let Some(content) = content else {
            return Ok(None);
        };
        let content = content.read(blobs)?;
        return Ok(Some(Pieces {
            kind: Kind::Context,
            group: of_context(project, &written.file_type),
            session: 0,
            title: written.file_type.replace('_', " "),
            all: cut(&content, "context.md"),
        }));
    }
    of_saved(event)
}

/// What a checkpoint is called, and what is said with it.
fn of_saved(event: &Stamped) -> Result<Option<Pieces>, Error> {
    let (Some(CheckpointFact::Saved(saved)), Some(session)) =
        (CheckpointFact::of(event)?, &event.header.session)
    else {
        return Ok(None);
    };
    let metadata = checkpoints::described(event)?;
    if metadata.map.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_string(&metadata.map).unwrap_or_default();
    Ok(Some(Pieces {
        kind: Kind::Checkpoint,
        group: of_checkpoint(&saved.checkpoint.to_string()),
        session: of_session(session),
        title: String::new(),
        all: vec![Piece {
            number: 0,
            headings: Vec::new(),
            text,
            told: 0,
        }],
    }))
}

fn of_part(blobs: &Blobs, event: &Stamped, part: documents::Part) -> Result<Option<Pieces>, Error> {
    let (document, title, first) = match DocumentFact::of(event)? {
        Some(DocumentFact::Taken(taken)) => (taken.document, taken.title, 0),
        Some(DocumentFact::Continued(continued)) => {
            let title = continued.title;
            (continued.document, title, continued.first_chunk)
        }
        _ => return Ok(None),
    };
    let text = part.text.read(blobs)?;
    let mut all = Vec::with_capacity(part.chunks.len());
    let mut ended = 0;
    for (number, (start, end, headings)) in (first..).zip(part.chunks) {
        let told = ended.min(end).saturating_sub(start) as usize;
        ended = end;
        let headings = part.headings.get(headings as usize);
        all.push(Piece {
            number,
            headings: headings.cloned().unwrap_or_default(),
            text: text
                .get(start as usize..end as usize)
                .unwrap_or_default()
                .to_owned(),
            told,
        });
    }
    Ok(Some(Pieces {
        kind: Kind::Document,
        group: of_document(&document),
        session: of_source(event.header.project.as_deref().unwrap_or_default()),
        title,
        all,
    }))
}

/// What was said, or what a tool returned with the call that it came of.
fn of_talk(blobs: &Blobs, event: &Stamped) -> Result<Option<Pieces>, Error> {
    let Some(session) = event.header.session.as_deref() else {
        return Ok(None);
    };
    let read = |text: Option<Text>| text.map(|text| text.read(blobs)).transpose();
    let (kind, title, text) = if event.header.kind == StepRecorded::KIND {
        let (_, body) = steps::decode_step(event)?;
        let asked = read(body.parameters)?.unwrap_or_default();
        let asked: String = asked.chars().take(500).collect();
        let purpose = body.purpose.unwrap_or_default();
        let title = [body.tool.as_str(), &purpose, &asked].map(str::trim);
        let title: Vec<&str> = title.into_iter().filter(|one| !one.is_empty()).collect();
        let result = match read(body.result)? {
            Some(result) => result,
            None => read(body.error)?.unwrap_or_default(),
        };
        (Kind::Step, title.join(" "), result)
    } else {
        let Some(MessageFact::Said(_)) = MessageFact::of(event)? else {
            return Ok(None);
        };
        let (_, body) = messages::decode_message(event)?;
        (Kind::Message, String::new(), body.content.read(blobs)?)
    };
    let mut all = cut(&text, "talk.txt");
    if all.is_empty() && !title.is_empty() {
        all.push(Piece {
            number: 0,
            headings: Vec::new(),
            text: String::new(),
            told: 0,
        });
    }
    Ok(Some(Pieces {
        kind,
        group: of_session(session),
        session: of_session(session),
        title,
        all,
    }))
}

/// A text cut as documents are, by the ending of a name that it could have.
fn cut(text: &str, name: &str) -> Vec<Piece> {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    let text = text.get(..end).unwrap_or_default();
    let whole = || {
        vec![Piece {
            number: 0,
            headings: Vec::new(),
            text: text.to_owned(),
            told: 0,
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
        let told = ended.min(chunk.range.end).saturating_sub(chunk.range.start);
        ended = chunk.range.end;
        pieces.push(Piece {
            number,
            headings: chunk.path,
            text: extracted
                .text
                .get(chunk.range)
                .unwrap_or_default()
                .to_owned(),
            told,
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
            let all: Vec<&str> = pieces.iter().map(Piece::own).collect();
            assert!(all.concat().contains("zanzibar"), "{name}: {all:?}");
        }
    }
}
