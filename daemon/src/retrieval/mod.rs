//! Craft for finding: models, vectors, and how rankings are made of them. It knows no rooms, no
//! events and no engine.

pub mod ranking;
pub mod text;
pub mod vectors;

pub use lored_models as models;
