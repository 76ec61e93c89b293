//! A context that is saved: its canonical form, its hashes, and how it was made from the one that was saved before.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use lored_redact::Rules;

use super::command::ContextPiece;
use super::contents::{self, Content};
use super::edits::Edits;
use super::reread::{KnownContext, KnownPiece, Reread, TextHash, Unit};
use super::values::Values;
use crate::cache::Key;
use crate::canonical::{Canonical, key_order};
use crate::error::Refusal;
use crate::log::Hash;

/// A context that is ready for the decision.
pub struct SavedContext {
    pub canonical: Arc<Canonical>,
    hash: OnceLock<TextHash>,
    pieces: Vec<OnceLock<TextHash>>,
    /// What it was read with, if anything.
    origin: Option<Origin>,
    /// What the next context is compared with.
    received: Option<Received>,
}

/// The context that was saved before, and how this one was made from it.
struct Origin {
    known: Arc<KnownContext>,
    edits: Edits,
}

/// A context as it was received, in which nothing was redacted.
pub struct Received {
    /// Where it is kept.
    pub place: Key,
    /// The rules of redaction.
    pub rules: Arc<Rules>,
    /// The text.
    pub raw: Arc<Vec<u8>>,
    /// At least the number of its keys and items.
    pub values_max: usize,
    /// Its units, if they are known.
    pub units: OnceLock<Option<Arc<Vec<Unit>>>>,
}

/// Contexts longer than this are hashed by another thread while they are packed, in bytes.
const HASH_BESIDE_BYTES_MIN: usize = 64 * 1024;

impl SavedContext {
    /// Reads a JSON text as a context.
    ///
    /// # Errors
    /// `INVALID_INPUT` when it is not a JSON object with a canonical form.
    pub fn of(json: &str) -> Result<Self, Refusal> {
        let canonical = Canonical::of(json).map_err(|malformed| {
            Refusal::invalid(format!("`context` cannot be saved: {malformed}"))
                .hint("It is one JSON object, each key in it once.")
        })?;
        Ok(Self::new(Arc::new(canonical), None, None))
    }

    /// Keeps the text that it was read from, to compare the next one with it.
    #[must_use]
    pub fn received(self, received: Received) -> Self {
        Self {
            received: Some(received),
            ..self
        }
    }

    /// Takes a context that was read with the help of the one before.
    #[must_use]
    pub fn reread(mut reread: Reread, place: Key) -> Self {
        let received = Received {
            place,
            rules: Arc::clone(&reread.rules),
            raw: Arc::clone(&reread.raw),
            values_max: reread.values_max,
            units: reread.units(),
        };
        let origin = Origin {
            known: reread.known,
            edits: reread.edits,
        };
        Self::new(reread.canonical, Some(origin), Some(received))
    }

    fn new(canonical: Arc<Canonical>, origin: Option<Origin>, received: Option<Received>) -> Self {
        // All small values are one piece, so there is at most one more than there are keys.
        let pieces = canonical.entries.len() + 1;
        Self {
            canonical,
            hash: OnceLock::new(),
            pieces: vec![OnceLock::new(); pieces],
            origin,
            received,
        }
    }

    /// Returns the SHA-256 of the canonical text. It takes a fifth of a save, so it is computed at the first use, by
    /// the thread that needs it first.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.text_hash().hash
    }

    fn text_hash(&self) -> &TextHash {
        self.hash.get_or_init(|| {
            let text = self.canonical.text.as_bytes();
            match &self.origin {
                Some(Origin { known, edits }) => {
                    hash_after(&known.hash, known.canonical.text.len(), text, edits)
                }
                None => TextHash::of(text),
            }
        })
    }

    /// Returns the SHA-256 of a piece, by its number.
    pub fn piece_hash(&self, number: usize, content: &Content<'_>) -> TextHash {
        let make = || {
            let text = content.text.as_bytes();
            match self.known_piece(content) {
                Some((piece, edits)) => hash_after(&piece.hash, piece.range.len(), text, &edits),
                None => TextHash::of(text),
            }
        };
        match self.pieces.get(number) {
            Some(hash) => hash.get_or_init(make).clone(),
            None => make(),
        }
    }

    /// Returns the last value of a large key, and how the value was made from it.
    pub fn known_piece(&self, content: &Content<'_>) -> Option<(&KnownPiece, Edits)> {
        let origin = self.origin.as_ref()?;
        let piece = origin.known.piece(content.key?)?;
        let range = self.range(content.key?)?;
        let edits = origin.edits.part(range, piece.range.clone());
        Some((piece, edits))
    }

    /// Returns how a piece was made from an earlier value of its key.
    pub fn edits_from(&self, content: &Content<'_>, base: &Hash) -> Option<Edits> {
        let (piece, edits) = self.known_piece(content)?;
        if piece.hash.hash == *base {
            return Some(edits);
        }
        let (_, older) = piece.edits.iter().find(|(hash, _)| hash == base)?;
        Some(edits.after(older))
    }

    /// Returns the range of a key's value in the canonical text.
    fn range(&self, key: &str) -> Option<Range<usize>> {
        let entries = &self.canonical.entries;
        let found = entries.binary_search_by(|entry| key_order(&entry.key, key));
        Some(entries.get(found.ok()?)?.value.clone())
    }

    /// Whether it was read with the help of the one before.
    #[must_use]
    pub fn is_reread(&self) -> bool {
        self.origin.is_some()
    }

    /// Whether it differs from the context that it was compared with.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.is_reread() && self.is_known().is_none()
    }

    /// Returns the hash of the context that it was compared with, if it is equal.
    fn is_known(&self) -> Option<Hash> {
        let Origin { known, edits } = self.origin.as_ref()?;
        is_whole(edits, known.canonical.text.len()).then_some(known.hash.hash)
    }

    /// Computes the hash of the whole on another thread while this one computes those of the pieces and packs. The first
    /// thread that needs a hash computes it.
    pub fn hash_beside(self: &Arc<Self>) {
        if self.canonical.text.len() < HASH_BESIDE_BYTES_MIN || self.hash.get().is_some() {
            return;
        }
        let context = Arc::clone(self);
        drop(tokio::task::spawn_blocking(move || context.hash()));
    }

    /// Whether it is kept for the next save.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.received.is_some()
    }

    /// Keeps it for the next save, which is compared with it, with what its pieces were made from. Without pieces, nothing is
    /// known of what they were made from.
    pub fn keep(&self, values: &Values<'_>, pieces: &[ContextPiece]) {
        let Some(received) = &self.received else {
            return;
        };
        let contents = contents::split(&self.canonical);
        let known = contents.iter().enumerate();
        let known = known.filter_map(|(number, content)| {
            let key = content.key?;
            let chain = pieces.get(number).map(|piece| piece.chain.iter());
            let bases = chain.into_iter().flatten().skip(1);
            let edits = bases.filter_map(|link| {
                let edits = self.edits_from(content, &link.hash)?;
                (edits.new_bytes() <= edits.bytes() / 2).then_some((link.hash, edits))
            });
            Some(KnownPiece {
                key: key.to_owned(),
                range: self.range(key)?,
                hash: self.piece_hash(number, content),
                edits: edits.collect(),
            })
        });
        let known = KnownContext {
            rules: Arc::clone(&received.rules),
            raw: Arc::clone(&received.raw),
            values_max: received.values_max,
            canonical: Arc::clone(&self.canonical),
            units: received.units.clone(),
            hash: self.text_hash().clone(),
            pieces: known.collect(),
        };
        if let Some(origin) = &self.origin
            && origin.known.hash.hash != known.hash.hash
        {
            values.forget_context(origin.known.hash.hash);
        }
        known.keep(values.cache(), received.place);
    }

    /// Returns whether this is the context of a hash. A cached context is compared, which is faster than hashing.
    #[must_use]
    pub fn is(&self, hash: &Hash, values: &Values<'_>) -> bool {
        if let Some(known) = self.is_known() {
            return known == *hash;
        }
        match (self.hash.get(), values.known_context(*hash)) {
            (None, Some(known)) => known.text == self.canonical.text,
            _ => self.hash() == *hash,
        }
    }

    /// Its top-level keys.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<String> {
        let entries = self.canonical.entries.iter();
        entries.map(|entry| entry.key.clone()).collect()
    }
}

/// Hashes a text that was made from another one.
fn hash_after(known: &TextHash, known_bytes: usize, text: &[u8], edits: &Edits) -> TextHash {
    match is_whole(edits, known_bytes) {
        true => known.clone(),
        false => known.after(text, edits.shared_beginning()),
    }
}

/// Whether a text is the same as the one of this length that it was made from.
pub fn is_whole(edits: &Edits, known_bytes: usize) -> bool {
    edits.bytes() == known_bytes && edits.shared_beginning() == known_bytes
}
