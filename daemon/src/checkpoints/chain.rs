//! Selects the base of a delta (docs/decisions/0003).
//!
//! A value that is stored whole is a keyframe; a changed value is a delta against an earlier value of its key. The
//! next value is a delta against the deepest value of the last chain that is not used up. A value is used up once the
//! deltas against it take as much space as the value. So small changes make long-lived keyframes, large ones
//! short-lived.

use crate::events::checkpoints::{ContextPart, DeltaLink};

/// Maximum number of deltas in a chain.
pub const DEPTH_MAX: usize = 3;
/// Maximum number of values per keyframe; limits the reach of a damaged byte.
const VERSIONS_MAX: u32 = 128;
/// Any delta may have this many bytes.
const ROOM_BYTES_MIN: u64 = 64;

/// The plan for the delta of a key's next value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The chain from its base to the keyframe.
    pub base: Vec<DeltaLink>,
    /// Maximum size of the delta, in bytes: about half of a keyframe.
    pub room: u64,
    /// Number of values since the keyframe, including the next one.
    pub since: u32,
}

/// Plans the next value of a key from the part with its last value; `None` for a keyframe.
#[must_use]
pub fn plan(last: &ContextPart, bytes: u64) -> Option<Plan> {
    let since = last.since + 1;
    if since >= VERSIONS_MAX {
        return None;
    }
    let depth = |at: usize| last.chain.len() - 1 - at;
    let is_open = |(at, link): &(usize, &DeltaLink)| {
        depth(*at) < DEPTH_MAX && link.spent_bytes < link.stored_bytes
    };
    let (at, _) = last.chain.iter().enumerate().find(is_open)?;
    let base = last.chain.get(at..)?.to_vec();
    let keyframe = base.last()?;
    let whole =
        u128::from(bytes) * u128::from(keyframe.stored_bytes) / u128::from(keyframe.bytes.max(1));
    Some(Plan {
        room: u64::try_from(whole / 2).map_or(bytes, |half| half.max(ROOM_BYTES_MIN)),
        base,
        since,
    })
}

/// Returns the chain from a new delta to its keyframe.
#[must_use]
pub fn extend(delta: DeltaLink, mut base: Vec<DeltaLink>) -> Vec<DeltaLink> {
    if let Some(first) = base.first_mut() {
        first.spent_bytes += delta.stored_bytes;
    }
    base.insert(0, delta);
    base
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::log::Hash;

    fn link(number: u64, bytes: u64, stored_bytes: u64) -> DeltaLink {
        DeltaLink::to(Hash::of(&number.to_be_bytes()), bytes, stored_bytes)
    }

    fn part(chain: Vec<DeltaLink>, since: u32) -> ContextPart {
        ContextPart {
            key: None,
            chain,
            since,
        }
    }

    /// Chains grow to the limit; equal deltas use up their bases at once, except the keyframe.
    #[test]
    fn deltas_go_deep_first() {
        let mut last = part(vec![link(0, 1000, 100)], 0);
        let mut depths = Vec::new();
        for number in 1..12 {
            let plan = plan(&last, 1000).unwrap();
            assert_eq!(plan.room, 64, "the least");
            depths.push(plan.base.len());
            let delta = link(number, 1000, 5);
            last = part(extend(delta, plan.base), plan.since);
        }
        assert_eq!(depths, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2]);
        assert_eq!(last.since, 11);
    }

    /// A used-up keyframe, or one with the maximum of values, is followed by another.
    #[test]
    fn keyframes_are_replaced() {
        let mut keyframe = link(0, 1000, 100);
        keyframe.spent_bytes = 99;
        assert!(plan(&part(vec![keyframe], 126), 1000).is_some());
        assert!(plan(&part(vec![keyframe], 127), 1000).is_none());
        keyframe.spent_bytes = 100;
        assert!(plan(&part(vec![keyframe], 1), 1000).is_none());
        assert!(plan(&part(Vec::new(), 1), 1000).is_none());
    }

    /// The room follows from the keyframe's ratio, for any sizes.
    #[test]
    fn room_is_half_a_keyframe() {
        let room = |bytes, keyframe| plan(&part(vec![keyframe], 0), bytes).unwrap().room;
        assert_eq!(room(2000, link(0, 1000, 500)), 500);
        assert_eq!(room(u64::MAX, link(0, 1, 2)), u64::MAX);
        assert_eq!(room(10, link(0, 0, 1)), 64);
    }

    proptest! {
        /// With deltas of any size, chains and values per keyframe stay within their limits.
        #[test]
        fn ways_are_bounded(sizes in proptest::collection::vec(1_u64..400, 1..400)) {
            let mut last = part(vec![link(0, 1000, 300)], 0);
            for (number, stored) in sizes.into_iter().enumerate() {
                let new = link(number as u64 + 1, 1000, stored);
                last = match plan(&last, 1000) {
                    Some(plan) if stored <= plan.room => part(extend(new, plan.base), plan.since),
                    Some(_) | None => part(vec![link(number as u64 + 1, 1000, 300)], 0),
                };
                prop_assert!(last.chain.len() <= DEPTH_MAX + 1);
                prop_assert!(last.since < VERSIONS_MAX);
            }
        }
    }
}
