//! Automatic clean-up: when the space for checkpoints is nearly full, checkpoints without a name are deleted from
//! inactive sessions, the longest inactive first, until enough is free.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::command::DeleteCheckpoints;
use super::feature::Checkpoints;
use super::operations::clear_up;
use super::{object_uses, view};
use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::checkpoints::{CheckpointKey, DeletionCause};
use crate::log::Actor;
use crate::operation::{Caller, Context, blocking};
use crate::sessions::{self, AccessTimes};

const DAY_MICROS: Micros = 24 * 3600 * 1_000_000;
/// Maximum number of checkpoints that one event deletes.
const BATCH: usize = 100;

/// Starts a clean-up in the background if one is due and none is running.
pub async fn start_if_due(cx: &Arc<Context>) -> Result<(), Refusal> {
    let feature = Checkpoints::of(cx)?;
    let published = cx.read(None).await?;
    let is_due = feature
        .limits
        .get()
        .is_clean_up_due(object_uses::totals(&published.snapshot)?.bytes);
    if !is_due || feature.is_cleaning.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    let cx = Arc::clone(cx);
    drop(tokio::spawn(async move {
        match run(&cx, 0).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "checkpoints of untouched sessions were deleted"),
            Err(refusal) => tracing::warn!(%refusal, "checkpoints were not cleaned up"),
        }
        if let Ok(feature) = Checkpoints::of(&cx) {
            feature.is_cleaning.store(false, Ordering::Release);
        }
    }));
    Ok(())
}

/// Cleans up until there is room for `more_bytes`, or no checkpoint is left that may be deleted. Returns the
/// number of deleted checkpoints.
pub async fn run(cx: &Arc<Context>, more_bytes: u64) -> Result<u64, Refusal> {
    let feature = Checkpoints::of(cx)?;
    let shared = Arc::clone(cx);
    let untouched = blocking(move || untouched(&shared)).await?;
    let mut went = 0;
    for (_, session) in untouched {
        let published = cx.read(None).await?;
        let totals = object_uses::totals(&published.snapshot)?;
        let wanted = totals.bytes.saturating_add(more_bytes);
        if !feature.limits.get().is_clean_up_due(wanted) {
            break;
        }
        let mut candidates = view::all(&published.snapshot, &session)?;
        candidates.retain(|row| !row.is_kept);
        let candidates: Vec<_> = candidates.iter().map(|row| row.checkpoint).collect();
        for batch in candidates.chunks(BATCH) {
            went += delete(cx, &session, batch).await?;
        }
    }
    Ok(went)
}

/// Lists the inactive sessions with checkpoints, the longest inactive first.
fn untouched(cx: &Context) -> Result<Vec<(Micros, String)>, Refusal> {
    let feature = Checkpoints::of(cx)?;
    let Some(published) = cx.engine.published() else {
        return Ok(Vec::new());
    };
    let rows = &published.snapshot;
    let access = cx.extensions.get::<AccessTimes>();
    let idle = feature
        .limits
        .get()
        .inactive_days
        .saturating_mul(DAY_MICROS);
    let before = cx.engine.clock().now().saturating_sub(idle);
    let mut found = Vec::new();
    for (session, row) in view::sessions(rows)? {
        let written = sessions::get(rows, &session)?.map_or(0, |row| row.last_activity);
        let read = access.map_or(0, |access| access.none_since(&session));
        let touched = written.max(read);
        if row.count > 0 && touched < before {
            found.push((touched, session));
        }
    }
    found.sort();
    Ok(found)
}

async fn delete(
    cx: &Arc<Context>,
    session: &str,
    checkpoints: &[CheckpointKey],
) -> Result<u64, Refusal> {
    let salt = cx.engine.clock().random();
    let command = DeleteCheckpoints::new(session, checkpoints.to_vec(), DeletionCause::Quota, salt);
    let report = command.report.clone();
    let daemon = Caller {
        actor: Arc::new(Actor {
            agent: "lored".to_owned(),
            ..Actor::default()
        }),
        ..Caller::default()
    };
    let outcome = cx.write(&daemon, None, 0, command).await;
    if report.result().instead.is_some() {
        // Named, critical or gone by now.
        return Ok(0);
    }
    outcome?;
    clear_up(cx, &report);
    Ok(checkpoints.len() as u64)
}
