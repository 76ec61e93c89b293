//! The searchable units, and the changes to them.

use std::sync::Arc;

/// Bits of a key that hold the number of a unit within its position.
const NUMBER_BITS: u32 = 20;

/// Kind of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A chunk of a document.
    #[default]
    Document,
    /// A message of a session.
    Message,
    /// A step's result, or a part of it.
    Step,
    /// A passage of a context file.
    Context,
    /// A part of a checkpoint.
    Checkpoint,
}

impl Kind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 5] = [
        Self::Document,
        Self::Message,
        Self::Step,
        Self::Context,
        Self::Checkpoint,
    ];

    /// Returns the class that this kind is ranked in.
    pub fn class(self) -> Class {
        match self {
            Self::Document | Self::Context => Class::Documents,
            Self::Message | Self::Step | Self::Checkpoint => Class::Talk,
        }
    }

    /// Returns the stored code.
    pub(super) fn code(self) -> u64 {
        match self {
            Self::Document => 0,
            Self::Message => 1,
            Self::Step => 2,
            Self::Context => 3,
            Self::Checkpoint => 4,
        }
    }

    /// Returns the kind of a stored code.
    pub(super) fn of_code(code: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// Class of units with common statistics: word rarity and text length are relative to the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Texts written to be read: documents, context files.
    Documents,
    /// Messages, steps and checkpoint names: short, and understood only with the texts before them.
    Talk,
}

impl Class {
    /// Both classes.
    pub const ALL: [Self; 2] = [Self::Documents, Self::Talk];
}

/// The metadata of one searchable text (a unit), without the text itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexedText {
    /// [`key`] of the event's position and the unit's number within the event.
    pub key: u64,
    /// Kind of the unit.
    pub kind: Kind,
    /// Hash of the document, context file or session that the unit belongs to.
    pub group: u64,
    /// Hash of the unit's session; 0 outside of sessions.
    pub session: u64,
    /// Number within the group, such as a chunk's number.
    pub number: u32,
    /// Time when it was said or recorded, in seconds since 1970.
    pub time: u64,
}

impl IndexedText {
    /// Returns the position of the unit's event.
    pub fn position(&self) -> u64 {
        position_of(self.key)
    }
}

/// Returns the key of the `number`th unit of the event at `position`. Numbers have at most 20 bits and positions
/// at most 44.
pub fn key(position: u64, number: u32) -> u64 {
    position << NUMBER_BITS | u64::from(number)
}

/// Returns the position of a key's event.
pub fn position_of(key: u64) -> u64 {
    key >> NUMBER_BITS
}

/// Returns the number of a key's unit within its event.
pub fn number_of(key: u64) -> usize {
    (key & ((1 << NUMBER_BITS) - 1)) as usize
}

/// A change to the set of units.
#[derive(Clone, Debug)]
pub enum Change {
    /// Adds a unit. An existing unit with the same key stays unchanged.
    Add(NewText),
    /// Removes a group's units that were added before a position, such as the units of an older document version.
    RemoveGroup {
        /// [`IndexedText::group`].
        group: u64,
        /// Units at this position or later stay.
        before: u64,
    },
    /// Removes a session's units that were added before a position.
    RemoveSession {
        /// [`IndexedText::session`].
        session: u64,
        /// Units at this position or later stay.
        before: u64,
    },
    /// Removes all units of one position.
    RemovePosition {
        /// [`IndexedText::position`].
        position: u64,
    },
}

/// A unit with its text.
#[derive(Clone, Debug)]
pub struct NewText {
    /// The unit's metadata.
    pub unit: IndexedText,
    /// The unit's own text.
    pub text: String,
    /// For talk that is found by what stands around it, too: the texts before it in the session, each a paragraph. They are
    /// indexed with the text, beside the text alone. `None` where the text alone is indexed, as in documents.
    pub before: Option<Vec<Arc<str>>>,
}
