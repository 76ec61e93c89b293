//! Maps events of the log to the URIs of the resources that they change, for one peer.

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

/// At most this many new events are read without a thread hop, because the hop would cost more.
const QUICK_MAX: u64 = 32;
/// Maximum number of events read at once.
const LOOKED_AT_MAX: u64 = 20_000;

/// Resources that changed after the previous check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// URIs of resources whose text changed.
    pub updated: BTreeSet<String>,
    /// Whether the resource lists changed.
    pub lists: bool,
}

/// Reads each new event once and maps it to resource changes.
pub struct Changes {
    context: Arc<Context>,
    resources: Resources,
    next: Position,
}

impl Changes {
    /// Starts after `position`, or after the newest event when it is `None`.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` or `TIMEOUT` when no state is published.
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

    /// Waits for events and returns their combined changes. Cancel-safe.
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
    Log::new(&published.snapshot).walk_whole(from, &mut |event, _| {
        if event.position() > up_to {
            return Ok(ControlFlow::Break(()));
        }
        let meta = Event::of(&event)?;
        for kind in resources.kinds() {
            let touched = (kind.touched)(&event, meta.as_ref());
            let addresses = touched.ids.iter().map(|id| kind.address(id));
            changed.updated.extend(addresses);
            changed.lists |= touched.list;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(changed)
}
