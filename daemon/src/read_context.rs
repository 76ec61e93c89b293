//! The start of every read of one session: resolves the session, the state and the shared past.

use std::sync::Arc;

use lore::protocol::{AsOf, ChosenBy, CommonArgs, Position, SessionId};

use crate::clock::Micros;
use crate::error::Refusal;
use crate::operation::{Caller, Context, blocking};
use crate::sessions::{self, AccessTimes, Line, SessionSelector, WantedContent};
use crate::state::State;
use crate::store::Error;

/// Parameters of a session read.
pub struct ReadContext {
    /// The session; by default the caller's own, else the project's newest.
    pub session: Option<SessionId>,
    /// The past moment to read.
    pub as_of: Option<AsOf>,
    /// Minimum position of the state.
    pub at_least: Option<Position>,
    /// What is read: a caller without a session of its own gets the project's newest that has it.
    pub wanted: WantedContent,
}

/// A session in a state, ready for reading.
pub struct Read {
    /// The context, with blobs, cache and settings.
    pub cx: Arc<Context>,
    /// The rows.
    pub state: State,
    /// The session's id.
    pub session: String,
    /// Whether it is the caller's own and was not named.
    pub is_own: bool,
    /// Whether it is another session of the project, because the caller's own has nothing of the kind.
    pub is_other: bool,
    /// The caller's project.
    pub project: Option<String>,
    selector: SessionSelector,
    /// Time of the previous read, if it is known.
    pub looked_at: Option<Micros>,
}

impl ReadContext {
    /// Takes the parameters from common arguments.
    pub fn of(args: &impl CommonArgs) -> Self {
        Self {
            session: args.session().cloned(),
            as_of: args.as_of().cloned(),
            at_least: args.at_least(),
            wanted: WantedContent::default(),
        }
    }

    /// Sets what is read.
    #[must_use]
    pub fn wanting(self, wanted: WantedContent) -> Self {
        Self { wanted, ..self }
    }

    /// Finds the session in the requested state.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`, `TIMEOUT` when `at_least` is not reached, `INVALID_INPUT` for an invalid moment.
    pub async fn open(self, cx: Arc<Context>, caller: Caller) -> Result<Read, Refusal> {
        let state = State::live(&cx, self.at_least).await?;
        let selector = SessionSelector::of(&caller, self.session.as_ref());
        let now = cx.engine.clock().now();
        let session = selector.find(&state, &caller.actor, now, &self.wanted)?;
        // A read counts as use for the session's inactivity.
        let access = cx.extensions.get::<AccessTimes>();
        let looked_at = access.and_then(|access| access.note(&session, now));
        let chosen_by = caller.session_use.chosen_by();
        let read = Read {
            cx,
            state,
            session,
            is_own: matches!(chosen_by, Some(ChosenBy::HostSession | ChosenBy::Agent)),
            is_other: chosen_by == Some(ChosenBy::Project),
            project: caller.project,
            selector,
            looked_at,
        };
        let Some(as_of) = self.as_of else {
            return Ok(read);
        };
        blocking(move || {
            let state = read.state.back_to(&*read.cx.fold, &read.session, &as_of)?;
            Ok(Read { state, ..read })
        })
        .await
    }
}

impl Read {
    /// Returns the session's id in the wire format.
    pub fn session_id(&self) -> Result<SessionId, Refusal> {
        sessions::operations::session_id(&self.session)
    }

    /// Returns further sessions of the project that have what is wanted, the last changed first, if the read session is
    /// not the caller's own either.
    pub fn others(&self, wanted: &WantedContent, limit: usize) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        if !self.is_other {
            return Ok(found);
        }
        for (session, _) in sessions::newest_of(&self.state, self.project.as_deref())? {
            if found.len() == limit {
                break;
            }
            if session != self.session && wanted.is_in(&self.state, &session)? {
                found.push(session);
            }
        }
        Ok(found)
    }

    /// Notes that one of these is read instead.
    pub fn note_other(&self, session: &str, wanted: &WantedContent) -> Result<(), Error> {
        let now = self.cx.engine.clock().now();
        self.selector.note_other(&self.state, session, now, wanted)
    }

    /// Returns the lineage: the session and the ancestors whose past it shares.
    pub fn lines(&self) -> Result<Vec<Line>, Refusal> {
        Ok(sessions::lineage(&self.state, &self.session)?)
    }

    /// Whether the read data survives a power cut.
    #[must_use]
    pub fn durable(&self) -> bool {
        self.cx.engine.is_durable()
    }
}
