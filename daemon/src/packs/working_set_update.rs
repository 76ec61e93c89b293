//! Updates of a session's working set: prepared on a snapshot, and recorded if the session has not changed in the
//! meantime.

use std::sync::Arc;

use super::command::{UpdateWorkingSet, refuse_expired};
use super::retrieval::SessionSnapshot;
use crate::clock::Micros;
use crate::engine::{KeyClaim, Outcome, QueuedWrite};
use crate::error::Refusal;
use crate::events::packs::PackEvent;
use crate::log::{Actor, Body, codec};
use crate::operation::{Context, blocking, while_stale};
use crate::sessions::{self, PreparedSession, SessionSelector, SessionSettings};
use crate::state::State;

/// The result of the preparation.
pub enum PreparedUpdate {
    /// A change to record.
    Record(PackEvent),
    /// No change is needed; the session's tokens.
    Nothing(u64),
}

pub enum UpdateResult {
    Done(Outcome),
    /// No change was needed.
    Nothing {
        session: String,
        /// Tokens of the session.
        tokens: u64,
        /// The state that was read.
        state: State,
    },
}

/// Prepares a change and records it. If the session changed in the meantime, the change is prepared again, because
/// items that a pruning does not name would be lost from the working set.
///
/// # Errors
/// `SESSION_CLOSED`, `SESSION_EXPIRED`; `CONFLICT` if the session keeps changing or a lease is lost.
pub async fn turn(
    cx: &Arc<Context>,
    actor: &Arc<Actor>,
    claim: Option<KeyClaim>,
    selector: SessionSelector,
    prepare: impl Fn(&SessionSnapshot<'_>, Micros) -> Result<PreparedUpdate, Refusal>
    + Clone
    + Send
    + 'static,
) -> Result<UpdateResult, Refusal> {
    let (claim, selector, prepare) = (&claim, &selector, &prepare);
    while_stale(|| async move {
        let state = State::live(cx, None).await?;
        let now = cx.engine.clock().now();
        let session = selector.find_own(&state, actor, now)?;
        let row = sessions::open(&state, &session)?;
        let settings = SessionSettings::of(cx);
        let read_at = state.position();
        refuse_expired(&settings, &row, &session, now)?;
        let (shared, prepare, of) = (Arc::clone(cx), prepare.clone(), session.clone());
        let (prepared, state) = blocking(move || {
            let prepared = prepare(&SessionSnapshot::of(&shared, &state, &of)?, now)?;
            Ok((prepared, state))
        })
        .await?;
        let event = match prepared {
            PreparedUpdate::Record(event) => event,
            PreparedUpdate::Nothing(tokens) => {
                return Ok(UpdateResult::Nothing {
                    session,
                    tokens,
                    state,
                });
            }
        };
        let clock = cx.engine.clock();
        let selector = selector.naming(session);
        let command = UpdateWorkingSet {
            choice: PreparedSession::prepare(selector, clock),
            event,
            changed: row.changed,
            read_at,
            settings,
            body: Body::new(codec::EMPTY.to_vec(), clock.random()),
        };
        let write = QueuedWrite {
            command: Box::new(command),
            actor: Arc::clone(actor),
            key: claim.clone(),
            bytes: 0,
        };
        cx.engine.write(write).await.map(UpdateResult::Done)
    })
    .await
}
