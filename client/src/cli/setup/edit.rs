//! Edits a host's file as text: finds, inserts and removes the entry, and leaves all else unchanged.

use serde_json::Value;

use super::entry::Entry;
use super::{json_file, toml_file};

/// File format of a host and the location of entries in it.
#[derive(Debug, Clone, Copy)]
pub enum FileLayout {
    /// JSON, with the extensions that the host accepts.
    Json(JsonShape),
    /// TOML, with entries as sub-tables of this table.
    Toml(&'static str),
}

/// JSON dialect of a host.
#[derive(Debug, Clone, Copy)]
pub struct JsonShape {
    /// Whether comments are allowed.
    pub comments: bool,
    /// Whether a comma after the last member is allowed.
    pub trailing_commas: bool,
    /// Name of the object that holds the entries.
    pub container: &'static str,
    /// Name of an object inside `container` that holds the entries instead, if the file has it.
    pub inner: Option<&'static str>,
}

/// Reason why a file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the fault.
    pub message: String,
}

impl EditError {
    /// Creates a fault at a byte offset of a text; an offset after its end means the end.
    pub fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = text
            .char_indices()
            .take_while(|(at, _)| *at < offset)
            .map(|(_, character)| character);
        let (mut line, mut column) = (1, 1);
        for character in before {
            match character {
                '\n' => (line, column) = (line + 1, 1),
                _ => column += 1,
            }
        }
        Self {
            line,
            column,
            message: message.into(),
        }
    }
}

/// Returns the existing entry as JSON.
///
/// # Errors
/// When the file is malformed, or its structure leaves no place for entries.
pub fn find(shape: FileLayout, text: &str) -> Result<Option<Value>, EditError> {
    let (_, text) = mark_and_text(text);
    match shape {
        FileLayout::Json(shape) => json_file::find(shape, text),
        FileLayout::Toml(container) => toml_file::find(container, text),
    }
}

/// Returns the text with the entry. An existing entry is changed where necessary, or replaced entirely if
/// `whole`.
///
/// # Errors
/// As [`find`].
pub fn put(shape: FileLayout, text: &str, entry: &Entry, whole: bool) -> Result<String, EditError> {
    let (mark, text) = mark_and_text(text);
    let edited = match shape {
        FileLayout::Json(shape) => json_file::put(shape, text, entry, whole),
        FileLayout::Toml(container) => toml_file::put(container, text, entry, whole),
    };
    Ok(mark.to_owned() + &edited?)
}

/// Returns the text without the entry.
///
/// # Errors
/// As [`find`].
pub fn remove(shape: FileLayout, text: &str) -> Result<String, EditError> {
    let (mark, text) = mark_and_text(text);
    let edited = match shape {
        FileLayout::Json(shape) => json_file::remove(shape, text),
        FileLayout::Toml(container) => toml_file::remove(container, text),
    };
    Ok(mark.to_owned() + &edited?)
}

/// Splits off the byte order mark that some editors write.
pub fn mark_and_text(text: &str) -> (&str, &str) {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    text.split_at(mark.min('\u{feff}'.len_utf8()))
}
