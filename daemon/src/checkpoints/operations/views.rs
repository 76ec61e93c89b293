//! `workflow_context_compress` and `workflow_context_prioritize`: rank the keys of a context, and fit it into a budget.

use std::sync::Arc;

use lore::protocol::checkpoints::{
    CompressArgs, CompressReply, KeyReport, LayerReport, PrioritizeArgs, PrioritizeReply,
    TruncationAction, ViewReport,
};
use lore::protocol::{CheckpointId, Meta, Position, RawJson, RawObject, SessionId};
use serde_json::{Map, Value};

use super::{StoredCheckpoint, meta_of_read};
use crate::canonical::Canonical;
use crate::checkpoints::budget::{self, BudgetedView, Entry, budgeted_view};
use crate::checkpoints::feature::Checkpoints;
use crate::checkpoints::layers::ContextRules;
use crate::checkpoints::metadata::Metadata;
use crate::checkpoints::saved_context::SavedContext;
use crate::checkpoints::view;
use crate::error::{Code, Refusal};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions;
use crate::state::State;

/// The largest budget: more tokens than any context has.
pub(super) const TOKENS_MAX: u64 = 100_000_000;

pub struct Compress;

impl Op for Compress {
    type Args = CompressArgs;
    type Reply = CompressReply;
    const NAME: &'static str = "workflow_context_compress";
    const TITLE: &'static str = "Fit a context into a budget";
    const DESCRIPTION: &'static str = "Returns as much of a context as fits into a token budget, the most important keys and whole messages first. \
        Takes a context, or a stored one, which stays whole.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const ARGUMENT_ITEM_BYTES: usize = 128;

    async fn call(call: Call<CompressArgs>) -> Result<CompressReply, Refusal> {
        let Call { cx, args, .. } = call;
        let budget = budget_of(args.max_tokens)?;
        let source = Source {
            context: args.context,
            checkpoint: args.checkpoint_id,
            session: args.session_id,
            rules: args.context_rules,
        };
        let reply = move |subject: RankedContext, view: BudgetedView, meta| {
            Ok(CompressReply {
                context: raw(&view.json)?,
                view: describe(&view, budget, subject.checkpoint.as_ref()),
                checkpoint_id: subject.checkpoint,
                session_id: subject.session,
                meta: Some(meta),
            })
        };
        source.view(cx, args.at_least, budget, reply).await
    }
}

pub struct Prioritize;

impl Op for Prioritize {
    type Args = PrioritizeArgs;
    type Reply = PrioritizeReply;
    const NAME: &'static str = "workflow_context_prioritize";
    const TITLE: &'static str = "Rank a context's keys";
    const DESCRIPTION: &'static str = "Reports the importance of each key of a context, with the reason and its tokens. With a \
        budget it also reports what would fit of each key.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const ARGUMENT_ITEM_BYTES: usize = 128;

    async fn call(call: Call<PrioritizeArgs>) -> Result<PrioritizeReply, Refusal> {
        let Call { cx, args, .. } = call;
        let budget = args.max_tokens.map(budget_of).transpose()?;
        let source = Source {
            context: args.context,
            checkpoint: args.checkpoint_id,
            session: args.session_id,
            rules: args.context_rules,
        };
        let within = budget.unwrap_or(usize::MAX);
        let reply = move |subject: RankedContext, view: BudgetedView, meta| {
            let mut keys = key_reports(&view, budget.is_some());
            keys.sort_by_key(|key| key.layer);
            Ok(PrioritizeReply {
                tokens: view.tokens_before as u64,
                layers: layer_reports(&view, budget),
                keys,
                over_budget: budget.map(|_| view.over_budget),
                checkpoint_id: subject.checkpoint,
                session_id: subject.session,
                meta: Some(meta),
            })
        };
        source.view(cx, args.at_least, within, reply).await
    }
}

/// Checks a budget of tokens.
pub(super) fn budget_of(tokens: u64) -> Result<usize, Refusal> {
    if !(1..=TOKENS_MAX).contains(&tokens) {
        return Err(Refusal::invalid(format!(
            "`maxTokens` is {tokens}; a budget has 1 to {TOKENS_MAX} tokens"
        )));
    }
    usize::try_from(tokens).map_err(|error| Refusal::invalid(error.to_string()))
}

/// The context of a call.
struct Source {
    context: Option<RawObject>,
    checkpoint: Option<CheckpointId>,
    session: Option<SessionId>,
    rules: Option<Map<String, Value>>,
}

/// A context with everything that ranks its keys.
pub(super) struct RankedContext {
    pub context: Arc<Canonical>,
    pub marks: Vec<String>,
    pub rules: ContextRules,
    pub checkpoint: Option<CheckpointId>,
    pub session: Option<SessionId>,
}

impl Source {
    /// Opens the context in the requested state, and replies with its view.
    async fn view<R: Send + 'static>(
        self,
        cx: Arc<Context>,
        at_least: Option<Position>,
        budget: usize,
        reply: impl FnOnce(RankedContext, BudgetedView, Meta) -> Result<R, Refusal> + Send + 'static,
    ) -> Result<R, Refusal> {
        let state = State::live(&cx, at_least).await?;
        blocking(move || {
            let subject = self.open(&cx, &state)?;
            let view = subject.view(&cx, budget)?;
            reply(subject, view, meta_of_read(&cx, &state, Vec::new()))
        })
        .await
    }

    fn open(self, cx: &Context, state: &State) -> Result<RankedContext, Refusal> {
        let found = match (self.context, self.checkpoint, self.session) {
            (Some(context), None, None) => {
                let context = SavedContext::of(context.as_str())?;
                return Ok(RankedContext {
                    context: context.canonical,
                    marks: Vec::new(),
                    rules: rules(self.rules.as_ref())?.unwrap_or_default(),
                    checkpoint: None,
                    session: None,
                });
            }
            (None, Some(checkpoint), None) => StoredCheckpoint::of(state, &checkpoint)?,
            (None, None, Some(session)) => {
                sessions::find(state, session.as_str())?;
                StoredCheckpoint::latest(state, session.as_str())?
            }
            _ => {
                return Err(Refusal::invalid(
                    "exactly one of `context`, `checkpointId` and `sessionId` is needed",
                )
                .hint("A context is looked at as given, an id names a stored one."));
            }
        };
        let context = found.context(cx, state)?;
        let given = rules(self.rules.as_ref())?;
        RankedContext::stored(state, &found, context, given)
    }
}

impl RankedContext {
    /// Creates one for a stored context, or some of its keys. Given rules replace the stored ones.
    pub fn stored(
        state: &State,
        found: &StoredCheckpoint,
        context: Arc<Canonical>,
        given: Option<ContextRules>,
    ) -> Result<Self, Refusal> {
        let marks = view::critical_keys(state, &found.session)?;
        let metadata = found.metadata()?;
        let stored = metadata.map.get("contextRules").and_then(Value::as_object);
        Ok(Self {
            context,
            marks: marks.into_iter().map(|(key, _)| key).collect(),
            rules: match given {
                Some(rules) => rules,
                // They were checked when they were saved.
                None => rules(stored)?.unwrap_or_default(),
            },
            checkpoint: Some(found.checkpoint_id()?),
            session: Some(found.session_id()?),
        })
    }

    /// Builds its view within a budget.
    pub fn view(&self, cx: &Context, budget: usize) -> Result<BudgetedView, Refusal> {
        let feature = Checkpoints::of(cx)?;
        let words = feature.words.get();
        let entries: Vec<Entry<'_>> = self
            .context
            .members()
            .map(|(key, value)| {
                let is_marked = self.marks.iter().any(|mark| mark == key);
                Entry {
                    key,
                    value,
                    assignment: words.place(key, value, is_marked, &self.rules),
                }
            })
            .collect();
        let checkpoint = self.checkpoint.as_ref().map(CheckpointId::as_str);
        Ok(budgeted_view(&entries, budget, checkpoint, &feature.tokens))
    }
}

/// Checks the rules of a call.
///
/// # Errors
/// `INVALID_INPUT` with the pattern and the fault.
pub(super) fn rules(written: Option<&Map<String, Value>>) -> Result<Option<ContextRules>, Refusal> {
    let Some(written) = written else {
        return Ok(None);
    };
    let mut pairs = Vec::with_capacity(written.len());
    for (pattern, layer) in written {
        let layer = layer.as_str().ok_or_else(|| {
            Refusal::invalid(format!(
                "contextRules: the layer of `{pattern}` is not text; there are CRITICAL, IMPORTANT, \
                 USEFUL and EPHEMERAL"
            ))
        })?;
        pairs.push((pattern.as_str(), layer));
    }
    ContextRules::new(pairs).map(Some).map_err(Refusal::invalid)
}

/// Checks the rules in metadata before they are stored.
pub(super) fn check_rules(metadata: &Metadata) -> Result<(), Refusal> {
    match metadata.map.get("contextRules") {
        None => Ok(()),
        Some(Value::Object(written)) => rules(Some(written)).map(|_| ()),
        Some(_) => Err(Refusal::invalid(
            "`metadata.contextRules` is not an object; it has key patterns, each with its layer",
        )
        .hint("For example {\"log*\": \"EPHEMERAL\", \"brief\": \"CRITICAL\"}.")),
    }
}

/// Wraps the JSON of a view.
pub(super) fn raw(json: &str) -> Result<RawJson, Refusal> {
    RawJson::parse(json.to_owned())
        .map_err(|error| Refusal::new(Code::Internal, format!("a view is not JSON: {error}")))
}

/// Builds the report on a view.
pub(super) fn describe(
    view: &BudgetedView,
    budget: usize,
    checkpoint: Option<&CheckpointId>,
) -> ViewReport {
    let is_cut = view
        .keys
        .iter()
        .any(|key| key.done != TruncationAction::Whole);
    let over = match view.over_budget {
        true => "the critical keys alone exceed the budget, so that not all of them are whole; ",
        false => "",
    };
    let note = is_cut.then(|| match checkpoint {
        Some(checkpoint) => format!(
            "{over}what was left out is stored whole: load checkpoint {checkpoint} with `keys`"
        ),
        None => format!("{over}what was left out is in the given context"),
    });
    ViewReport {
        max_tokens: budget as u64,
        tokens: view.tokens as u64,
        original_tokens: view.tokens_before as u64,
        over_budget: view.over_budget,
        layers: layer_reports(view, Some(budget)),
        keys: key_reports(view, true),
        note,
    }
}

fn key_reports(view: &BudgetedView, has_budget: bool) -> Vec<KeyReport> {
    let report = |key: &budget::KeyReport| KeyReport {
        key: key.key.clone(),
        layer: key.layer,
        reason: key.rule.to_string(),
        tokens: key.tokens_before as u64,
        tokens_in_view: has_budget.then_some(key.tokens_after as u64),
        treatment: has_budget.then_some(key.done),
    };
    view.keys.iter().map(report).collect()
}

fn layer_reports(view: &BudgetedView, budget: Option<usize>) -> Vec<LayerReport> {
    let layers = view.layers.iter();
    layers
        .map(|layer| LayerReport {
            layer: layer.layer,
            keys: layer.keys as u64,
            tokens: layer.tokens_before as u64,
            tokens_in_view: budget.map(|_| layer.tokens_after as u64),
        })
        .collect()
}
