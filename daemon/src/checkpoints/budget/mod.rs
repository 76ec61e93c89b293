//! The budgeted view: a context as JSON within a token budget, and a report on each key.
//!
//! A context that fits is its own view. Otherwise CRITICAL keys come first, the layers below share the rest
//! ([`SHARES`]), and EPHEMERAL keys fill what remains. Within a value, whole messages and elements are kept, and a text
//! is shortened only if it is too long alone. The view never exceeds the budget.

use super::layers::{LAYERS, Layer, LayerAssignment, Rule};
use crate::tokens::Tokens;

use plan::{Item, Outcome, plan};
use text::text_json;

mod marker;
mod order;
mod plan;
mod render;
mod sequence;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;
mod text;
mod white_space;

pub use lore::protocol::names::TruncationAction;

/// The proportion in which IMPORTANT and USEFUL divide the tokens that CRITICAL leaves.
const SHARES: [f64; 2] = [2.0, 1.0];

/// A top-level key of a context.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub key: &'a str,
    /// The value as canonical JSON, without white space between its tokens.
    pub value: &'a str,
    /// Its layer, with the reason.
    pub assignment: LayerAssignment,
}

/// A context within its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetedView {
    /// A JSON object; its keys in the context's order.
    pub json: String,
    /// Tokens of `json`.
    pub tokens: usize,
    /// Tokens of the whole context.
    pub tokens_before: usize,
    /// Whether the CRITICAL keys exceed the budget, so that not all of them are whole.
    pub over_budget: bool,
    /// Each key of the context, in its order.
    pub keys: Vec<KeyReport>,
    /// The sums, in the order of [`LAYERS`].
    pub layers: [LayerReport; 4],
}

/// The report on one key. Key and value are counted separately, so that sums may differ from the tokens of the whole
/// by one or two per key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyReport {
    pub key: String,
    pub layer: Layer,
    pub rule: Rule,
    pub tokens_before: usize,
    pub tokens_after: usize,
    pub done: TruncationAction,
}

/// The report on the keys of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerReport {
    pub layer: Layer,
    /// Number of keys in the context.
    pub keys: usize,
    /// Number of keys that are not in the view.
    pub dropped: usize,
    pub tokens_before: usize,
    pub tokens_after: usize,
}

/// Builds the view of a context with at most `budget` tokens, at least 1. It is deterministic.
///
/// Markers name the `checkpoint` from which the whole context can be loaded, if it is stored.
#[must_use]
pub fn budgeted_view(
    entries: &[Entry<'_>],
    budget: usize,
    checkpoint: Option<&str>,
    tokens: &Tokens,
) -> BudgetedView {
    let items: Vec<Item<'_>> = entries
        .iter()
        .map(|entry| Item::new(entry, checkpoint, tokens))
        .collect();
    let mut outcomes = vec![Outcome::Whole; items.len()];
    let mut json = assemble(&items, &outcomes);
    let tokens_before = tokens.count(&json);
    let mut count = tokens_before;
    let critical: Vec<Outcome> = items
        .iter()
        .map(|item| match item.layer {
            Layer::Critical => Outcome::Whole,
            _ => Outcome::Dropped,
        })
        .collect();
    let critical = tokens.count_within(&assemble(&items, &critical), budget);
    // Plans sum the tokens of the keys. The whole text may have a few more; then the next plan gets a smaller budget.
    let mut allowed = budget;
    while count > budget && allowed > 0 {
        outcomes = plan(&items, allowed, critical, tokens);
        json = assemble(&items, &outcomes);
        count = tokens.count(&json);
        allowed = allowed.saturating_sub(count.saturating_sub(budget).max(1));
    }
    let keys: Vec<KeyReport> = entries
        .iter()
        .zip(items.iter().zip(&outcomes))
        .map(|(entry, (item, outcome))| report(entry, item, outcome))
        .collect();
    let is_cut =
        |key: &KeyReport| key.layer == Layer::Critical && key.done != TruncationAction::Whole;
    BudgetedView {
        json,
        tokens: count,
        tokens_before,
        over_budget: keys.iter().any(is_cut),
        layers: LAYERS.map(|layer| sum(layer, &keys)),
        keys,
    }
}

fn assemble(items: &[Item<'_>], outcomes: &[Outcome]) -> String {
    let mut json = String::from("{");
    for (item, outcome) in items.iter().zip(outcomes) {
        let value = match outcome {
            Outcome::Whole => item.value,
            Outcome::Shortened { rendered, .. } => &rendered.json,
            Outcome::Dropped => continue,
        };
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&item.key_json);
        json.push(':');
        json.push_str(value);
    }
    json.push('}');
    json
}

fn report(entry: &Entry<'_>, item: &Item<'_>, outcome: &Outcome) -> KeyReport {
    let done = match outcome {
        Outcome::Whole => TruncationAction::Whole,
        Outcome::Shortened { rendered, .. } => rendered.done,
        Outcome::Dropped => TruncationAction::Dropped,
    };
    KeyReport {
        key: entry.key.to_owned(),
        layer: entry.assignment.layer,
        rule: entry.assignment.rule.clone(),
        tokens_before: item.tokens,
        tokens_after: outcome.tokens(item),
        done,
    }
}

fn sum(layer: Layer, keys: &[KeyReport]) -> LayerReport {
    let mut sum = LayerReport {
        layer,
        keys: 0,
        dropped: 0,
        tokens_before: 0,
        tokens_after: 0,
    };
    for key in keys.iter().filter(|key| key.layer == layer) {
        sum.keys += 1;
        sum.dropped += usize::from(key.done == TruncationAction::Dropped);
        sum.tokens_before += key.tokens_before;
        sum.tokens_after += key.tokens_after;
    }
    sum
}

impl<'a> Item<'a> {
    fn new(entry: &Entry<'a>, checkpoint: Option<&'a str>, tokens: &Tokens) -> Self {
        let key_json = text_json(entry.key);
        let whole = format!("{key_json}:{},", entry.value);
        Self {
            key: entry.key,
            key_json,
            value: entry.value,
            layer: entry.assignment.layer,
            is_marked: entry.assignment.rule == Rule::Mark,
            checkpoint,
            tokens: tokens.count(&whole),
        }
    }
}
