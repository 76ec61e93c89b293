//! Reduces a pack that does not fit its budget: takes sizes and returns a [`BudgetPlan`], without any texts.
//!
//! In this order, each step only as far as needed:
//! 1. long texts are cut to one length, as great as fits but at least [`TEXT_TOKENS`];
//! 2. details of entities, the least relevant first; 3. their relations likewise;
//! 4. passages of context files, the least relevant first, down to [`PASSAGES_KEPT`];
//! 5. history, the oldest first, down to the newest [`HISTORY_KEPT`];
//! 6. entities, the least relevant first, down to [`ENTITIES_KEPT`];
//! 7. texts are cut down to [`TEXT_TOKENS_LEAST`];
//! 8. the rest of the history, 9. of the passages, 10. of the entities; 11. the topic; 12. values, lowest
//!    priority first.

/// Minimum length of a cut text, in tokens, while other pieces can be left out.
pub const TEXT_TOKENS: usize = 256;
/// Minimum length of a cut text, in tokens. Below it the text is left out.
pub const TEXT_TOKENS_LEAST: usize = 96;
/// Number of newest history pieces that are retained while details, relations or less relevant entities remain.
pub const HISTORY_KEPT: usize = 2;
/// Number of most relevant entities that are retained likewise.
pub const ENTITIES_KEPT: usize = 3;
/// Number of most relevant passages that are retained likewise.
pub const PASSAGES_KEPT: usize = 1;

/// Token counts of all candidates for a pack.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Whole history pieces, in time order.
    pub history: Vec<usize>,
    /// Entities, most relevant first.
    pub entities: Vec<EntitySize>,
    /// Whole values, highest priority first.
    pub values: Vec<usize>,
    /// Passages of context files, most relevant first, each within its share.
    pub passages: Vec<usize>,
    /// Topic; 0 without one.
    pub topic: usize,
    /// Overhead of the history, entities, values and passages in addition to their pieces, in this order.
    pub labels: [usize; 4],
    /// Fixed part of every pack.
    pub fixed: usize,
}

/// Token counts of an entity's lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntitySize {
    /// Identifying lines.
    pub lines: usize,
    pub details: usize,
    pub relations: usize,
}

/// How much of each kind a pack contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetPlan {
    /// Number of entities with details, most relevant first.
    pub details: usize,
    /// Number of entities with relations, most relevant first.
    pub relations: usize,
    /// Number of entities, most relevant first.
    pub entities: usize,
    /// Number of history pieces, newest first.
    pub history: usize,
    /// Number of values, highest priority first.
    pub values: usize,
    /// Number of passages, most relevant first.
    pub passages: usize,
    pub has_topic: bool,
    /// Maximum length of a text, in tokens.
    pub text_max: usize,
    floor: usize,
}

impl BudgetPlan {
    /// Creates a plan that leaves nothing out.
    pub fn nothing(sizes: &Sizes) -> Self {
        let entities = sizes.entities.len();
        Self {
            details: entities,
            relations: entities,
            entities,
            history: sizes.history.len(),
            values: sizes.values.len(),
            passages: sizes.passages.len(),
            has_topic: sizes.topic > 0,
            text_max: usize::MAX,
            floor: TEXT_TOKENS,
        }
    }

    /// Leaves out the minimum that makes the sum fit. If everything is left out, the fixed part remains at any cost.
    pub fn fit(&mut self, sizes: &Sizes, budget: usize) {
        loop {
            if let Some(text_max) = self.text_max_within(sizes, budget) {
                self.text_max = text_max;
                return;
            }
            if !self.leave_out_next(sizes) {
                return;
            }
        }
    }

    /// Returns whether only the fixed part of every pack remains.
    pub fn is_bare(&self) -> bool {
        let pieces = self.history + self.entities + self.values + self.passages;
        pieces == 0 && !self.has_topic
    }

    /// Returns the greatest text length with which the sum fits; `None` if it is below the floor.
    fn text_max_within(&self, sizes: &Sizes, budget: usize) -> Option<usize> {
        let fits = |text_max: usize| self.cost(sizes, text_max) <= budget;
        if fits(usize::MAX) {
            return Some(usize::MAX);
        }
        if !fits(self.floor) {
            return None;
        }
        let (mut low, mut high) = (self.floor, budget.max(self.floor) + 1);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    fn cost(&self, sizes: &Sizes, text_max: usize) -> usize {
        let text = |size: &usize| (*size).min(text_max);
        let [history, entities, values, passages] = sizes.labels;
        let label = |count: usize, label: usize| if count > 0 { label } else { 0 };
        let first = |count: usize| sizes.entities.iter().take(count);
        let costs = [
            sizes.fixed,
            label(self.history, history),
            label(self.entities, entities),
            label(self.values, values),
            label(self.passages, passages),
            if self.has_topic { sizes.topic } else { 0 },
            sizes
                .history
                .iter()
                .rev()
                .take(self.history)
                .map(text)
                .sum(),
            sizes.values.iter().take(self.values).map(text).sum(),
            sizes.passages.iter().take(self.passages).map(text).sum(),
            first(self.entities).map(|entity| entity.lines).sum(),
            first(self.details).map(|entity| entity.details).sum(),
            first(self.relations).map(|entity| entity.relations).sum(),
        ];
        costs.into_iter().fold(0, usize::saturating_add)
    }

    fn leave_out_next(&mut self, sizes: &Sizes) -> bool {
        let entity_has = |count: usize, line: fn(&EntitySize) -> usize| {
            let mut entities = sizes.entities.iter().take(count);
            entities.rposition(|entity| line(entity) > 0)
        };
        if let Some(last) = entity_has(self.details, |entity| entity.details) {
            self.details = last;
        } else if let Some(last) = entity_has(self.relations, |entity| entity.relations) {
            self.relations = last;
        } else if self.passages > PASSAGES_KEPT {
            self.passages -= 1;
        } else if self.history > HISTORY_KEPT {
            self.history -= 1;
        } else if self.entities > ENTITIES_KEPT {
            self.entities -= 1;
        } else if self.floor > TEXT_TOKENS_LEAST {
            self.floor = TEXT_TOKENS_LEAST;
        } else if self.history > 0 {
            self.history -= 1;
        } else if self.passages > 0 {
            self.passages -= 1;
        } else if self.entities > 0 {
            self.entities -= 1;
        } else if self.has_topic {
            self.has_topic = false;
        } else if self.values > 0 {
            self.values -= 1;
        } else {
            return false;
        }
        self.details = self.details.min(self.entities);
        self.relations = self.relations.min(self.entities);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five texts of 300 tokens, four entities of 20 + 10 + 5, one value, a topic: 1789 in all, without passages.
    fn sizes() -> Sizes {
        let entity = EntitySize {
            lines: 20,
            details: 10,
            relations: 5,
        };
        Sizes {
            history: vec![300; 5],
            entities: vec![entity; 4],
            values: vec![30],
            passages: Vec::new(),
            topic: 9,
            labels: [5, 5, 5, 5],
            fixed: 95,
        }
    }

    fn cut(budget: usize) -> BudgetPlan {
        let mut cut = BudgetPlan::nothing(&sizes());
        cut.fit(&sizes(), budget);
        cut
    }

    /// Each budget is one token less than the cost of the previous state.
    #[test]
    fn what_goes_first_is_in_order() {
        let all = BudgetPlan::nothing(&sizes());
        assert_eq!(all.cost(&sizes(), usize::MAX), 1_789);
        assert_eq!(cut(1_789), all);
        assert_eq!(cut(1_788).text_max, 299, "texts are cut first");
        assert_eq!(cut(1_788).details, 4);
        let at_256 = 1_789 - 5 * 44;
        assert_eq!(cut(at_256).text_max, 256);
        assert_eq!(cut(at_256 - 1).details, 3, "then details");
        assert_eq!(
            cut(at_256 - 1).text_max,
            257,
            "what is won goes to the texts"
        );
        assert_eq!(
            (cut(at_256 - 41).details, cut(at_256 - 41).relations),
            (0, 3)
        );
        let no_lines = cut(at_256 - 61);
        assert_eq!(
            (no_lines.relations, no_lines.history),
            (0, 4),
            "then history"
        );
        let two_left = at_256 - 60 - 3 * 256;
        assert_eq!((cut(two_left).history, cut(two_left).entities), (2, 4));
        assert_eq!(cut(two_left - 1).entities, 3, "then entities");
        let short = cut(two_left - 21);
        assert_eq!((short.entities, short.history), (3, 2));
        assert_eq!(short.text_max, 255, "then texts are cut further");
    }

    #[test]
    fn the_message_is_all_that_is_left_in_the_end() {
        let least = cut(95);
        assert!(least.is_bare());
        let with_value = cut(95 + 5 + 30);
        assert_eq!((with_value.values, with_value.has_topic), (1, false));
        let with_topic = cut(95 + 5 + 30 + 9);
        assert!(with_topic.has_topic && with_topic.entities == 0);
        assert!(cut(0).is_bare(), "whatever that costs");
    }

    /// Adds passages of 100, 80 and 60 tokens: 1789 + 245 in all.
    #[test]
    fn passages_go_before_history_but_for_the_first() {
        let sizes = Sizes {
            passages: vec![100, 80, 60],
            ..sizes()
        };
        let cut = |budget: usize| {
            let mut cut = BudgetPlan::nothing(&sizes);
            cut.fit(&sizes, budget);
            cut
        };
        assert_eq!(BudgetPlan::nothing(&sizes).cost(&sizes, usize::MAX), 2_034);
        // History texts are cut to 256 tokens; details and relations are gone.
        let at_256 = 2_034 - 5 * 44 - 60;
        assert_eq!(
            (cut(at_256).relations, cut(at_256).passages),
            (0, 3),
            "lines of entities go first"
        );
        let [two, one] = [cut(at_256 - 1), cut(at_256 - 61)];
        assert_eq!((two.passages, two.history), (2, 5));
        assert_eq!((one.passages, one.history), (1, 5));
        let fewer = cut(at_256 - 141);
        assert_eq!((fewer.passages, fewer.history), (1, 4), "then history");
        let last = cut(95 + 4 * 20 + 5 + 30 + 5 + 9 + 105);
        assert_eq!((last.passages, last.history, last.entities), (1, 0, 3));
        let none = cut(95 + 3 * 20 + 5 + 30 + 5 + 9 + 100);
        assert_eq!((none.passages, none.history, none.entities), (0, 0, 3));
    }

    #[test]
    fn a_sum_that_fits_costs_no_more_than_the_budget() {
        for budget in 95..1_800 {
            let cut = cut(budget);
            assert!(cut.cost(&sizes(), cut.text_max) <= budget, "{budget}");
        }
    }
}
