//! Distributes the budget over the layers, and fits each layer into its tokens.

use std::cell::OnceCell;

use super::value::{MarkerOrigin, ShortenLimit, Value};
use super::{SHARES, TruncationAction};
use crate::checkpoints::layers::{LAYERS, Layer};
use crate::tokens::Tokens;

/// A key with its value.
pub(super) struct Item<'a> {
    pub key: &'a str,
    pub key_json: String,
    pub value: &'a str,
    pub layer: Layer,
    /// Checkpoint with the whole value.
    pub checkpoint: Option<&'a str>,
    /// Tokens of key, value and punctuation.
    pub tokens: usize,
    /// The parsed value, once it is shortened.
    pub read: OnceCell<Value<'a>>,
}

/// The outcome for an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Whole,
    Shortened {
        /// The shorter value.
        json: String,
        /// Tokens of key, shorter value and punctuation.
        tokens: usize,
        done: TruncationAction,
    },
    Dropped,
}

/// Minimum lengths in IMPORTANT before keys are dropped: gentle first, then as in USEFUL.
const FLOORS_IMPORTANT: &[ShortenLimit] = &[
    ShortenLimit {
        chars: 240,
        elements: 8,
    },
    HARDEST,
];
/// Minimum lengths in USEFUL.
const FLOORS_USEFUL: &[ShortenLimit] = &[HARDEST];
/// Anything shorter would hardly be longer than the marker.
const HARDEST: ShortenLimit = ShortenLimit {
    chars: 40,
    elements: 2,
};

/// Minimum number of unused tokens for another try.
const WORTH_ANOTHER_TRY: usize = 16;

/// Decides each item's outcome, so that all layers together fit into `allowed` tokens if CRITICAL allows it. Shares
/// refer to the `budget`.
pub(super) fn plan(
    items: &[Item<'_>],
    allowed: usize,
    budget: usize,
    tokens: &Tokens,
) -> Vec<Outcome> {
    let [critical, important, useful, ephemeral] =
        LAYERS.map(|layer| Group::new(items, layer, tokens));
    let braces = 1;
    let room = allowed.saturating_sub(critical.whole() + braces);
    let mut grants = grants(
        critical.whole(),
        [important.whole(), useful.whole(), ephemeral.whole()],
        room,
        budget,
    );

    // EPHEMERAL is dropped before any other key, and USEFUL yields to IMPORTANT.
    let mut brief = ephemeral.whole_within(grants.ephemeral);
    grants.important = room.min(grants.important + spare(grants.ephemeral, &brief));
    let least = important.least();
    if least > grants.important {
        brief = ephemeral.none();
        grants.important = room.min(least);
    }
    let mut main = important.fit(grants.important, FLOORS_IMPORTANT);
    let mut left = room.saturating_sub(main.tokens + brief.tokens);
    if useful.least() > left {
        brief = ephemeral.none();
        left = room.saturating_sub(main.tokens);
    }
    let material = useful.fit(left, FLOORS_USEFUL);

    // Unused tokens go to the most important layer that was cut.
    let mut left = room.saturating_sub(main.tokens + material.tokens + brief.tokens);
    if left >= WORTH_ANOTHER_TRY && main.tokens < important.whole() {
        let more = important.fit(main.tokens + left, FLOORS_IMPORTANT);
        left = (left + main.tokens).saturating_sub(more.tokens);
        main = more;
    }
    if brief.tokens < ephemeral.whole() {
        brief = ephemeral.whole_within(brief.tokens + left);
    }

    let mut outcomes = vec![Outcome::Whole; items.len()];
    for (at, outcome) in [main, material, brief]
        .into_iter()
        .flat_map(|fit| fit.outcomes)
    {
        if let Some(place) = outcomes.get_mut(at) {
            *place = outcome;
        }
    }
    outcomes
}

fn spare(grant: usize, fit: &LayerFit) -> usize {
    grant.saturating_sub(fit.tokens)
}

/// Tokens for each layer below CRITICAL.
struct Grants {
    important: usize,
    ephemeral: usize,
}

/// Adapts the shares to the needs. CRITICAL takes missing tokens from EPHEMERAL, then USEFUL, then IMPORTANT; unused
/// tokens pass to the next layer. USEFUL gets the rest.
fn grants(critical: usize, needs: [usize; 3], room: usize, budget: usize) -> Grants {
    let share = |percent: usize| budget.saturating_mul(percent) / 100;
    let [of_critical, of_important, of_useful, of_ephemeral] = SHARES.map(share);
    let [need_important, need_useful, need_ephemeral] = needs;
    let mut lack = critical.saturating_sub(of_critical);
    let mut take = |from: usize| {
        let taken = lack.min(from);
        lack -= taken;
        from - taken
    };
    let mut ephemeral = take(of_ephemeral);
    let mut useful = take(of_useful);
    let mut important = take(of_important) + of_critical.saturating_sub(critical);
    useful += important.saturating_sub(need_important);
    important = important.min(need_important);
    ephemeral += useful.saturating_sub(need_useful);
    useful = useful.min(need_useful);
    ephemeral = ephemeral.min(need_ephemeral);
    Grants {
        important: important.min(room),
        ephemeral: ephemeral.min(room.saturating_sub(important + useful)),
    }
}

/// Items with their indices.
type RankedItems<'i, 'a> = Vec<(usize, &'i Item<'a>)>;

/// The items of one layer.
struct Group<'i, 'a> {
    items: RankedItems<'i, 'a>,
    tokens: &'i Tokens,
    /// Tokens of each item at the hardest cut.
    least: OnceCell<Vec<usize>>,
}

/// A layer within its tokens.
struct LayerFit {
    /// Outcomes by index; missing items stay whole.
    outcomes: Vec<(usize, Outcome)>,
    tokens: usize,
}

impl<'i, 'a> Group<'i, 'a> {
    fn new(items: &'i [Item<'a>], layer: Layer, tokens: &'i Tokens) -> Self {
        let items = items.iter().enumerate();
        Self {
            items: items.filter(|(_, item)| item.layer == layer).collect(),
            tokens,
            least: OnceCell::new(),
        }
    }

    /// Returns the tokens of the whole layer.
    fn whole(&self) -> usize {
        self.items.iter().map(|(_, item)| item.tokens).sum()
    }

    /// Returns the tokens of the whole layer at the hardest cut.
    fn least(&self) -> usize {
        self.least_of_each().iter().sum()
    }

    fn least_of_each(&self) -> &[usize] {
        self.least.get_or_init(|| {
            let items = self.items.iter();
            let shortened = items.map(|(_, item)| {
                let outcome = item.shorten(&HARDEST, usize::MAX, self.tokens);
                outcome.map_or(item.tokens, |outcome| outcome.tokens(item))
            });
            shortened.collect()
        })
    }

    /// Drops all keys.
    fn none(&self) -> LayerFit {
        self.whole_within(0)
    }

    /// Keeps as many whole keys as fit, the smallest first.
    fn whole_within(&self, allowed: usize) -> LayerFit {
        let sizes: Vec<usize> = self.items.iter().map(|(_, item)| item.tokens).collect();
        let (kept, dropped) = self.smallest_within(&sizes, allowed);
        LayerFit {
            outcomes: dropped,
            tokens: kept.iter().map(|(_, item)| item.tokens).sum(),
        }
    }

    /// Shortens all keys as little as needed. If even the hardest cut is too long, keeps as many keys as fit, the
    /// smallest first.
    fn fit(&self, allowed: usize, floors: &[ShortenLimit]) -> LayerFit {
        if self.whole() <= allowed {
            return LayerFit {
                outcomes: Vec::new(),
                tokens: self.whole(),
            };
        }
        let (kept, mut dropped) = self.smallest_within(self.least_of_each(), allowed);
        let kept = Group {
            items: kept,
            tokens: self.tokens,
            least: OnceCell::new(),
        };
        let mut fit = kept.shorten(allowed, floors);
        fit.outcomes.append(&mut dropped);
        fit
    }

    /// Splits the items into those that fit with the given sizes, and the dropped ones.
    fn smallest_within(
        &self,
        sizes: &[usize],
        allowed: usize,
    ) -> (RankedItems<'i, 'a>, Vec<(usize, Outcome)>) {
        let mut by_size: Vec<_> = sizes.iter().zip(&self.items).collect();
        by_size.sort_by_key(|(size, (at, _))| (**size, *at));
        let (mut kept, mut dropped, mut used) = (Vec::new(), Vec::new(), 0);
        for (size, (at, item)) in by_size {
            used += size;
            if used <= allowed {
                kept.push((*at, *item));
            } else {
                dropped.push((*at, Outcome::Dropped));
            }
        }
        (kept, dropped)
    }

    /// Shortens step by step: white space, then texts and arrays down to each minimum. All items have the same limit, so
    /// the longest texts are cut first.
    fn shorten(&self, allowed: usize, floors: &[ShortenLimit]) -> LayerFit {
        let mut cut = ShortenLimit::WHITE_SPACE;
        if let Some(fit) = self.under(&cut, allowed) {
            return fit;
        }
        let values = || self.items.iter().map(|(_, item)| item.value());
        let chars_max = values().map(|value| value.chars_max).max().unwrap_or(0);
        let elements_max = values().map(|value| value.elements_max).max().unwrap_or(0);
        for floor in floors {
            let above = cut;
            let chars = |chars| ShortenLimit { chars, ..above };
            let widest = above.chars.min(chars_max);
            if let Some(fit) = self.widest(floor.chars, widest, chars, allowed) {
                return fit;
            }
            cut.chars = floor.chars;
            let elements = |elements| ShortenLimit { elements, ..cut };
            let widest = above.elements.min(elements_max);
            if let Some(fit) = self.widest(floor.elements, widest, elements, allowed) {
                return fit;
            }
            cut.elements = floor.elements;
        }
        // Reached only if the sum was wrong: nothing rather than too much.
        self.none()
    }

    /// The fit under the widest of the cuts between a floor and what is known not to fit, to within a
    /// few percent; `None` if not even the floor fits.
    fn widest(
        &self,
        floor: usize,
        too_wide: usize,
        cut: impl Fn(usize) -> ShortenLimit,
        allowed: usize,
    ) -> Option<LayerFit> {
        let mut best = self.under(&cut(floor), allowed)?;
        let (mut low, mut high) = (floor.max(1), too_wide);
        while high > low + 1 + low / 32 {
            // Sizes differ by orders of magnitude: the middle is the geometric one.
            let middle = low.saturating_mul(high).isqrt().clamp(low + 1, high - 1);
            match self.under(&cut(middle), allowed) {
                Some(fit) => (best, low) = (fit, middle),
                None => high = middle,
            }
        }
        Some(best)
    }

    /// The whole layer under one cut, if it fits.
    fn under(&self, cut: &ShortenLimit, allowed: usize) -> Option<LayerFit> {
        let mut fit = LayerFit {
            outcomes: Vec::new(),
            tokens: 0,
        };
        for (at, item) in &self.items {
            let left = allowed.checked_sub(fit.tokens)?;
            let outcome = item.shorten(cut, left, self.tokens)?;
            fit.tokens += outcome.tokens(item);
            fit.outcomes.push((*at, outcome));
        }
        (fit.tokens <= allowed).then_some(fit)
    }
}

impl<'a> Item<'a> {
    fn value(&self) -> &Value<'a> {
        self.read.get_or_init(|| Value::read(self.value))
    }

    /// The item under a cut, if it then has at most `max` tokens. What does not get smaller stays whole.
    fn shorten(&self, cut: &ShortenLimit, max: usize, tokens: &Tokens) -> Option<Outcome> {
        if !self.value().feels(cut) {
            return (self.tokens <= max).then_some(Outcome::Whole);
        }
        let origin = MarkerOrigin {
            key: self.key,
            checkpoint: self.checkpoint,
        };
        let (json, done) = self.value().shorten(cut, &origin);
        let text = format!("{}:{json},", self.key_json);
        let count = tokens.count_within(&text, max.min(self.tokens));
        match count {
            Some(count) if count < self.tokens => Some(Outcome::Shortened {
                json,
                tokens: count,
                done,
            }),
            Some(_) | None => (self.tokens <= max).then_some(Outcome::Whole),
        }
    }
}

impl Outcome {
    fn tokens(&self, item: &Item<'_>) -> usize {
        match self {
            Self::Whole => item.tokens,
            Self::Shortened { tokens, .. } => *tokens,
            Self::Dropped => 0,
        }
    }
}
