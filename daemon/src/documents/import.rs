//! Sent documents that come from another store: as they were read and cut there, decided one event after
//! the other. A long document may come in several commits; until its last part is there it counts as stale,
//! so that whoever sends it again completes it.

use std::collections::{BTreeMap, BTreeSet};

use serde_bytes::ByteArray;

use super::command::{check_sent, document_id, source_id};
use super::view;
use crate::error::{Code, Refusal};
use crate::events::documents::{
    DocumentEvent, DocumentIngested, DocumentMeta, PartAdded, PartMeta, SourceAdded, TextPart,
};
use crate::log::{Hash, codec};
use crate::store::{Error, Rows};

/// The first part of a document, and all that is known of it but its id.
#[derive(Clone, Debug)]
pub struct ImportedDocument {
    /// What its source is called.
    pub source: String,
    /// What is known of it. A hash of zeros: it is to be sent again.
    pub taken: DocumentMeta,
}

/// A further part of a document.
#[derive(Clone, Debug)]
pub struct ImportedPart {
    /// What its source is called.
    pub source: String,
    /// What the document is called.
    pub name: String,
    /// Its number; the first part, which is none of these, has 1.
    pub number: u32,
    /// The number of its first chunk.
    pub first_chunk: u32,
    /// How many chunks it has.
    pub chunks: u32,
    /// Hashes of the blobs that its body names.
    pub blobs: Vec<ByteArray<32>>,
}

/// The id of a source, and what is to be recorded in it.
pub type SourceEvent = (String, DocumentEvent);

/// Decides about what is brought, in order; nothing to record is `None`: it is there.
pub struct ImportBuilder<'b> {
    rows: &'b dyn Rows,
    /// Whether anything may stand on lines before these that were not recorded.
    trusts: bool,
    /// Sources that come to be by this.
    sources: BTreeSet<String>,
    /// What is known of each document that was brought or looked up, by the id of its source and its name.
    begun: BTreeMap<(String, String), ImportProgress>,
}

/// How far a document is.
#[derive(Clone)]
struct ImportProgress {
    /// Whether it was there before.
    is_here: bool,
    document: String,
    title: String,
    /// Parts that are there, and those that it has.
    parts: (u32, u32),
    /// Chunks that are there at least, and those that it has.
    chunks: (u32, u32),
}

impl<'b> ImportBuilder<'b> {
    /// Nothing yet.
    #[must_use]
    pub fn new(rows: &'b dyn Rows, trusts: bool) -> Self {
        Self {
            rows,
            trusts,
            sources: BTreeSet::new(),
            begun: BTreeMap::new(),
        }
    }

    /// A source of documents that were sent. One that is known keeps the settings that it has here.
    ///
    /// # Errors
    /// `INVALID_INPUT` where the documents of a source of this name are files.
    pub fn source(&mut self, added: &SourceAdded) -> Result<Option<SourceEvent>, Refusal> {
        let source = source_id(&added.path);
        if let Some(row) = view::source(self.rows, &source)? {
            check_sent(&source, &row)?;
            return Ok(None);
        }
        if !self.sources.insert(source.clone()) {
            return Ok(None);
        }
        Ok(Some((source, DocumentEvent::SourceAdded(added.clone()))))
    }

    /// A document with its first part.
    ///
    /// # Errors
    /// `CONFLICT` where one of this name says something else here, and `INVALID_INPUT` where its source is none
    /// of documents that were sent, or it was brought already.
    pub fn document(&mut self, imported: ImportedDocument) -> Result<Option<SourceEvent>, Refusal> {
        let ImportedDocument { source, mut taken } = imported;
        let id = source_id(&source);
        self.check_source(&id, &source)?;
        let place = (id.clone(), taken.path.clone());
        if self.begun.contains_key(&place) {
            let name = &taken.path;
            return Err(Refusal::invalid(format!(
                "the document `{name}` of `{source}` stands on an earlier line"
            )));
        }
        if let Some((known, begun)) = self.known(&place)? {
            if !says_the_same(&known, &taken) {
                let name = &taken.path;
                let message =
                    format!("the document `{name}` of `{source}` says something else here");
                return Err(Refusal::new(Code::Conflict, message).hint(
                    "Leave its lines out, remove the one that is here (`lore docs remove`), or import into \
                     another store.",
                ));
            }
            self.begun.insert(place, begun);
            return Ok(None);
        }
        taken.document = document_id(self.rows, &id, &taken.path)?;
        self.begun.insert(place, ImportProgress::of(&taken));
        Ok(Some((id, DocumentEvent::Ingested(Box::new(taken)))))
    }

    /// A further part of a document.
    ///
    /// # Errors
    /// `INVALID_INPUT` where the parts before it are not there.
    pub fn further(&mut self, further: ImportedPart) -> Result<Option<SourceEvent>, Refusal> {
        let id = source_id(&further.source);
        let place = (id.clone(), further.name.clone());
        let begun = match self.begun.get(&place) {
            Some(begun) => Some(begun.clone()),
            None => self.known(&place)?.map(|(_, begun)| begun),
        };
        let Some(mut begun) = begun else {
            return match self.trusts {
                true => Ok(None),
                false => Err(stray(&further, "the document is not there")),
            };
        };
        let (there, all) = begun.parts;
        // One that was cut here may have fewer parts than where the lines come from.
        if begun.is_here && there >= all.min(further.number) {
            self.begun.insert(place, begun);
            return Ok(None);
        }
        if further.number != there.saturating_add(1) || further.number > all {
            return Err(stray(
                &further,
                &format!("{there} of {all} parts are there"),
            ));
        }
        let (behind, most) = begun.chunks;
        let end = further.first_chunk.checked_add(further.chunks);
        if further.first_chunk < behind || end.is_none_or(|end| end > most) {
            let what =
                format!("its chunks begin at {behind} or behind it, and end at {most} or before");
            return Err(stray(&further, &what));
        }
        begun.parts.0 += 1;
        begun.chunks.0 = end.unwrap_or(most);
        let continued = PartMeta {
            document: begun.document.clone(),
            title: begun.title.clone(),
            first_chunk: further.first_chunk,
            blobs: further.blobs,
        };
        self.begun.insert(place, begun);
        Ok(Some((id, DocumentEvent::PartAdded(continued))))
    }

    fn check_source(&self, id: &str, source: &str) -> Result<(), Refusal> {
        match view::source(self.rows, id)? {
            Some(row) => check_sent(id, &row),
            None if self.trusts || self.sources.contains(id) => Ok(()),
            None => Err(Refusal::invalid(format!(
                "there is no source `{source}`: a line of the kind Source, with `sent`, stands before its documents"
            ))),
        }
    }

    /// The document that is there at a place.
    fn known(
        &self,
        (source, name): &(String, String),
    ) -> Result<Option<(DocumentMeta, ImportProgress)>, Error> {
        let Some(document) = view::document_at(self.rows, source, name)? else {
            return Ok(None);
        };
        let Some(row) = view::document(self.rows, &document)? else {
            return Ok(None);
        };
        let mut begun = ImportProgress::of(&row.taken);
        begun.is_here = true;
        begun.parts.0 = u32::try_from(row.parts.iter().len()).unwrap_or(u32::MAX);
        begun.chunks.0 = row
            .parts
            .iter()
            .next_back()
            .map_or(0, |part| part.first_chunk);
        Ok(Some((row.taken, begun)))
    }
}

impl ImportProgress {
    /// A document of which the first part is there.
    fn of(taken: &DocumentMeta) -> Self {
        Self {
            is_here: false,
            document: taken.document.clone(),
            title: taken.title.clone(),
            parts: (1, taken.parts),
            chunks: (0, taken.chunks),
        }
    }
}

/// Whether a document that is known was made of the same bytes; those of one that is to be sent again are not
/// told.
fn says_the_same(known: &DocumentMeta, imported: &DocumentMeta) -> bool {
    let is_untold = *imported.hash == Hash::default().0;
    (is_untold || known.hash == imported.hash)
        && known.title == imported.title
        && known.text_bytes == imported.text_bytes
}

fn stray(further: &ImportedPart, why: &str) -> Refusal {
    let ImportedPart {
        source,
        name,
        number,
        ..
    } = further;
    Refusal::invalid(format!(
        "part {number} of the document `{name}` of `{source}` does not go on from what is here: {why}"
    ))
    .hint("The parts of a document stand behind it, in order, from 2 on.")
}

/// The body of the event that brings the first part.
#[must_use]
pub fn first_body(part: TextPart, warnings: Vec<String>) -> Vec<u8> {
    codec::encode(&DocumentIngested { part, warnings })
}

/// The body of the event that brings a further part.
#[must_use]
pub fn further_body(part: TextPart) -> Vec<u8> {
    codec::encode(&PartAdded { part })
}
