//! What this room is set to.

use crate::operation::Context;

/// The settings of context packs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackSettings {
    /// Sessions are pruned by themselves once their messages have more tokens than the strategy allows.
    pub prune_automatically: bool,
}

impl PackSettings {
    /// The settings that the daemon was started with.
    #[must_use]
    pub fn of(cx: &Context) -> Self {
        cx.extensions.get::<Self>().copied().unwrap_or_default()
    }
}
