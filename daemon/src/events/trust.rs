//! Events of trust: a person judges what was recorded.

use serde::{Deserialize, Serialize};

pub use super::TrustEvent;

words!(Judgement { Accepted Rejected Open });

/// What a person says about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It may be given to models, whatever the rules say.
    Accepted,
    /// It is given to no model.
    Rejected,
    /// The rules decide again.
    Open,
}

/// A person accepted or rejected the text of an event of the same stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspicionReviewed {
    /// Position of the event.
    pub event: u64,
    /// The judgement.
    pub judgement: Judgement,
}
