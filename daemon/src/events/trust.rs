//! Events of trust: a person judges what was recorded, or it is undone.

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

/// Events of the same stream were undone, or an undoing was taken back. All fields are metadata, because they are decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneEvents {
    /// First and last position of each run of these events, in order.
    pub ranges: Vec<(u64, u64)>,
    /// Number of events.
    pub events: u64,
}
