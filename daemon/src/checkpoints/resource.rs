//! The `lore://checkpoint/{id}` resource: a checkpoint's context.

use std::sync::Arc;

use lore::protocol::CheckpointId;

use super::command::not_found;
use super::operations::StoredCheckpoint;
use super::view;
use crate::checkpoints;
use crate::error::Refusal;
use crate::events::Event;
use crate::events::checkpoints::{CheckpointEvent, CheckpointKey};
use crate::log::LoggedEvent;
use crate::operation::{Caller, Context, blocking};
use crate::resource::{AffectedResources, Entry, Page, Resource, only_page};
use crate::rows::until;
use crate::sessions::{AccessTimes, SessionSelector};
use crate::state::State;
use crate::store::{Direction, Rows};

/// Maximum number of checkpoints that a listing returns, newest first.
const LISTED_MAX: usize = 50;

/// The checkpoint resource.
pub struct Checkpoint;

impl Resource for Checkpoint {
    const TEMPLATE: &'static str = "lore://checkpoint/{id}";
    const NAME: &'static str = "checkpoint";
    const TITLE: &'static str = "Checkpoint";
    const DESCRIPTION: &'static str = "The complete context of a checkpoint, as a JSON object.";
    const MIME: &'static str = "application/json";

    /// Lists the newest checkpoints of the caller's own session, else of the project's newest. Any other checkpoint is readable by its id.
    async fn list(
        cx: Arc<Context>,
        caller: Caller,
        cursor: Option<String>,
    ) -> Result<Page, Refusal> {
        only_page(cursor.as_deref())?;
        let state = State::live(&cx, None).await?;
        let selector = SessionSelector::of(&caller, None);
        // Without a session, the list is empty.
        let Ok(session) = selector.find(
            &state,
            &caller.actor,
            cx.engine.clock().now(),
            &checkpoints::content(),
        ) else {
            return Ok(Page::default());
        };
        blocking(move || {
            let mut rows = Vec::new();
            view::walk(&state, &session, None, Direction::Backward, &mut |row| {
                rows.push(row);
                Ok(until(rows.len() >= LISTED_MAX))
            })?;
            let mut page = Page::default();
            for row in rows {
                let found = StoredCheckpoint::at(&state.log(), session.clone(), row)?;
                page.entries.push(entry(&found)?);
            }
            Ok(page)
        })
        .await
    }

    async fn read(cx: Arc<Context>, _caller: Caller, id: String) -> Result<String, Refusal> {
        let checkpoint = CheckpointId::new(id)
            .map_err(|error| Refusal::invalid(format!("this is not an address: {error}")))?;
        let state = State::live(&cx, None).await?;
        let found = StoredCheckpoint::of(&state, &checkpoint)?;
        if let Some(access) = cx.extensions.get::<AccessTimes>() {
            access.note(&found.session, cx.engine.clock().now());
        }
        blocking(move || Ok(found.context(&cx, &state)?.text.clone())).await
    }

    fn check(rows: &dyn Rows, id: &str) -> Result<(), Refusal> {
        let row = match CheckpointKey::parse(id) {
            Some(key) => view::get(rows, &key)?,
            None => None,
        };
        row.map(drop).ok_or_else(|| not_found(id))
    }

    /// A stored context never changes, so a resource update is reported only when the checkpoint is deleted.
    fn touched(_: &LoggedEvent, meta: Option<&Event>) -> AffectedResources {
        let Some(Event::Checkpoint(event)) = meta else {
            return AffectedResources::default();
        };
        let gone = match event {
            CheckpointEvent::Saved(_) => &[][..],
            CheckpointEvent::Deleted(deleted) => &deleted.gone,
            CheckpointEvent::KeyMarked(_) => return AffectedResources::default(),
        };
        AffectedResources {
            ids: gone
                .iter()
                .map(|gone| gone.checkpoint.to_string())
                .collect(),
            list: true,
        }
    }
}

fn entry(found: &StoredCheckpoint) -> Result<Entry, Refusal> {
    let metadata = found.metadata()?;
    let at = crate::clock::format_time(found.event.header.happened_at());
    Ok(Entry {
        id: found.row.checkpoint.to_string(),
        title: metadata.name,
        description: Some(format!(
            "saved {at} in the session {}{}",
            found.session,
            match metadata.tags.is_empty() {
                true => String::new(),
                false => format!(", tagged {}", metadata.tags.join(", ")),
            }
        )),
        bytes: None,
    })
}
