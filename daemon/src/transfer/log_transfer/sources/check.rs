//! Validation of lines about uploaded documents: as strict as `put_document` and `add_source`.

use super::lines::{Document, DocumentPart, DocumentPiece};
use crate::clock::parse_time;
use crate::documents::sources::TITLE_BYTES_MAX;
use crate::documents::{check_name, check_source};
use crate::log::Hash;
use crate::transfer::log_transfer::lines::Source;
use crate::transfer::session::sanitized;

/// Maximum length of the name of a context, category, tag or glob, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Maximum number of tags or globs.
const LIST_MAX: usize = 100;
/// Maximum number of warnings: far more than any document has.
const WARNINGS_MAX: usize = 1000;
/// Maximum number of parts and chunks: far more than the longest text has.
const PARTS_MAX: u32 = 1_000_000;
/// Maximum length of a text, in bytes.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// Validates a source of uploaded documents.
pub fn source(reported: &Source) -> Result<(), String> {
    check_source("path", &reported.path).map_err(|refusal| refusal.message)?;
    let names = [
        ("context_id", &reported.context_id),
        ("context_name", &reported.context_name),
        ("category", &reported.category),
    ];
    for (field, name) in names {
        name.as_deref()
            .map_or(Ok(()), |name| short(field, name, NAME_BYTES_MAX))?;
    }
    list("tags", &reported.tags)?;
    list("include", &reported.include)?;
    list("exclude", &reported.exclude)
}

/// Validates a document with its first part.
pub fn document(reported: &Document) -> Result<(), String> {
    placed(&reported.source, &reported.name)?;
    if let Some(hash) = &reported.sha256
        && hash.parse::<Hash>().is_err()
    {
        return Err(format!(
            "`sha256` is {}; it has 64 hexadecimal digits",
            sanitized(hash)
        ));
    }
    if let Some(modified) = &reported.modified
        && parse_time(modified).is_none()
    {
        return Err(format!(
            "`modified` is not a valid time: {}; give RFC 3339 with an offset, such as 2026-01-31T12:00:00Z",
            sanitized(modified)
        ));
    }
    // These may be empty or contain any characters: they come from the document.
    short("title", &reported.title, TITLE_BYTES_MAX)?;
    short("file_type", &reported.file_type, NAME_BYTES_MAX)?;
    short("context_id", &reported.context_id, NAME_BYTES_MAX)?;
    short("context_name", &reported.context_name, NAME_BYTES_MAX)?;
    if let Some(category) = &reported.category {
        short("category", category, NAME_BYTES_MAX)?;
    }
    list("tags", &reported.tags)?;
    if reported.warnings.len() > WARNINGS_MAX {
        return Err(format!(
            "`warnings` has {} entries; at most {WARNINGS_MAX} are kept",
            reported.warnings.len()
        ));
    }
    if !(1..=PARTS_MAX).contains(&reported.parts) || reported.chunks > PARTS_MAX {
        return Err(format!(
            "a document has 1 to {PARTS_MAX} parts and at most {PARTS_MAX} chunks, not {} and {}",
            reported.parts, reported.chunks
        ));
    }
    if reported.text_bytes > TEXT_BYTES_MAX {
        return Err(format!(
            "`text_bytes` is {}; a text has at most {TEXT_BYTES_MAX}",
            reported.text_bytes
        ));
    }
    piece(&reported.part)?;
    let (bytes, chunks) = (reported.part.text.len() as u64, reported.part.count());
    let is_all = reported.part.start == 0
        && match reported.parts {
            1 => bytes == reported.text_bytes && chunks == reported.chunks,
            _ => bytes <= reported.text_bytes && chunks <= reported.chunks,
        };
    match is_all {
        true => Ok(()),
        false => Err(format!(
            "the first of {} parts begins at {} and has {bytes} bytes and {chunks} chunks; the whole text begins at \
             0 and has {} and {}",
            reported.parts, reported.part.start, reported.text_bytes, reported.chunks
        )),
    }
}

/// Validates a further part of a document.
pub fn part(reported: &DocumentPart) -> Result<(), String> {
    placed(&reported.source, &reported.name)?;
    if !(2..=PARTS_MAX).contains(&reported.number) {
        return Err(format!(
            "`number` is {}; the first part is in its Document, later parts count from 2",
            reported.number
        ));
    }
    if reported.part.start > TEXT_BYTES_MAX {
        return Err(format!(
            "`start` is {}; a text has at most {TEXT_BYTES_MAX} bytes",
            reported.part.start
        ));
    }
    piece(&reported.part)
}

fn placed(source: &str, name: &str) -> Result<(), String> {
    check_source("source", source)
        .and_then(|()| check_name(name))
        .map_err(|refusal| refusal.message)
}

fn piece(reported: &DocumentPiece) -> Result<(), String> {
    for (n, (start, end, headings)) in reported.chunks.iter().enumerate() {
        let range = *start as usize..*end as usize;
        if reported.text.get(range).is_none() {
            return Err(format!(
                "chunk {n} of the part is [{start}, {end}] in a text of {} bytes: it ends before it begins, \
                 behind the text, or within a character",
                reported.text.len()
            ));
        }
        // If no chunk has a heading, the list may be empty.
        let lists = reported.headings.len().max(1);
        if *headings as usize >= lists {
            return Err(format!(
                "chunk {n} of the part is under the headings {headings} of {lists}, from 0"
            ));
        }
    }
    Ok(())
}

fn list(field: &str, texts: &[String]) -> Result<(), String> {
    if texts.len() > LIST_MAX {
        return Err(format!(
            "`{field}` has {} entries; at most {LIST_MAX} are kept",
            texts.len()
        ));
    }
    texts
        .iter()
        .try_for_each(|text| short(field, text, NAME_BYTES_MAX))
}

fn short(field: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    match text.len() <= bytes_max {
        true => Ok(()),
        false => Err(format!(
            "`{field}` has {} bytes; at most {bytes_max} are kept",
            text.len()
        )),
    }
}
