//! Converts other programs' data to the lines of an exported log (docs/export-format.md). It runs in a separate
//! process, and `lore import` records the lines like any others.
//!
//! The same file always gives the same lines, so an import can be repeated.

pub mod langgraph;
mod lines;
pub mod markdown;
pub mod memory;
mod prefix;

use std::io;
use std::path::{Path, PathBuf};

pub use lines::LineWriter;
pub use prefix::Prefix;

/// Limit on a file that is read whole, in bytes.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// Supported formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// The JSON lines of the reference MCP memory server.
    Memory,
    /// The SQLite database of LangGraph's checkpoints.
    Langgraph,
    /// A folder of Markdown files.
    Markdown,
}

/// Reason why a conversion stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read, or the lines could not be written.
    #[error("{path:?}: {source}")]
    File {
        /// Path.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The file is invalid; the message has the problem and the expected format.
    #[error("{0}")]
    Malformed(String),
}

impl Error {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }
}

/// Writes a file's or folder's contents as lines, with prefixed session ids; skipped data is reported through
/// `aside`.
pub fn convert(
    kind: Kind,
    path: &Path,
    project: Option<&Path>,
    prefix: Option<Prefix>,
    out: &mut dyn io::Write,
    aside: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    if kind == Kind::Markdown && prefix.is_some() {
        return Err(Error::Malformed(
            "Markdown files make no session that a prefix could be for: name another directory with `--project`"
                .to_owned(),
        ));
    }
    let mut lines = LineWriter::new(out).behind(prefix);
    match kind {
        Kind::Memory => memory::write(path, &mut lines, aside),
        Kind::Langgraph => langgraph::write(path, &mut lines, aside),
        Kind::Markdown => markdown::write(path, project, &mut lines, aside),
    }?;
    lines.end().map_err(Error::file(Path::new("-")))
}

/// Reads a whole text file.
fn read_text(path: &Path) -> Result<String, Error> {
    let metadata = std::fs::metadata(path).map_err(Error::file(path))?;
    if metadata.len() > FILE_BYTES_MAX {
        return Err(Error::Malformed(format!(
            "{path:?} has {} bytes; at most {FILE_BYTES_MAX} are read",
            metadata.len()
        )));
    }
    let bytes = std::fs::read(path).map_err(Error::file(path))?;
    String::from_utf8(bytes).map_err(|_| Error::Malformed(format!("{path:?} is not UTF-8")))
}

/// Normalises a word for kinds and relations: lower-case letters, digits and `_`.
fn word(text: &str, otherwise: &str) -> String {
    let mut word = String::new();
    for character in text.chars().take(200) {
        match character.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9') => word.push(letter),
            _ if word.is_empty() || word.ends_with('_') => {}
            _ => word.push('_'),
        }
    }
    word.truncate(64);
    match word.trim_end_matches('_') {
        "" => otherwise.to_owned(),
        word => word.to_owned(),
    }
}

/// Builds a session id from a file's name.
fn id_of(prefix: &str, path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    format!("{prefix}-{}", word(&stem, "file").replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of other programs become valid words.
    #[test]
    fn words() {
        let cases = [
            ("Service Name", "service_name"),
            ("is responsible-for!", "is_responsible_for"),
            ("größe", "gr_e"),
            ("", "thing"),
            ("日本", "thing"),
        ];
        for (text, wanted) in cases {
            assert_eq!(word(text, "thing"), wanted);
        }
        assert_eq!(word(&"x".repeat(300), "thing").len(), 64);
        assert_eq!(
            id_of("imported", Path::new("/a/My File.json")),
            "imported-my-file"
        );
    }
}
