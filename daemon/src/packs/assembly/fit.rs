//! Divides the budget of a pack among its sections: takes sizes and returns a [`BudgetPlan`], without any texts.
//!
//! Values, entities, passages and the topic each get at most a fixed share of the budget; history gets the rest. In
//! each section the most important pieces come first, up to the first one that does not fit; that one is cut if
//! enough of it fits. If the whole history fits, what it does not use goes to the other sections.
//!
//! Every share grows at most as fast as the budget, and the pieces of a section are always a beginning of one list. So
//! a larger budget never holds less of anything (a test tries it).

/// Maximum length of a text while other pieces of its section do not fit, in tokens.
pub const TEXT_TOKENS: usize = 320;
/// Minimum length of a cut text, in tokens. Below it the text is left out.
pub const TEXT_TOKENS_LEAST: usize = 64;
/// Number of most relevant entities whose details and relations come before further entities.
pub const ENTITIES_KEPT: usize = 3;
/// Divisors of the budget: the most that values, entities, passages and the topic get while history needs the rest.
const VALUES_SHARE: usize = 3;
const ENTITIES_SHARE: usize = 8;
pub(super) const PASSAGES_SHARE: usize = 4;
const TOPIC_SHARE: usize = 8;
/// Parts of a token, a multiple of these divisors.
const PARTS: usize = 24;

/// Token counts of all candidates for a pack.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Whole history pieces, most important first.
    pub history: Vec<usize>,
    /// Entities, most relevant first.
    pub entities: Vec<EntitySize>,
    /// Whole values, highest priority first.
    pub values: Vec<usize>,
    /// Whole passages, most relevant first.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetPlan {
    /// Number of entities, most relevant first.
    pub entities: usize,
    /// Number of entities with details, most relevant first.
    pub details: usize,
    /// Number of entities with relations, most relevant first.
    pub relations: usize,
    /// Maximum tokens of each included history piece, most important first.
    pub history: Vec<usize>,
    /// Maximum tokens of each included value, highest priority first.
    pub values: Vec<usize>,
    /// Maximum tokens of each included passage, most relevant first.
    pub passages: Vec<usize>,
    pub has_topic: bool,
}

impl BudgetPlan {
    /// Divides a budget. If nothing fits, the fixed part remains at any cost.
    pub fn of(sizes: &Sizes, budget: usize) -> Self {
        let room = budget.saturating_sub(sizes.fixed);
        let [history, entities, values, passages] = sizes.labels;
        let units = entity_units(&sizes.entities);
        let entity_sizes: Vec<usize> = units.iter().map(|(_, size)| *size).collect();
        // In parts of a token, because rounded shares could together grow faster than the budget.
        let parts = room.saturating_mul(PARTS);
        let share =
            |needed: usize, divisor: usize| (parts / divisor).min(needed.saturating_mul(PARTS));
        let needed = |sizes: &[usize], label: usize| match sizes {
            [] => 0,
            sizes => total(sizes).saturating_add(label),
        };
        let shares = [
            share(needed(&sizes.values, values), VALUES_SHARE),
            share(needed(&entity_sizes, entities), ENTITIES_SHARE),
            share(needed(&sizes.passages, passages), PASSAGES_SHARE),
            share(sizes.topic, TOPIC_SHARE),
        ];
        let [values_room, entities_room, passages_room, topic_room] = shares;
        let history_room = parts.saturating_sub(shares.iter().sum());
        // What a whole history does not use.
        let used = needed(&sizes.history, history).saturating_mul(PARTS);
        let mut left = history_room.saturating_sub(used);
        let mut more = |reserved: usize, needed: usize| {
            let lacking = needed.saturating_mul(PARTS).saturating_sub(reserved);
            let given = left.min(lacking);
            left -= given;
            (reserved + given) / PARTS
        };
        let has_topic = more(topic_room, sizes.topic) == sizes.topic && sizes.topic > 0;
        let values_room = more(values_room, needed(&sizes.values, values));
        let entities_room = more(entities_room, needed(&entity_sizes, entities));
        let (history_room, passages_room) = (history_room / PARTS, passages_room / PARTS);
        let mut plan = Self {
            history: fill(&sizes.history, history, history_room),
            values: fill(&sizes.values, values, values_room),
            passages: fill(&sizes.passages, passages, passages_room),
            has_topic,
            ..Self::default()
        };
        let mut entity_room = entities_room.saturating_sub(entities);
        for (line, size) in units {
            let Some(rest) = entity_room.checked_sub(size) else {
                break;
            };
            entity_room = rest;
            match line {
                EntityLine::Lines(at) => plan.entities = at + 1,
                EntityLine::Details(at) => plan.details = at + 1,
                EntityLine::Relations(at) => plan.relations = at + 1,
            }
        }
        plan
    }

    /// Returns whether only the fixed part of every pack remains.
    pub fn is_bare(&self) -> bool {
        let is_empty = self.history.is_empty() && self.values.is_empty();
        is_empty && self.passages.is_empty() && self.entities == 0 && !self.has_topic
    }
}

/// A line of an entity, by the entity's place.
#[derive(Clone, Copy)]
enum EntityLine {
    Lines(usize),
    Details(usize),
    Relations(usize),
}

/// Returns the lines of all entities, most important first: of the first few everything, then of the others.
fn entity_units(entities: &[EntitySize]) -> Vec<(EntityLine, usize)> {
    let mut units = Vec::new();
    let kept = entities.len().min(ENTITIES_KEPT);
    for range in [0..kept, kept..entities.len()] {
        let of = |at: usize| entities.get(at).copied().unwrap_or_default();
        units.extend(
            range
                .clone()
                .map(|at| (EntityLine::Lines(at), of(at).lines)),
        );
        units.extend(
            range
                .clone()
                .map(|at| (EntityLine::Details(at), of(at).details)),
        );
        units.extend(range.map(|at| (EntityLine::Relations(at), of(at).relations)));
    }
    units
}

fn total(sizes: &[usize]) -> usize {
    sizes.iter().fold(0, |sum, size| sum.saturating_add(*size))
}

/// Returns the tokens that each piece gets, for a beginning of the list.
///
/// While not all pieces fit, none gets more than [`TEXT_TOKENS`]. The first that does not fit gets the rest, if that is
/// enough for it. If all fit, the longest ones share the rest.
fn fill(sizes: &[usize], label: usize, room: usize) -> Vec<usize> {
    let room = room.saturating_sub(label);
    let within = |most: usize| {
        let sizes = sizes.iter().map(|size| (*size).min(most));
        sizes.fold(0, usize::saturating_add)
    };
    if within(TEXT_TOKENS) <= room {
        let (mut low, mut high) = (TEXT_TOKENS, room.max(TEXT_TOKENS) + 1);
        while low + 1 < high {
            let middle = low.midpoint(high);
            match within(middle) <= room {
                true => low = middle,
                false => high = middle,
            }
        }
        return sizes.iter().map(|size| (*size).min(low)).collect();
    }
    let mut room = room;
    let mut given = Vec::new();
    for size in sizes {
        let wanted = (*size).min(TEXT_TOKENS);
        if wanted > room {
            if room >= TEXT_TOKENS_LEAST {
                given.push(room);
            }
            break;
        }
        room -= wanted;
        given.push(wanted);
    }
    given
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

    #[test]
    fn history_is_left_out_by_rank_and_the_last_piece_is_cut() {
        let all = BudgetPlan::of(&sizes(), 1_789);
        assert_eq!(all.history, [300; 5]);
        assert_eq!((all.entities, all.details, all.relations), (4, 4, 4));
        assert_eq!(
            (all.values.as_slice(), all.has_topic),
            ([30].as_slice(), true)
        );
        let less = BudgetPlan::of(&sizes(), 1_788);
        assert_eq!(less.history, [300, 300, 300, 300, 299]);
        assert_eq!(less.entities, 4);
        let half = BudgetPlan::of(&sizes(), 995);
        // 900 tokens of room: 112 for entities, 35 for the value, 9 for the topic; 743 for history with its label.
        assert_eq!(half.history, [300, 300, 138]);
        assert_eq!((half.entities, half.details, half.relations), (3, 3, 3));
        assert_eq!((half.values.len(), half.has_topic), (1, true));
    }

    #[test]
    fn the_message_is_all_that_is_left_in_the_end() {
        assert!(BudgetPlan::of(&sizes(), 95).is_bare());
        assert!(BudgetPlan::of(&sizes(), 0).is_bare(), "whatever that costs");
    }

    /// A single result of 4000 tokens gets what other pieces leave, and no more than a share while they do not fit.
    #[test]
    fn a_long_text_does_not_crowd_out_others() {
        let long = Sizes {
            history: vec![4_000, 50, 50, 4_000, 50],
            labels: [0; 4],
            ..Sizes::default()
        };
        let plan = |budget| BudgetPlan::of(&long, budget).history;
        assert_eq!(plan(400), [320, 50]);
        assert_eq!(plan(790), [320, 50, 50, 320, 50]);
        assert_eq!(plan(1_150), [500, 50, 50, 500, 50]);
        assert_eq!(plan(600), [320, 50, 50, 180]);
    }

    #[test]
    fn what_history_does_not_need_goes_to_the_others() {
        let few = Sizes {
            history: vec![100],
            ..sizes()
        };
        // Everything: 95 + 105 + 145 + 35 + 9, and one that is lost where shares are rounded.
        let plan = BudgetPlan::of(&few, 390);
        assert_eq!(
            (plan.entities, plan.relations, plan.values.len()),
            (4, 4, 1)
        );
        assert!(plan.has_topic);
        assert_eq!(plan.history, [100]);
    }

    #[test]
    fn a_larger_budget_never_holds_less() {
        let longer = |short: &[usize], long: &[usize]| {
            short.len() <= long.len() && short.iter().zip(long).all(|(short, long)| short <= long)
        };
        let many = Sizes {
            history: (0..40).map(|at| 20 + at * 37 % 400).collect(),
            passages: vec![100, 80, 500, 60],
            values: vec![30, 700, 20],
            ..sizes()
        };
        for sizes in [sizes(), many] {
            let mut before = BudgetPlan::of(&sizes, 0);
            for budget in 1..9_000 {
                let plan = BudgetPlan::of(&sizes, budget);
                assert!(longer(&before.history, &plan.history), "{budget}");
                assert!(longer(&before.values, &plan.values), "{budget}");
                assert!(longer(&before.passages, &plan.passages), "{budget}");
                assert!(before.entities <= plan.entities, "{budget}");
                assert!(before.details <= plan.details, "{budget}");
                assert!(before.relations <= plan.relations, "{budget}");
                assert!(before.has_topic <= plan.has_topic, "{budget}");
                let passages: usize = plan.passages.iter().sum();
                assert!(passages <= budget / PASSAGES_SHARE, "{budget}");
                before = plan;
            }
        }
    }

    proptest::proptest! {
        /// The same for any sizes and any two budgets.
        #[test]
        fn of_two_budgets_the_larger_holds_no_less(
            history in proptest::collection::vec(1_usize..900, 0..40),
            passages in proptest::collection::vec(1_usize..600, 0..5),
            values in proptest::collection::vec(1_usize..900, 0..5),
            entities in proptest::collection::vec((1_usize..60, 0_usize..60, 0_usize..60), 0..8),
            (topic, small, more) in (0_usize..80, 0_usize..6_000, 0_usize..600),
        ) {
            let entities = entities.into_iter().map(|(lines, details, relations)| EntitySize {
                lines,
                details,
                relations,
            });
            let sizes = Sizes {
                history,
                passages,
                values,
                entities: entities.collect(),
                topic,
                ..self::sizes()
            };
            let (less, plan) = (BudgetPlan::of(&sizes, small), BudgetPlan::of(&sizes, small + more));
            let holds = |short: &[usize], long: &[usize]| {
                short.len() <= long.len() && short.iter().zip(long).all(|(short, long)| short <= long)
            };
            proptest::prop_assert!(holds(&less.history, &plan.history));
            proptest::prop_assert!(holds(&less.values, &plan.values));
            proptest::prop_assert!(holds(&less.passages, &plan.passages));
            let entities = |plan: &BudgetPlan| [plan.entities, plan.details, plan.relations];
            let both = entities(&less).into_iter().zip(entities(&plan));
            proptest::prop_assert!(both.into_iter().all(|(less, more)| less <= more));
            proptest::prop_assert!(less.has_topic <= plan.has_topic);
        }
    }
}
