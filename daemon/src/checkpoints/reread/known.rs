//! What is kept in memory of the context that a session saved last: how it was received, its canonical text, its units,
//! and the states from which its hashes go on. Nothing depends on it but time.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use lored_redact::Rules;

use super::hashing::TextHash;
use super::units::{Unit, UnitBuilder};
use crate::cache::{Cache, Key};
use crate::canonical::Canonical;
use crate::checkpoints::edits::Edits;
use crate::log::{Hash, Position};
use crate::operation::Caller;

/// Shorter contexts are read whole, in bytes.
pub const KNOWN_BYTES_MIN: usize = 2048;

/// A context that was saved.
pub struct KnownContext {
    /// The rules of redaction under which nothing in it was redacted.
    pub rules: Arc<Rules>,
    /// The text as it was received.
    pub raw: Arc<Vec<u8>>,
    /// At least the number of its keys and items.
    pub values_max: usize,
    /// The canonical text.
    pub canonical: Arc<Canonical>,
    /// Its units, made at the first use; `None` if the context cannot be compared by units.
    pub units: OnceLock<Option<Arc<Vec<Unit>>>>,
    /// The hash of the canonical text.
    pub hash: TextHash,
    /// Its large values.
    pub pieces: Vec<KnownPiece>,
}

/// A large value.
#[derive(Clone)]
pub struct KnownPiece {
    /// Its key.
    pub key: String,
    /// Its range in the canonical text of the context.
    pub range: Range<usize>,
    /// The hash of its text.
    pub hash: TextHash,
    /// How it was made from earlier values, by their hashes.
    pub edits: Vec<(Hash, Edits)>,
}

impl KnownContext {
    /// Returns the units.
    pub fn units(&self) -> Option<&Arc<Vec<Unit>>> {
        let build = || {
            let mut builder = UnitBuilder::new(&self.raw, self.canonical.text.as_bytes());
            builder.add_context()?;
            Some(Arc::new(builder.units))
        };
        self.units.get_or_init(build).as_ref()
    }

    /// Returns the piece with this key.
    pub fn piece(&self, key: &str) -> Option<&KnownPiece> {
        self.pieces.iter().find(|piece| piece.key == key)
    }

    /// Keeps it in the cache.
    pub fn keep(self, cache: &Cache, place: Key) {
        let units = self.units.get().and_then(Option::as_ref);
        let units = units.map_or(self.raw.len() / 4, |units| units.len() * size_of::<Unit>());
        let pieces = self.pieces.iter().map(|piece| {
            let edits = piece.edits.iter();
            let segments: usize = edits.map(|(_, edits)| edits.segments().len()).sum();
            segments * 32 + piece.hash.bytes()
        });
        let bytes = self.raw.len() + self.canonical.text.len() + units + pieces.sum::<usize>();
        match cache.keeps(bytes) {
            true => cache.put(place, Arc::new(self), bytes),
            false => cache.put_oversized(place, Arc::new(self), bytes),
        }
    }
}

/// Returns the key under which the context of a session is kept, or that of the caller's own session.
pub fn place(caller: &Caller, session: Option<&str>) -> Key {
    let actor = &caller.actor;
    let name = match session {
        Some(session) => format!("session {} {session}", actor.uid),
        None => format!("own {} {} {}", actor.uid, actor.agent, actor.client),
    };
    (Position(u64::MAX - 2), Hash::of(name.as_bytes()))
}
