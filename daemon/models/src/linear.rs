//! A layer's matrix: int8 weights packed for the kernel, activations rounded to i16 row by row.
//!
//! Sums are exact integers, so the only error beyond the stored weights' is the rounding of activations to 14 bits or
//! more. A text's vector does not depend on the other texts of its batch.

use multiversion::multiversion;

use super::kernel::{ActivationPairs, COLUMNS, Pair, ROWS, WeightSlice, multiply};
use super::weights::Weights;
use super::{ModelError, weights::Matrix};

/// A matrix of `outputs` columns with `inputs` weights each, and a bias per column.
pub(super) struct Linear {
    /// Panels of [`COLUMNS`] columns: for each pair of inputs, each column's two weights.
    panels: Vec<[i8; 2 * COLUMNS]>,
    finishes: Vec<OutputStage>,
    inputs: usize,
    outputs: usize,
}

/// Scales and biases that convert a panel's sums to output values.
struct OutputStage {
    scales: [f32; COLUMNS],
    bias: [f32; COLUMNS],
}

impl Linear {
    /// Loads `NAME.weight` and `NAME.bias`.
    pub fn new(
        weights: &Weights,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Self, ModelError> {
        let matrix = weights.matrix(&format!("{name}.weight"), outputs, inputs)?;
        let panels = (0..outputs)
            .step_by(COLUMNS)
            .flat_map(|column| pack(&matrix, column, inputs))
            .collect();
        let bias = weights.vector(&format!("{name}.bias"), outputs)?;
        let finish = |(scales, bias): (&[f32], &[f32])| OutputStage {
            scales: filled(scales),
            bias: filled(bias),
        };
        let finishes = matrix
            .scales
            .chunks(COLUMNS)
            .zip(bias.chunks(COLUMNS))
            .map(finish)
            .collect();
        Ok(Self {
            panels,
            finishes,
            inputs,
            outputs,
        })
    }

    /// Multiplies rows of activations by the layer's matrix.
    pub fn apply(&self, quantized: &Quantized) -> Vec<f32> {
        let pairs = self.inputs.div_ceil(2);
        let mut output = vec![0.0; quantized.scales.len() * self.outputs];
        let mut panel: Vec<WeightSlice> = vec![[0; 2 * COLUMNS]; pairs];
        for ((number, packed), finish) in self.panels.chunks(pairs).enumerate().zip(&self.finishes)
        {
            widen(packed, &mut panel);
            let activations = quantized
                .pairs
                .chunks(pairs)
                .zip(quantized.scales.chunks(ROWS));
            for ((rows, scales), lines) in activations.zip(output.chunks_mut(ROWS * self.outputs)) {
                let tile = multiply(rows, &panel);
                for ((line, sums), scale) in lines.chunks_mut(self.outputs).zip(&tile).zip(scales) {
                    let line = line.get_mut(number * COLUMNS..).unwrap_or_default();
                    finish.write(sums, *scale, line);
                }
            }
        }
        output
    }
}

impl OutputStage {
    /// Writes as many columns as fit into `line`.
    fn write(&self, sums: &[i32; COLUMNS], scale: f32, line: &mut [f32]) {
        if let Some(line) = line.first_chunk_mut() {
            scaled(sums, scale, &self.scales, &self.bias, line);
        } else {
            let mut columns = [0.0; COLUMNS];
            scaled(sums, scale, &self.scales, &self.bias, &mut columns);
            line.iter_mut()
                .zip(columns)
                .for_each(|(out, column)| *out = column);
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))]
fn scaled(
    sums: &[i32; COLUMNS],
    scale: f32,
    scales: &[f32; COLUMNS],
    bias: &[f32; COLUMNS],
    line: &mut [f32; COLUMNS],
) {
    for (((out, sum), column), bias) in line.iter_mut().zip(sums).zip(scales).zip(bias) {
        *out = *sum as f32 * (scale * column) + bias;
    }
}

/// Unpacks stored weights to the kernel's format.
#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2", "x86_64+sse4.1"))]
fn widen(packed: &[[i8; 2 * COLUMNS]], panel: &mut [WeightSlice]) {
    for (wide, narrow) in panel.iter_mut().zip(packed) {
        for (wide, narrow) in wide.iter_mut().zip(narrow) {
            *wide = i16::from(*narrow);
        }
    }
}

/// Returns the first numbers, padded with zeros.
fn filled(numbers: &[f32]) -> [f32; COLUMNS] {
    let mut numbers = numbers.iter().copied();
    std::array::from_fn(|_| numbers.next().unwrap_or(0.0))
}

/// Packs one panel, starting at `column`; missing columns and inputs get weight zero.
fn pack(matrix: &Matrix, column: usize, inputs: usize) -> Vec<[i8; 2 * COLUMNS]> {
    let mut panel = vec![[0; 2 * COLUMNS]; inputs.div_ceil(2)];
    for (place, column) in (column..column + COLUMNS).enumerate() {
        let Some((row, _)) = matrix.row(column) else {
            break;
        };
        for (slice, pair) in panel.iter_mut().zip(row.chunks(2)) {
            for (packed, weight) in slice.iter_mut().skip(2 * place).zip(pair) {
                *packed = *weight;
            }
        }
    }
    panel
}

/// Activations rounded to i16, with a scale per row.
pub(super) struct Quantized {
    /// Groups of [`ROWS`] rows, interleaved; the last group is padded with zeros.
    pairs: Vec<ActivationPairs>,
    scales: Vec<f32>,
}

impl Quantized {
    /// Rounds rows of `width` numbers to the finest scale at which no sum of products with int8 can overflow.
    pub fn new(rows: &[f32], width: usize) -> Self {
        let finest = i32::MAX / (128 * i32::try_from(width).unwrap_or(i32::MAX / 128).max(1));
        Self::to(finest.clamp(1, i32::from(i16::MAX)) as f32, rows, width)
    }

    /// Rounds rows so that the largest number of each becomes `finest`.
    fn to(finest: f32, rows: &[f32], width: usize) -> Self {
        let (width, length) = (width.max(1), width.div_ceil(2).max(1));
        let mut pairs = vec![[[0, 0]; ROWS]; (rows.len() / width).div_ceil(ROWS) * length];
        let mut scales = Vec::with_capacity(rows.len() / width);
        let mut whole = vec![[0, 0]; length];
        for (rows, group) in rows.chunks(ROWS * width).zip(pairs.chunks_mut(length)) {
            for (place, row) in rows.chunks(width).enumerate() {
                scales.push(round(row, finest, &mut whole));
                for (pairs, pair) in group.iter_mut().zip(&whole) {
                    pairs
                        .iter_mut()
                        .skip(place)
                        .take(1)
                        .for_each(|place| *place = *pair);
                }
            }
        }
        Self { pairs, scales }
    }
}

/// Computes all products of two sets of rows of `width` numbers, in i16 on both sides: to 13 bits for a width of 32.
/// The output is ordered by row of `left` and multiplied by `factor`.
pub(super) fn products(left: &[f32], right: &[f32], width: usize, factor: f32, output: &mut [f32]) {
    let finest = (i32::MAX as f32 / width.max(1) as f32).sqrt().floor() - 1.0;
    let finest = finest.clamp(1.0, f32::from(i16::MAX));
    let (left, right) = (
        Quantized::to(finest, left, width),
        Quantized::to(finest, right, width),
    );
    let length = width.div_ceil(2).max(1);
    let columns = right.scales.len();
    let mut panel: Vec<WeightSlice> = vec![[0; 2 * COLUMNS]; length];
    let groups = right
        .pairs
        .chunks(length * (COLUMNS / ROWS))
        .zip(right.scales.chunks(COLUMNS));
    for (number, (groups, scales)) in groups.enumerate() {
        for (place, group) in groups.chunks(length).enumerate() {
            for (slice, pairs) in panel.iter_mut().zip(group) {
                let pairs: &[i16] = bytemuck::must_cast_slice(pairs);
                let slice = slice.iter_mut().skip(place * 2 * ROWS);
                slice
                    .zip(pairs)
                    .for_each(|(place, number)| *place = *number);
            }
        }
        let finish = OutputStage {
            scales: filled(scales),
            bias: [0.0; COLUMNS],
        };
        let rows = left.pairs.chunks(length).zip(left.scales.chunks(ROWS));
        for ((rows, scales), lines) in rows.zip(output.chunks_mut(ROWS * columns)) {
            let tile = multiply(rows, &panel);
            for ((line, sums), scale) in lines.chunks_mut(columns).zip(&tile).zip(scales) {
                let line = line.get_mut(number * COLUMNS..).unwrap_or_default();
                finish.write(sums, scale * factor, line);
            }
        }
    }
}

/// Rounds one row so that its largest number becomes `finest`; returns the inverse scale.
#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))]
fn round(row: &[f32], finest: f32, pairs: &mut [Pair]) -> f32 {
    /// Adding it rounds to a whole number, in the lowest bits: much faster than a rounding call.
    const ROUNDING: f32 = 12_582_912.0;
    let (chunks, rest) = row.as_chunks::<16>();
    let mut lanes = [0.0f32; 16];
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane = lane.max(number.abs());
        }
    }
    let largest = rest
        .iter()
        .chain(&lanes)
        .fold(0.0f32, |largest, number| largest.max(number.abs()));
    let factor = if largest > 0.0 { finest / largest } else { 0.0 };
    let whole = |number: f32| (number * factor + ROUNDING).to_bits() as i16;
    let (twos, last) = row.as_chunks::<2>();
    for (pair, two) in pairs.iter_mut().zip(twos) {
        *pair = two.map(whole);
    }
    if let ([number], Some(pair)) = (last, pairs.last_mut()) {
        *pair = [whole(*number), 0];
    }
    if factor > 0.0 { factor.recip() } else { 0.0 }
}
