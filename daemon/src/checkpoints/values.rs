//! Reading objects back: from the cache, from their rows, from blobs; checked by their hashes, or all
//! at once by that of the context that they make up.

use std::sync::Arc;

use lore::protocol::RawJson;

use super::contents::{self, Content};
use super::pack;
use crate::cache::Cache;
use crate::canonical::Canonical;
use crate::events::checkpoints::{CheckpointSaved, ContextPart};
use crate::log::objects::{self, Object, ObjectForm, ObjectLocation};
use crate::log::{Hash, OBJECTS, Position};
use crate::operation::Context;
use crate::store::{Blobs, Error, Rows};

/// The longest way to an object that is whole: more than any save makes.
const CHAIN_MAX: usize = 64;
/// The longest value, in bytes: no call could bring a longer one.
const VALUE_BYTES_MAX: u64 = 64 << 20;

/// When values are compared with their hashes.
#[derive(Clone, Copy)]
enum Check {
    /// Each one on the way.
    Each,
    /// By what is made of them, by the caller: nothing is kept in memory until then.
    AtLast,
}

/// Values of objects in one state of the rows.
#[derive(Clone, Copy)]
pub struct Values<'v> {
    rows: &'v dyn Rows,
    blobs: &'v Blobs,
    cache: &'v Cache,
}

impl<'v> Values<'v> {
    /// Reads from these rows, and from what else the daemon has.
    #[must_use]
    pub fn of(cx: &'v Context, rows: &'v dyn Rows) -> Self {
        Self::new(rows, &cx.blobs, &cx.cache)
    }

    /// Reads from these.
    #[must_use]
    pub fn new(rows: &'v dyn Rows, blobs: &'v Blobs, cache: &'v Cache) -> Self {
        Self { rows, blobs, cache }
    }

    /// The value of an object.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it is missing or not what its hash says; nothing is changed then.
    pub fn get(&self, hash: &Hash) -> Result<Arc<Vec<u8>>, Error> {
        self.get_within(hash, CHAIN_MAX, Check::Each)
    }

    /// The value of an object, if it is in memory.
    #[must_use]
    pub fn known(&self, hash: &Hash) -> Option<Arc<Vec<u8>>> {
        self.cache.get(&cache_key(*hash))
    }

    /// Notes a value that was just brought: the next save is likely to need it.
    pub fn note(&self, hash: Hash, value: impl FnOnce() -> Vec<u8>) {
        let key = cache_key(hash);
        if self.cache.get::<Vec<u8>>(&key).is_none() {
            let value = Arc::new(value());
            let bytes = value.len();
            self.cache.put(key, value, bytes);
        }
    }

    fn get_within(
        &self,
        hash: &Hash,
        links_max: usize,
        check: Check,
    ) -> Result<Arc<Vec<u8>>, Error> {
        if let Some(value) = self.cache.get::<Vec<u8>>(&cache_key(*hash)) {
            return Ok(value);
        }
        let links_max = links_max
            .checked_sub(1)
            .ok_or_else(|| corrupt(hash, "it rests on too many others"))?;
        let object =
            objects::get(self.rows, hash)?.ok_or_else(|| corrupt(hash, "it is missing"))?;
        let value = self.unpacked(hash, object, links_max, check)?;
        let value = Arc::new(value);
        match check {
            Check::Each if Hash::of(&value) != *hash => {
                return Err(corrupt(hash, "it is not what its hash says"));
            }
            Check::Each => {
                let bytes = value.len();
                self.cache.put(cache_key(*hash), Arc::clone(&value), bytes);
            }
            Check::AtLast => {}
        }
        Ok(value)
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
        let packed = match object.place {
            ObjectLocation::Inline(packed) => packed,
            ObjectLocation::Blob(blob) => self.blobs.get(&blob)?,
        };
        let base = match object.form {
            ObjectForm::Plain => return Ok(packed),
            ObjectForm::Whole => None,
            ObjectForm::Delta { base } => Some(self.get_within(&base, links_max, check)?),
        };
        let base = base.as_ref().map(|base| base.as_slice());
        pack::unpack(&packed, length, base).map_err(|reason| corrupt(hash, &reason))
    }

    /// The canonical text of a part.
    fn text(&self, part: &ContextPart, check: Check) -> Result<String, Error> {
        let hash = part.hash();
        let value = self.get_within(&hash, CHAIN_MAX, check)?;
        String::from_utf8(Arc::unwrap_or_clone(value)).map_err(|_| corrupt(&hash, "it is not text"))
    }

    /// The whole context of a checkpoint.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a part cannot be read, or all of them are not the context saved.
    pub fn context(&self, manifest: &CheckpointSaved) -> Result<Arc<Canonical>, Error> {
        let hash = manifest.context_hash();
        if let Some(context) = self.known_context(hash) {
            return Ok(context);
        }
        let context = Arc::new(self.whole(manifest)?);
        self.note_context(hash, &context);
        Ok(context)
    }

    /// The same, to be spliced into a reply.
    ///
    /// # Errors
    /// As [`Values::context`].
    pub fn json(&self, manifest: &CheckpointSaved) -> Result<RawJson, Error> {
        let hash = manifest.context_hash();
        if let Some(json) = self.known_json(hash) {
            return Ok((*json).clone());
        }
        let text = match self.known_context(hash) {
            Some(context) => context.text.clone(),
            None => self.whole(manifest)?.text,
        };
        let json = RawJson::parse(text).map_err(|error| corrupt(&hash, &error.to_string()))?;
        let bytes = json.as_str().len();
        self.cache
            .put(json_key(hash), Arc::new(json.clone()), bytes);
        Ok(json)
    }

    /// The context of a hash as it is spliced into a reply, if it is in memory.
    #[must_use]
    pub fn known_json(&self, hash: Hash) -> Option<Arc<RawJson>> {
        self.cache.get(&json_key(hash))
    }

    fn whole(&self, manifest: &CheckpointSaved) -> Result<Canonical, Error> {
        let hash = manifest.context_hash();
        let is_whole = |context: &Canonical| Hash::of(context.text.as_bytes()) == hash;
        // One hash at the end costs a quarter of one for every value and base on the way.
        if let Ok(context) = self.some_of(manifest, None, Check::AtLast)
            && is_whole(&context)
        {
            return Ok(context);
        }
        // Which of them is it?
        let context = self.some_of(manifest, None, Check::Each)?;
        if !is_whole(&context) {
            let reason = "its parts are not the context that was saved";
            return Err(corrupt(&hash, reason));
        }
        Ok(context)
    }

    /// The context of a hash, if it is in memory.
    #[must_use]
    pub fn known_context(&self, hash: Hash) -> Option<Arc<Canonical>> {
        self.cache.get(&context_key(hash))
    }

    /// Notes a whole context: the latest is what is loaded most, and what the next is compared with.
    pub fn note_context(&self, hash: Hash, context: &Arc<Canonical>) {
        let bytes = context.text.len() + 64 * context.entries.len();
        self.cache
            .put(context_key(hash), Arc::clone(context), bytes);
    }

    /// Some keys of a checkpoint's context; only what they need is read.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a part cannot be read.
    pub fn only(
        &self,
        manifest: &CheckpointSaved,
        keys: &[String],
    ) -> Result<Arc<Canonical>, Error> {
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
        let mut pieces = Vec::new();
        for part in wanted {
            pieces.push(Content {
                key: part.key.as_deref(),
                text: self.text(part, check)?.into(),
            });
        }
        let mut context = contents::join(&pieces)
            .map_err(|error| corrupt(&manifest.context_hash(), &error.to_string()))?;
        if keys.is_some() {
            context = context.only(is_wanted);
        }
        Ok(context)
    }

    /// The top-level keys of a checkpoint's context.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a part cannot be read.
    pub fn keys(&self, manifest: &CheckpointSaved) -> Result<Vec<String>, Error> {
        let small = manifest.parts.iter().find(|part| part.key.is_none());
        let small = small.map(|part| self.text(part, Check::Each)).transpose()?;
        let large = manifest.parts.iter().filter_map(|part| part.key.as_deref());
        contents::keys(large, small.as_deref())
            .map_err(|error| corrupt(&manifest.context_hash(), &error.to_string()))
    }
}

/// Values stand under no event: their hash says all.
fn cache_key(hash: Hash) -> crate::cache::Key {
    (Position(0), hash)
}

/// Contexts likewise, beside the values of the same hash.
fn context_key(hash: Hash) -> crate::cache::Key {
    (Position(u64::MAX), hash)
}

/// The JSON of contexts.
fn json_key(hash: Hash) -> crate::cache::Key {
    (Position(u64::MAX - 1), hash)
}

fn corrupt(hash: &Hash, reason: &str) -> Error {
    Error::corrupt(OBJECTS.name(), &hash.0, reason)
}
