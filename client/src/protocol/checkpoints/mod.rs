//! Wire types of the checkpoints: names, fields and casing as in "Native Context Management: API
//! Design".

mod load;
mod rank;
mod save;

pub use load::*;
pub use rank::*;
pub use save::*;

/// The metadata of a checkpoint as its schema shows it: more is allowed. Nothing is ever read into
/// it, so to the compiler its fields are dead.
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
