//! Quantization: rows as int8 with a scale, and queries as i16 for a scan without floats.

use multiversion::multiversion;

/// Quantizes a vector to int8, appends it to `row`, and returns the scale that restores it.
///
/// A vector with a number that is not finite becomes zero, so it is never near any query.
pub(super) fn round_row(vector: &[f32], row: &mut Vec<u8>) -> f32 {
    let (largest, sound) = largest(vector);
    let factor = if sound && largest > 0.0 {
        127.0 / largest
    } else {
        0.0
    };
    row.extend(
        vector
            .iter()
            .map(|number| ((number * factor).round_ties_even() as i8).cast_unsigned()),
    );
    if factor > 0.0 && factor.is_finite() {
        factor.recip()
    } else {
        0.0
    }
}

/// Returns the largest absolute value, and whether all numbers are finite.
pub(super) fn largest(vector: &[f32]) -> (f32, bool) {
    let largest = vector
        .iter()
        .fold(0.0, |largest: f32, number| largest.max(number.abs()));
    (largest, vector.iter().all(|number| number.is_finite()))
}

/// A quantized query. Its rounding error is a hundredth of the rows' own.
pub(super) struct Query<'a> {
    exact: &'a [f32],
    rounded: Vec<i16>,
    scale: f32,
}

impl<'a> Query<'a> {
    pub fn new(query: &'a [f32]) -> Self {
        // With this bound, no sum of 4096 products with 128 overflows an i32.
        let finest = i32::MAX / (128 * i32::try_from(query.len().max(1)).unwrap_or(i32::MAX / 128));
        let finest = finest.clamp(1, i32::from(i16::MAX)) as f32;
        let (largest, sound) = largest(query);
        let factor = if sound && largest > 0.0 {
            finest / largest
        } else {
            0.0
        };
        let rounded = query
            .iter()
            .map(|number| (number * factor).round_ties_even() as i16)
            .collect();
        Self {
            exact: query,
            rounded,
            scale: if factor > 0.0 { factor.recip() } else { 0.0 },
        }
    }

    /// Returns the dot product of the quantized query and a row, without the row's scale.
    pub fn near(&self, row: &[u8]) -> f32 {
        product(row, &self.rounded) as f32 * self.scale
    }

    /// Returns the dot product of the original query and a row, without the row's scale.
    pub fn exact(&self, row: &[u8]) -> f32 {
        self.exact
            .iter()
            .zip(row)
            .map(|(number, weight)| number * f32::from(weight.cast_signed()))
            .sum()
    }
}

/// Returns the dot product, exact in integers.
#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))]
fn product(row: &[u8], query: &[i16]) -> i32 {
    row.iter()
        .zip(query)
        .map(|(weight, number)| i32::from(weight.cast_signed()) * i32::from(*number))
        .sum()
}
