//! The tensors of a safetensors file, with bounds checks: a damaged file is refused.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

use super::ModelError;

/// Limit on a header, in bytes: the shipped models have about ten thousand.
const MAX_HEADER: usize = 1 << 20;
/// Bytes at a file's beginning that contain any valid header.
pub(super) const FRONT: usize = 8 + MAX_HEADER;
/// Required format of the weights.
const WANTED: &str =
    "matrices must be I8 rows with an F32 scale a row under NAME.scale, all else F32";

/// The tensors of one file by name.
pub(super) struct Weights {
    data: Cow<'static, [u8]>,
    tensors: HashMap<String, Tensor>,
}

struct Tensor {
    kind: Kind,
    shape: Vec<usize>,
    range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Kind {
    #[serde(rename = "F32")]
    Float,
    #[serde(rename = "I8")]
    Byte,
}

impl Kind {
    /// Returns the safetensors name of the type.
    fn name(self) -> &'static str {
        match self {
            Self::Float => "F32",
            Self::Byte => "I8",
        }
    }
}

/// One entry of the header, as in the file format.
#[derive(Debug, Deserialize)]
struct Entry {
    dtype: Kind,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A matrix as int8 rows with one scale per row.
pub(super) struct Matrix {
    /// All rows, concatenated.
    pub rows: Cow<'static, [u8]>,
    /// Factor of each row.
    pub scales: Vec<f32>,
    /// Numbers per row.
    pub width: usize,
}

impl Matrix {
    /// Returns one row and its scale.
    pub fn row(&self, number: usize) -> Option<(&[i8], f32)> {
        let start = number.checked_mul(self.width)?;
        let row = self.rows.get(start..start.checked_add(self.width)?)?;
        Some((bytemuck::must_cast_slice(row), *self.scales.get(number)?))
    }

    /// Adds a row, multiplied by its scale, to `sum`; does nothing when the row does not exist.
    pub fn add_row(&self, number: usize, sum: &mut [f32]) {
        if let Some((row, scale)) = self.row(number) {
            for (sum, &weight) in sum.iter_mut().zip(row) {
                *sum += f32::from(weight) * scale;
            }
        }
    }
}

impl Weights {
    /// Parses the bytes of a file.
    pub fn new(data: Cow<'static, [u8]>) -> Result<Self, ModelError> {
        let tensors = read_header(&data, data.len())?;
        Ok(Self { data, tensors })
    }

    /// Returns a vector of exactly `length` numbers.
    pub fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>, ModelError> {
        let tensor = self.tensor(name, Kind::Float, &[length])?;
        self.floats(name, tensor)
    }

    /// Returns one row of a small f32 matrix.
    pub fn float_row(&self, name: &str, row: usize, width: usize) -> Result<Vec<f32>, ModelError> {
        let tensor = self
            .tensors
            .get(name)
            .filter(|tensor| tensor.kind == Kind::Float && tensor.shape.get(1) == Some(&width));
        let tensor = tensor.ok_or_else(|| {
            ModelError::weights(format!("{name} is not there, or not F32 of width {width}"))
        })?;
        let mut floats = self.floats(name, tensor)?;
        let start = row.saturating_mul(width).min(floats.len());
        let mut floats = floats.split_off(start);
        floats.truncate(width);
        if floats.len() == width {
            Ok(floats)
        } else {
            Err(ModelError::weights(format!("{name} has no row {row}")))
        }
    }

    /// Returns the row count and width of a matrix.
    pub fn shape(&self, name: &str) -> Result<(usize, usize), ModelError> {
        matrix_shape(&self.tensors, name)
    }

    /// Returns an int8 matrix of exactly this shape, with its scales; without a copy when the file is embedded.
    pub fn matrix(&self, name: &str, rows: usize, width: usize) -> Result<Matrix, ModelError> {
        let range = self.tensor(name, Kind::Byte, &[rows, width])?.range.clone();
        let scales = self.vector(&format!("{name}.scale"), rows)?;
        let lost = || ModelError::weights(format!("{name} is not where the header says"));
        let rows = match &self.data {
            Cow::Borrowed(data) => Cow::Borrowed(data.get(range).ok_or_else(lost)?),
            Cow::Owned(data) => Cow::Owned(data.get(range).ok_or_else(lost)?.to_vec()),
        };
        Ok(Matrix {
            rows,
            scales,
            width,
        })
    }

    fn tensor(&self, name: &str, kind: Kind, shape: &[usize]) -> Result<&Tensor, ModelError> {
        let tensor = self
            .tensors
            .get(name)
            .ok_or_else(|| ModelError::weights(format!("{name} is missing")))?;
        if tensor.kind == kind && tensor.shape == shape {
            Ok(tensor)
        } else {
            let had = &tensor.shape;
            Err(ModelError::weights(format!(
                "{name} is {} {had:?}, not {} {shape:?}; {WANTED}",
                tensor.kind.name(),
                kind.name()
            )))
        }
    }

    fn floats(&self, name: &str, tensor: &Tensor) -> Result<Vec<f32>, ModelError> {
        let bytes = self.data.get(tensor.range.clone()).unwrap_or_default();
        let floats: Vec<f32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        if floats.iter().all(|number| number.is_finite()) {
            Ok(floats)
        } else {
            Err(ModelError::weights(format!(
                "{name} contains a value that is not a number"
            )))
        }
    }
}

/// Returns the row count and width of a matrix from a file's first bytes, at most [`FRONT`] of them.
pub(super) fn peek_shape(
    front: &[u8],
    length: usize,
    name: &str,
) -> Result<(usize, usize), ModelError> {
    matrix_shape(&read_header(front, length)?, name)
}

fn matrix_shape(
    tensors: &HashMap<String, Tensor>,
    name: &str,
) -> Result<(usize, usize), ModelError> {
    match tensors.get(name).map(|tensor| tensor.shape.as_slice()) {
        Some(&[rows, width]) => Ok((rows, width)),
        _ => Err(ModelError::weights(format!(
            "{name} is not there, or no matrix"
        ))),
    }
}

/// Parses the header of a file of `length` bytes: eight bytes with the length of the JSON, the JSON, then the tensors'
/// bytes.
fn read_header(front: &[u8], length: usize) -> Result<HashMap<String, Tensor>, ModelError> {
    let claimed = front
        .first_chunk::<8>()
        .ok_or_else(|| ModelError::weights("it is shorter than its header"))?;
    let claimed = usize::try_from(u64::from_le_bytes(*claimed)).unwrap_or(usize::MAX);
    if claimed > MAX_HEADER {
        return Err(ModelError::weights(format!(
            "its header claims more than {MAX_HEADER} bytes"
        )));
    }
    let start = 8 + claimed;
    let header = front
        .get(8..start)
        .ok_or_else(|| ModelError::weights("it ends within its header"))?;
    let header: HashMap<String, serde_json::Value> = serde_json::from_slice(header)
        .map_err(|error| ModelError::weights(format!("its header: {error}")))?;
    let mut tensors = HashMap::with_capacity(header.len());
    let entries = header.into_iter();
    for (name, entry) in entries.filter(|(name, _)| name != "__metadata__") {
        let entry: Entry = serde_json::from_value(entry)
            .map_err(|error| ModelError::weights(format!("{name}: {error}; {WANTED}")))?;
        let tensor = place(entry, start, length)
            .ok_or_else(|| ModelError::weights(format!("{name} is not where the header says")))?;
        tensors.insert(name, tensor);
    }
    Ok(tensors)
}

/// Returns a tensor's range in the file; `None` if it is out of bounds or its length does not match its shape.
fn place(entry: Entry, start: usize, length: usize) -> Option<Tensor> {
    let range =
        start.checked_add(entry.data_offsets.0)?..start.checked_add(entry.data_offsets.1)?;
    let size = match entry.dtype {
        Kind::Float => 4,
        Kind::Byte => 1,
    };
    let bytes = entry
        .shape
        .iter()
        .try_fold(size, |product: usize, side| product.checked_mul(*side))?;
    let whole = range.start <= range.end && range.end <= length && range.len() == bytes;
    whole.then_some(Tensor {
        kind: entry.dtype,
        shape: entry.shape,
        range,
    })
}
