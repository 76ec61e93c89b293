//! Which session is a caller's own: that of its host session.
//!
//! A client states its host session in its Hello ([`lore::host_session`]). The event that creates a session records the
//! host session whose own session it is. A caller that states none is known by the name of its agent.

use lore::protocol::SessionId;

use super::view::{self, SessionRow};
use crate::clock::Micros;
use crate::log::{Actor, Hash};
use crate::operation::Caller;
use crate::store::{Error, Rows};

/// Time after its last event in which a session is the own one of a caller that states no host session: 24 h. A name
/// does not say when a conversation ended.
const UNSTATED_MICROS: Micros = 24 * 3600 * 1_000_000;

/// Kinds of host sessions that a person or a program takes from folder to folder: they have a session in each project.
const IN_EACH_PROJECT: [&str; 4] = ["process", "terminal", "program", "agent"];

/// A host session as its session is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSession {
    /// The text: `KIND:ID`.
    pub text: String,
    uid: u32,
    project: Option<String>,
}

impl HostSession {
    /// Returns the host session of a caller: the stated one, else its agent's name.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        let project = caller.project.as_deref();
        match &caller.host_session {
            Some(text) => Self::new(text.clone(), caller.actor.uid, project),
            None => Self::of_agent(&caller.actor, project),
        }
    }

    /// Returns the host session of callers that state none.
    #[must_use]
    pub fn of_agent(actor: &Actor, project: Option<&str>) -> Self {
        Self::new(format!("agent:{}", actor.agent), actor.uid, project)
    }

    /// Returns a host session of a user in a project.
    #[must_use]
    pub fn new(text: String, uid: u32, project: Option<&str>) -> Self {
        Self {
            text,
            uid,
            project: project.map(str::to_owned),
        }
    }

    /// Whether it is only the name of an agent.
    #[must_use]
    pub fn is_stated(&self) -> bool {
        self.kind() != "agent"
    }

    fn kind(&self) -> &str {
        self.text.split(':').next().unwrap_or_default()
    }

    /// Returns the hash by which the view finds its session.
    #[must_use]
    pub fn hash(&self) -> Hash {
        let project = self.project.as_deref();
        let project = project.filter(|_| IN_EACH_PROJECT.contains(&self.kind()));
        let mut name = self.uid.to_be_bytes().to_vec();
        for part in [self.text.as_str(), project.unwrap_or_default()] {
            name.extend(part.as_bytes());
            name.push(0);
        }
        Hash::of(&name)
    }

    /// Returns the id of the session that `LORE_SESSION` names.
    #[must_use]
    pub fn named(&self) -> Option<&str> {
        let id = self.text.strip_prefix("session:")?;
        SessionId::new(id).is_ok().then_some(id)
    }

    /// Returns its session, also if it was closed.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn session(
        &self,
        rows: &dyn Rows,
        now: Micros,
    ) -> Result<Option<(String, SessionRow)>, Error> {
        let session = match self.named() {
            Some(id) => Some(id.to_owned()),
            None => view::of_host(rows, &self.hash())?,
        };
        let Some(session) = session else {
            return Ok(None);
        };
        // A forgotten session is nobody's.
        let Some(row) = view::get(rows, &session)? else {
            return Ok(None);
        };
        let is_over = !self.is_stated() && now.saturating_sub(row.last_activity) >= UNSTATED_MICROS;
        Ok((!is_over).then_some((session, row)))
    }
}
