//! Reads JSON in a text by field: objects become entities, nested ones their parents or children.

mod described;
mod fields;
mod flat;
mod kinds;
mod objects;
mod people;
mod reader;
mod rows;

pub(super) use flat::Flat;
pub use objects::TYPE_KEYS;
pub(super) use objects::{Object, Read};
pub(super) use reader::{documents, unescaped};
