//! Verifies everything in the background: after a start that found files in another state than the last daemon had left
//! them in (after a kill, a copy, or an edit behind the daemon's back), when another program changes files while the
//! daemon runs, and once a day.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::verify::Report;
use super::verify_log::{described, verify_published};
use crate::background_priority::giving_way;
use crate::engine::{AFTER_START, ChangedFiles, PublishedState, Verification, WrittenFiles};
use crate::error::{Code, Refusal};
use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::operation::{Context, blocking};
use crate::search::SearchIndexes;

/// Interval of the looks at the files, and of the checks whether the daemon is idle, while it is used or a verification is
/// due.
const TICK: Duration = Duration::from_secs(10);
/// Number of checks after which a busy daemon verifies, too.
const BUSY_TICKS_MAX: u32 = 60;
/// Interval of the verifications of a daemon that keeps running.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Number of rows that are read at once in the background, and the longest pause after them.
const ROWS_AT_ONCE: u32 = 256;
/// Events that are recorded during a verification before it gives up.
const BUSY_EVENTS: u64 = if cfg!(test) { 100 } else { 10_000 };
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Verifies everything after a start, unless the files are as the last daemon left them; when another program changes
/// files of the store; and once a day.
pub async fn run(context: Arc<Context>) {
    let files = WrittenFiles::new(context.folder.clone());
    let files = Arc::new(Mutex::new(files));
    let mut activity = context.engine.activity();
    // A new store has no mark of an earlier daemon, and nothing to verify.
    let mut is_due = !context.engine.was_untouched() && context.engine.position() > Position(0);
    let mut idle_ticks = 0;
    let mut next_day = tokio::time::Instant::now() + DAY;
    let mut seen = context.engine.position();
    let mut handled = None;
    let mut is_first = true;
    let mut has_changed = false;
    loop {
        // Without a reader nothing wrong is served: an idle daemon stays idle.
        let changed = match is_first || context.engine.take_read() {
            true => look(&context, &files).await,
            false => ChangedFiles::default(),
        };
        if std::mem::take(&mut is_first) {
            tokio::time::sleep(AFTER_START).await;
            // What was read until now was as this look has found it.
            let _ = context.engine.take_read();
            activity.forget();
        }
        // It stays until it is verified: the store may just be closed for another reason, and then has no position.
        has_changed |= !changed.store.is_empty();
        if let Some(search) = context.extensions.get::<SearchIndexes>()
            && !changed.index.is_empty()
        {
            search.discard_text();
        }
        // A call may have found a view that is wrong: it is rebuilt here.
        let verified = context.engine.health().verified();
        is_due |= verified != handled && verified.is_some_and(|seen| seen.findings > 0);
        is_due |= tokio::time::Instant::now() >= next_day;
        let now = context.engine.position();
        let is_idle = std::mem::replace(&mut seen, now) == now;
        idle_ticks += u32::from(is_due);
        let is_time = is_due && ((is_idle && idle_ticks > 1) || idle_ticks > BUSY_TICKS_MAX);
        if (has_changed || is_time) && now > Position(0) {
            if has_changed {
                read_from_disk(&context).await;
            }
            let urgency = match has_changed || idle_ticks > BUSY_TICKS_MAX {
                true => Urgency::Now,
                false => Urgency::WhileIdle,
            };
            let verified = verify_and_mend(&context, urgency).await;
            if let Err(error) = &verified {
                tracing::warn!(%error, "the log was not verified in the background");
            }
            handled = context.engine.health().verified();
            // A verification that gave way stays due.
            if !matches!(verified, Ok(None)) {
                (is_due, idle_ticks, has_changed) = (false, 0, false);
                next_day = tokio::time::Instant::now() + DAY;
            }
        }
        // Without use nothing wrong is served, and an empty store has nothing to verify.
        if has_changed {
            // At the next tick.
        } else if now == Position(0) {
            activity.next().await;
        } else if !is_due {
            tokio::select! {
                () = activity.next() => {}
                () = tokio::time::sleep_until(next_day) => {}
            }
        }
        tokio::time::sleep(TICK).await;
    }
}

/// Looks at the files that are written once, and at the seal; reports what another program has changed.
async fn look(context: &Arc<Context>, files: &Arc<Mutex<WrittenFiles>>) -> ChangedFiles {
    let (files, shared) = (Arc::clone(files), Arc::clone(context));
    let looked = tokio::task::spawn_blocking(move || {
        if shared.engine.repair_seal() {
            tracing::error!(
                "another program has changed the seal of the log; it was written again"
            );
        }
        lock_unpoisoned(&files).look()
    })
    .await;
    let changed = match looked {
        Ok(Ok(changed)) => changed,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the files of the store were not looked at");
            ChangedFiles::default()
        }
        Err(_) => ChangedFiles::default(),
    };
    for path in changed.store.iter().chain(&changed.index) {
        tracing::error!(path = %path.display(), "another program has changed the file while the daemon runs");
    }
    changed
}

/// Has the store read its files again: what it keeps in memory is what was there before.
async fn read_from_disk(context: &Arc<Context>) {
    context.cache.clear();
    match context.engine.reopen().await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(
            "a long call kept the store open, so some files are verified as it has read them"
        ),
        Err(error) => tracing::warn!(%error, "the store was not opened again"),
    }
}

/// Whether a verification goes on while events are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Urgency {
    /// It goes on.
    Now,
    /// It gives up after some: the state that it holds keeps their memtables in memory, and it takes time from callers.
    WhileIdle,
}

/// Verifies everything. A view that is not what the log says is rebuilt; any other damage is noted, and every reply
/// warns of it. `None`: it gave up, because the daemon is busy.
///
/// # Errors
/// When the verification cannot go on.
async fn verify_and_mend(
    context: &Arc<Context>,
    urgency: Urgency,
) -> Result<Option<Report>, Refusal> {
    let published = context.engine.read().await?;
    let end = published.tail.position;
    let report = match verified(context, published, urgency).await {
        Ok(None) => return Ok(None),
        Ok(Some(report)) => report,
        Err(refusal) if refusal.code == Code::Corrupt => {
            // Not even a verification can read it.
            context.engine.restart_to_salvage(&refusal.message);
            return Err(refusal);
        }
        Err(refusal) => return Err(refusal),
    };
    context.engine.health().note_verified(Verification {
        position: end,
        at: context.engine.clock().now(),
        findings: report.findings.len() as u64,
    });
    let Some(first) = report.findings.first() else {
        tracing::info!(events = report.events, "the log was verified");
        return Ok(Some(report));
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
            context.cache.clear();
            context.engine.clear_damage();
        }
        Some(other) => {
            let met = described(other);
            context.engine.health().note_damage(Some(&met));
        }
    }
    Ok(Some(report))
}

async fn verified(
    context: &Arc<Context>,
    published: Arc<PublishedState>,
    urgency: Urgency,
) -> Result<Option<Report>, Refusal> {
    let stop = StopFlag::default();
    let (flag, context) = (Arc::clone(&stop.0), Arc::clone(context));
    let busy_from = match urgency {
        Urgency::Now => Position(u64::MAX),
        Urgency::WhileIdle => Position(published.tail.position.0.saturating_add(BUSY_EVENTS)),
    };
    blocking(move || {
        giving_way(|| {
            let pace = Pace::new();
            let is_busy = Cell::new(false);
            let is_stopped = || {
                if pace.step() {
                    is_busy.set(context.engine.position() >= busy_from);
                }
                is_busy.get() || flag.load(Ordering::Relaxed)
            };
            let report = verify_published(&context, &published, (None, None), None, &is_stopped);
            match is_busy.get() {
                true => Ok(None),
                false => report.map(Some),
            }
        })
    })
    .await
}

/// Leaves two thirds of the time to others.
struct Pace {
    rows: Cell<u32>,
    since: Cell<Instant>,
}

impl Pace {
    fn new() -> Self {
        Self {
            rows: Cell::new(0),
            since: Cell::new(Instant::now()),
        }
    }

    /// Counts a row, and pauses after some. Returns whether it did.
    fn step(&self) -> bool {
        self.rows.set(self.rows.get() + 1);
        if self.rows.get() < ROWS_AT_ONCE {
            return false;
        }
        std::thread::sleep((self.since.get().elapsed() * 2).min(PAUSE_MAX));
        self.rows.set(0);
        self.since.set(Instant::now());
        true
    }
}

/// Ends the verification when the task that waits for it is dropped.
#[derive(Default)]
struct StopFlag(Arc<AtomicBool>);

impl Drop for StopFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Config;
    use crate::daemon::Daemon;
    use crate::daemon::tests::paths;
    use crate::forgetting::tests::call;

    /// Records steps and returns the state after them.
    async fn record(cx: &Arc<Context>, count: u64) -> Arc<PublishedState> {
        for _ in 0..count {
            let step = json!({"session": "s", "tool": "t", "result": "x"});
            call(cx, "record_step", step).await;
        }
        cx.engine.read().await.unwrap()
    }

    #[tokio::test]
    async fn a_verification_gives_up_while_much_is_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon::open(&Config::new(), &paths(folder.path())).unwrap();
        let cx = daemon.context().unwrap();
        call(cx, "create_session", json!({"session": "s"})).await;
        let before = record(cx, u64::from(ROWS_AT_ONCE)).await;
        let end = before.tail.position.0;
        let held = Arc::clone(&before);
        let report = verified(cx, held, Urgency::WhileIdle).await.unwrap();
        assert_eq!(report.unwrap().events, end);
        record(cx, BUSY_EVENTS).await;
        let held = Arc::clone(&before);
        assert!(
            verified(cx, held, Urgency::WhileIdle)
                .await
                .unwrap()
                .is_none()
        );
        let report = verified(cx, before, Urgency::Now).await.unwrap();
        assert_eq!(report.unwrap().events, end);
        let report = verify_and_mend(cx, Urgency::WhileIdle).await.unwrap();
        assert_eq!(report.unwrap().findings.len(), 0);
    }
}
