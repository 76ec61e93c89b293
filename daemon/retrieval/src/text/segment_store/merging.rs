//! Which segments to make one of: few segments, no old deletions, and every unit rewritten only as
//! often as the index doubles.

/// Segments that hold no more units than this together are always merged.
const SMALL: u64 = 4096;

/// A segment is rewritten when one unit of so many in it is deleted.
const DELETED_SHARE: u64 = 4;

/// A segment, as far as merging cares.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Units that are there.
    pub living: u64,
    /// Units that are deleted and still take room.
    pub deleted: u64,
}

/// When deletions alone are a reason to rewrite a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletions {
    /// When there are many.
    Many,
    /// When there are any: what was forgotten is to be in no file.
    Any,
}

/// The numbers of the segments to merge next; none when all is well. Each segment that stays has
/// at least as many units as all smaller ones together, so there are at most as many segments as
/// the index doubled.
pub fn next(sizes: &[Size], deletions: Deletions) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = Vec::new();
    order.extend(sizes.iter().enumerate().map(|(at, size)| (size.living, at)));
    order.sort_unstable();
    let (mut together, mut merged) = (0, 0);
    for (rank, (living, _)) in order.iter().enumerate() {
        if rank > 0 && (*living < together || living + together <= SMALL) {
            merged = rank + 1;
        }
        together += living;
    }
    if merged == 0 {
        let rotten = |size: &Size| match deletions {
            Deletions::Many => size.deleted * DELETED_SHARE > size.living + size.deleted,
            Deletions::Any => size.deleted > 0,
        };
        return sizes.iter().position(rotten).into_iter().collect();
    }
    order.into_iter().take(merged).map(|(_, at)| at).collect()
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
        assert!(most <= 9, "{most} segments");
        assert!(rewritten <= 9_000_000, "{rewritten} units rewritten");
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
