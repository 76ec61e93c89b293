//! Pruning that nobody asks for: when it is set, a session whose messages have grown over what the
//! strategy allows is pruned once a message was recorded in it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::command::WorkingSetUpdate;
use super::prune::{Pruning, pruning};
use super::retrieval::SessionSnapshot;
use super::size::context_size;
use super::working_set_update::{PreparedUpdate, turn};
use crate::error::{Code, Refusal};
use crate::events::packs::Strategy;
use crate::log::{Actor, EventKind, Position};
use crate::operation::{Context, blocking};
use crate::sessions::{self, SessionSelector};
use crate::state::State;

/// Events looked at in one go.
const EVENTS_MAX: usize = 1000;
/// Up to so many tokens nothing is pruned: what the comprehensive strategy allows.
const TOKENS: u64 = 4000;

/// Follows the log until it is dropped. What was recorded before it began waits for the next message of
/// its session.
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

/// Prunes what the next events made too large; the position of the last event looked at.
async fn advance(cx: &Arc<Context>, done: Position) -> Result<Position, Refusal> {
    let state = State::live(cx, None).await?;
    let (large, to) = blocking(move || large(&state, done)).await?;
    for (session, actor) in large {
        let selector = SessionSelector {
            session: Some(session),
            ..SessionSelector::default()
        };
        let prepare = |of: &SessionSnapshot<'_>, now| {
            Ok(match pruning(of, Strategy::Comprehensive, None, now)? {
                Pruning::Needed(pruned) => PreparedUpdate::Turn(WorkingSetUpdate::Prune(pruned)),
                Pruning::NotNeeded(tokens) => PreparedUpdate::Nothing(tokens),
            })
        };
        match turn(cx, &actor, None, selector, prepare).await {
            Ok(_) => {}
            // Closed or forgotten meanwhile, or so busy that the next message comes soon.
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

/// Sessions that a message among the next events made too large, each with who recorded it: the pruning is
/// in that agent's name, so that nobody's current session becomes another one.
fn large(
    state: &State,
    done: Position,
) -> Result<(BTreeMap<String, Arc<Actor>>, Position), Refusal> {
    let (mut sessions, mut to, mut looked_at) = (BTreeMap::new(), done, 0);
    state.log().walk(Position(done.0 + 1), &mut |event, _| {
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
        Ok(if looked_at == EVENTS_MAX {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
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
