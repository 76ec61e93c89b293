//! What a file may cost, and why one is refused.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// What one file may cost; a file beyond any of these is refused, or told about in a warning where a
/// part of it is still of use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Limits {
    /// The file itself, in bytes.
    pub file_bytes: usize,
    /// The text that is made of it, in bytes; what is beyond is left out with a warning.
    pub text_bytes: usize,
    /// One part of an archive or one stream of a PDF, inflated, in bytes.
    pub part_bytes: usize,
    /// All parts that are read, inflated, in bytes.
    pub parts_bytes: usize,
    /// How many bytes one byte of an archive may inflate to, once a part is over 1 MiB.
    pub ratio: usize,
    /// Entries of an archive.
    pub parts: usize,
    /// Objects within objects.
    pub depth: usize,
    /// Pages of a PDF, slides of a presentation; those beyond are left out with a warning.
    pub pages: usize,
    /// Headings that begin a section; those beyond stay as text.
    pub sections: usize,
    /// Whether the extraction runs where a lack of memory ends nothing else: needed for workbooks.
    pub is_isolated: bool,
    /// How long it may take, checked between pieces of work.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 50 << 20,
            text_bytes: 64 << 20,
            part_bytes: 32 << 20,
            parts_bytes: 64 << 20,
            ratio: 100,
            parts: 2000,
            depth: 128,
            pages: 5000,
            sections: 50_000,
            is_isolated: false,
            time: Duration::from_secs(20),
        }
    }
}

/// Why a file gives no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// Larger than [`Limits::file_bytes`].
    #[error("the file has {bytes} bytes; at most {most} are read")]
    TooLarge {
        /// What it has.
        bytes: usize,
        /// What it may have.
        most: usize,
    },
    /// No text, whatever its name says.
    #[error(
        "the file is binary ({what}); text, Markdown, HTML, source code, JSON, YAML, TOML, CSV, docx, pptx, xlsx, ods, epub and pdf are read"
    )]
    Binary {
        /// What it looks like.
        what: Cow<'static, str>,
    },
    /// A format that needs a password.
    #[error("the {what} is encrypted; store it without a password")]
    Encrypted {
        /// Which format.
        what: Cow<'static, str>,
    },
    /// A document that does not follow its format.
    #[error("the {what} cannot be read: {why}")]
    Broken {
        /// Which format.
        what: Cow<'static, str>,
        /// What is wrong with it.
        why: String,
    },
    /// A part that inflates beyond the limits.
    #[error("{part} inflates to more than {most} bytes")]
    Inflates {
        /// The part's name.
        part: String,
        /// What it may become.
        most: usize,
    },
    /// More entries than [`Limits::parts`].
    #[error("the archive has more than {most} entries")]
    TooManyParts {
        /// What it may have.
        most: usize,
    },
    /// Objects within objects beyond [`Limits::depth`].
    #[error("the {what} nests deeper than {most}")]
    TooDeep {
        /// Which format.
        what: Cow<'static, str>,
        /// How deep it may nest.
        most: usize,
    },
    /// Not done within [`Limits::time`].
    #[error("reading the file took longer than {} ms", .most.as_millis())]
    TooSlow {
        /// How long it may take.
        most: Duration,
    },
    /// A reader panicked; a fault of ours or of a library's.
    #[error("reading the {what} failed: {why}")]
    Fault {
        /// Which format.
        what: Cow<'static, str>,
        /// What the panic said.
        why: String,
    },
}

/// Limits, and the moment when the time is over.
pub(super) struct Budget<'l> {
    pub limits: &'l Limits,
    until: Option<Instant>,
}

impl<'l> Budget<'l> {
    pub fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            until: Instant::now().checked_add(limits.time),
        }
    }

    /// # Errors
    /// [`IngestError::TooSlow`] when the time is over.
    pub fn check(&self) -> Result<(), IngestError> {
        match self.until {
            Some(until) if Instant::now() > until => Err(IngestError::TooSlow {
                most: self.limits.time,
            }),
            _ => Ok(()),
        }
    }
}
