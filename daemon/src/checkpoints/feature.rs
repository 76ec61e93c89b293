//! What the room keeps in memory besides rows.

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
    /// What may be kept.
    pub limits: Reloadable<Limits>,
    /// What words of keys say.
    pub words: Reloadable<LayerWords>,
    /// Counts tokens; shared with whoever else does.
    pub tokens: Arc<Tokens>,
    /// Untouched sessions are being cleaned up.
    pub is_cleaning: AtomicBool,
}

impl Checkpoints {
    /// The room of a daemon.
    ///
    /// # Errors
    /// `INTERNAL` when the daemon was put together without it.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions.get().ok_or_else(|| {
            Refusal::new(Code::Internal, "the daemon was started without checkpoints")
        })
    }
}
