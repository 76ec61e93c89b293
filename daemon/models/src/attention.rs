//! Self-attention within one text: each word piece takes a weighted sum over all pieces.

use multiversion::multiversion;

use super::linear::products;
use super::pointwise::softmax;

/// Most values of a head that are summed in registers; larger heads are processed in parts.
const PART: usize = 32;
/// Queries per block.
const QUERIES: usize = 4;

/// Computes the attention output of each row over all rows of the same text, head by head.
///
/// `queries`, `keys` and `values` are rows of `width` numbers, `width` a multiple of `heads`.
pub(super) fn attend(
    queries: &[f32],
    keys: &[f32],
    values: &[f32],
    width: usize,
    heads: usize,
) -> Vec<f32> {
    let rows = queries.len().checked_div(width).unwrap_or(0).max(1);
    let span = width.checked_div(heads).unwrap_or(0).max(1);
    let mut output = vec![0.0; queries.len()];
    let mut packed = vec![[0.0; PART]; rows * span.div_ceil(PART)];
    let mut scores = vec![0.0; rows * rows];
    let factor = 1.0 / (span as f32).sqrt();
    for start in (0..width).step_by(span) {
        let (query, key) = (
            head(queries, width, start, span),
            head(keys, width, start, span),
        );
        products(&query, &key, span, factor, &mut scores);
        scores.chunks_exact_mut(rows).for_each(softmax);
        pack(values, width, start, span, &mut packed);
        let shares = scores.chunks(QUERIES * rows);
        for (shares, outputs) in shares.zip(output.chunks_mut(QUERIES * width)) {
            for (part, values) in packed.chunks_exact(rows).enumerate() {
                let sums = gather(shares, values);
                let (from, to) = (start + part * PART, start + span.min((part + 1) * PART));
                for (output, sums) in outputs.chunks_exact_mut(width).zip(&sums) {
                    let output = output.get_mut(from..to).unwrap_or_default();
                    output
                        .iter_mut()
                        .zip(sums)
                        .for_each(|(out, sum)| *out = *sum);
                }
            }
        }
    }
    output
}

/// Extracts one head's columns of all rows.
fn head(rows: &[f32], width: usize, start: usize, span: usize) -> Vec<f32> {
    let parts = rows
        .chunks_exact(width)
        .map(|row| row.get(start..start + span).unwrap_or_default());
    parts.flatten().copied().collect()
}

/// Packs one head's values part by part, with rows adjacent.
fn pack(values: &[f32], width: usize, start: usize, span: usize, packed: &mut [[f32; PART]]) {
    let rows = (packed.len() / span.div_ceil(PART)).max(1);
    for (part, packed) in packed.chunks_exact_mut(rows).enumerate() {
        let (from, to) = (start + part * PART, start + span.min((part + 1) * PART));
        for (place, value) in packed.iter_mut().zip(values.chunks_exact(width)) {
            place
                .iter_mut()
                .zip(value.get(from..to).unwrap_or_default())
                .for_each(|(place, number)| *place = *number);
        }
    }
}

/// Computes the weighted sum of the values for each query.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn gather(scores: &[f32], values: &[[f32; PART]]) -> [[f32; PART]; QUERIES] {
    let mut sums = [[0.0; PART]; QUERIES];
    let mut lines = scores.chunks_exact(values.len().max(1));
    let first = lines.next().unwrap_or_default();
    // If fewer queries are left, the first is repeated: an empty line would end all sums.
    let [second, third, fourth] = std::array::from_fn(|_| lines.next().unwrap_or(first));
    for ((((value, first), second), third), fourth) in
        values.iter().zip(first).zip(second).zip(third).zip(fourth)
    {
        for (sums, share) in sums.iter_mut().zip([first, second, third, fourth]) {
            for (sum, number) in sums.iter_mut().zip(value) {
                *sum += share * number;
            }
        }
    }
    sums
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// Computes the same by definition, in f64.
    fn plainly(
        queries: &[f32],
        keys: &[f32],
        values: &[f32],
        width: usize,
        heads: usize,
    ) -> Vec<f64> {
        let (rows, span) = (queries.len() / width, width / heads);
        let mut output = vec![0.0; queries.len()];
        for (row, head) in (0..rows).flat_map(|row| (0..heads).map(move |head| (row, head))) {
            let at = |rows: &[f32], row: usize, place: usize| {
                f64::from(rows[row * width + head * span + place])
            };
            let product = |other: usize| -> f64 {
                let products =
                    (0..span).map(|place| at(queries, row, place) * at(keys, other, place));
                products.sum::<f64>() / (span as f64).sqrt()
            };
            let shares: Vec<f64> = (0..rows).map(|other| product(other).exp()).collect();
            let sum: f64 = shares.iter().sum();
            for place in 0..span {
                let taken = (0..rows).map(|other| shares[other] / sum * at(values, other, place));
                output[row * width + head * span + place] = taken.sum();
            }
        }
        output
    }

    /// Every row count, including counts that are not a multiple of the block size, and heads smaller and larger than
    /// one part.
    #[test]
    fn every_row_takes_what_suits_it() {
        for (rows, heads, span) in
            (1..=13).flat_map(|rows| [(rows, 3, 6), (rows, 2, 32), (rows, 1, 40)])
        {
            let width = heads * span;
            let wave = |seed: usize| -> Vec<f32> {
                let number = |at: usize| ((at * seed + seed) % 97) as f32 / 48.0 - 1.0;
                (0..rows * width).map(number).collect()
            };
            let (queries, keys, values) = (wave(31), wave(53), wave(71));
            let exact = plainly(&queries, &keys, &values, width, heads);
            let ours = attend(&queries, &keys, &values, width, heads);
            for (at, (ours, exact)) in ours.iter().zip(&exact).enumerate() {
                let distance = (f64::from(*ours) - exact).abs();
                assert!(
                    distance < 2e-3,
                    "{rows} rows, {heads} heads: {ours} at {at} is not {exact}"
                );
            }
        }
    }
}
