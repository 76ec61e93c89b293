//! The innermost loop: eight rows of i16 activations times a panel of 32 columns of i16 weights, summed exactly in
//! i32. One variant per processor type, selected at run time.
//!
//! Each instruction here multiplies pairs of i16 and adds their products. The compiler does not generate it from
//! plain code. With it, the loop is two to four times as fast as an f32 loop.

use multiversion::multiversion;

pub(super) const COLUMNS: usize = 32;
/// Rows of activations per block.
pub(super) const ROWS: usize = 8;

/// Two adjacent activations of one row.
pub(super) type Pair = [i16; 2];
/// For two adjacent inputs, the activations of each row.
pub(super) type ActivationPairs = [Pair; ROWS];
/// For two adjacent inputs, the weights of each column: pairs next to each other.
pub(super) type WeightSlice = [i16; 2 * COLUMNS];
/// Sums, row by row.
pub(super) type Tile = [[i32; COLUMNS]; ROWS];

/// Multiplies and sums. `rows` and `panel` have the same length; excess elements are ignored.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vnni", "x86_64+avx2", "x86_64+sse4.1",))]
pub(super) fn multiply(rows: &[ActivationPairs], panel: &[WeightSlice]) -> Tile {
    multiversion::target::match_target! {
        "x86_64+avx512f+avx512bw+avx512vnni" => x86::wide(rows, panel),
        "x86_64+avx2" => x86::middle(rows, panel),
        "x86_64+sse4.1" => x86::narrow(rows, panel),
        _ => portable(rows, panel),
    }
}

/// Portable implementation, for other processors and for tests.
fn portable(rows: &[ActivationPairs], panel: &[WeightSlice]) -> Tile {
    let mut tile: Tile = [[0; COLUMNS]; ROWS];
    for (pairs, slice) in rows.iter().zip(panel) {
        for (pair, sums) in pairs.iter().zip(&mut tile) {
            let [first, second] = pair.map(i32::from);
            for (sum, weights) in sums.iter_mut().zip(slice.as_chunks::<2>().0) {
                let [left, right] = weights.map(i32::from);
                *sum = sum.wrapping_add(first * left).wrapping_add(second * right);
            }
        }
    }
    tile
}

/// Entirely safe: intrinsics without pointers may be called where their features are enabled.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use bytemuck::must_cast;

    use super::{ActivationPairs, COLUMNS, ROWS, Tile, WeightSlice};

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub fn wide(rows: &[ActivationPairs], panel: &[WeightSlice]) -> Tile {
        let mut sums = [[_mm512_setzero_si512(); COLUMNS / 16]; ROWS];
        for (pairs, slice) in rows.iter().zip(panel) {
            let weights: [__m512i; COLUMNS / 16] = must_cast(*slice);
            for (sums, pair) in sums.iter_mut().zip(pairs) {
                let pair = _mm512_set1_epi32(must_cast(*pair));
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm512_dpwssd_epi32(*sum, pair, weights);
                }
            }
        }
        must_cast(sums)
    }

    #[target_feature(enable = "avx2")]
    pub fn middle(rows: &[ActivationPairs], panel: &[WeightSlice]) -> Tile {
        must_cast([
            middle_part::<0>(rows, panel),
            middle_part::<1>(rows, panel),
            middle_part::<2>(rows, panel),
            middle_part::<3>(rows, panel),
        ])
    }

    /// Processes two rows: more sums do not fit into the registers.
    #[target_feature(enable = "avx2")]
    fn middle_part<const PART: usize>(
        rows: &[ActivationPairs],
        panel: &[WeightSlice],
    ) -> [[__m256i; COLUMNS / 8]; 2] {
        let mut sums = [[_mm256_setzero_si256(); COLUMNS / 8]; 2];
        for (pairs, slice) in rows.iter().zip(panel) {
            let weights: [__m256i; COLUMNS / 8] = must_cast(*slice);
            let parts: [[i32; 2]; ROWS / 2] = must_cast(*pairs);
            for (sums, pair) in sums
                .iter_mut()
                .zip(parts.into_iter().nth(PART).unwrap_or_default())
            {
                let pair = _mm256_set1_epi32(pair);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pair, weights));
                }
            }
        }
        sums
    }

    #[target_feature(enable = "sse4.1")]
    pub fn narrow(rows: &[ActivationPairs], panel: &[WeightSlice]) -> Tile {
        must_cast([
            narrow_part::<0>(rows, panel),
            narrow_part::<1>(rows, panel),
            narrow_part::<2>(rows, panel),
            narrow_part::<3>(rows, panel),
            narrow_part::<4>(rows, panel),
            narrow_part::<5>(rows, panel),
            narrow_part::<6>(rows, panel),
            narrow_part::<7>(rows, panel),
        ])
    }

    /// Processes one row, all columns.
    #[target_feature(enable = "sse4.1")]
    fn narrow_part<const ROW: usize>(
        rows: &[ActivationPairs],
        panel: &[WeightSlice],
    ) -> [__m128i; COLUMNS / 4] {
        let mut sums = [_mm_setzero_si128(); COLUMNS / 4];
        for (pairs, slice) in rows.iter().zip(panel) {
            let weights: [__m128i; COLUMNS / 4] = must_cast(*slice);
            let pair = pairs.get(ROW).map_or(0, |pair| must_cast(*pair));
            let pair = _mm_set1_epi32(pair);
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = _mm_add_epi32(*sum, _mm_madd_epi16(pair, weights));
            }
        }
        sums
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_sums_the_same() {
        let pairs = 37;
        let wave =
            |number: usize, range: i32| ((number as i32).wrapping_mul(48_271) % range) as i16;
        let rows: Vec<ActivationPairs> = (0..pairs)
            .map(|at| {
                std::array::from_fn(|row| {
                    [wave(row * 97 + at, 11_000), wave(row * 89 + at + 5, 11_000)]
                })
            })
            .collect();
        let panel: Vec<WeightSlice> = (0..pairs)
            .map(|at| std::array::from_fn(|place| wave(at * 71 + place, 128)))
            .collect();
        let expected = portable(&rows, &panel);
        assert_eq!(multiply(&rows, &panel), expected);
        let mut by_hand = 0;
        for (pairs, slice) in rows.iter().zip(&panel) {
            by_hand += i32::from(pairs[2][0]) * i32::from(slice[10])
                + i32::from(pairs[2][1]) * i32::from(slice[11]);
        }
        assert_eq!(expected[2][5], by_hand);
        #[cfg(target_arch = "x86_64")]
        every_processor_here(&rows, &panel, &expected);
    }

    /// Tests each variant that this processor supports, not only the best.
    #[cfg(target_arch = "x86_64")]
    #[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
    fn every_processor_here(rows: &[ActivationPairs], panel: &[WeightSlice], expected: &Tile) {
        multiversion::target::match_target! {
            "x86_64+avx2" => {
                assert_eq!(x86::middle(rows, panel), *expected);
                assert_eq!(x86::narrow(rows, panel), *expected);
            },
            "x86_64+sse4.1" => assert_eq!(x86::narrow(rows, panel), *expected),
            _ => assert_eq!(portable(rows, panel), *expected),
        }
    }
}
