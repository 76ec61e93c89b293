//! Background resolution: looks up entities of kinds that a resolver knows as they are mentioned, from the
//! start of the daemon on. A failed lookup changes nothing; the next mention repeats it.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;

use crate::entities::command::RecordResolution;
use crate::entities::recognition::SessionContext;
use crate::entities::resolution::{Answer, note, query};
use crate::entities::view;
use crate::error::Refusal;
use crate::events::Event;
use crate::events::entities::{EntityEvent, EntityRef, Mention};
use crate::events::messages::MessageEvent;
use crate::log::{Actor, Position};
use crate::operation::{Context, blocking};
use crate::rows::until;
use crate::sessions::{self, PreparedSession, SessionSelector};
use crate::state::State;
use crate::upstream::Resolvers;

/// Maximum number of concurrent lookups.
const AT_ONCE: usize = 4;
/// Maximum number of events read in one pass.
const EVENTS_MAX: usize = 500;

/// Returns the entities that an event mentions or records as found.
fn mentions_of(meta: Event) -> Vec<Mention> {
    match meta {
        Event::Message(MessageEvent::Message(said)) => said.mentions,
        Event::Message(MessageEvent::ToolCall(call)) => call.mentions,
        Event::Entity(EntityEvent::Extracted(extracted)) => {
            let found = extracted.found.into_iter();
            found.flat_map(|found| found.mentions).collect()
        }
        Event::Entity(
            EntityEvent::Related(_)
            | EntityEvent::Resolved(_)
            | EntityEvent::Merged(_)
            | EntityEvent::Unmerged(_),
        )
        | Event::Session(_)
        | Event::Step(_)
        | Event::Pack(_)
        | Event::Checkpoint(_)
        | Event::Project(_)
        | Event::Document(_)
        | Event::Capture(_)
        | Event::Trust(_)
        | Event::Forgetting(_) => Vec::new(),
    }
}

/// Entity to look up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PendingLookup {
    session: String,
    entity: EntityRef,
    name: String,
}

/// Follows the log from its end until the future is dropped.
pub async fn run(cx: Arc<Context>) {
    let mut done = cx.engine.position();
    let mut published = cx.engine.watch();
    loop {
        let tail = published
            .borrow_and_update()
            .as_ref()
            .map(|state| state.tail.position);
        if tail.is_some_and(|tail| done < tail) {
            match pending(&cx, done).await {
                Ok((lookups, to)) => {
                    done = to;
                    stream::iter(lookups)
                        .for_each_concurrent(AT_ONCE, |lookup| resolve(&cx, lookup))
                        .await;
                }
                Err(refusal) => {
                    tracing::debug!(%refusal, "entities were not looked up");
                    done = tail.unwrap_or(done);
                }
            }
            continue;
        }
        if published.changed().await.is_err() {
            return;
        }
    }
}

/// Returns the entities to look up among those that the next events mention.
async fn pending(
    cx: &Arc<Context>,
    done: Position,
) -> Result<(BTreeSet<PendingLookup>, Position), Refusal> {
    let state = State::live(cx, None).await?;
    let cx = Arc::clone(cx);
    blocking(move || {
        let (mut found, mut to, mut looked_at) = (BTreeSet::new(), done, 0);
        let Some(resolvers) = cx.extensions.get::<Resolvers>() else {
            return Ok((found, state.position()));
        };
        state
            .log()
            .walk_whole(Position(done.0 + 1), &mut |event, _| {
                looked_at += 1;
                to = event.position();
                if let (Some(session), Ok(Some(meta))) = (&event.header.session, Event::of(&event))
                {
                    for mention in mentions_of(meta) {
                        if resolvers.is_auto(&mention.kind) && !mention.nested {
                            found.insert(PendingLookup {
                                session: session.clone(),
                                entity: mention.entity(),
                                name: mention.name,
                            });
                        }
                    }
                }
                Ok(until(looked_at == EVENTS_MAX))
            })?;
        let now = cx.engine.clock().now();
        let mut lookups = BTreeSet::new();
        for one in found {
            let lines = sessions::lineage(&state, &one.session)?;
            let row = view::get(&state, &lines, &one.entity)?;
            let data = row.and_then(|row| row.data);
            if data.is_none_or(|data| data.expires <= now) {
                lookups.insert(one);
            }
        }
        Ok((lookups, to))
    })
    .await
}

async fn resolve(cx: &Arc<Context>, lookup: PendingLookup) {
    if let Err(refusal) = try_resolve(cx, &lookup).await {
        tracing::debug!(%refusal, name = lookup.name, "an entity stays unresolved");
    }
}

async fn try_resolve(cx: &Arc<Context>, lookup: &PendingLookup) -> Result<(), Refusal> {
    let state = State::live(cx, None).await?;
    let lines = sessions::lineage(&state, &lookup.session)?;
    let project = sessions::get(&state, &lookup.session)?.and_then(|row| row.project);
    let knowing = SessionContext::of(cx, &state, &lines, None)?;
    // An answer may take long, and a state keeps the store open.
    drop(state);
    match query(cx, &knowing, &lookup.entity.kind, &lookup.name).await? {
        Answer::Nothing(None) => Ok(()),
        Answer::Nothing(Some(sentence)) => {
            tracing::warn!("{sentence}");
            Ok(())
        }
        Answer::Found(mut resolved, data) => {
            // The mentioned entity, whatever the resolver calls it.
            resolved.entity = lookup.entity.clone();
            let selector = SessionSelector {
                session: Some(lookup.session.clone()),
                project,
                ..SessionSelector::default()
            };
            let choice = PreparedSession::prepare(selector, cx.engine.clock());
            let write = crate::engine::QueuedWrite {
                bytes: data.data.len(),
                command: Box::new(RecordResolution {
                    session: lookup.session.clone(),
                    entity: lookup.entity.clone(),
                    note: note(cx, choice, *resolved, &data),
                }),
                actor: Arc::new(Actor::daemon()),
                key: None,
            };
            cx.engine.write(write).await.map(drop)
        }
    }
}
