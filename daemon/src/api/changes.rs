//! Which resources the log changes: watched for one peer, from events to addresses.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use lore::protocol::Position;

use super::dispatch::Dispatch;
use super::resources::Resources;
use crate::engine::PublishedState;
use crate::error::Refusal;
use crate::events::Event;
use crate::log::Log;
use crate::operation::{Context, blocking};

/// So many new events are looked at without a thread of one's own: fewer than a hop costs.
const QUICK_MAX: u64 = 32;
/// Events looked at in one go.
const LOOKED_AT_MAX: u64 = 20_000;

/// What changed since it was looked last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// Addresses of what reads otherwise now.
    pub updated: BTreeSet<String>,
    /// Whether lists are others now.
    pub lists: bool,
}

/// Looks at every event once, as it comes.
pub struct Changes {
    context: Arc<Context>,
    resources: Resources,
    next: Position,
}

impl Changes {
    /// What events behind this position change; behind the newest one, if none is given.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` or `TIMEOUT` when there is no state to begin with.
    pub async fn after(dispatch: &Dispatch, position: Option<Position>) -> Result<Self, Refusal> {
        let context = Arc::clone(dispatch.context());
        let position = match position {
            Some(position) => position,
            None => context.read(None).await?.tail.position,
        };
        Ok(Self {
            context,
            resources: dispatch.resources(),
            next: Position(position.0 + 1),
        })
    }

    /// Waits for events and tells what they change, all that have come together. Safe to cancel.
    ///
    /// # Errors
    /// What reading the log refuses.
    pub async fn next(&mut self) -> Result<ChangeSet, Refusal> {
        self.context.engine.reached(self.next).await;
        let published = self.context.read(None).await?;
        let last = published.tail.position.0;
        let (from, resources) = (self.next, self.resources);
        let up_to = Position(last.min(from.0 + LOOKED_AT_MAX));
        let changed = if up_to.0.saturating_sub(from.0) < QUICK_MAX {
            collect(&published, resources, from, up_to)?
        } else {
            blocking(move || collect(&published, resources, from, up_to)).await?
        };
        self.next = Position(up_to.0 + 1);
        Ok(changed)
    }
}

fn collect(
    published: &PublishedState,
    resources: Resources,
    from: Position,
    up_to: Position,
) -> Result<ChangeSet, Refusal> {
    let mut changed = ChangeSet::default();
    Log::new(&published.snapshot).walk(from, &mut |event, _| {
        if event.position() > up_to {
            return Ok(ControlFlow::Break(()));
        }
        let meta = Event::of(&event)?;
        for kind in resources.kinds() {
            let touched = kind.touched(&event, meta.as_ref());
            let addresses = touched.ids.iter().map(|id| kind.address(id));
            changed.updated.extend(addresses);
            changed.lists |= touched.list;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(changed)
}
