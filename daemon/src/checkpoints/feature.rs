//! Settings and state of checkpoints in memory.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use super::layers::LayerWords;
use super::limits::Limits;
use super::view;
use crate::error::{Code, Refusal};
use crate::log::Position;
use crate::operation::Context;
use crate::reloadable::Reloadable;
use crate::store::Rows;
use crate::tokens::Tokens;

/// Maximum number of sessions whose reports are remembered; a forgotten one is reported again.
const REPORTED_MAX: usize = 10_000;

/// Settings and state of the checkpoints.
#[derive(Debug, Default)]
pub struct Checkpoints {
    /// Storage limits.
    pub limits: Reloadable<Limits>,
    /// Layers of the words in keys.
    pub words: Reloadable<LayerWords>,
    /// Token counter, shared with other modules.
    pub tokens: Arc<Tokens>,
    /// Positions up to which replies have reported what clean-up removed, by session.
    pub reported_clean_ups: Mutex<BTreeMap<String, Position>>,
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

    /// Returns a warning about checkpoints of a session that clean-up removed, unless a reply has reported it.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn clean_up_warning(
        &self,
        rows: &dyn Rows,
        session: &str,
    ) -> Result<Option<String>, Refusal> {
        let of = view::of_session_row(rows, session)?;
        if of.cleaned == 0 {
            return Ok(None);
        }
        let mut reported = self
            .reported_clean_ups
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if reported
            .get(session)
            .is_some_and(|before| *before >= of.cleaned_at)
        {
            return Ok(None);
        }
        reported.insert(session.to_owned(), of.cleaned_at);
        while reported.len() > REPORTED_MAX && reported.pop_first().is_some() {}
        Ok(Some(self.limits.get().cleaned(of.cleaned)))
    }
}
