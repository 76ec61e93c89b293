//! Elementwise operations of a transformer: exponential, softmax, GELU, layer norm. Written so that the compiler
//! vectorises them; the library's `exp` alone would take a third of the time.

use multiversion::multiversion;

/// e to the power of `x`, to a relative error of 3e-7; below -87 the result is almost zero.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding it rounds to a whole number, in the lowest bits.
    const ROUNDING: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = shifted - ROUNDING;
    // The logarithm of two in two parts, so that the difference stays exact.
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_65
                                + rest
                                    * (0.041_665_796
                                        + rest * (0.008_333_452 + rest * 0.001_388_9)))));
    let power = (shifted.to_bits() << 23).wrapping_add(0x3f80_0000);
    series * f32::from_bits(power)
}

/// The error function, to 2e-7 (Abramowitz and Stegun 7.1.26).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let size = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_8 + t * (-1.453_152 + t * 1.061_405_4))));
    (1.0 - series * exp(-size * size)).copysign(x)
}

/// GELU, with the exact error function.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub(super) fn gelu(numbers: &mut [f32]) {
    for number in numbers {
        *number *= 0.5 * (1.0 + erf(*number * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Softmax: converts scores of a row to weights that sum to one.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub(super) fn softmax(scores: &mut [f32]) {
    let largest = fold(scores, f32::NEG_INFINITY, f32::max);
    for score in &mut *scores {
        *score = exp(*score - largest);
    }
    let sum = fold(scores, 0.0, |left, right| left + right);
    let share = 1.0 / sum;
    for score in scores {
        *score *= share;
    }
}

/// Adds `more` to each row, then scales it to mean zero and variance one, times `weight` plus `bias`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub(super) fn add_and_norm(
    rows: &mut [f32],
    more: &[f32],
    weight: &[f32],
    bias: &[f32],
    epsilon: f32,
) {
    let width = weight.len().max(1);
    for (row, more) in rows.chunks_exact_mut(width).zip(more.chunks_exact(width)) {
        for (number, more) in row.iter_mut().zip(more) {
            *number += more;
        }
        let mean = fold(row, 0.0, |left, right| left + right) / width as f32;
        for number in &mut *row {
            *number -= mean;
        }
        let variance = squares(row) / width as f32;
        let factor = 1.0 / (variance + epsilon).sqrt();
        for ((number, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
            *number = *number * factor * weight + bias;
        }
    }
}

/// Folds in sixteen lanes: a fixed order of additions that vectorises.
#[inline(always)]
fn fold(numbers: &[f32], start: f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    let (chunks, rest) = numbers.as_chunks::<16>();
    let mut lanes = [start; 16];
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane = join(*lane, *number);
        }
    }
    rest.iter()
        .chain(&lanes)
        .fold(start, |left, right| join(left, *right))
}

#[inline(always)]
fn squares(numbers: &[f32]) -> f32 {
    let (chunks, rest) = numbers.as_chunks::<16>();
    let mut lanes = [0.0; 16];
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane += number * number;
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|number| number * number).sum::<f32>()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_close_enough() {
        for step in -870..=870 {
            let x = step as f32 / 10.0;
            let exact = f64::from(x).exp();
            assert!(
                (f64::from(exp(x)) / exact - 1.0).abs() < 5e-7,
                "exp({x}) is {} not {exact}",
                exp(x)
            );
        }
        assert!(exp(-1000.0) < 1e-37 && exp(-1000.0) >= 0.0);
    }

    #[test]
    fn the_error_function_is_close_enough() {
        for (x, exact) in [
            (0.0, 0.0),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (2.0, 0.995_322_3),
            (-1.0, -0.842_700_8),
            (9.0, 1.0),
        ] {
            assert!((erf(x) - exact).abs() < 1e-6, "erf({x}) is {}", erf(x));
        }
    }

    #[test]
    fn shares_sum_to_one() {
        let mut scores: Vec<f32> = (0..37).map(|number| (number * 7 % 37) as f32).collect();
        softmax(&mut scores);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(scores.iter().all(|share| (0.0..=1.0).contains(share)));
    }
}
