//! Errors of the text index.

use std::io::ErrorKind;

use tantivy::directory::error::OpenReadError;

/// Error of the text index.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index was written by another version of the analyser, the format or the caller. Delete it and rebuild it
    /// from the log.
    #[error("the text index is of version {found}, this is {wanted}: delete it, it is rebuilt")]
    OtherVersion {
        /// Version stamp of the folder.
        found: String,
        /// Expected version stamp.
        wanted: String,
    },
    /// The index is incomplete or corrupt. Delete it and rebuild it from the log.
    #[error("the text index is damaged: delete it, it is rebuilt ({0})")]
    Damaged(String),
    /// In-memory changes could not be flushed. They stay in memory, and the index is otherwise unchanged.
    #[error("the text index could not be written, and is kept in memory: {0}")]
    Unwritten(String),
    /// The disk or an allocation failed; flushed data is unchanged.
    #[error("the text index could not be read or written: {0}")]
    Failed(String),
}

impl Error {
    /// Whether deleting the folder and replaying the log resolves the error.
    pub fn is_cured_by_rebuilding(&self) -> bool {
        match self {
            Self::OtherVersion { .. } | Self::Damaged(_) => true,
            Self::Unwritten(_) | Self::Failed(_) => false,
        }
    }
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        use tantivy::TantivyError as Cause;
        match &error {
            Cause::DataCorruption(_)
            | Cause::IncompatibleIndex(_)
            | Cause::SchemaError(_)
            | Cause::FieldNotFound(_) => Self::Damaged(error.to_string()),
            Cause::OpenReadError(OpenReadError::FileDoesNotExist(_))
            | Cause::OpenReadError(OpenReadError::IncompatibleIndex(_)) => {
                Self::Damaged(error.to_string())
            }
            Cause::OpenReadError(OpenReadError::IoError { io_error, .. })
            | Cause::IoError(io_error)
                if is_damage(io_error.kind()) =>
            {
                Self::Damaged(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// Whether an error is about the bytes of a file, not about reading it.
fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Runs code that reads files that may be damaged, and reports a panic as [`Error::Damaged`].
///
/// tantivy trusts its own files and panics on invalid ones. Verifying all checksums at each start would instead
/// read the whole index.
pub(super) fn contained<T>(reading: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let reading = std::panic::AssertUnwindSafe(reading);
    std::panic::catch_unwind(reading).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::Damaged(said.unwrap_or("unknown cause").to_owned()))
    })
}
