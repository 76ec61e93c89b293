//! Errors of frames.

use super::super::{Code, DEPTH_MAX, ErrorBody, PROTOCOL_VERSION, VALUES_MAX};

/// Reason why bytes are not a valid frame here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The length exceeds the limit.
    #[error("a frame of {length} bytes is over the limit of {limit}")]
    TooLarge {
        /// Length in the prefix, in bytes.
        length: u64,
        /// Limit, in bytes.
        limit: u64,
    },
    /// The length is 0.
    #[error("a frame is empty; it holds a CBOR map")]
    Empty,
    /// The bytes end inside an item, or the stream inside a frame.
    #[error("the frame ends too early: an item claims more bytes than there are")]
    Cut,
    /// There are bytes after the map.
    #[error("the frame has {0} bytes after its map")]
    Trailing(usize),
    /// The frame is not well-formed CBOR.
    #[error("the frame is not well-formed CBOR")]
    NotCbor,
    /// A text or byte string without a length, or an envelope of indefinite length.
    #[error("an item has no definite length; only arrays and maps inside of args may do without")]
    Indefinite,
    /// The outermost item is not a map.
    #[error("a frame holds one CBOR map with text keys")]
    NotAMap,
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    NotUtf8,
    /// A number that JSON cannot represent.
    #[error("a number is NaN or infinite, which JSON does not have")]
    NotANumber,
    /// An item in args that JSON cannot represent.
    #[error("args hold {0}, which JSON does not have")]
    NotJson(&'static str),
    /// The nesting is too deep.
    #[error(
        "the frame is nested too deeply: an envelope by 64 levels at most, a body by {DEPTH_MAX}"
    )]
    TooDeep,
    /// There are too many keys and items.
    #[error("args have more than {VALUES_MAX} keys and items")]
    TooManyValues,
    /// A field has the wrong type.
    #[error("the field `{0}` must be {1}")]
    Field(&'static str, &'static str),
    /// A field is missing.
    #[error("the field `{0}` is missing")]
    Missing(&'static str),
    /// A field occurs twice.
    #[error("the field `{0}` is set twice")]
    Twice(&'static str),
    /// A field is unknown.
    #[error("unknown field `{name}`{}", nearest_note(*nearest))]
    Unknown {
        /// Name as received, at most 64 characters.
        name: String,
        /// The nearest known field.
        nearest: Option<&'static str>,
    },
    /// A frame type that is not allowed here.
    #[error("the frame is {0}")]
    Unexpected(&'static str),
    /// The other side uses another protocol version.
    #[error("protocol version {0} is not spoken here; version {PROTOCOL_VERSION} is")]
    Version(u64),
}

fn nearest_note(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; the nearest one is `{name}`"))
        .unwrap_or_default()
}

impl FrameError {
    /// Returns the error code for an answer to this frame.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::TooLarge { .. } => Code::FrameTooLarge,
            Self::Version(_) => Code::VersionMismatch,
            Self::Empty
            | Self::Cut
            | Self::Trailing(_)
            | Self::NotCbor
            | Self::Indefinite
            | Self::NotAMap
            | Self::NotUtf8
            | Self::NotANumber
            | Self::NotJson(_)
            | Self::TooDeep
            | Self::TooManyValues
            | Self::Field(..)
            | Self::Missing(_)
            | Self::Twice(_)
            | Self::Unknown { .. }
            | Self::Unexpected(_) => Code::InvalidInput,
        }
    }
}

impl From<FrameError> for ErrorBody {
    fn from(error: FrameError) -> Self {
        let body = Self::new(error.code(), error.to_string());
        match error {
            FrameError::Version(_) => body.hint("use a lore and a lored of the same release"),
            _ => body.hint("docs/protocol.md describes every frame"),
        }
    }
}
