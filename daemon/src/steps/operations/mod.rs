//! The step lines of the operation table.

mod inspect;
mod record;
mod register;
mod resolve;

use std::sync::Arc;

use lore::protocol::{AsOf, Position, SessionId};

use crate::error::{Code, Refusal};
use crate::operation::{Caller, Context, Operation, blocking};
use crate::sessions::Wish;
use crate::state::State;
use crate::steps::history::{On, Unread};

/// The lines.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<record::RecordStep>(),
    Operation::of::<resolve::ResolveVariables>(),
    Operation::of::<resolve::ResolveParameters>(),
    Operation::of::<inspect::GetStep>(),
    Operation::of::<inspect::ListSteps>(),
    Operation::of::<register::ListExtractors>(),
    Operation::of::<register::RegisterExtractor>(),
    Operation::of::<register::RegisterFieldMapping>(),
];

/// What every read of a session's steps is given.
struct Reading {
    session: Option<SessionId>,
    as_of: Option<AsOf>,
    at_least: Option<Position>,
    agent: Option<String>,
}

/// A session in a state, ready to be read.
struct Read {
    cx: Arc<Context>,
    state: State,
    session: String,
}

impl Reading {
    async fn open(self, cx: Arc<Context>, caller: Caller) -> Result<Read, Refusal> {
        let caller = caller.acting_as(self.agent.as_deref())?;
        let state = State::live(&cx, self.at_least).await?;
        let wish = Wish::of(&caller, self.session.as_ref());
        let session = wish.find(&state, &caller.actor, cx.engine.clock().now())?;
        let Some(as_of) = self.as_of else {
            return Ok(Read { cx, state, session });
        };
        blocking(move || {
            let state = state.back_to(&*cx.fold, &session, &as_of)?;
            Ok(Read { cx, state, session })
        })
        .await
    }
}

impl Read {
    fn session_id(&self) -> Result<SessionId, Refusal> {
        SessionId::new(self.session.as_str())
            .map_err(|error| Refusal::new(Code::Corrupt, error.to_string()))
    }

    fn durable(&self) -> bool {
        self.cx.engine.is_durable()
    }
}

/// Tries a read on the event loop; when it would take too long there, does it on a thread.
async fn quick_or_blocking<T: Send + 'static>(
    read: Read,
    answer: impl Fn(&Read, On) -> Result<T, Unread> + Send + 'static,
) -> Result<T, Refusal> {
    match answer(&read, On::EventLoop) {
        Err(Unread::TooLong) => blocking(move || told(answer(&read, On::Thread))).await,
        answered => told(answered),
    }
}

fn told<T>(answered: Result<T, Unread>) -> Result<T, Refusal> {
    answered.map_err(|unread| match unread {
        Unread::Fault(error) => error.into(),
        Unread::Refused(refusal) => refusal,
        // Nothing is too long on a thread.
        Unread::TooLong => Refusal::new(Code::Internal, "a read gave up on a thread of its own"),
    })
}
