//! Prepares an imported session for recording: blobs, packing, encoding and hashing, all work that
//! needs no decision.

use super::command::{PreparedEvent, PreparedEvents, imported};
use super::read::{ImportedEvent, ParsedSession};
use crate::canonical::Canonical;
use crate::checkpoints::{ImportBuilder, Limits};
use crate::clock::Clock;
use crate::error::Refusal;
use crate::events::{BlobHash, Event};
use crate::log::Body;
use crate::messages;
use crate::steps::Text;
use crate::store::{BlobRef, Blobs, Error};
use crate::tokens::Tokens;

/// Metadata and body of an event.
pub type Parts = (Event, Vec<u8>);

/// Dependencies of the preparation.
pub struct ImportContext<'w> {
    /// Stores large texts.
    pub blobs: &'w Blobs,
    /// Source of salts, and of new ids for checkpoints whose ids are taken.
    pub clock: &'w Clock,
    /// Counts the tokens of messages without a token count.
    pub tokens: &'w Tokens,
    /// Limits of checkpoints.
    pub limits: &'w Limits,
}

impl ImportContext<'_> {
    /// Prepares a session's events, except those that `there` marks as existing. Events beyond its end are new.
    pub fn prepare(
        &self,
        imported: ParsedSession,
        there: &[bool],
    ) -> Result<PreparedEvents, Refusal> {
        let mut making = SessionImportBuilder {
            shop: self,
            bringing: ImportBuilder::new(self.blobs, self.clock, self.limits),
            ready: PreparedEvents::default(),
            context: None,
        };
        for (index, event) in imported.events.into_iter().enumerate() {
            match there.get(index) {
                Some(true) => event
                    .payload
                    .know(event.context.as_ref(), &mut making.bringing),
                Some(false) | None => making.add(event)?,
            }
        }
        let mut ready = making.ready;
        ready.imported = making.bringing.done();
        Ok(ready)
    }
}

/// Collects the prepared events.
pub struct SessionImportBuilder<'m> {
    shop: &'m ImportContext<'m>,
    pub(super) bringing: ImportBuilder<'m>,
    ready: PreparedEvents,
    /// The context of the current event, if it is a checkpoint.
    pub(super) context: Option<Canonical>,
}

impl SessionImportBuilder<'_> {
    fn add(&mut self, event: ImportedEvent) -> Result<(), Refusal> {
        let origin = event.origin;
        self.context = event.context;
        let prepared = match event.payload.import(self)? {
            None => PreparedEvent::OfCheckpoints(origin),
            Some((event, body)) => {
                let body = Body::new(body, self.shop.clock.random());
                let event = imported(event, body, origin);
                self.ready.bytes += event.bytes();
                PreparedEvent::Event(Box::new(event))
            }
        };
        self.ready.events.push(prepared);
        Ok(())
    }

    /// Stores a text in an event's form.
    pub(super) fn keep(&mut self, text: String, named: &mut Vec<BlobHash>) -> Result<Text, Error> {
        let text = Text::keep(self.shop.blobs, text, &mut self.ready.blobs)?;
        named.extend(text.blob().map(|BlobRef { hash, .. }| BlobHash::from(hash)));
        Ok(text)
    }

    pub(super) fn keep_some(
        &mut self,
        text: Option<String>,
        named: &mut Vec<BlobHash>,
    ) -> Result<Option<Text>, Error> {
        text.map(|text| self.keep(text, named)).transpose()
    }

    /// Counts the tokens of a message without its quotations.
    pub(super) fn tokens(&self, content: &str, quoted: &[(u32, u32)]) -> u32 {
        let new = messages::quotations::without(content, quoted);
        u32::try_from(self.shop.tokens.count(&new)).unwrap_or(u32::MAX)
    }
}
