//! The session that a call used, and how it was chosen: noted where it is chosen, told in the reply.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lore::protocol::{ChosenBy, CommonReply, SessionId};

/// What a call notes about its session. A copy of the caller shares it.
#[derive(Clone, Debug, Default)]
pub struct SessionUse(Arc<Mutex<Used>>);

#[derive(Debug, Default)]
struct Used {
    session: Option<String>,
    by: Option<ChosenBy>,
    warning: Option<String>,
    /// The caller's folder, if it identifies no project.
    folder: Option<PathBuf>,
}

impl SessionUse {
    /// Notes how the session will be chosen; the session is not known yet.
    pub fn expect(&self, by: ChosenBy) {
        self.used().by = Some(by);
    }

    /// Notes the session and how it was chosen.
    pub fn note(&self, session: &str, by: ChosenBy) {
        let mut used = self.used();
        used.session = Some(session.to_owned());
        used.by = Some(by);
        used.warning = None;
    }

    /// Notes a session that is not the caller's own, with a warning that says whose it is.
    pub fn note_other(&self, session: &str, warning: String) {
        self.note(session, ChosenBy::Project);
        self.used().warning = Some(warning);
    }

    /// Sets the caller's folder if it identifies no project.
    pub fn set_folder(&self, folder: Option<PathBuf>) {
        self.used().folder = folder;
    }

    /// Adds a warning about the folder to the session that was noted, if the folder identifies no project.
    pub fn warn_of_folder(&self, warning: impl FnOnce(&Path) -> String) {
        let mut used = self.used();
        if let Some(warning) = used.folder.as_deref().map(warning) {
            used.warning = Some(warning);
        }
    }

    /// Notes the session of a repeated write, whose reply is that of the first call.
    pub fn note_repeated(&self, session: &str, is_first_event: bool) {
        let mut used = self.used();
        used.session = Some(session.to_owned());
        if is_first_event && used.by.is_some_and(|by| by != ChosenBy::Named) {
            used.by = Some(ChosenBy::New);
        }
    }

    /// Returns how the session was chosen.
    #[must_use]
    pub fn chosen_by(&self) -> Option<ChosenBy> {
        self.used().by
    }

    /// Adds the session, how it was chosen and the warning to a reply.
    pub fn tell(&self, reply: &mut impl CommonReply) {
        let used = std::mem::take(&mut *self.used());
        let (Some(session), Some(by)) = (used.session, used.by) else {
            return;
        };
        let Ok(session) = SessionId::new(session) else {
            return;
        };
        reply.set_session(&session);
        reply.set_chosen_by(by);
        if let (Some(warning), Some(warnings)) = (used.warning, reply.warnings()) {
            warnings.insert(0, warning);
        }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
