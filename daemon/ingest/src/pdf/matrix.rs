//! Transformations of the plane, which place text on a page.

use super::object::Object;

#[derive(Clone, Copy)]
pub(super) struct Matrix([f64; 6]);

impl Matrix {
    /// The identity.
    pub const NONE: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// Reads a matrix from the last six operands of an operator.
    pub fn of(operands: &[Object]) -> Option<Self> {
        let mut numbers = [0.0; 6];
        let from = operands.len().checked_sub(6)?;
        for (number, operand) in numbers.iter_mut().zip(operands.get(from..)?) {
            *number = operand.number()?;
        }
        Some(Self(numbers))
    }

    /// Returns a translation by `x` and `y`.
    pub fn moved(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Returns the transformation that applies `self` first, then `other`.
    pub fn then(self, other: Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [g, h, i, j, k, l] = other.0;
        Self([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    /// Returns the image of the origin.
    pub fn place(self) -> (f64, f64) {
        let [.., e, f] = self.0;
        (e, f)
    }

    /// Returns the vertical scale.
    pub fn height(self) -> f64 {
        let [_, _, c, d, ..] = self.0;
        c.hypot(d)
    }

    /// Returns the horizontal scale.
    pub fn width(self) -> f64 {
        let [a, b, ..] = self.0;
        a.hypot(b)
    }
}
