//! Distributes the budget over the layers and keys of a context.
//!
//! CRITICAL keys come first, and are whole if all of them fit. IMPORTANT and USEFUL keys divide the rest in the
//! proportion of their shares; within a layer, small keys are whole and the others get equal parts. EPHEMERAL keys fill
//! what then remains. A larger budget never gives less to a conversation.

use super::marker::MarkerOrigin;
use super::render::{ConversationFinder, Rendered, Surroundings, render};
use super::sequence::{PART_MIN, Part, all_within, first_within, level};
use super::{SHARES, TruncationAction};
use crate::checkpoints::layers::Layer;
use crate::tokens::Tokens;

/// A key with its value.
pub(super) struct Item<'a> {
    pub key: &'a str,
    pub key_json: String,
    pub value: &'a str,
    pub layer: Layer,
    /// Whether the session marked it.
    pub is_marked: bool,
    /// Checkpoint with the whole value.
    pub checkpoint: Option<&'a str>,
    /// Tokens of key, value and punctuation.
    pub tokens: usize,
}

/// The outcome for an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Whole,
    Shortened {
        /// The shorter value.
        rendered: Rendered,
        /// Tokens of key, shorter value and punctuation.
        tokens: usize,
    },
    Dropped,
}

/// A key is too long alone beyond this share of its layer's tokens.
const KEY_SHARE: f64 = 0.125;
/// If the CRITICAL keys do not fit, this part of the budget is for small keys of other layers.
const RESERVE_PART: f64 = 0.125;
/// If the CRITICAL keys do not fit, each of them gets something of this part.
const FLOOR_PART: f64 = 0.25;

/// Decides each item's outcome, so that the context takes at most `budget` tokens by the sum of its keys. `critical_tokens`
/// is what the CRITICAL keys take together, if they fit.
pub(super) fn plan(
    items: &[Item<'_>],
    budget: usize,
    critical_tokens: Option<usize>,
    tokens: &Tokens,
) -> Vec<Outcome> {
    let mut plan = Plan {
        items,
        tokens,
        conversations: ConversationFinder::default(),
        outcomes: vec![Outcome::Dropped; items.len()],
    };
    // Braces and rounding.
    let budget = budget as f64 - 2.0;
    let critical = plan.of(&[Layer::Critical]);
    match critical_tokens {
        Some(used) => {
            plan.keep(&critical);
            plan.others(budget - used as f64);
        }
        None => plan.critical(&critical, budget),
    }
    plan.outcomes
}

struct Plan<'p, 'a> {
    items: &'p [Item<'a>],
    tokens: &'p Tokens,
    conversations: ConversationFinder,
    outcomes: Vec<Outcome>,
}

impl Plan<'_, '_> {
    /// Lists the items of some layers, the smallest of each layer first.
    fn of(&self, layers: &[Layer]) -> Vec<usize> {
        let mut found: Vec<usize> = (0..self.items.len()).collect();
        found.retain(|at| {
            self.item(*at)
                .is_some_and(|item| layers.contains(&item.layer))
        });
        found.sort_by_key(|at| {
            self.item(*at)
                .map(|item| (item.layer, !item.is_marked, item.tokens))
        });
        found
    }

    fn item(&self, at: usize) -> Option<&Item<'_>> {
        self.items.get(at)
    }

    fn need(&self, at: usize) -> f64 {
        self.item(at).map_or(0.0, |item| item.tokens as f64)
    }

    fn whole(&self, of: &[usize]) -> f64 {
        of.iter().map(|at| self.need(*at)).sum()
    }

    fn keep(&mut self, of: &[usize]) {
        of.iter().for_each(|at| self.set(*at, Outcome::Whole));
    }

    fn set(&mut self, at: usize, outcome: Outcome) {
        if let Some(place) = self.outcomes.get_mut(at) {
            *place = outcome;
        }
    }

    fn used(&self) -> f64 {
        let pairs = self.items.iter().zip(&self.outcomes);
        pairs
            .map(|(item, outcome)| outcome.tokens(item) as f64)
            .sum()
    }

    /// Shortens CRITICAL keys that do not fit together: marked ones first, then the smallest, as many whole as fit.
    fn critical(&mut self, critical: &[usize], budget: f64) {
        let others = self.of(&[Layer::Important, Layer::Useful]);
        let reserve = (budget * RESERVE_PART).min(self.whole(&others));
        let room = budget - reserve;
        let floor = room * FLOOR_PART / critical.len() as f64;
        let floors: Vec<f64> = critical
            .iter()
            .map(|at| self.need(*at).min(floor))
            .collect();
        let mut left = room - floors.iter().sum::<f64>();
        for (at, floor) in critical.iter().zip(floors) {
            let more = (self.need(*at) - floor).min(left.max(0.0));
            left -= more;
            self.fit(*at, floor + more);
        }
        let mut left = reserve;
        for at in others {
            // A conversation would be whole here, and shortened again within a larger budget.
            if self.need(at) <= left && !self.has_messages(at) {
                left -= self.need(at);
                self.keep(&[at]);
            }
        }
    }

    /// Fits all other layers. If the first conversation among them would keep fewer of its first short messages than
    /// fit the room, those come first.
    fn others(&mut self, room: f64) {
        let layers = [Layer::Important, Layer::Useful, Layer::Ephemeral];
        self.share(room, layers.map(|layer| self.of(&[layer])));
        let all = self.of(&layers);
        let Some((at, outcome)) = all.iter().find_map(|at| self.short_messages(*at, room)) else {
            return;
        };
        let kept = self.outcomes.get(at).map_or(0, Outcome::whole_messages);
        if outcome.whole_messages() <= kept {
            return;
        }
        all.iter().for_each(|at| self.set(*at, Outcome::Dropped));
        self.set(at, outcome);
        let used = self.outcome_tokens(at);
        let rest = layers.map(|layer| {
            let mut of = self.of(&[layer]);
            of.retain(|other| *other != at);
            of
        });
        self.share(room - used, rest);
    }

    /// Returns an item that is a conversation as the most short messages that fit the room.
    fn short_messages(&self, at: usize, room: f64) -> Option<(usize, Outcome)> {
        let item = self.item(at)?;
        let floors = super::render::message_floors(item.value, self.tokens);
        let key = self.key_tokens(item);
        let of_room = floors.iter().rev().map(|floor| floor + key);
        let of_room = of_room.filter(|floor| *floor <= room);
        let outcomes = of_room.filter_map(|floor| self.within(at, floor));
        outcomes
            .max_by_key(|(outcome, _)| outcome.whole_messages())
            .map(|(outcome, _)| (at, outcome))
    }

    fn outcome_tokens(&self, at: usize) -> f64 {
        let pair = self.item(at).zip(self.outcomes.get(at));
        pair.map_or(0.0, |(item, outcome)| outcome.tokens(item) as f64)
    }

    fn key_tokens(&self, item: &Item<'_>) -> f64 {
        self.tokens.count(&item.key_json) as f64 + 2.0
    }

    /// Divides the room between the layers.
    fn share(&mut self, room: f64, [important, useful, ephemeral]: [Vec<usize>; 3]) {
        let [of_important, of_useful] = SHARES;
        let needs = [
            (self.whole(&important), of_important),
            (self.whole(&useful), of_useful),
        ];
        let level = level(needs.into_iter().filter(|(need, _)| *need > 0.0), room);
        if level.is_infinite() {
            self.keep(&important);
            self.keep(&useful);
            self.layer(&ephemeral, room - needs[0].0 - needs[1].0);
            return;
        }
        let before = self.used();
        self.layer(&important, needs[0].0.min(of_important * level));
        self.layer(&useful, needs[1].0.min(of_useful * level));
        // What whole messages and keys left unused goes to other data.
        let left = |plan: &Self| before + room - plan.used();
        for at in important.into_iter().chain(useful) {
            self.extend(at, left(self));
        }
        for at in ephemeral {
            self.extend(at, left(self));
        }
    }

    /// Fits the items of one layer.
    fn layer(&mut self, items: &[usize], room: f64) {
        if self.whole(items) <= room {
            return self.keep(items);
        }
        let part = |at: &usize| Part {
            need: self.need(*at),
            share: KEY_SHARE,
            takes_rest: !self.has_messages(*at),
        };
        let parts: Vec<Part> = items.iter().map(part).collect();
        let allowances = all_within(&parts, room).unwrap_or_else(|| first_within(&parts, room));
        for (at, allowance) in items.iter().zip(allowances) {
            if let Some(allowance) = allowance {
                self.fit(*at, allowance);
            }
        }
    }

    fn fit(&mut self, at: usize, allowed: f64) {
        if let Some((outcome, _)) = self.within(at, allowed) {
            self.set(at, outcome);
        }
    }

    /// Gives an item more tokens, unless it is whole or has a conversation.
    fn extend(&mut self, at: usize, more: f64) {
        let Some((item, before)) = self.item(at).zip(self.outcomes.get(at)) else {
            return;
        };
        if more < PART_MIN || *before == Outcome::Whole {
            return;
        }
        let before = before.tokens(item);
        if let Some((outcome, has_messages)) = self.within(at, before as f64 + more)
            && !has_messages
            && outcome.tokens_of(self.item(at)) > before
        {
            self.set(at, outcome);
        }
    }

    fn has_messages(&self, at: usize) -> bool {
        self.item(at)
            .is_some_and(|item| self.conversations.has_messages(item.value))
    }

    /// Returns the outcome within some tokens, and whether it has a conversation.
    fn within(&self, at: usize, allowed: f64) -> Option<(Outcome, bool)> {
        let item = self.item(at)?;
        if item.tokens as f64 <= allowed {
            return Some((Outcome::Whole, self.has_messages(at)));
        }
        let origin = item.checkpoint.map(|checkpoint| MarkerOrigin {
            key: item.key,
            checkpoint,
        });
        let surroundings = Surroundings {
            key: item.key,
            is_log: item.layer == Layer::Ephemeral,
        };
        let key = self.key_tokens(item);
        let rendered = render(
            item.value,
            allowed - key,
            surroundings,
            origin.as_ref(),
            &self.conversations,
            self.tokens,
        )?;
        let text = format!("{}:{},", item.key_json, rendered.json);
        let tokens = self.tokens.count(&text);
        let has_messages = rendered.has_messages;
        let is_shorter = rendered.done != TruncationAction::Whole;
        is_shorter.then_some((Outcome::Shortened { rendered, tokens }, has_messages))
    }
}

impl Outcome {
    /// Returns how many messages of conversations are whole.
    fn whole_messages(&self) -> usize {
        match self {
            Self::Whole => usize::MAX,
            Self::Shortened { rendered, .. } => rendered.whole_messages,
            Self::Dropped => 0,
        }
    }

    pub(super) fn tokens(&self, item: &Item<'_>) -> usize {
        match self {
            Self::Whole => item.tokens,
            Self::Shortened { tokens, .. } => *tokens,
            Self::Dropped => 0,
        }
    }

    fn tokens_of(&self, item: Option<&Item<'_>>) -> usize {
        item.map_or(0, |item| self.tokens(item))
    }
}
