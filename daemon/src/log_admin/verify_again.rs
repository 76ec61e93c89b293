//! Verifies everything in the background after a start that found files in another state than the last daemon had left
//! them in: after a kill, a copy, or an edit behind the daemon's back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::verify::Report;
use super::verify_log::verify_published;
use crate::engine::PublishedState;
use crate::error::{Code, Refusal};
use crate::log::Position;
use crate::operation::{Context, blocking};

/// Interval of the checks whether the daemon is idle.
const IDLE_TICK: Duration = Duration::from_secs(10);
/// Number of checks after which a busy daemon verifies, too.
const BUSY_TICKS_MAX: u32 = 60;

/// Verifies once, unless the files are as the last daemon left them.
pub async fn run(context: Arc<Context>) {
    if context.engine.was_untouched() || context.engine.position() == Position(0) {
        return;
    }
    let mut seen = context.engine.position();
    for _ in 0..BUSY_TICKS_MAX {
        tokio::time::sleep(IDLE_TICK).await;
        let now = context.engine.position();
        if std::mem::replace(&mut seen, now) == now {
            break;
        }
    }
    if let Err(error) = verify_and_mend(&context).await {
        tracing::warn!(%error, "the log was not verified in the background");
    }
}

/// Verifies everything. A view that is not what the log says is rebuilt; any other damage is noted, and every reply
/// warns of it.
///
/// # Errors
/// When the verification cannot go on.
pub async fn verify_and_mend(context: &Arc<Context>) -> Result<Report, Refusal> {
    let published = context.engine.read().await?;
    let report = match verified(context, published).await {
        Err(refusal) if refusal.code == Code::Corrupt => {
            // Not even a verification can read it.
            context.engine.restart_to_salvage(&refusal.message);
            return Err(refusal);
        }
        report => report?,
    };
    let Some(first) = report.findings.first() else {
        tracing::info!(events = report.events, "the log was verified");
        return Ok(report);
    };
    tracing::error!(
        kind = first.kind,
        message = first.message,
        "damage was found"
    );
    match report
        .findings
        .iter()
        .find(|finding| finding.kind != "view")
    {
        None => {
            tracing::warn!("the views are rebuilt from the log");
            context.engine.rebuild().await?;
        }
        Some(other) => {
            let at = other.position.map(|at| format!("position {at}: "));
            let met = format!("{}{}", at.unwrap_or_default(), other.message);
            context.engine.health().note_damage(Some(&met));
        }
    }
    Ok(report)
}

async fn verified(
    context: &Arc<Context>,
    published: Arc<PublishedState>,
) -> Result<Report, Refusal> {
    let stop = StopFlag::default();
    let (flag, context) = (Arc::clone(&stop.0), Arc::clone(context));
    blocking(move || {
        let is_stopped = || flag.load(Ordering::Relaxed);
        verify_published(&context, &published, (None, None), None, &is_stopped)
    })
    .await
}

/// Ends the verification when the task that waits for it is dropped.
#[derive(Default)]
struct StopFlag(Arc<AtomicBool>);

impl Drop for StopFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
