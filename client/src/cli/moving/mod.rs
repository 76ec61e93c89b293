//! `lore export` and `lore import`: transfer of all recorded data to and from a file, from other programs, and from hosts.

mod batches;
mod export;
mod import;
mod markdown;
mod trace;
mod transcripts;

use serde_json::Value;

pub use export::EXPORT;
pub use import::IMPORT;

/// Sets a member of an object.
fn put(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}
