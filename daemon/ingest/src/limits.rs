//! Resource limits for reading a file, and the errors when it is rejected.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Resource limits for one file. A file that exceeds one is rejected, or truncated with a warning if a part of it
/// is still useful.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Limits {
    /// File size, in bytes.
    pub file_bytes: usize,
    /// Size of the extracted text, in bytes; the rest is left out with a warning.
    pub text_bytes: usize,
    /// Inflated size of one part of an archive or one stream of a PDF, in bytes.
    pub part_bytes: usize,
    /// Total inflated size of all parts that are read, in bytes.
    pub parts_bytes: usize,
    /// Compression ratio of an archive's part; applies once the part exceeds 1 MiB.
    pub ratio: usize,
    /// Number of entries in an archive.
    pub parts: usize,
    /// Nesting depth.
    pub depth: usize,
    /// Pages of a PDF or slides of a presentation; the rest is left out with a warning.
    pub pages: usize,
    /// Number of sections; further headings stay as text.
    pub sections: usize,
    /// Whether the extraction is isolated, so that a lack of memory ends nothing else; required for workbooks.
    pub is_isolated: bool,
    /// Time limit, checked between units of work.
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

/// Reason why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The file exceeds [`Limits::file_bytes`].
    #[error("the file has {bytes} bytes; at most {most} are read")]
    TooLarge {
        /// Size of the file, in bytes.
        bytes: usize,
        /// Limit, in bytes.
        most: usize,
    },
    /// The file is binary, regardless of its name.
    #[error(
        "the file is binary ({what}); text, Markdown, HTML, source code, JSON, YAML, TOML, CSV, docx, pptx, xlsx, ods, epub and pdf are read"
    )]
    Binary {
        /// Detected content.
        what: Cow<'static, str>,
    },
    /// The file is encrypted with a password.
    #[error("the {what} is encrypted; store it without a password")]
    Encrypted {
        /// Format of the file.
        what: Cow<'static, str>,
    },
    /// The document violates its format.
    #[error("the {what} cannot be read: {why}")]
    Broken {
        /// Format of the file.
        what: Cow<'static, str>,
        /// Description of the violation.
        why: String,
    },
    /// A part inflates beyond the limits.
    #[error("{part} inflates to more than {most} bytes")]
    Inflates {
        /// Name of the part.
        part: String,
        /// Limit, in bytes.
        most: usize,
    },
    /// The archive has more entries than [`Limits::parts`].
    #[error("the archive has more than {most} entries")]
    TooManyParts {
        /// Limit on entries.
        most: usize,
    },
    /// The nesting exceeds [`Limits::depth`].
    #[error("the {what} nests deeper than {most}")]
    TooDeep {
        /// Format of the file.
        what: Cow<'static, str>,
        /// Limit on the nesting depth.
        most: usize,
    },
    /// The extraction exceeded [`Limits::time`].
    #[error("reading the file took longer than {} ms", .most.as_millis())]
    TooSlow {
        /// Time limit.
        most: Duration,
    },
    /// A reader panicked, because of a bug in lored or in a library.
    #[error("reading the {what} failed: {why}")]
    Fault {
        /// Format of the file.
        what: Cow<'static, str>,
        /// Message of the panic.
        why: String,
    },
}

/// The limits for one file, with its deadline.
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

    /// Fails with [`IngestError::TooSlow`] after the deadline.
    pub fn check(&self) -> Result<(), IngestError> {
        match self.until {
            Some(until) if Instant::now() > until => Err(IngestError::TooSlow {
                most: self.limits.time,
            }),
            _ => Ok(()),
        }
    }
}
