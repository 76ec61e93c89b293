//! What every read of one session begins with: whose it is, in which state, with what it shares.

use std::sync::Arc;

use lore::protocol::{AsOf, CommonArgs, Position, SessionId};

use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::operation::{Caller, Context, blocking};
use crate::sessions::{self, AccessTimes, Line, SessionSelector};
use crate::state::State;

/// What a read of a session is given.
pub struct ReadContext {
    /// Which session; otherwise the caller's current one.
    pub session: Option<SessionId>,
    /// As of which moment.
    pub as_of: Option<AsOf>,
    /// At which position at least.
    pub at_least: Option<Position>,
}

/// A session in a state, ready to be read.
pub struct Read {
    /// Blobs, cache, settings.
    pub cx: Arc<Context>,
    /// The rows.
    pub state: State,
    /// Which session.
    pub session: String,
    /// When somebody looked at it before this read, if that is known.
    pub looked_at: Option<Micros>,
}

impl ReadContext {
    /// What common arguments ask for.
    pub fn of(args: &impl CommonArgs) -> Self {
        Self {
            session: args.session().cloned(),
            as_of: args.as_of().cloned(),
            at_least: args.at_least(),
        }
    }

    /// Finds the session in the state asked for.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`, `TIMEOUT` when `at_least` is not reached, `INVALID_INPUT` for what is no
    /// moment.
    pub async fn open(self, cx: Arc<Context>, caller: Caller) -> Result<Read, Refusal> {
        let state = State::live(&cx, self.at_least).await?;
        let selector = SessionSelector::of(&caller, self.session.as_ref());
        let now = cx.engine.clock().now();
        let session = selector.find(&state, &caller.actor, now)?;
        // What is read is not untouched.
        let access = cx.extensions.get::<AccessTimes>();
        let looked_at = access.and_then(|access| access.note(&session, now));
        let read = Read {
            cx,
            state,
            session,
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
    /// The session's id, as it goes over the wire.
    ///
    /// # Errors
    /// `CORRUPT` when the rows hold one that is no id.
    pub fn session_id(&self) -> Result<SessionId, Refusal> {
        SessionId::new(self.session.as_str())
            .map_err(|error| Refusal::new(Code::Corrupt, error.to_string()))
    }

    /// The session and those whose past it shares.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn lines(&self) -> Result<Vec<Line>, Refusal> {
        Ok(sessions::lineage(&self.state, &self.session)?)
    }

    /// Whether what is read survives a loss of power.
    #[must_use]
    pub fn durable(&self) -> bool {
        self.cx.engine.is_durable()
    }
}
