//! Imports sent documents from another store, already parsed and chunked, one event at a time.
//! A long document can take several commits. Until its last part is stored it counts as stale, so that
//! sending it again completes it.

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

/// A document's first part, with all metadata except the id.
#[derive(Clone, Debug)]
pub struct ImportedDocument {
    /// Name of the source.
    pub source: String,
    /// Metadata of the document. A hash of zeros marks a document that must be sent again.
    pub taken: DocumentMeta,
}

/// A further part of a document.
#[derive(Clone, Debug)]
pub struct ImportedPart {
    /// Name of the source.
    pub source: String,
    /// Name of the document.
    pub name: String,
    /// Number of the part, from 2; the first part has number 1.
    pub number: u32,
    /// Number of the first chunk.
    pub first_chunk: u32,
    /// Number of chunks.
    pub chunks: u32,
    /// Hashes of the blobs that the body references.
    pub blobs: Vec<ByteArray<32>>,
}

/// Id of a source, and the event to record in it.
pub type SourceEvent = (String, DocumentEvent);

/// Decides about imported lines in order. `None` means that the data exists, so nothing is recorded.
pub struct ImportBuilder<'b> {
    rows: &'b dyn Rows,
    /// Whether earlier lines that were not recorded can be assumed to exist.
    trusts: bool,
    /// Sources that this import creates.
    sources: BTreeSet<String>,
    /// Progress of each document that was imported or looked up, by source id and name.
    begun: BTreeMap<(String, String), ImportProgress>,
}

/// Progress of a document.
#[derive(Clone)]
struct ImportProgress {
    /// Whether the document existed before the import.
    is_here: bool,
    document: String,
    title: String,
    /// Number of parts that are present, and of all parts.
    parts: (u32, u32),
    /// Number of chunks that are present (at least), and of all chunks.
    chunks: (u32, u32),
}

impl<'b> ImportBuilder<'b> {
    /// Creates an empty builder.
    #[must_use]
    pub fn new(rows: &'b dyn Rows, trusts: bool) -> Self {
        Self {
            rows,
            trusts,
            sources: BTreeSet::new(),
            begun: BTreeMap::new(),
        }
    }

    /// Imports a source of sent documents. A known source keeps its local settings.
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

    /// Imports a document with its first part.
    ///
    /// # Errors
    /// `CONFLICT` if the document of this name has other content here. `INVALID_INPUT` if the source is missing
    /// or not for sent documents, or if the document was already imported.
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

    /// Imports a further part of a document.
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
        // A document that was chunked here can have fewer parts than the imported lines.
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
                "source `{source}` not found: a line of the kind Source, with `sent`, stands before its documents"
            ))),
        }
    }

    /// Looks up the stored document of a source and name.
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
    /// Creates the progress of a document whose first part is present.
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

/// Reports whether two documents have the same content. A hash of zeros is not compared: that document
/// must be sent again.
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

/// Encodes the event body of the first part.
#[must_use]
pub fn first_body(part: TextPart, warnings: Vec<String>) -> Vec<u8> {
    codec::encode(&DocumentIngested { part, warnings })
}

/// Encodes the event body of a further part.
#[must_use]
pub fn further_body(part: TextPart) -> Vec<u8> {
    codec::encode(&PartAdded { part })
}
