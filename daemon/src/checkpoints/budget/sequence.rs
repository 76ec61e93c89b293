//! Distributes tokens over the parts of an array or object.
//!
//! Each part costs its tokens, but at most its share of the room: a larger one is too long alone, and is shortened.
//! Parts are taken by rank until the room is used. Relative to the room, no cost grows with the room. Therefore a
//! larger room never takes fewer parts, and never fewer whole ones.

/// Minimum tokens of a shortened part; less would hardly be more than its marker.
pub(super) const PART_MIN: f64 = 24.0;

/// Comparisons of sums ignore rounding.
const ROUNDING: f64 = 1e-6;

/// A part, in the order of rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Tokens of the whole part, or infinite if they exceed the room.
    pub need: f64,
    /// Share of the room beyond which the part is too long alone.
    pub share: f64,
    /// Whether a rest of less than the share is of use. Parts of several messages would have some whole messages in
    /// it, and none within a larger room in which they are not too long any more.
    pub takes_rest: bool,
}

/// The allowance of each part, by rank; `None` for parts that are left out.
pub(super) type Allowances = Vec<Option<f64>>;

/// Returns an allowance for all parts if the room suffices for something of each: small parts are whole, and the
/// others are cut to the same size, which is at least their share.
pub(super) fn all_within(parts: &[Part], room: f64) -> Option<Allowances> {
    let level = level(parts.iter().map(|part| (part.need, 1.0)), room);
    let share = parts.iter().map(|part| part.share).fold(0.0, f64::max);
    let suffices = level >= PART_MIN && level >= share * room;
    (level.is_infinite() || suffices).then(|| {
        parts
            .iter()
            .map(|part| Some(part.need.min(level)))
            .collect()
    })
}

/// Returns allowances for the parts of the highest ranks that fit.
pub(super) fn first_within(parts: &[Part], room: f64) -> Allowances {
    let mut used = 0.0;
    let mut is_full = false;
    let allowances = parts.iter().map(|part| {
        let cap = part.share * room;
        let cost = part.need.min(cap);
        let left = room - used;
        let allowance = if is_full {
            None
        } else if cost <= left * (1.0 + ROUNDING) {
            Some(cost)
        } else {
            // What is shortened anyway may use the rest.
            is_full = true;
            (part.takes_rest && part.need > cap && left >= PART_MIN).then_some(left)
        };
        used += allowance.unwrap_or(0.0);
        allowance
    });
    allowances.collect()
}

/// Returns the level L at which the sum of `min(need, weight * L)` is the room, or infinity if all needs fit.
pub(super) fn level(needs: impl Iterator<Item = (f64, f64)>, room: f64) -> f64 {
    let mut by_level: Vec<(f64, f64)> = needs.collect();
    by_level.sort_by(|(a, of_a), (b, of_b)| (a / of_a).total_cmp(&(b / of_b)));
    let mut weights: f64 = by_level.iter().map(|(_, weight)| weight).sum();
    let mut left = room.max(0.0);
    for (need, weight) in by_level {
        if need / weight * weights > left {
            return left / weights;
        }
        left -= need;
        weights -= weight;
    }
    f64::INFINITY
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(needs: &[f64], share: f64) -> Vec<Part> {
        let part = |&need: &f64| Part {
            need,
            share,
            takes_rest: true,
        };
        needs.iter().map(part).collect()
    }

    #[test]
    fn small_parts_are_whole_and_large_ones_equal() {
        assert_eq!(
            level([(10.0, 1.0), (100.0, 1.0), (200.0, 1.0)].into_iter(), 110.0),
            50.0
        );
        assert_eq!(level([(100.0, 2.0), (100.0, 1.0)].into_iter(), 90.0), 30.0);
        assert_eq!(
            level([(100.0, 2.0), (10.0, 1.0)].into_iter(), 110.0),
            f64::INFINITY
        );
        let all = all_within(&parts(&[10.0, 100.0, 200.0], 0.25), 110.0);
        assert_eq!(all.unwrap(), [Some(10.0), Some(50.0), Some(50.0)]);
        assert_eq!(all_within(&parts(&[100.0; 8], 0.25), 110.0), None);
    }

    #[test]
    fn parts_are_taken_by_rank_and_too_long_ones_are_cut() {
        let taken = first_within(&parts(&[10.0, 400.0, 30.0, 35.0, 5.0], 0.5), 100.0);
        assert_eq!(taken, [Some(10.0), Some(50.0), Some(30.0), None, None]);
        let taken = first_within(&parts(&[40.0, 400.0, 400.0], 0.3), 100.0);
        assert_eq!(taken, [Some(30.0), Some(30.0), Some(30.0)]);
    }

    fn wholes(parts: &[Part], room: f64) -> usize {
        let allowed = all_within(parts, room).unwrap_or_else(|| first_within(parts, room));
        let pairs = allowed.iter().zip(parts);
        pairs
            .filter(|(allowed, part)| allowed.is_some_and(|allowed| allowed >= part.need))
            .count()
    }

    proptest! {
        #[test]
        fn a_larger_room_never_takes_fewer_whole_parts(
            needs in prop::collection::vec((1..900_u32, prop::sample::select(vec![0.5, 0.375, 0.25])), 0..30),
        ) {
            let parts: Vec<Part> = needs
                .iter()
                .map(|(need, share)| Part {
                    need: f64::from(*need),
                    share: *share,
                    takes_rest: true,
                })
                .collect();
            let mut before = 0;
            for room in 0..2000 {
                let now = wholes(&parts, f64::from(room));
                prop_assert!(now >= before, "{now} whole parts in {room}, {before} in less");
                before = now;
            }
        }
    }
}
