//! Sketches of rows: one bit a number, its sign. A search compares them first and reads only the rows that may be near.
//!
//! The estimate is that of RaBitQ (Gao and Long, SIGMOD 2024) without its rotation: the product of the query and the signs,
//! times a factor of the row that makes it exact for the row itself. The query keeps four bits a number, one bit plane
//! each, so that a product takes as many population counts.

use multiversion::multiversion;

use super::quantized::largest;

/// Bits of a number of the query: from -8 to 7.
const PLANES: usize = 4;
/// The largest number of a query.
const LARGEST: f32 = 7.0;
/// Rows that are compared together: their words lie side by side, so that one instruction counts the bits of all.
const LANES: usize = 8;

/// The sketches of a block's rows.
#[derive(Debug)]
pub(super) struct Sketches {
    /// Words of one sketch.
    words: usize,
    /// For each eight rows their first words, then their second ones. Zeros fill the last eight.
    signs: Box<[u64]>,
    /// What the product of a query and a row's signs is multiplied by.
    factors: Box<[f32]>,
}

impl Sketches {
    /// Sketches the rows of a block; `scales` are theirs.
    pub fn new(rows: &[u8], scales: &[f32], dimension: usize) -> Self {
        let words = dimension.div_ceil(64).max(1);
        let mut signs = vec![0; words * scales.len().next_multiple_of(LANES)];
        let mut factors = Vec::with_capacity(scales.len());
        let rows = rows.chunks_exact(dimension.max(1));
        for (number, (row, scale)) in rows.zip(scales).enumerate() {
            let (mut sum, mut squares) = (0.0_f32, 0.0_f32);
            for (at, numbers) in row.chunks(64).enumerate() {
                let mut word = 0;
                for (bit, number) in numbers.iter().enumerate() {
                    let number = number.cast_signed();
                    word |= u64::from(number >= 0) << bit;
                    let number = f32::from(number);
                    sum += number.abs();
                    squares += number * number;
                }
                if let Some(sign) = signs.get_mut(place(number, at, words)) {
                    *sign = word;
                }
            }
            factors.push(if sum > 0.0 {
                squares / sum * scale
            } else {
                0.0
            });
        }
        Self {
            words,
            signs: signs.into(),
            factors: factors.into(),
        }
    }

    /// Returns the estimated dot product of a query and one row.
    pub fn estimate(&self, row: usize, query: &SketchedQuery) -> Option<f32> {
        let factor = self.factors.get(row)?;
        let sign = |word| self.signs.get(place(row, word, self.words)).copied();
        let mut positive = 0;
        for (plane, words) in query.planes.chunks_exact(self.words).enumerate() {
            let common = words.iter().enumerate().map(|(word, bits)| {
                let common = bits & sign(word).unwrap_or_default();
                common.count_ones().cast_signed()
            });
            positive += weigh(plane, common.sum());
        }
        Some(query.score(positive) * factor)
    }

    /// Replaces `scores` by the estimated dot products of a query and the rows, in order.
    pub fn estimates(&self, query: &SketchedQuery, scores: &mut Vec<f32>) {
        scores.clear();
        products_of(&query.planes, &self.signs, self.words, scores);
        scores.truncate(self.factors.len());
        for (score, factor) in scores.iter_mut().zip(&self.factors) {
            // A product is a whole number far below those that f32 rounds.
            *score = (2.0 * *score - query.sum as f32) * query.scale * factor;
        }
    }
}

/// Returns the place of a row's word.
const fn place(row: usize, word: usize, words: usize) -> usize {
    (row / LANES * words + word) * LANES + row % LANES
}

/// A query as bit planes.
pub(super) struct SketchedQuery {
    /// The words of the lowest bits, then those of the next. The highest bit is the sign.
    planes: Vec<u64>,
    scale: f32,
    /// Sum of the query's numbers, rounded as in the planes.
    sum: i32,
}

impl SketchedQuery {
    /// Sketches a query.
    pub fn new(query: &[f32]) -> Self {
        let words = query.len().div_ceil(64).max(1);
        let (largest, is_sound) = largest(query);
        let factor = if is_sound && largest > 0.0 {
            LARGEST / largest
        } else {
            0.0
        };
        let mut planes = vec![0; words * PLANES];
        let mut sum = 0;
        for (at, number) in query.iter().enumerate() {
            let rounded = (number * factor).round_ties_even() as i8;
            sum += i32::from(rounded);
            for plane in 0..PLANES {
                if let Some(word) = planes.get_mut(plane * words + at / 64) {
                    *word |= u64::from(rounded.cast_unsigned() >> plane & 1) << (at % 64);
                }
            }
        }
        Self {
            planes,
            scale: if factor > 0.0 { factor.recip() } else { 0.0 },
            sum,
        }
    }

    /// Returns the product of the query and signs, from the sum of the numbers whose signs are set: each of them counts
    /// +1, each other one -1.
    fn score(&self, positive: i32) -> f32 {
        (2 * positive - self.sum) as f32 * self.scale
    }
}

/// Weighs the count of a plane; the last plane is negative.
const fn weigh(plane: usize, count: i32) -> i32 {
    match plane + 1 == PLANES {
        true => -(count << plane),
        false => count << plane,
    }
}

/// Adds for each row the sum of the numbers whose signs are set.
///
/// Without AVX2: the compiler would count the bits of a few words by shuffles, which takes several times as long.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512vpopcntdq+popcnt", "x86_64+popcnt"))]
fn products_of(planes: &[u64], signs: &[u64], words: usize, products: &mut Vec<f32>) {
    match words {
        // The models' dimensions: their loops have no ends to check.
        4 => products_of_words::<4>(planes, signs, products),
        6 => products_of_words::<6>(planes, signs, products),
        _ => {
            for group in signs.chunks_exact(words.max(1) * LANES) {
                let (group, _) = group.as_chunks::<LANES>();
                let planes = planes.chunks_exact(words.max(1));
                let planes = planes.map(|plane| plane.iter().zip(group));
                products.extend(product_of(planes));
            }
        }
    }
}

#[inline(always)]
fn products_of_words<const WORDS: usize>(planes: &[u64], signs: &[u64], products: &mut Vec<f32>) {
    let (planes, _) = planes.as_chunks::<WORDS>();
    let (groups, _) = signs.as_chunks::<LANES>();
    let (groups, _) = groups.as_chunks::<WORDS>();
    let Some(planes) = planes.first_chunk::<PLANES>() else {
        return;
    };
    products.reserve(groups.len() * LANES);
    for group in groups {
        let planes = planes.iter().map(|plane| plane.iter().zip(group));
        products.extend_from_slice(&product_of(planes));
    }
}

/// Returns the products of eight rows, from the words of each plane with those of the rows.
#[inline(always)]
fn product_of<'p>(
    planes: impl Iterator<Item = impl Iterator<Item = (&'p u64, &'p [u64; LANES])>>,
) -> [f32; LANES] {
    let mut products = [0_i64; LANES];
    for (plane, words) in planes.enumerate() {
        let mut counts = [0_u64; LANES];
        for (bits, signs) in words {
            for (count, sign) in counts.iter_mut().zip(signs) {
                *count += u64::from((bits & sign).count_ones());
            }
        }
        for (product, count) in products.iter_mut().zip(counts) {
            let weighed = count.cast_signed() << plane;
            *product += if plane + 1 == PLANES {
                -weighed
            } else {
                weighed
            };
        }
    }
    products.map(|product| product as f32)
}
