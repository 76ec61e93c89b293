//! Verifies everything in the background: after a start that found files in another state than the last daemon had left
//! them in (after a kill, a copy, or an edit behind the daemon's back), when another program changes files while the
//! daemon runs, and once a day.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::verify::Report;
use super::verify_log::{described, verify_published};
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
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Verifies everything after a start, unless the files are as the last daemon left them; when another program changes
/// files of the store; and once a day.
pub async fn run(context: Arc<Context>) {
    let files = WrittenFiles::new(context.folder.clone());
    let files = Arc::new(Mutex::new(files));
    let mut activity = context.engine.activity();
    let mut is_due = !context.engine.was_untouched();
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
            if let Err(error) = verify_and_mend(&context).await {
                tracing::warn!(%error, "the log was not verified in the background");
            }
            handled = context.engine.health().verified();
            (is_due, idle_ticks, has_changed) = (false, 0, false);
            next_day = tokio::time::Instant::now() + DAY;
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

/// Verifies everything. A view that is not what the log says is rebuilt; any other damage is noted, and every reply
/// warns of it.
///
/// # Errors
/// When the verification cannot go on.
pub async fn verify_and_mend(context: &Arc<Context>) -> Result<Report, Refusal> {
    let published = context.engine.read().await?;
    let end = published.tail.position;
    let report = match verified(context, published).await {
        Err(refusal) if refusal.code == Code::Corrupt => {
            // Not even a verification can read it.
            context.engine.restart_to_salvage(&refusal.message);
            return Err(refusal);
        }
        report => report?,
    };
    context.engine.health().note_verified(Verification {
        position: end,
        at: context.engine.clock().now(),
        findings: report.findings.len() as u64,
    });
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
            context.cache.clear();
            context.engine.clear_damage();
        }
        Some(other) => {
            let met = described(other);
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
        let pace = Pace::new();
        let is_stopped = || {
            pace.step();
            flag.load(Ordering::Relaxed)
        };
        verify_published(&context, &published, (None, None), None, &is_stopped)
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

    /// Counts a row, and pauses after some.
    fn step(&self) {
        self.rows.set(self.rows.get() + 1);
        if self.rows.get() < ROWS_AT_ONCE {
            return;
        }
        std::thread::sleep((self.since.get().elapsed() * 2).min(PAUSE_MAX));
        self.rows.set(0);
        self.since.set(Instant::now());
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
