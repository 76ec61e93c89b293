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

// The engine's tests decide real commands.
#[cfg(test)]
pub(crate) use command::{RecordStep, Register, Registration, RegistrationScope};
