//! Merge policy: few segments, no old deletions, and each unit is rewritten only as often as the index grows four times.

/// Segments with at most this many units count as equally large.
const SMALLEST: u64 = 64;

/// This many segments of about the same size are merged. With fewer, each unit is rewritten more often; with more, a search has
/// more segments to look into.
const ALIKE: usize = 4;

/// A segment is rewritten if more than one in this many of its units is deleted.
const DELETED_SHARE: u64 = 4;

/// Size of a segment, for the merge policy.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of live units.
    pub living: u64,
    /// Number of deleted units that still take space.
    pub deleted: u64,
}

/// How many deletions cause the rewrite of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletions {
    /// Many deletions.
    Many,
    /// Any deletion, for a purge: no file may still hold a deleted unit.
    Any,
}

/// Returns the numbers of the segments to merge next; empty if no merge is due.
///
/// Fewer than [`ALIKE`] segments remain of each level, and a level has segments of [`ALIKE`] times the size of the one below
/// it.
pub fn next(sizes: &[Size], deletions: Deletions) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = Vec::new();
    order.extend(sizes.iter().enumerate().map(|(at, size)| (size.living, at)));
    order.sort_unstable();
    let levels = order.chunk_by(|(one, _), (other, _)| level(*one) == level(*other));
    let mut crowded = levels.filter(|segments| segments.len() >= ALIKE);
    if let Some(segments) = crowded.next() {
        return segments.iter().map(|(_, at)| *at).collect();
    }
    let rotten = |size: &Size| match deletions {
        Deletions::Many => size.deleted * DELETED_SHARE > size.living + size.deleted,
        Deletions::Any => size.deleted > 0,
    };
    sizes.iter().position(rotten).into_iter().collect()
}

/// Returns the level of a segment: how often the smallest ones were merged to become as large.
fn level(living: u64) -> u32 {
    living.max(SMALLEST).ilog(ALIKE as u64)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn segments_stay_few_and_each_unit_is_rewritten_a_few_times() {
        let mut sizes: Vec<Size> = Vec::new();
        let (mut rewritten, mut most) = (0, 0);
        for _ in 0..1000 {
            sizes.push(Size {
                living: 1000,
                deleted: 0,
            });
            loop {
                let merged = next(&sizes, Deletions::Many);
                if merged.is_empty() {
                    break;
                }
                let living = merged.iter().map(|at| sizes[*at].living).sum();
                rewritten += living;
                let mut at = 0;
                sizes.retain(|_| {
                    at += 1;
                    !merged.contains(&(at - 1))
                });
                sizes.push(Size { living, deleted: 0 });
            }
            most = most.max(sizes.len());
        }
        assert!(most <= 15, "{most} segments");
        assert!(rewritten <= 5_000_000, "{rewritten} units rewritten");
    }

    #[test]
    fn a_segment_with_many_deletions_is_rewritten_alone() {
        let size = |living, deleted| Size { living, deleted };
        assert_eq!(
            next(&[size(30_000, 0), size(10_000, 4000)], Deletions::Many),
            [1]
        );
        assert!(next(&[size(30_000, 9000), size(10_000, 3000)], Deletions::Many).is_empty());
        let few = [size(30_000, 0), size(10_000, 1)];
        assert_eq!(next(&few, Deletions::Any), [1]);
    }
}
