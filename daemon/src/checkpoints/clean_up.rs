//! When nearly all space for checkpoints is taken: sessions that nobody has touched for long give
//! up those without a name, longest untouched first, until enough is free.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::command::{DeleteCheckpoints, Report, empty_body};
use super::feature::Checkpoints;
use super::operations::clear_up;
use super::{object_uses, view};
use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::checkpoints::{CheckpointKey, DeletionCause};
use crate::log::Actor;
use crate::operation::{Caller, Context, blocking};
use crate::sessions::{self, AccessTimes};
use crate::store::{Direction, Error, Rows};

const DAY_MICROS: Micros = 24 * 3600 * 1_000_000;
/// Checkpoints that one event deletes, at most.
const BATCH: usize = 100;

/// Begins a clean-up when one is due and none is running; nobody waits for it.
///
/// # Errors
/// When the state cannot be read.
pub async fn start_if_due(cx: &Arc<Context>) -> Result<(), Refusal> {
    let room = Checkpoints::of(cx)?;
    let published = cx.read(None).await?;
    let is_due = room
        .limits
        .get()
        .is_clean_up_due(object_uses::totals(&published.snapshot)?.bytes);
    if !is_due || room.is_cleaning.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    let cx = Arc::clone(cx);
    drop(tokio::spawn(async move {
        match run(&cx, 0).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "checkpoints of untouched sessions were deleted"),
            Err(refusal) => tracing::warn!(%refusal, "checkpoints were not cleaned up"),
        }
        if let Ok(room) = Checkpoints::of(&cx) {
            room.is_cleaning.store(false, Ordering::Release);
        }
    }));
    Ok(())
}

/// Cleans up until no more is due, also with so many more bytes, or nothing is left that may go; how
/// many checkpoints went.
///
/// # Errors
/// When the state cannot be read or nothing be written.
pub async fn run(cx: &Arc<Context>, more_bytes: u64) -> Result<u64, Refusal> {
    let room = Checkpoints::of(cx)?;
    let shared = Arc::clone(cx);
    let untouched = blocking(move || untouched(&shared)).await?;
    let mut went = 0;
    for (_, session) in untouched {
        let published = cx.read(None).await?;
        let totals = object_uses::totals(&published.snapshot)?;
        let wanted = totals.bytes.saturating_add(more_bytes);
        if !room.limits.get().is_clean_up_due(wanted) {
            break;
        }
        let candidates = unnamed(&published.snapshot, &session)?;
        for batch in candidates.chunks(BATCH) {
            went += delete(cx, &session, batch).await?;
        }
    }
    Ok(went)
}

/// Sessions with checkpoints that nobody has touched for long, longest first.
fn untouched(cx: &Context) -> Result<Vec<(Micros, String)>, Refusal> {
    let room = Checkpoints::of(cx)?;
    let Some(published) = cx.engine.published() else {
        return Ok(Vec::new());
    };
    let rows = &published.snapshot;
    let access = cx.extensions.get::<AccessTimes>();
    let idle = room.limits.get().inactive_days.saturating_mul(DAY_MICROS);
    let before = cx.engine.clock().now().saturating_sub(idle);
    let mut found = Vec::new();
    view::sessions(rows, &mut |session, row| {
        let written = sessions::get(rows, session)?.map_or(0, |row| row.last_activity);
        let read = access.map_or(0, |access| access.none_since(session));
        let touched = written.max(read);
        if row.count > 0 && touched < before {
            found.push((touched, session.to_owned()));
        }
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    found.sort();
    Ok(found)
}

fn unnamed(rows: &dyn Rows, session: &str) -> Result<Vec<CheckpointKey>, Error> {
    let mut found = Vec::new();
    view::walk(rows, session, None, Direction::Forward, &mut |row| {
        if !row.is_kept {
            found.push(row.checkpoint);
        }
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    Ok(found)
}

async fn delete(
    cx: &Arc<Context>,
    session: &str,
    checkpoints: &[CheckpointKey],
) -> Result<u64, Refusal> {
    let report = Report::default();
    let command = DeleteCheckpoints {
        session: session.to_owned(),
        checkpoints: checkpoints.to_vec(),
        cause: DeletionCause::Quota,
        holders: Vec::new(),
        body: Some(empty_body(cx.engine.clock().random())),
        report: report.clone(),
        let_go: Vec::new(),
    };
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
