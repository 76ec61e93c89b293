//! Settings and state of checkpoints in memory.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::layers::LayerWords;
use super::limits::Limits;
use crate::error::{Code, Refusal};
use crate::operation::Context;
use crate::reloadable::Reloadable;
use crate::tokens::Tokens;

/// Settings and state of the checkpoints.
#[derive(Debug, Default)]
pub struct Checkpoints {
    /// Storage limits.
    pub limits: Reloadable<Limits>,
    /// Layers of the words in keys.
    pub words: Reloadable<LayerWords>,
    /// Token counter, shared with other modules.
    pub tokens: Arc<Tokens>,
    /// A clean-up of inactive sessions is running.
    pub is_cleaning: AtomicBool,
}

impl Checkpoints {
    /// Returns the daemon's settings and state.
    ///
    /// # Errors
    /// `INTERNAL` when the daemon was started without them.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions.get().ok_or_else(|| {
            Refusal::new(Code::Internal, "the daemon was started without checkpoints")
        })
    }
}
