//! What is searched, unit by unit, and how the set of units changes.

/// How many bits of a key number the units of one position.
const NUMBER_BITS: u32 = 20;

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A chunk of a document.
    Document,
    /// A message of a session.
    Message,
    /// A step's result, or a piece of it.
    Step,
    /// A passage of a context file.
    Context,
    /// The name of a checkpoint.
    Checkpoint,
}

impl Kind {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 5] = [
        Self::Document,
        Self::Message,
        Self::Step,
        Self::Context,
        Self::Checkpoint,
    ];

    /// Which units it is ranked among.
    pub fn class(self) -> Class {
        match self {
            Self::Document | Self::Context => Class::Documents,
            Self::Message | Self::Step | Self::Checkpoint => Class::Talk,
        }
    }

    /// The number it is stored as.
    pub(super) fn code(self) -> u64 {
        match self {
            Self::Document => 0,
            Self::Message => 1,
            Self::Step => 2,
            Self::Context => 3,
            Self::Checkpoint => 4,
        }
    }

    /// The kind of a stored number.
    pub(super) fn of_code(code: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// Units whose words are counted together: how rare a word is and how long a text is are
/// relative to these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Texts that were written to be read: documents, context files.
    Documents,
    /// What was said and done: short, and understood only with what came before.
    Talk,
}

impl Class {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Documents, Self::Talk];
}

/// One searchable text, without the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedText {
    /// What it is found by: [`key`] of the position of the event that brought it.
    pub key: u64,
    /// What it is.
    pub kind: Kind,
    /// The hash of what it goes with: its document, its context file, its session.
    pub group: u64,
    /// The hash of its session; 0 outside sessions.
    pub session: u64,
    /// Its number within its group, such as that of a chunk.
    pub number: u32,
}

impl IndexedText {
    /// The position of the event that brought it.
    pub fn position(&self) -> u64 {
        self.key >> NUMBER_BITS
    }
}

/// The key of the `number`th unit that the event at `position` brought; numbers beyond 20 bits
/// and positions beyond 44 do not exist.
pub fn key(position: u64, number: u32) -> u64 {
    position << NUMBER_BITS | u64::from(number)
}

/// A change of the set of units.
#[derive(Clone, Debug)]
pub enum Change {
    /// A unit that can be found from now on. One whose key is there already stays as it is.
    Add(NewText),
    /// The units of a group that came before a position are gone: a newer version of a document
    /// takes their place, or nothing.
    RemoveGroup {
        /// [`IndexedText::group`].
        group: u64,
        /// What came at this position or later stays.
        before: u64,
    },
    /// The units of a session that came before a position are gone.
    RemoveSession {
        /// [`IndexedText::session`].
        session: u64,
        /// What came at this position or later stays.
        before: u64,
    },
    /// All units of one position are gone.
    RemovePosition {
        /// [`IndexedText::position`].
        position: u64,
    },
}

/// A unit with the text it is found by.
#[derive(Clone, Debug)]
pub struct NewText {
    /// The unit.
    pub unit: IndexedText,
    /// Its own text.
    pub text: String,
    /// Talk only: the text together with the two before it in its session. Documents leave it
    /// empty; what stands there for them is not indexed.
    pub around: String,
}
