//! Why a text index cannot be used.

/// What went wrong with an index of texts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Made by another version of the analyser, the format or the caller: to be deleted and made
    /// anew from the log.
    #[error("the text index is of version {found}, this is {wanted}: delete it, it is rebuilt")]
    OtherVersion {
        /// What it says it is.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// Not a whole index: to be deleted and made anew from the log.
    #[error("the text index is damaged: delete it, it is rebuilt ({0})")]
    Damaged(String),
    /// What is fresh could not be written down: it stays in memory, and all else is as it was.
    #[error("the text index could not be written, and is kept in memory: {0}")]
    Unwritten(String),
    /// The disk or the memory failed; what was settled before is as it was.
    #[error("the text index could not be read or written: {0}")]
    Failed(String),
}

impl Error {
    /// Whether deleting the folder and applying the log anew is the cure.
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
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Runs what reads files that may be damaged. The library below trusts what it wrote and panics
/// on what it cannot have written; checking every checksum at each start would read the whole
/// index instead.
pub(super) fn contained<T>(reading: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let reading = std::panic::AssertUnwindSafe(reading);
    std::panic::catch_unwind(reading).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::Damaged(said.unwrap_or("unknown cause").to_owned()))
    })
}
