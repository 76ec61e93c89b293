//! Editing a host's file as text: the entry is found, put in and taken out, all else stays.

use serde_json::Value;

use super::entry::Entry;
use super::{json_file, toml_file};

/// How a host's file is written, and where entries stand in it.
#[derive(Debug, Clone, Copy)]
pub enum FileLayout {
    /// JSON, with what the host forgives.
    Json(JsonShape),
    /// TOML, with entries as tables of this table.
    Toml(&'static str),
}

/// What JSON a host reads.
#[derive(Debug, Clone, Copy)]
pub struct JsonShape {
    /// Comments are fine.
    pub comments: bool,
    /// So is a comma behind the last member.
    pub trailing_commas: bool,
    /// The object that holds the entries.
    pub container: &'static str,
    /// An object in that one which holds them instead, in files that have it.
    pub inner: Option<&'static str>,
}

/// Why a file cannot be edited: where, from 1 and in characters, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditError {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl EditError {
    /// At a byte of a text; behind its end stands for its end.
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

/// The entry that is there, as JSON.
///
/// # Errors
/// When the file is broken, or entries cannot stand where they should.
pub fn find(shape: FileLayout, text: &str) -> Result<Option<Value>, EditError> {
    let (_, text) = mark_and_text(text);
    match shape {
        FileLayout::Json(shape) => json_file::find(shape, text),
        FileLayout::Toml(container) => toml_file::find(container, text),
    }
}

/// The text with the entry in it. One that is there is changed where it has to be, and replaced as a
/// `whole` if so wanted.
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

/// The text without the entry.
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

/// The byte order mark that some editors write, and the text behind it.
fn mark_and_text(text: &str) -> (&str, &str) {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    text.split_at(mark.min('\u{feff}'.len_utf8()))
}
