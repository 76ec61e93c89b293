//! Reads object values from the cache, their rows or blobs. Each value is checked by its hash, or all of them
//! at once by the hash of the context that they form.

use std::sync::Arc;

use lore::protocol::RawJson;

use super::contents::{self, Content};
use super::{pack, script};
use crate::budget;
use crate::cache::Cache;
use crate::canonical::Canonical;
use crate::events::checkpoints::{CheckpointSaved, ContextPart};
use crate::log::objects::{self, Object, ObjectForm, ObjectLocation};
use crate::log::{Hash, OBJECTS, Position};
use crate::operation::Context;
use crate::store::{Blobs, Error, Rows};

/// Maximum length of a delta chain, from an object to its keyframe. No save writes a longer one.
const CHAIN_MAX: usize = 64;
/// Maximum length of a value, in bytes. No call can carry a longer one.
const VALUE_BYTES_MAX: u64 = 64 << 20;

/// When values are checked against their hashes.
#[derive(Clone, Copy)]
enum Check {
    /// Every value is checked as it is read.
    Each,
    /// The caller checks the assembled context. Until then no value is cached.
    AtLast,
}

/// Reads object values in one state of the rows. A missing object, or a value or context that does not match its hash, is
/// [`Error::Corrupt`]; nothing is changed then.
#[derive(Clone, Copy)]
pub struct Values<'v> {
    rows: &'v dyn Rows,
    blobs: &'v Blobs,
    cache: &'v Cache,
}

impl<'v> Values<'v> {
    /// Creates a reader over `rows`, with the daemon's blobs and cache.
    #[must_use]
    pub fn of(cx: &'v Context, rows: &'v dyn Rows) -> Self {
        Self::new(rows, &cx.blobs, &cx.cache)
    }

    /// Creates a reader over `rows`, `blobs` and `cache`.
    #[must_use]
    pub fn new(rows: &'v dyn Rows, blobs: &'v Blobs, cache: &'v Cache) -> Self {
        Self { rows, blobs, cache }
    }

    /// Returns the cache.
    #[must_use]
    pub fn cache(&self) -> &'v Cache {
        self.cache
    }

    /// Returns the value of an object.
    pub fn get(&self, hash: &Hash) -> Result<Arc<Vec<u8>>, Error> {
        self.get_within(hash, CHAIN_MAX, Check::Each)
    }

    /// Returns the value of an object if it is cached.
    #[must_use]
    pub fn known(&self, hash: &Hash) -> Option<Arc<Vec<u8>>> {
        self.cache.get(&cache_key(*hash))
    }

    /// Caches a value that a save has just received, because the next save is likely to need it.
    pub fn note(&self, hash: Hash, value: impl FnOnce() -> Vec<u8>) {
        if self.known(&hash).is_none() {
            self.put(hash, Arc::new(value()));
        }
    }

    fn get_within(
        &self,
        hash: &Hash,
        links_max: usize,
        check: Check,
    ) -> Result<Arc<Vec<u8>>, Error> {
        if let Some(value) = self.known(hash) {
            return Ok(value);
        }
        let links_max = links_max
            .checked_sub(1)
            .ok_or_else(|| corrupt(hash, "it rests on too many others"))?;
        let object =
            objects::get(self.rows, hash)?.ok_or_else(|| corrupt(hash, "it is missing"))?;
        // Many values are made from a keyframe, so it is checked once, and cached.
        let is_base = links_max + 1 < CHAIN_MAX;
        let check = match object.base() {
            None if is_base => Check::Each,
            _ => check,
        };
        let value = self.unpacked(hash, object, links_max, check)?;
        let value = Arc::new(value);
        match check {
            Check::Each if Hash::of(&value) != *hash => {
                return Err(corrupt(hash, "it is not what its hash says"));
            }
            Check::Each => self.put(*hash, Arc::clone(&value)),
            Check::AtLast => {}
        }
        Ok(value)
    }

    fn put(&self, hash: Hash, value: Arc<Vec<u8>>) {
        let bytes = value.len();
        self.cache.put(cache_key(hash), value, bytes);
    }

    fn unpacked(
        &self,
        hash: &Hash,
        object: Object,
        links_max: usize,
        check: Check,
    ) -> Result<Vec<u8>, Error> {
        let length = usize::try_from(object.bytes)
            .ok()
            .filter(|_| object.bytes <= VALUE_BYTES_MAX)
            .ok_or_else(|| corrupt(hash, "it claims to be longer than any value"))?;
        budget::reserve(length)?;
        let packed = match object.place {
            ObjectLocation::Inline(packed) => packed,
            ObjectLocation::Blob(blob) => self.blobs.get(&blob)?,
        };
        let base = match object.form {
            ObjectForm::Plain => return Ok(packed),
            ObjectForm::Whole => None,
            ObjectForm::Delta { base } => Some(self.get_within(&base, links_max, check)?),
            ObjectForm::Edits { base } => {
                let base = self.get_within(&base, links_max, check)?;
                return script::apply(&packed, &base, length)
                    .map_err(|reason| corrupt(hash, &reason));
            }
        };
        let base = base.as_ref().map(|base| base.as_slice());
        pack::unpack(&packed, length, base).map_err(|reason| corrupt(hash, &reason))
    }

    /// Reads the canonical text of a part.
    fn text(&self, part: &ContextPart, check: Check) -> Result<String, Error> {
        let hash = part.hash();
        let value = self.get_within(&hash, CHAIN_MAX, check)?;
        String::from_utf8(Arc::unwrap_or_clone(value)).map_err(|_| corrupt(&hash, "it is not text"))
    }

    /// Returns the whole context of a checkpoint.
    pub fn context(&self, manifest: &CheckpointSaved) -> Result<Arc<Canonical>, Error> {
        let hash = manifest.context_hash();
        if let Some(context) = self.known_context(hash) {
            return Ok(context);
        }
        let context = Arc::new(self.whole(manifest)?);
        // Most older contexts are loaded once. What is cached takes new memory, which costs more than unpacking.
        if self.cache.get::<LoadedOnce>(&loaded_key(hash)).is_some() {
            self.note_context(hash, &context);
        } else {
            let bytes = size_of::<crate::cache::Key>();
            self.cache
                .put(loaded_key(hash), Arc::new(LoadedOnce), bytes);
        }
        Ok(context)
    }

    /// Returns the whole context as JSON, to be spliced into a reply.
    pub fn json(&self, manifest: &CheckpointSaved) -> Result<RawJson, Error> {
        self.context(manifest)
            .map(|context| RawJson::of_valid(context))
    }

    fn whole(&self, manifest: &CheckpointSaved) -> Result<Canonical, Error> {
        let hash = manifest.context_hash();
        let is_whole = |context: &Canonical| Hash::of(context.text.as_bytes()) == hash;
        // One hash at the end costs a quarter of hashing every value and base on the way.
        if let Ok(context) = self.some_of(manifest, None, Check::AtLast)
            && is_whole(&context)
        {
            return Ok(context);
        }
        // Read again with every value checked, to name the damaged one.
        let context = self.some_of(manifest, None, Check::Each)?;
        if !is_whole(&context) {
            return Err(corrupt(
                &hash,
                "its parts are not the context that was saved",
            ));
        }
        Ok(context)
    }

    /// Returns a context by its hash, if it is cached.
    #[must_use]
    pub fn known_context(&self, hash: Hash) -> Option<Arc<Canonical>> {
        self.cache.get(&context_key(hash))
    }

    /// Forgets a context that is not the latest one any more; it is unpacked when it is loaded.
    pub fn forget_context(&self, hash: Hash) {
        self.cache.remove(&context_key(hash));
    }

    /// Caches a whole context. The latest one is loaded most often, and the next save is compared with it.
    pub fn note_context(&self, hash: Hash, context: &Arc<Canonical>) {
        let bytes = context.text.len() + 64 * context.entries.len();
        self.cache
            .put(context_key(hash), Arc::clone(context), bytes);
    }

    /// Returns selected keys of a checkpoint's context. Only the parts that they need are read.
    pub fn only(
        &self,
        manifest: &CheckpointSaved,
        keys: &[String],
    ) -> Result<Arc<Canonical>, Error> {
        if let Some(context) = self.known_context(manifest.context_hash()) {
            let is_wanted = |key: &str| keys.iter().any(|wanted| wanted == key);
            return Ok(Arc::new(context.only(is_wanted)));
        }
        self.some_of(manifest, Some(keys), Check::Each)
            .map(Arc::new)
    }

    fn some_of(
        &self,
        manifest: &CheckpointSaved,
        keys: Option<&[String]>,
        check: Check,
    ) -> Result<Canonical, Error> {
        let is_wanted = |key: &str| keys.is_none_or(|keys| keys.iter().any(|wanted| wanted == key));
        let wanted = manifest.parts.iter();
        let wanted = wanted.filter(|part| part.key.as_deref().is_none_or(is_wanted));
        let pieces = wanted.map(|part| {
            let text = self.text(part, check)?.into();
            let key = part.key.as_deref();
            Ok(Content { key, text })
        });
        let mut context = contents::join(&pieces.collect::<Result<Vec<_>, Error>>()?)
            .map_err(|error| corrupt(&manifest.context_hash(), &error.to_string()))?;
        if keys.is_some() {
            context = context.only(is_wanted);
        }
        Ok(context)
    }

    /// Returns the top-level keys of a checkpoint's context.
    pub fn keys(&self, manifest: &CheckpointSaved) -> Result<Vec<String>, Error> {
        let small = manifest.parts.iter().find(|part| part.key.is_none());
        let small = small.map(|part| self.text(part, Check::Each)).transpose()?;
        let large = manifest.parts.iter().filter_map(|part| part.key.as_deref());
        contents::keys(large, small.as_deref())
            .map_err(|error| corrupt(&manifest.context_hash(), &error.to_string()))
    }
}

/// Returns the context of a checkpoint as canonical JSON, read around the cache; `None` if it cannot be read: it is
/// damaged, or was deleted.
#[must_use]
pub fn uncached_json(rows: &dyn Rows, blobs: &Blobs, manifest: &CheckpointSaved) -> Option<String> {
    let cache = Cache::new(0);
    let context = Values::new(rows, blobs, &cache).whole(manifest).ok()?;
    Some(context.text)
}

/// Values belong to no event, so their cache keys use position 0: the hash identifies them.
fn cache_key(hash: Hash) -> crate::cache::Key {
    (Position(0), hash)
}

/// Marks a context that was loaded before.
struct LoadedOnce;

fn loaded_key(hash: Hash) -> crate::cache::Key {
    (Position(u64::MAX - 1), hash)
}

/// A separate position, so that a context and a value of the same hash do not collide.
fn context_key(hash: Hash) -> crate::cache::Key {
    (Position(u64::MAX), hash)
}

fn corrupt(hash: &Hash, reason: &str) -> Error {
    Error::corrupt(OBJECTS.name(), &hash.0, reason)
}
