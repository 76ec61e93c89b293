//! Building a pack for any purpose: from the cache, or retrieved, assembled and recorded.

use std::collections::BTreeSet;
use std::sync::Arc;

use lore::protocol::Position;
use lore::protocol::names::{SectionName, word};
use lore::protocol::packs::ContextPackReply;
use lore::protocol::search::Origin as WireOrigin;
use lored_suspicion::Origin;

use super::wire;
use crate::checkpoints;
use crate::citations;
use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::packs::{Item, PackBuilt, PackDependency, PackPurpose, is_for_message};
use crate::log::{Body, Hash, codec};
use crate::operation::{Caller, Context, blocking};
use crate::packs::assembly::{BudgetTooSmall, BuiltPack, Omission, build, suspects};
use crate::packs::command::MakePack;
use crate::packs::retrieval::{PackLimits, RetrievedInputs, TaskScope};
use crate::packs::texts::PackText;
use crate::packs::{PackSettings, view};
use crate::sessions;
use crate::state::State;
use crate::trust;
use crate::trust::operations::origin_of;

/// Default budget of a pack, in tokens.
const TOKENS: u64 = 4000;
/// Maximum budget of a pack, in tokens.
const TOKENS_MAX: u64 = 1_000_000;
/// Maximum length of a message or a task, in bytes.
const WANTED_BYTES_MAX: usize = 16 << 20;
/// Cache lifetime of an unchanged pack: 10 minutes.
const CACHED_MICROS: Micros = 600 * 1_000_000;
/// Cache cost of each piece of a pack in addition to the prompt, in bytes.
const PIECE_BYTES: usize = 256;
/// Maximum number of messages and results beyond the budget that a reply lists.
const LEFT_OUT_HISTORY_MAX: usize = 20;
/// Maximum number of hashes for recognising citations of one pack.
const HASHES_MAX: usize = 4096;

/// A request for a pack.
pub struct PackSpec {
    /// The session or project to draw from.
    pub among: TaskScope,
    pub made_for: PackPurpose,
    /// The message or the task.
    pub text: String,
    /// The budget, in tokens.
    pub max_tokens: u64,
    /// Whether text that gives orders to a model is included.
    pub includes_suspects: bool,
    /// Whose words are included; empty for all.
    pub origins: Vec<Origin>,
}

/// A finished pack as the cache stores it.
struct CachedPack {
    /// The reply, without session and project.
    reply: ContextPackReply,
    /// Time until which a rebuild gives the same pack, if nothing is recorded.
    until: Micros,
}

impl PackSpec {
    /// Validates a request.
    ///
    /// # Errors
    /// `INVALID_INPUT` if the text is too long or the budget is out of range.
    pub fn new(
        among: TaskScope,
        made_for: PackPurpose,
        text: String,
        (max_tokens, include_suspect): (Option<u64>, Option<bool>),
    ) -> Result<Self, Refusal> {
        let name = match is_for_message(made_for) {
            true => "message",
            false => "query",
        };
        if text.len() > WANTED_BYTES_MAX {
            return Err(Refusal::invalid(format!(
                "`{name}` has {} bytes; at most {WANTED_BYTES_MAX} come into a pack",
                text.len()
            )));
        }
        let max_tokens = max_tokens.unwrap_or(TOKENS);
        if !(1..=TOKENS_MAX).contains(&max_tokens) {
            return Err(Refusal::invalid(format!(
                "`max_tokens` is {max_tokens}; a pack has 1 to {TOKENS_MAX} tokens"
            )));
        }
        Ok(Self {
            among,
            made_for,
            text,
            max_tokens,
            includes_suspects: include_suspect.unwrap_or(false),
            origins: Vec::new(),
        })
    }

    /// Includes only the words of these; without any, all.
    #[must_use]
    pub fn of_origins(mut self, origins: &[WireOrigin]) -> Self {
        let mut origins: Vec<Origin> = origins.iter().map(|one| origin_of(*one)).collect();
        origins.sort_unstable_by_key(|one| *one as u8);
        origins.dedup();
        self.origins = origins;
        self
    }

    /// Returns how much can come into it.
    pub fn limits(&self) -> PackLimits {
        PackLimits {
            max_tokens: self.max_tokens,
            has_origins: !self.origins.is_empty(),
        }
    }

    /// Returns the pack from the cache if nothing has changed; otherwise builds it from the inputs of `gather`.
    /// The reply names neither session nor project.
    ///
    /// `rests_on` encodes all dependencies of the pack except the message and the budget; it is hashed.
    ///
    /// # Errors
    /// `INVALID_INPUT` if the budget is too small, with the smallest sufficient one; errors of `gather`.
    pub async fn give(
        self,
        cx: &Arc<Context>,
        caller: &Caller,
        state: State,
        rests_on: &[u8],
        gather: impl FnOnce(&Context, &State, &str, Micros) -> Result<RetrievedInputs, Refusal>
        + Send
        + 'static,
    ) -> Result<ContextPackReply, Refusal> {
        let now = cx.engine.clock().now();
        let key = self.cache_key(trust::last_judgement(&state)?, rests_on);
        // A pack that was recorded before one of its sources was forgotten can enter the cache after the cache was cleared.
        let cached = cx.cache.get::<CachedPack>(&key);
        if let Some(made) = cached.filter(|made| now < made.until)
            && view::get(&state, &made.reply.pack)?.is_some()
        {
            return Ok(ContextPackReply {
                cached: true,
                position: state.position(),
                durable: cx.engine.is_durable(),
                ..made.reply.clone()
            });
        }
        let shared = Arc::clone(cx);
        let (mut made, command) = blocking(move || self.make(&shared, &state, now, gather)).await?;
        let outcome = cx.write(caller, None, 0, command).await?;
        made.reply.position = outcome.event.position();
        made.reply.durable = outcome.durable;
        let reply = made.reply.clone();
        let pieces = reply.sections.iter().map(|section| section.pieces.len());
        let pieces = pieces.sum::<usize>() + reply.left_out.len();
        let bytes = reply.prompt.len() + PIECE_BYTES * (pieces + 4);
        cx.cache.put(key, Arc::new(made), bytes);
        Ok(reply)
    }

    /// Returns a key of all inputs of the pack except the time.
    fn cache_key(&self, last_judgement: Position, rests_on: &[u8]) -> (Position, Hash) {
        let mut all = b"context pack\0".to_vec();
        all.extend(last_judgement.0.to_be_bytes());
        all.extend(self.max_tokens.to_be_bytes());
        all.extend([self.made_for as u8, u8::from(self.includes_suspects)]);
        all.extend(self.origins.iter().map(|origin| *origin as u8));
        all.push(u8::MAX);
        all.extend((rests_on.len() as u64).to_be_bytes());
        all.extend(rests_on);
        all.extend(Hash::of(self.text.as_bytes()).0);
        (Position(0), Hash::of(&all))
    }

    fn make(
        self,
        cx: &Context,
        state: &State,
        now: Micros,
        gather: impl FnOnce(&Context, &State, &str, Micros) -> Result<RetrievedInputs, Refusal>,
    ) -> Result<(CachedPack, MakePack), Refusal> {
        let RetrievedInputs {
            mut pack_inputs,
            mut left_out,
            until,
            warnings,
        } = gather(cx, state, &self.text, now)?;
        suspects::keep_origins(&mut pack_inputs, &self.origins);
        suspects::leave_out_undone(state, &mut pack_inputs)?;
        let tokens = &checkpoints::Checkpoints::of(cx)?.tokens;
        let budget = usize::try_from(self.max_tokens).unwrap_or(usize::MAX);
        let too_small =
            |too_small: BudgetTooSmall| {
                let least = too_small.least;
                Refusal::invalid(format!(
                "`max_tokens` is {}; what is asked and the instruction alone have {least} tokens",
                self.max_tokens
            ))
            .hint(format!("Give {least} or more; without it there are {TOKENS}."))
            };
        let built = loop {
            let built = build(&pack_inputs, budget, tokens).map_err(too_small)?;
            // Only what is in the pack is scanned; each round takes something out.
            if self.includes_suspects
                || !suspects::leave_out(state, &mut pack_inputs, &built, &mut left_out)?
            {
                break built;
            }
        };
        let clock = cx.engine.clock();
        let pack = sessions::fresh_id('p', clock);
        let is_history = |one: &&Omission| {
            let item = &one.source.item;
            matches!(item, Item::Message(_) | Item::Step { .. } | Item::Tool(_))
        };
        let (history, others): (Vec<_>, Vec<_>) = built.left_out.iter().partition(is_history);
        // The most important ones; the search lists them all.
        let history = history.into_iter().take(LEFT_OUT_HISTORY_MAX);
        let left_out: Vec<&Omission> = left_out.iter().chain(history).chain(others).collect();
        let event = self.event(&pack, &built);
        let own = match &self.among {
            TaskScope::Session(session) => Some(session.as_str()),
            TaskScope::Project(_) => None,
        };
        let text = PackText {
            at: now,
            ..PackText::of(own, &built, &event.rests_on, &left_out)
        };
        let text_days = PackSettings::of(cx).text_days;
        let command = MakePack {
            made: event,
            among: self.among,
            read_at: state.position(),
            body: Body::new(codec::EMPTY.to_vec(), clock.random()),
            text: (text_days > 0).then_some((text, text_days)),
        };
        let omitted = left_out.into_iter().map(wire::left_out);
        let omitted = omitted.collect::<Result<_, _>>()?;
        let reply = ContextPackReply {
            session: None,
            project: None,
            pack,
            tokens: built.tokens as u64,
            max_tokens: self.max_tokens,
            sections: wire::sections(&built)?,
            left_out: omitted,
            prompt: built.prompt,
            cached: false,
            position: Position(0),
            durable: false,
            chosen_by: None,
            warnings,
        };
        let until = until.min(now.saturating_add(CACHED_MICROS));
        Ok((CachedPack { reply, until }, command))
    }

    fn event(&self, pack: &str, built: &BuiltPack) -> PackBuilt {
        let own = match &self.among {
            TaskScope::Session(session) => Some(session.as_str()),
            TaskScope::Project(_) => None,
        };
        let mut seen = BTreeSet::new();
        let sources = built.sections.iter().flat_map(|section| &section.sources);
        let rests_on = sources.map(|source| PackDependency {
            session: source
                .session
                .clone()
                .filter(|session| Some(session.as_str()) != own),
            item: source.item.clone(),
        });
        let sections = built.sections.iter();
        let sections = sections.map(|one| (word(one.name), one.tokens as u64));
        PackBuilt {
            id: pack.to_owned(),
            made_for: self.made_for,
            wanted: Hash::of(self.text.as_bytes()).0.to_vec(),
            budget: self.max_tokens,
            tokens: built.tokens as u64,
            sections: sections.collect(),
            rests_on: rests_on.filter(|one| seen.insert(one.clone())).collect(),
            pieces: hashes(built),
        }
    }
}

/// Returns the hashes for recognising citations: of its pieces without the message, which is not a citation, and of
/// the whole prompt.
fn hashes(built: &BuiltPack) -> Vec<u8> {
    let said = built.sections.iter();
    let said = said.filter(|section| section.name != SectionName::Message);
    let texts: Vec<&str> = said.map(|section| section.text.as_str()).collect();
    let mut hashes = citations::pieces(&texts.join("\n"));
    hashes.truncate(HASHES_MAX);
    hashes.push(citations::whole(&built.prompt));
    hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect()
}
