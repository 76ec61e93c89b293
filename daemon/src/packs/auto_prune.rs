//! Automatic pruning: when it is enabled, a session whose messages exceed the strategy's token limit is pruned
//! after a message was recorded in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::prune::pruning;
use super::retrieval::SessionSnapshot;
use super::size::context_size;
use super::working_set_update::turn;
use crate::error::{Code, Refusal};
use crate::events::packs::Strategy;
use crate::log::{Actor, EventKind, Position};
use crate::operation::{Context, blocking};
use crate::rows::until;
use crate::sessions::{self, SessionSelector};
use crate::state::State;

/// Maximum number of events per batch.
const EVENTS_MAX: usize = 1000;
/// At most this many tokens, a session is not pruned: the limit of the comprehensive strategy.
const TOKENS: u64 = 4000;

/// Follows the log until the future is dropped. Earlier messages are considered with the next message of their
/// session.
pub async fn run(cx: Arc<Context>) {
    let mut published = cx.engine.watch();
    let mut done = cx.engine.position();
    while published.changed().await.is_ok() {
        loop {
            match advance(&cx, done).await {
                Ok(to) if to == done => break,
                Ok(to) => done = to,
                Err(refusal) => {
                    tracing::warn!(%refusal, "sessions were not pruned by themselves");
                    break;
                }
            }
        }
    }
}

/// Prunes the sessions that the next events made too large; returns the position of the last event read.
async fn advance(cx: &Arc<Context>, done: Position) -> Result<Position, Refusal> {
    let state = State::live(cx, None).await?;
    let (large, to) = blocking(move || large(&state, done)).await?;
    for (session, actor) in large {
        let selector = SessionSelector {
            session: Some(session),
            ..SessionSelector::default()
        };
        let prepare =
            |of: &SessionSnapshot<'_>, now| pruning(of, Strategy::Comprehensive, None, now);
        match turn(cx, &actor, None, selector, prepare).await {
            Ok(_) => {}
            // The session was closed or forgotten meanwhile, or is so busy that its next message comes soon.
            Err(refusal)
                if matches!(
                    refusal.code,
                    Code::SessionClosed | Code::SessionNotFound | Code::Conflict
                ) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(to)
}

/// Finds the sessions that a message among the next events made too large, each with the actor of that message.
/// The pruning is recorded in that agent's name, so that no agent's current session changes.
fn large(
    state: &State,
    done: Position,
) -> Result<(BTreeMap<String, Arc<Actor>>, Position), Refusal> {
    let (mut sessions, mut to, mut looked_at) = (BTreeMap::new(), done, 0);
    state
        .log()
        .walk_whole(Position(done.0 + 1), &mut |event, _| {
            to = event.position();
            looked_at += 1;
            let header = event.header;
            if header.kind == EventKind::MessageRecorded
                && let Some(session) = header.session
            {
                let actor = Actor {
                    client: concat!("lored/", env!("CARGO_PKG_VERSION")).to_owned(),
                    ..header.actor
                };
                sessions.insert(session, Arc::new(actor));
            }
            Ok(until(looked_at == EVENTS_MAX))
        })?;
    let mut large = BTreeMap::new();
    for (session, actor) in sessions {
        let lines = sessions::lineage(state, &session)?;
        if context_size(state, &lines)? > TOKENS {
            large.insert(session, actor);
        }
    }
    Ok((large, to))
}
