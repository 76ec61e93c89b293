//! The budgeted view: a context as JSON within a token budget, and a report on each key.
//!
//! A context that fits is its own view. Otherwise CRITICAL keys stay whole at any cost, and the layers get
//! [`SHARES`] of the budget; an unused share passes to the next layer. Within its share a layer is shortened step by
//! step ([`TruncationAction`]), each step only as far as needed: white space, long texts in the middle, arrays between
//! head and tail, and at last whole keys, EPHEMERAL to IMPORTANT. EPHEMERAL values are included or dropped, never
//! shortened.

use super::layers::{LAYERS, Layer, LayerAssignment, Rule};
use crate::tokens::Tokens;

use plan::{Item, Outcome, plan};
use value::text_json;

mod plan;
#[cfg(test)]
mod tests;
mod value;
mod white_space;

pub use lore::protocol::names::TruncationAction;

/// Percent of the budget for each layer, in the order of [`LAYERS`].
pub const SHARES: [usize; 4] = [30, 40, 20, 10];

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
    /// Whether `json` exceeds the budget. Only CRITICAL keys, or a budget of 0, can cause this.
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

/// Builds the view of a context with at most `budget` tokens. It is deterministic.
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
    // Plans sum the tokens of the keys. The whole text may have a few more; then the next plan gets a smaller budget.
    let mut slack = 0;
    while count > budget {
        let allowed = budget.saturating_sub(slack);
        outcomes = plan(&items, allowed, budget, tokens);
        json = assemble(&items, &outcomes);
        count = tokens.count(&json);
        if is_bare(&items, &outcomes) {
            break;
        }
        slack += slack.max(count.saturating_sub(budget)).max(1);
    }
    let keys: Vec<KeyReport> = entries
        .iter()
        .zip(items.iter().zip(&outcomes))
        .map(|(entry, (item, outcome))| report(entry, item, outcome))
        .collect();
    BudgetedView {
        json,
        tokens: count,
        tokens_before,
        over_budget: count > budget,
        layers: LAYERS.map(|layer| sum(layer, &keys)),
        keys,
    }
}

/// Returns whether no more keys can be dropped.
fn is_bare(items: &[Item<'_>], outcomes: &[Outcome]) -> bool {
    let mut pairs = items.iter().zip(outcomes);
    pairs.all(|(item, outcome)| item.layer == Layer::Critical || *outcome == Outcome::Dropped)
}

fn assemble(items: &[Item<'_>], outcomes: &[Outcome]) -> String {
    let mut json = String::from("{");
    for (item, outcome) in items.iter().zip(outcomes) {
        let value = match outcome {
            Outcome::Whole => item.value,
            Outcome::Shortened { json, .. } => json,
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
    let (tokens_after, done) = match outcome {
        Outcome::Whole => (item.tokens, TruncationAction::Whole),
        Outcome::Shortened { tokens, done, .. } => (*tokens, *done),
        Outcome::Dropped => (0, TruncationAction::Dropped),
    };
    KeyReport {
        key: entry.key.to_owned(),
        layer: entry.assignment.layer,
        rule: entry.assignment.rule.clone(),
        tokens_before: item.tokens,
        tokens_after,
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
            checkpoint,
            tokens: tokens.count(&whole),
            read: std::cell::OnceCell::new(),
        }
    }
}
