//! Suspicion for lored: finds text that gives orders to a model. A web page, a tool's output or a file may say "ignore your
//! instructions", speak as the system or as the user, rewrite what was recorded earlier, or hide such a text.
//!
//! The crate is pure: results depend only on the text and its origin. It uses words, their order and the structure of the
//! text, and no model. So it finds what attacks usually say, in English, German, French, Spanish and Chinese, and it misses
//! what is worded in a new way. `README.md` has the figures.
//!
//! - [`scan`] returns the [`Finding`]s of a text.
//! - [`Origin`] says where the text comes from. A user may give orders; a web page may not.
//!
//! The time is linear in the length of the text: it is read in windows of [`WINDOW_BYTES`], and each word is compared with
//! a bounded number of words before it.

mod characters;
mod ciphers;
mod encodings;
mod fold;
mod lexicon;
mod markup;
mod phrases;
mod report;
mod rules;
mod signals;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use fold::WINDOW_BYTES;

/// Maximum number of findings of a text. The scan ends there.
pub const FINDINGS_MAX: usize = 16;

/// Maximum number of bytes of encoded text that is decoded and scanned.
const DECODED_BYTES_MAX: usize = 256 * 1024;

/// Where a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A person. Only hidden and encoded orders are reported.
    User,
    /// An agent. It may correct facts, plan calls and write about other agents.
    Agent,
    /// Output of a tool.
    Tool,
    /// A file or a web page.
    Document,
}

/// What a suspicious text does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Drops or replaces the model's instructions.
    Override,
    /// Speaks as the system, a developer, an administrator, the user or another agent.
    Identity,
    /// Rewrites facts that were recorded earlier.
    Rewrite,
    /// Asks for secrets, or to send them somewhere.
    Exfiltration,
    /// Asks the model to run commands or call tools.
    Tools,
    /// Asks to keep something from the user.
    Secrecy,
    /// Is invisible to people: hidden characters or markup.
    Concealment,
    /// Is encoded or disguised.
    Encoding,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Override,
        Self::Identity,
        Self::Rewrite,
        Self::Exfiltration,
        Self::Tools,
        Self::Secrecy,
        Self::Concealment,
        Self::Encoding,
    ];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Identity => "identity",
            Self::Rewrite => "rewrite",
            Self::Exfiltration => "exfiltration",
            Self::Tools => "tools",
            Self::Secrecy => "secrecy",
            Self::Concealment => "concealment",
            Self::Encoding => "encoding",
        }
    }

    /// Returns the kind with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A suspicious place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Kind.
    pub kind: Kind,
    /// Range in bytes, at character boundaries.
    pub range: Range<usize>,
}

/// Returns the suspicious places of a text, in order, at most [`FINDINGS_MAX`].
#[must_use]
pub fn scan(text: &str, origin: Origin) -> Vec<Finding> {
    report::scan(text, origin)
}

/// Returns whether a text has a suspicious place.
#[must_use]
pub fn is_suspicious(text: &str, origin: Origin) -> bool {
    !scan(text, origin).is_empty()
}
