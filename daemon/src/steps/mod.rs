//! Steps: recorded tool results, the values extracted from them, and references to these values.

mod command;
pub mod extract;
mod history;
#[cfg(test)]
mod memory;
mod named;
pub mod names;
pub mod operations;
pub mod parameters;
pub mod parse;
pub mod resolve;
pub mod trail;
mod unwrapped;
mod view;
mod words;

use crate::sessions::{ContentCheck, WantedContent};

pub use crate::events::steps::{
    ExtractorRegistered, FieldMappingRegistered, StepAssigned, StepEvent, StepRecorded, Text,
};
pub use named::{extractors_hash, resolved};
pub use unwrapped::unwrapped;
pub use view::{
    SPACE, StepAttempt, answering, apply, attempt, forget, forget_registrations, last_before,
    shared_attempts, steps as list,
};
pub use words::normalise;

/// Asks for a session with these steps, or with any if there are no numbers.
#[must_use]
pub fn content(numbers: Vec<u32>) -> WantedContent {
    let check: ContentCheck = |rows, lines, numbers| {
        if numbers.is_empty() {
            return Ok(last_before(rows, lines, u32::MAX)?.is_some());
        }
        for number in numbers {
            if answering(rows, lines, *number)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    };
    WantedContent::new("the steps", check).numbered(numbers)
}

// The engine's tests decide real commands.
#[cfg(test)]
pub(crate) use command::{RecordStep, Register, Registration, RegistrationScope};
