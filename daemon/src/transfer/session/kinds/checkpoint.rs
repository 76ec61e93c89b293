//! Kinds of checkpoints: saved contexts and critical keys. The import of checkpoints decides their events.

use lore::protocol::RawObject;

use super::mirror::object;
use super::{LinePayload, Parts, SessionImportBuilder};
use crate::canonical::Canonical;
use crate::checkpoints::{
    CheckpointKey, CheckpointSaved, ImportBuilder, KeyMarked, Limits, Metadata,
};
use crate::error::Refusal;
use crate::log::{Hash, LoggedEvent};
use crate::store::Error;
use crate::transfer::session::check::Checker;
use crate::transfer::session::export::{object, one_object};
use crate::transfer::session::markdown::{Section, escaped};
use crate::transfer::session::read::sanitized;

object! {
    /// A context was saved. Deleted checkpoints are not exported, nor are their deletions.
    Checkpoint {
        /// Its id, a UUID; if the id is taken on import, it gets another one.
        checkpoint: String,
        /// SHA-256 of the context's canonical JSON, hexadecimal; absent: not verified.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        hash: Option<String>,
        /// The whole context.
        context: RawObject,
        /// Metadata: `name`, `tags` and any other.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        metadata: Option<RawObject>,
        /// The id of the checkpoint that it was forked from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        forked_from: Option<String>,
    }
}

impl Checkpoint {
    /// Exports the event.
    pub fn export(
        event: &LoggedEvent,
        saved: &CheckpointSaved,
        context: &Canonical,
        metadata: Option<String>,
    ) -> Result<Self, Error> {
        Ok(Self {
            checkpoint: saved.checkpoint.to_string(),
            hash: Some(saved.context_hash().to_string()),
            context: one_object(event, context.text.clone())?,
            metadata: object(event, metadata)?,
            forked_from: saved.forked_from.map(|from| from.to_string()),
        })
    }
}

impl LinePayload for Checkpoint {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        let key = key("checkpoint", &self.checkpoint)?;
        if let Some(from) = &self.forked_from {
            self::key("forked_from", from)?;
        }
        let context = Canonical::of(self.context.as_str())
            .map_err(|malformed| format!("`context` cannot be kept: {malformed}"))?;
        if let Some(hash) = &self.hash {
            let is = Hash::of(context.text.as_bytes()).to_string();
            if *hash != is {
                return Err(format!(
                    "`hash` is {}, and that of `context` is {is}: one of them was changed",
                    sanitized(hash)
                ));
            }
        }
        if let Some(metadata) = &self.metadata {
            let map = serde_json::from_str(metadata.as_str())
                .map_err(|error| format!("`metadata` is not an object: {error}"))?;
            Metadata::of(Some(map)).map_err(|refusal| refusal.message)?;
        }
        if !earlier.checkpoints.insert(key) {
            return Err(format!(
                "the checkpoint `{key}` is on an earlier line; each id occurs once"
            ));
        }
        earlier.context = Some(context);
        Ok(())
    }

    fn import(self, to: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let context = to.context.take().unwrap_or_default();
        let metadata = self.metadata.map(RawObject::into_string);
        let from = self.forked_from.as_deref().and_then(CheckpointKey::parse);
        // The id was validated before.
        if let Some(checkpoint) = CheckpointKey::parse(&self.checkpoint) {
            to.bringing.save(checkpoint, from, &context, metadata)?;
        }
        Ok(None)
    }

    fn know(&self, context: Option<&Canonical>, to: &mut ImportBuilder<'_>) {
        if let Some(checkpoint) = CheckpointKey::parse(&self.checkpoint) {
            let entries = context.map(|context| &context.entries);
            let keys = entries.into_iter().flatten().map(|entry| &entry.key);
            to.know(checkpoint, keys.cloned());
        }
    }

    fn render(&self, to: &mut Section<'_>) {
        let bytes = self.context.as_str().len();
        to.note(&format!(
            "checkpoint `{}`, {bytes} bytes of context",
            self.checkpoint
        ));
    }
}

object! {
    /// A top-level key of the session's contexts was marked critical.
    Mark {
        /// The key.
        key: String,
        /// Whether the mark was removed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unmarked: bool,
    }
}

impl From<KeyMarked> for Mark {
    fn from(stored: KeyMarked) -> Self {
        Self {
            key: stored.key,
            unmarked: stored.is_unmarked,
        }
    }
}

impl LinePayload for Mark {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        let (bytes, max) = (self.key.len(), Limits::MARK_BYTES_MAX);
        if bytes > max {
            return Err(format!(
                "`key` has {bytes} bytes; keys of up to {max} can be marked"
            ));
        }
        if self.unmarked {
            earlier.marks.remove(&self.key);
        } else {
            earlier.marks.insert(self.key.clone());
        }
        if earlier.marks.len() > Limits::MARKS_MAX {
            return Err(format!(
                "a session has at most {} critical keys",
                Limits::MARKS_MAX
            ));
        }
        Ok(())
    }

    fn import(self, to: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        to.bringing.mark(self.key, self.unmarked);
        Ok(None)
    }

    fn know(&self, _: Option<&Canonical>, to: &mut ImportBuilder<'_>) {
        to.know_mark(&self.key, self.unmarked);
    }

    fn render(&self, to: &mut Section<'_>) {
        let is = if self.unmarked { "no longer" } else { "marked" };
        to.note(&format!("key {} {is} critical", escaped(&self.key)));
    }
}

fn key(field: &str, text: &str) -> Result<CheckpointKey, String> {
    CheckpointKey::parse(text).ok_or_else(|| {
        format!(
            "`{field}` is {}; the id of a checkpoint is a UUID such as \
             0900eb95-fa02-4c89-b5dc-9be41f83ef66",
            sanitized(text)
        )
    })
}
