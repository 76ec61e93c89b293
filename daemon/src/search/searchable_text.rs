//! The searchable texts of events. They are deterministic.
//!
//! They are made when an event is indexed, and again when a hit is shown. So the index stores no text, and results
//! quote the log.

use lore::protocol::names::word;

use super::checkpoint_text::of_saved;
use super::dates::date_in_words;
use super::event_effect::EventEffect;
use super::groups::{of_context, of_document, of_execution, of_session, of_source};
use crate::documents;
use crate::events::documents::{DocumentIngested, PartAdded};
use crate::events::messages::{MessageMeta, MessageRecorded, ToolCallMeta, ToolRecorded};
use crate::events::{Event, body};
use crate::log::{Log, LoggedEvent};
use crate::projects::{ContextWritten, VersionMeta};
use crate::steps::{StepRecorded, Text, unwrapped};
use crate::store::{Blobs, Error};
use lored_ingest::{Limits, Sizes};
use lored_retrieval::text::Kind;

/// Maximum number of indexed pieces of a message, a result or a context file.
const PIECES_MAX: usize = 64;
/// Maximum length of a text that is split into pieces, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Maximum number of words and bytes of a message that is understood only with the messages before it, and of these messages.
/// JSON without spaces is one word, however long it is.
const SHORT_WORDS_MAX: usize = 60;
const SHORT_BYTES_MAX: usize = 480;

/// A searchable text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchableText {
    /// Its number in the event or, for a chunk of a document, in the document.
    pub number: u32,
    /// The headings above it.
    pub headings: Vec<String>,
    /// The text.
    pub text: String,
    /// Number of leading bytes that repeat the last sentence of the previous piece; shown, but not indexed again.
    pub reported: usize,
}

impl SearchableText {
    /// Creates the only text of an event.
    pub(super) fn whole(text: String) -> Self {
        Self {
            number: 0,
            headings: Vec::new(),
            text,
            reported: 0,
        }
    }

    /// Returns the text without the repeated part.
    pub(super) fn own(&self) -> &str {
        self.text.get(self.reported..).unwrap_or(&self.text)
    }
}

/// The texts of an event, with their group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// Their kind.
    pub kind: Kind,
    /// The hash of their group: a document, a context file, a checkpoint, or a session.
    pub group: u64,
    /// The hash of their session or source; 0 for none.
    pub session: u64,
    /// The common title.
    pub title: String,
    /// For talk, who said it and when, in words: `Caroline, 8 May 2023`.
    pub spoken: String,
    /// Time when it was said or recorded, in seconds since 1970.
    pub time: u64,
    /// The texts, in order.
    pub all: Vec<SearchableText>,
}

/// A text as it is embedded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedText {
    /// What was said before, for a short message.
    pub context: String,
    /// The text itself.
    pub text: String,
}

impl Pieces {
    /// Returns the indexed form of a piece, with the speaker, the date, the title and headings.
    #[must_use]
    pub fn indexed(&self, piece: &SearchableText) -> String {
        let mut text = self.spoken.clone();
        if !text.is_empty() && !self.title.is_empty() {
            text.push('\n');
        }
        text.push_str(&self.title);
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

    /// Returns the form of a piece for embedding, with the speaker and the date, the title and the innermost heading as
    /// sentences before it.
    #[must_use]
    pub fn embedded(&self, piece: &SearchableText) -> String {
        let innermost = piece.headings.last().filter(|one| **one != self.title);
        let mut text = String::new();
        if !self.spoken.is_empty() {
            text.push_str(&self.spoken);
            text.push_str(": ");
        }
        for above in std::iter::once(&self.title).chain(innermost) {
            if !above.is_empty() {
                text.push_str(above);
                text.push_str(". ");
            }
        }
        text.push_str(piece.own());
        match self.kind {
            Kind::Step => without_json_syntax(text),
            Kind::Message | Kind::Checkpoint | Kind::Document | Kind::Context => text,
        }
    }

    /// Returns the text with its title if it is so short that it is understood only with the texts before it, and that
    /// it can be context of later texts.
    #[must_use]
    pub fn short_text(&self) -> Option<String> {
        let [only] = self.all.as_slice() else {
            return None;
        };
        let words = self
            .title
            .split_whitespace()
            .chain(only.text.split_whitespace());
        if self.title.len() + only.text.len() > SHORT_BYTES_MAX
            || words.take(SHORT_WORDS_MAX + 1).count() > SHORT_WORDS_MAX
        {
            return None;
        }
        let title = match self.title.is_empty() {
            true => String::new(),
            false => format!("{}\n", self.title),
        };
        Some(format!("{title}{}\n", only.text))
    }
}

/// Returns the names and values of JSON as words. A model reads its brackets and quotes as words: they would fill the
/// vector and hide what a result is about. Other texts stay as they are, and so do parts of JSON without a member.
fn without_json_syntax(text: String) -> String {
    if !text.contains("\":") {
        return text;
    }
    let mut words = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '{' | '}' | '[' | ']' | '"' | '_' | '\n' if words.ends_with(' ') => {}
            '{' | '}' | '[' | ']' | '"' | '_' | '\n' => words.push(' '),
            other => words.push(other),
        }
    }
    words
}

/// Returns whether an event is part of a session's conversation: a message or a step.
#[must_use]
pub fn is_talk(event: &LoggedEvent) -> bool {
    event.header.session.is_some() && event.header.kind.has(|policy| policy.is_talk)
}

/// Extracts the searchable texts of an event; `None` if it has none.
pub fn pieces(log: &Log<'_>, blobs: &Blobs, event: &LoggedEvent) -> Result<Option<Pieces>, Error> {
    match Event::of(event)? {
        Some(meta) => pieces_of(log, blobs, event, &meta),
        None => Ok(None),
    }
}

/// Extracts the searchable texts of an event with decoded metadata.
pub(super) fn pieces_of(
    log: &Log<'_>,
    blobs: &Blobs,
    event: &LoggedEvent,
    meta: &Event,
) -> Result<Option<Pieces>, Error> {
    match EventEffect::of(meta) {
        EventEffect::Step => of_step(blobs, event),
        EventEffect::Message(meta) => of_message(blobs, event, meta),
        EventEffect::ToolCall(meta) => of_tool_call(blobs, event, meta),
        EventEffect::Document(meta) => {
            let part = body::<DocumentIngested>(event)?.part;
            of_part(blobs, event, (&meta.document, &meta.title, 0), part)
        }
        EventEffect::DocumentPart(meta) => {
            let part = body::<PartAdded>(event)?.part;
            let of = (&*meta.document, &*meta.title, meta.first_chunk);
            of_part(blobs, event, of, part)
        }
        EventEffect::Version(version) => of_version(blobs, event, version),
        EventEffect::Checkpoint(saved) => of_saved(log, blobs, event, saved),
        EventEffect::DocumentRemoved(_)
        | EventEffect::CheckpointsDeleted(_)
        | EventEffect::SourceRemoved
        | EventEffect::SessionForgotten
        | EventEffect::EventsForgotten(_)
        | EventEffect::Nothing => Ok(None),
    }
}

/// Extracts the text of a context-file version.
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
        spoken: String::new(),
        time: seconds(event),
        all: cut(&content, "context.md"),
    }))
}

/// Extracts the chunks of a document part, with the document's id and title and the number of the first chunk.
fn of_part(
    blobs: &Blobs,
    event: &LoggedEvent,
    (document, title, first): (&str, &str, u32),
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
        title: title.to_owned(),
        spoken: String::new(),
        time: seconds(event),
        all,
    }))
}

/// Extracts the result of a step, with its call as title.
fn of_step(blobs: &Blobs, event: &LoggedEvent) -> Result<Option<Pieces>, Error> {
    let step: StepRecorded = body(event)?;
    let purpose = step.purpose.unwrap_or_default();
    of_result(
        blobs,
        event,
        (&step.tool, &purpose, step.parameters),
        step.result.or(step.error),
    )
}

/// Extracts the result of a tool call; `None` while it has neither a result nor an error.
fn of_tool_call(
    blobs: &Blobs,
    event: &LoggedEvent,
    meta: &ToolCallMeta,
) -> Result<Option<Pieces>, Error> {
    let call: ToolRecorded = body(event)?;
    let Some(result) = call.result.or(call.error) else {
        return Ok(None);
    };
    let pieces = of_result(
        blobs,
        event,
        (&call.tool, "", call.parameters),
        Some(result),
    )?;
    Ok(pieces.map(|pieces| Pieces {
        group: of_execution(
            event.header.session.as_deref().unwrap_or_default(),
            &meta.id,
        ),
        ..pieces
    }))
}

/// Extracts the result of a tool, with its call (tool, purpose and parameters) as title.
fn of_result(
    blobs: &Blobs,
    event: &LoggedEvent,
    (tool, purpose, parameters): (&str, &str, Option<Text>),
    result: Option<Text>,
) -> Result<Option<Pieces>, Error> {
    let read = |text: Option<Text>| text.map(|text| text.read(blobs)).transpose();
    let asked = read(parameters)?.unwrap_or_default();
    let asked: String = asked.chars().take(500).collect();
    let title = [tool, purpose, &asked].map(str::trim);
    let title: Vec<&str> = title.into_iter().filter(|one| !one.is_empty()).collect();
    let result = read(result)?.unwrap_or_default();
    let spoken = date_in_words(event.header.happened_at());
    let title = title.join(" ");
    Ok(of_talk(
        event,
        (Kind::Step, spoken),
        title,
        &unwrapped(&result),
    ))
}

/// Extracts the content of a message, with its speaker: the agent, or the sender of a message without one.
fn of_message(
    blobs: &Blobs,
    event: &LoggedEvent,
    meta: &MessageMeta,
) -> Result<Option<Pieces>, Error> {
    let content = body::<MessageRecorded>(event)?.content.read(blobs)?;
    let agent = event.header.author();
    let speaker = match agent.is_empty() {
        true => word(meta.sender),
        false => agent.to_owned(),
    };
    let date = date_in_words(event.header.happened_at());
    let spoken = format!("{speaker}, {date}");
    Ok(of_talk(
        event,
        (Kind::Message, spoken),
        String::new(),
        &content,
    ))
}

/// Returns the time of an event in seconds.
pub(super) fn seconds(event: &LoggedEvent) -> u64 {
    event.header.happened_at() / 1_000_000
}

/// Splits a text of a conversation; `None` outside sessions.
fn of_talk(
    event: &LoggedEvent,
    (kind, spoken): (Kind, String),
    title: String,
    text: &str,
) -> Option<Pieces> {
    let session = event.header.session.as_deref()?;
    let mut all = cut(text, "talk.txt");
    if all.is_empty() && !title.is_empty() {
        all.push(SearchableText::whole(String::new()));
    }
    Some(Pieces {
        kind,
        group: of_session(session),
        session: of_session(session),
        title,
        spoken,
        time: seconds(event),
        all,
    })
}

/// Splits a message or an unwrapped result into the pieces that search indexes, in order. None repeats another.
#[must_use]
pub fn talk_pieces(text: &str) -> Vec<String> {
    let pieces = cut(text, "talk.txt").into_iter();
    pieces.map(|piece| piece.own().to_owned()).collect()
}

/// Splits a text into pieces like a document; the extension of `name` selects the format.
pub(super) fn cut(text: &str, name: &str) -> Vec<SearchableText> {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    let text = text.get(..end).unwrap_or_default();
    let whole = || vec![SearchableText::whole(text.to_owned())];
    if text.trim().is_empty() {
        return Vec::new();
    }
    // A short text stays one piece, unchanged.
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

    /// The vector of a result holds its names and values, not the syntax between them.
    #[test]
    fn results_are_embedded_as_words() {
        let of = |text: &str| without_json_syntax(text.to_owned());
        assert_eq!(
            of(r#"get_device {"primary_ip4":{"address":"10.0.0.7"},"tags":["core"]}"#),
            "get device primary ip4 : address : 10.0.0.7 , tags : core "
        );
        for unchanged in ["3 [tests] passed_all", "no \"member\" here", ""] {
            assert_eq!(of(unchanged), unchanged);
        }
    }

    /// Every word of a message is searchable, also between lines that would be front matter in a file: the header of a
    /// note, or the first of several YAML documents.
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
