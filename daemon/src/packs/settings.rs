//! The settings of context packs.

use crate::operation::Context;

/// The settings of context packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackSettings {
    /// Whether a session is pruned automatically once its messages exceed the strategy's token limit.
    pub prune_automatically: bool,
    /// Days for which the text of a pack is kept; 0 keeps none.
    pub text_days: u64,
}

impl Default for PackSettings {
    fn default() -> Self {
        Self {
            prune_automatically: false,
            text_days: 90,
        }
    }
}

impl PackSettings {
    /// Returns the settings that the daemon was started with.
    #[must_use]
    pub fn of(cx: &Context) -> Self {
        cx.extensions.get::<Self>().copied().unwrap_or_default()
    }
}
