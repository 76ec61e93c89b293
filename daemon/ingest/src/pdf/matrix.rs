//! Where a page draws: transformations of the plane.

use super::object::Object;

/// A transformation of the plane.
#[derive(Clone, Copy)]
pub(super) struct Matrix([f64; 6]);

impl Matrix {
    /// What changes nothing.
    pub const NONE: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// The last six operands of an operator.
    pub fn of(operands: &[Object]) -> Option<Self> {
        let mut numbers = [0.0; 6];
        let from = operands.len().checked_sub(6)?;
        for (number, operand) in numbers.iter_mut().zip(operands.get(from..)?) {
            *number = operand.number()?;
        }
        Some(Self(numbers))
    }

    /// Moved by so much.
    pub fn moved(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// First this one, then another one.
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

    /// Where it puts the origin.
    pub fn place(self) -> (f64, f64) {
        let [.., e, f] = self.0;
        (e, f)
    }

    /// How much it enlarges what is upright.
    pub fn height(self) -> f64 {
        let [_, _, c, d, ..] = self.0;
        c.hypot(d)
    }

    /// How much it enlarges what lies flat.
    pub fn width(self) -> f64 {
        let [a, b, ..] = self.0;
        a.hypot(b)
    }
}
