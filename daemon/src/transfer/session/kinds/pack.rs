//! Kinds of a session's working set: pruned, and pruning undone.

use super::entity::{EntityRef, Source};
use super::mirror::{Mirror, object};
use super::{LinePayload, Parts, SessionImportBuilder};
use crate::error::Refusal;
use crate::log::codec;
use crate::packs::{self, ContextPruned, ContextUnpruned, Item, PackEvent};
use crate::transfer::session::check::{Checker, id, references};
use crate::transfer::session::markdown::Section;

/// The words of [`packs::Strategy`] in the schema, without the descriptions that its operation publishes.
struct StrategyWord;

impl schemars::JsonSchema for StrategyWord {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Strategy".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        use packs::Strategy::{Aggressive, Comprehensive, Conservative};
        schemars::json_schema!({"type": "string", "enum": [Comprehensive, Conservative, Aggressive]})
    }
}

object! {
    /// The session's working set was pruned: the entries named here stay, with all later ones.
    Pruned {
        /// Pruning strategy.
        #[schemars(with = "StrategyWord")]
        strategy: packs::Strategy,
        /// Tokens of the working set before.
        tokens_before: u64,
        /// Tokens of the working set after.
        tokens_after: u64,
        /// Messages that stay, by their ids, in time order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        messages: Vec<String>,
        /// Steps and tool executions that stay, in time order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<Source>,
        /// Entities that stay, the most relevant first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entities: Vec<EntityRef>,
        /// Number of removed messages, tool executions and entities.
        went: (u64, u64, u64),
    }
}

impl From<ContextPruned> for Pruned {
    fn from(stored: ContextPruned) -> Self {
        let tool = |item| match item {
            Item::Step { step, attempt } => Some(Source::Step { step, attempt }),
            Item::Tool(execution) => Some(Source::Tool(execution)),
            // A message's tools belong to the message.
            Item::Message(message) => Some(Source::Message(message)),
            Item::Entity(_)
            | Item::Checkpoint(_)
            | Item::Topic
            | Item::ContextFile(_)
            | Item::Document { .. } => None,
        };
        Self {
            strategy: stored.strategy,
            tokens_before: stored.tokens_before,
            tokens_after: stored.tokens_after,
            messages: stored.messages,
            tools: stored.tools.into_iter().filter_map(tool).collect(),
            entities: stored.entities.mirror(),
            went: stored.went.into(),
        }
    }
}

impl LinePayload for Pruned {
    fn check(&self, _: &mut Checker) -> Result<(), String> {
        let mut messages = self.messages.iter();
        messages.try_for_each(|one| id("messages", one))?;
        references("entities", &self.entities)
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let tool = |source| match source {
            Source::Message(message) => Item::Message(message),
            Source::Step { step, attempt } => Item::Step { step, attempt },
            Source::Tool(execution) => Item::Tool(execution),
        };
        let pruned = ContextPruned {
            strategy: self.strategy,
            tokens_before: self.tokens_before,
            tokens_after: self.tokens_after,
            messages: self.messages,
            tools: self.tools.into_iter().map(tool).collect(),
            entities: self.entities.mirror(),
            went: self.went.into(),
        };
        let event = PackEvent::Pruned(pruned).into();
        Ok(Some((event, codec::EMPTY.to_vec())))
    }

    fn render(&self, to: &mut Section<'_>) {
        let (before, after) = (self.tokens_before, self.tokens_after);
        to.note(&format!("pruned from {before} to {after} tokens"));
    }
}

object! {
    /// The last pruning in effect was undone.
    Unpruned = ContextUnpruned {
        /// Tokens of the working set before.
        tokens_before: u64,
        /// Tokens of the working set after.
        tokens_after: u64,
    }
}

impl LinePayload for Unpruned {
    fn check(&self, _: &mut Checker) -> Result<(), String> {
        Ok(())
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let event = PackEvent::Unpruned(self.mirror()).into();
        Ok(Some((event, codec::EMPTY.to_vec())))
    }

    fn render(&self, to: &mut Section<'_>) {
        let (before, after) = (self.tokens_before, self.tokens_after);
        to.note(&format!("pruning undone: from {before} to {after} tokens"));
    }
}
