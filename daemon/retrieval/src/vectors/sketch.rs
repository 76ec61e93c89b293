//! Sketches of rows: one bit a number, its sign. A search compares them first and reads only the rows that may be near.
//!
//! The estimate is that of RaBitQ (Gao and Long, SIGMOD 2024) without its rotation: the product of the query and the signs,
//! times a factor of the row that makes it exact for the row itself. The query keeps five bits a number, one bit plane
//! each, so that a product takes as many population counts.

use multiversion::multiversion;

use super::quantized::largest;

/// Bits of a number of the query: from -16 to 15.
const PLANES: usize = 5;
/// The largest number of a query.
const LARGEST: f32 = 15.0;

/// The sketches of a block's rows.
#[derive(Debug)]
pub(super) struct Sketches {
    /// Words of one sketch.
    words: usize,
    signs: Box<[u64]>,
    /// What the product of a query and a row's signs is multiplied by.
    factors: Box<[f32]>,
}

impl Sketches {
    /// Sketches the rows of a block; `scales` are theirs.
    pub fn new(rows: &[u8], scales: &[f32], dimension: usize) -> Self {
        let words = dimension.div_ceil(64).max(1);
        let mut signs = Vec::with_capacity(words * scales.len());
        let mut factors = Vec::with_capacity(scales.len());
        for (row, scale) in rows.chunks_exact(dimension.max(1)).zip(scales) {
            let (mut sum, mut squares) = (0.0_f32, 0.0_f32);
            for numbers in row.chunks(64) {
                let mut word = 0;
                for (bit, number) in numbers.iter().enumerate() {
                    let number = number.cast_signed();
                    word |= u64::from(number >= 0) << bit;
                    let number = f32::from(number);
                    sum += number.abs();
                    squares += number * number;
                }
                signs.push(word);
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

    /// Returns the estimated dot product of a query and one row. `products` is only there to be used again.
    pub fn estimate(
        &self,
        row: usize,
        query: &SketchedQuery,
        products: &mut Vec<i32>,
    ) -> Option<f32> {
        let signs = self.signs.chunks_exact(self.words).nth(row)?;
        products.clear();
        products_of(&query.planes, signs, self.words, products);
        Some(query.score(*products.first()?) * self.factors.get(row)?)
    }

    /// Returns the estimated dot products of a query and the rows, in order. `products` is only there to be used again.
    pub fn estimates<'s>(
        &'s self,
        query: &'s SketchedQuery,
        products: &'s mut Vec<i32>,
    ) -> impl Iterator<Item = f32> + 's {
        products.clear();
        products_of(&query.planes, &self.signs, self.words, products);
        let rows = products.iter().zip(&self.factors);
        rows.map(|(product, factor)| query.score(*product) * factor)
    }
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

/// Adds for each row the sum of the numbers whose signs are set.
///
/// Without AVX2: the compiler would count the bits of a few words by shuffles, which takes several times as long.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512vpopcntdq+popcnt", "x86_64+popcnt"))]
fn products_of(planes: &[u64], signs: &[u64], words: usize, products: &mut Vec<i32>) {
    match words {
        // The models' dimensions: their loops have no ends to check.
        4 => products_of_words::<4>(planes, signs, products),
        6 => products_of_words::<6>(planes, signs, products),
        _ => products.extend(signs.chunks_exact(words.max(1)).map(|signs| {
            let planes = planes.chunks_exact(words.max(1));
            sum_of_planes(planes.map(|plane| common_bits(plane, signs)))
        })),
    }
}

#[inline(always)]
fn products_of_words<const WORDS: usize>(planes: &[u64], signs: &[u64], products: &mut Vec<i32>) {
    let (planes, _) = planes.as_chunks::<WORDS>();
    let (rows, _) = signs.as_chunks::<WORDS>();
    let Some(planes) = planes.first_chunk::<PLANES>() else {
        return;
    };
    products.extend(
        rows.iter()
            .map(|signs| sum_of_planes(planes.iter().map(|plane| common_bits(plane, signs)))),
    );
}

#[inline(always)]
fn common_bits(plane: &[u64], signs: &[u64]) -> i32 {
    let common = plane.iter().zip(signs).map(|(plane, signs)| plane & signs);
    common.map(u64::count_ones).sum::<u32>().cast_signed()
}

/// Weighs the counts of the planes; the last one is negative.
#[inline(always)]
fn sum_of_planes(counts: impl Iterator<Item = i32>) -> i32 {
    counts.enumerate().fold(0, |sum, (plane, count)| {
        let weighed = count << plane;
        sum + if plane + 1 == PLANES {
            -weighed
        } else {
            weighed
        }
    })
}
