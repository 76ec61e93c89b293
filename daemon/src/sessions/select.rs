//! Selects the session of a call: the named one, that of the caller's host session, for a read the project's newest, or
//! for a write a new one.

use std::path::Path;

use lore::protocol::{ChosenBy, SessionId};

use super::checks::{check_free, fenced, find, open};
use super::host::HostSession;
use super::view;
use super::wanted::{WantedContent, newest_with};
use crate::clock::{Clock, Micros};
use crate::engine::DecisionContext;
use crate::error::{Code, Refusal};
use crate::events::sessions::{SessionCreated, SessionEvent, SessionOrigin};
use crate::events::{Event, NewEvent};
use crate::hint::{arg, hint};
use crate::log::{Actor, Body, Header, Position};
use crate::operation::{Caller, SessionUse};
use crate::store::{Error, Rows};

/// Limit on the agents that a warning names.
const AGENTS_TOLD_MAX: usize = 3;

/// The session arguments of a call.
#[derive(Clone, Debug, Default)]
pub struct SessionSelector {
    /// Session from the call, or else from the connection.
    pub session: Option<String>,
    /// The caller's host session; `None`: the name of the acting agent.
    pub host: Option<HostSession>,
    /// The caller's project.
    pub project: Option<String>,
    /// Token of a lease that must still be held.
    pub fence: Option<Position>,
    /// Where the choice is noted for the reply.
    pub noted: SessionUse,
}

/// The session of a write, prepared before the command is queued.
#[derive(Clone, Debug)]
pub struct PreparedSession {
    choice: SessionChoice,
    /// The caller's host session; `None`: the name of the acting agent.
    host: Option<HostSession>,
    /// Project of the events.
    project: Option<String>,
    /// Token of a lease that must still be held.
    pub fence: Option<Position>,
    noted: SessionUse,
}

#[derive(Clone, Debug)]
enum SessionChoice {
    /// An existing session.
    Named(String),
    /// The session of the host session, or else a new one with this id and creation event.
    Own(String, Body),
    /// The session of the host session, which must exist.
    ExistingOwn,
    /// A new session with this id, which must be free, and this creation event.
    New(String, Body),
}

/// The resolved session, and the creation event when it is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSession {
    /// Session id.
    pub session: String,
    /// Project of the events in it.
    pub project: Option<String>,
    /// Creation event, to be appended first.
    pub created: Option<NewEvent>,
}

/// Generates an id: a letter for its type, `-` and 80 random bits in base 32.
#[must_use]
pub fn fresh_id(letter: char, clock: &Clock) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let bits = clock
        .random::<10>()
        .iter()
        .fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let digit = |at: u32| {
        let index = (bits >> (5 * at)) & 31;
        DIGITS
            .get(index as usize)
            .map_or('0', |digit| char::from(*digit))
    };
    std::iter::once(letter)
        .chain(std::iter::once('-'))
        .chain((0..16).rev().map(digit))
        .collect()
}

/// Returns the session of a recorded event in its wire format.
///
/// # Errors
/// `CORRUPT` when the event has no session, or an invalid id.
pub fn session_of(header: &Header) -> Result<SessionId, Refusal> {
    SessionId::new(header.session.clone().unwrap_or_default()).map_err(|error| {
        Refusal::new(
            Code::Corrupt,
            format!("the session of the event at {}: {error}", header.position),
        )
    })
}

impl ResolvedSession {
    /// Returns the events of a write: the creation event if the session is new, and the write's own events.
    #[must_use]
    pub fn events(self, event: impl Into<Event>, body: Body) -> Vec<NewEvent> {
        let own = NewEvent::in_session(self.session, self.project, event, body);
        self.created.into_iter().chain([own]).collect()
    }
}

impl PreparedSession {
    /// Prepares the session of a write.
    #[must_use]
    pub fn prepare(selector: SessionSelector, clock: &Clock) -> Self {
        let choice = match &selector.session {
            Some(session) => SessionChoice::Named(session.clone()),
            None => {
                let id = selector.host.as_ref().and_then(HostSession::named);
                let id = id.map_or_else(|| fresh_id('s', clock), str::to_owned);
                SessionChoice::Own(id, creation(clock))
            }
        };
        Self::with(choice, selector)
    }

    /// Prepares the session of a write that makes none by itself: the named one, or the caller's own.
    #[must_use]
    pub fn existing(selector: SessionSelector) -> Self {
        let choice = match &selector.session {
            Some(session) => SessionChoice::Named(session.clone()),
            None => SessionChoice::ExistingOwn,
        };
        Self::with(choice, selector)
    }

    /// Prepares a new session for a caller; generates an id if none is given.
    #[must_use]
    pub fn fresh(id: Option<String>, selector: SessionSelector, clock: &Clock) -> Self {
        let id = id.unwrap_or_else(|| fresh_id('s', clock));
        Self::with(SessionChoice::New(id, creation(clock)), selector)
    }

    fn with(choice: SessionChoice, selector: SessionSelector) -> Self {
        Self {
            choice,
            host: selector.host,
            project: selector.project,
            fence: selector.fence,
            noted: selector.noted,
        }
    }

    /// Returns the session that the write goes to, with the project of its events; `None` if the write makes one.
    ///
    /// # Errors
    /// As [`PreparedSession::decide`].
    pub fn existing_session(
        &self,
        on: &DecisionContext<'_>,
    ) -> Result<Option<(String, Option<String>)>, Refusal> {
        let project = self.project.as_deref();
        let session = match &self.choice {
            SessionChoice::Named(session) => Some(session.clone()),
            SessionChoice::Own(..) | SessionChoice::ExistingOwn => {
                let of_agent = || HostSession::of_agent(on.actor, project);
                let host = self.host.clone().unwrap_or_else(of_agent);
                open_own(on.rows, &host, on.now)?
            }
            SessionChoice::New(..) => None,
        };
        Ok(session.map(|session| (session, self.project.clone())))
    }

    /// Resolves the session on the writer thread.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named session does not exist, or the caller has none and none may be made;
    /// `SESSION_CLOSED` when it was closed, `CONFLICT` when the new session already exists or the lease is lost.
    pub fn decide(&self, on: &DecisionContext<'_>) -> Result<ResolvedSession, Refusal> {
        let project = self.project.as_deref();
        let of_agent = || HostSession::of_agent(on.actor, project);
        let host = self.host.clone().unwrap_or_else(of_agent);
        let (session, new_body) = match &self.choice {
            SessionChoice::Named(session) => {
                open(on.rows, session)?;
                (session.clone(), None)
            }
            SessionChoice::Own(id, body) => match open_own(on.rows, &host, on.now)? {
                Some(own) => (own, None),
                None => {
                    // The id is not random if `LORE_SESSION` names it.
                    check_free(on.rows, id)?;
                    (id.clone(), Some(body))
                }
            },
            SessionChoice::ExistingOwn => match open_own(on.rows, &host, on.now)? {
                Some(own) => (own, None),
                None => return Err(no_own_session()),
            },
            SessionChoice::New(id, body) => {
                check_free(on.rows, id)?;
                (id.clone(), Some(body))
            }
        };
        // A new session has no leases.
        fenced(on.rows, on.now, &session, self.fence)?;
        let by = match (&self.choice, new_body) {
            (SessionChoice::Named(_), _) => ChosenBy::Named,
            (_, Some(_)) => ChosenBy::New,
            (_, None) => own_choice(&host),
        };
        self.noted.note(&session, by);
        let created = match new_body {
            None => None,
            Some(body) => {
                if project.is_none() {
                    self.noted.warn_of_folder(in_no_project);
                }
                let created = SessionEvent::Created(SessionOrigin {
                    host: host_of_new(on, &host)?,
                    ..SessionOrigin::default()
                });
                let project = self.project.clone();
                Some(NewEvent::in_session(
                    &session,
                    project,
                    created,
                    body.clone(),
                ))
            }
        };
        Ok(ResolvedSession {
            session,
            project: self.project.clone(),
            created,
        })
    }
}

/// Returns the host session whose own session a new one becomes: that of its creator, if that has none yet. A host
/// session keeps its session as long as it is open.
pub(super) fn host_of_new(
    on: &DecisionContext<'_>,
    host: &HostSession,
) -> Result<Option<String>, Error> {
    let own = host.session(on.rows, on.now)?;
    let is_open = own.is_some_and(|(_, row)| row.closed == 0);
    Ok((!is_open).then(|| host.text.clone()))
}

/// Returns the session of a host session for a write. That of an agent's name is left when it is closed; that of
/// `LORE_SESSION` was named by a person, and so is refused.
fn open_own(rows: &dyn Rows, host: &HostSession, now: Micros) -> Result<Option<String>, Refusal> {
    let Some((own, row)) = host.session(rows, now)? else {
        return Ok(None);
    };
    if host.named().is_some() {
        open(rows, &own)?;
    }
    Ok((row.closed == 0).then_some(own))
}

fn in_no_project(folder: &Path) -> String {
    format!(
        "the new session belongs to no project, because the folder {} identifies none: start in a project's own \
         folder, or name a session of the project",
        folder.display()
    )
}

fn own_choice(host: &HostSession) -> ChosenBy {
    match host.is_stated() {
        true => ChosenBy::HostSession,
        false => ChosenBy::Agent,
    }
}

fn no_own_session() -> Refusal {
    Refusal::new(
        Code::SessionNotFound,
        "the call names no session, and you have recorded nothing yet in a session of your own",
    )
    .hint(hint![
        "Give ",
        arg("session"),
        ", or record a message or a step first: its reply returns the session."
    ])
}

fn creation(clock: &Clock) -> Body {
    SessionCreated::default().prepare(clock.random())
}

impl SessionSelector {
    /// Builds the selector: the session named in the call, or else the connection's.
    #[must_use]
    pub fn of(caller: &Caller, named: Option<&SessionId>) -> Self {
        let session = named
            .map(|session| session.as_str().to_owned())
            .or_else(|| caller.session.clone());
        let host = HostSession::of(caller);
        let outside = caller.dir.clone().filter(|_| caller.project.is_none());
        caller.session_use.set_folder(outside);
        caller.session_use.expect(match &session {
            Some(_) => ChosenBy::Named,
            None => own_choice(&host),
        });
        Self {
            session,
            host: Some(host),
            project: caller.project.clone(),
            fence: None,
            noted: caller.session_use.clone(),
        }
    }

    /// Builds the selector of a write that carries a lease token.
    #[must_use]
    pub fn fenced(self, fence: Option<Position>) -> Self {
        Self { fence, ..self }
    }

    /// Builds the selector of a write to a session that was found before; how it was chosen stays as noted.
    #[must_use]
    pub fn naming(&self, session: String) -> Self {
        Self {
            session: Some(session),
            noted: SessionUse::default(),
            ..self.clone()
        }
    }

    fn host(&self, actor: &Actor) -> HostSession {
        let of_agent = || HostSession::of_agent(actor, self.project.as_deref());
        self.host.clone().unwrap_or_else(of_agent)
    }

    /// Finds the session of a write that makes none by itself: the named one, or the caller's own.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named session does not exist, or none is named and the caller has none.
    pub fn find_own(&self, rows: &dyn Rows, actor: &Actor, now: Micros) -> Result<String, Refusal> {
        if let Some(session) = &self.session {
            return self.found(find(rows, session)?, ChosenBy::Named);
        }
        let host = self.host(actor);
        match open_own(rows, &host, now)? {
            Some(own) => self.found(own, own_choice(&host)),
            None => Err(no_own_session()),
        }
    }

    /// Finds the session of a read: the named one, the caller's own, or if that has nothing of the kind, the newest of
    /// the project that has what is wanted.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the named session does not exist, or none is named and the project has none.
    pub fn find(
        &self,
        rows: &dyn Rows,
        actor: &Actor,
        now: Micros,
        wanted: &WantedContent,
    ) -> Result<String, Refusal> {
        if let Some(session) = &self.session {
            return self.found(find(rows, session)?, ChosenBy::Named);
        }
        let host = self.host(actor);
        let own = host.session(rows, now)?.map(|(own, _)| own);
        let any = wanted.any();
        if let Some(own) = &own
            && any.is_in(rows, own)?
        {
            return self.found(own.clone(), own_choice(&host));
        }
        let project = self.project.as_deref();
        let mut found = wanted;
        let mut other = newest_with(rows, project, own.as_deref(), wanted)?;
        if other.is_none() && any != *wanted {
            found = &any;
            other = newest_with(rows, project, own.as_deref(), &any)?;
        }
        match (other, own) {
            (Some(other), _) => {
                self.note_other(rows, &other, now, found)?;
                Ok(other)
            }
            (None, Some(own)) => self.found(own, own_choice(&host)),
            (None, None) => Err(self.nothing(rows, found)?),
        }
    }

    fn found(&self, session: String, by: ChosenBy) -> Result<String, Refusal> {
        self.noted.note(&session, by);
        Ok(session)
    }

    /// Notes that another session is read, and says whose it is.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn note_other(
        &self,
        rows: &dyn Rows,
        other: &str,
        now: Micros,
        wanted: &WantedContent,
    ) -> Result<(), Error> {
        let own = match &self.host {
            Some(host) => host.session(rows, now)?.map(|(own, _)| own),
            None => None,
        };
        let agents = view::agents(rows, other, AGENTS_TOLD_MAX)?;
        let agents: Vec<String> = agents
            .iter()
            .filter(|agent| !agent.is_empty())
            .map(|agent| format!("`{agent}`"))
            .collect();
        let of = match agents.is_empty() {
            true => String::new(),
            false => format!(" of {}", agents.join(", ")),
        };
        let why = match own {
            None => "you have recorded nothing yet".to_owned(),
            Some(own) => format!("your own session `{own}` does not"),
        };
        let place = match self.project {
            Some(_) => "the newest session of this project that has",
            None => "the newest session without a project that has",
        };
        let warning = format!(
            "this is the session `{other}`{of}, {place} {}; {why}",
            wanted.name()
        );
        self.noted.note_other(other, warning);
        Ok(())
    }

    fn nothing(&self, rows: &dyn Rows, wanted: &WantedContent) -> Result<Refusal, Error> {
        let place = match self.project {
            Some(_) => "no session of this project",
            None => "no session without a project",
        };
        // A session that has nothing of the kind can still be named.
        let named = match super::wanted::newest_of(rows, self.project.as_deref())?.first() {
            Some((session, _)) => format!("Name a session, such as `{session}`, or record"),
            None => "Record".to_owned(),
        };
        Ok(Refusal::new(
            Code::SessionNotFound,
            format!("{place} has {}, and the call names none", wanted.name()),
        )
        .hint(format!("{named} something first: that makes your session.")))
    }
}
