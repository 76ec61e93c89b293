//! The memory that values would take, known before they are built.

use super::field::FieldValue;
use super::step::StepData;
use crate::steps::extract::Extract;

/// Returns the memory that the values of a match would take, in bytes.
pub(super) fn held_bytes(step: &StepData, found: &FieldValue, all: bool) -> usize {
    let count = if all { usize::MAX } else { 1 };
    let nodes = step.parsed().nodes();
    match found {
        FieldValue::Fields(ids) => {
            let ids = ids.iter().take(count);
            ids.map(|id| nodes.held_bytes(*id)).sum()
        }
        FieldValue::Forms(_, values) => {
            let ids = values.iter().take(count);
            ids.map(|(id, _)| nodes.held_bytes(*id)).sum()
        }
        FieldValue::Extracts(of) => {
            let extracts = step.extracted().of(step.set().name_of(*of));
            extracts_bytes(step, extracts.iter().take(count))
        }
    }
}

/// Returns the memory that extracted values would take, in bytes.
pub(super) fn extracts_bytes<'a>(
    step: &StepData,
    extracts: impl Iterator<Item = &'a Extract>,
) -> usize {
    let nodes = step.parsed().nodes();
    extracts.map(|extract| extract.held_bytes(nodes)).sum()
}
