//! Wire types of the checkpoints: names, fields and casing as in "Native Context Management: API
//! Design".

mod load;
mod rank;
mod save;

pub use load::*;
pub use rank::*;
pub use save::*;

/// The metadata of a checkpoint in its schema; additional fields are allowed. No value is ever deserialised
/// into it, so the compiler sees its fields as dead.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[allow(dead_code)]
pub(crate) struct Described {
    /// A name to find it by. A checkpoint with a name is never deleted automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    name: Option<String>,
    /// Labels to find it by. A checkpoint with tags is never deleted automatically.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}
