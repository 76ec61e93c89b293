//! Background jobs: release derived data, sweep unreferenced blobs, record reads, compact the store, erase and
//! retain.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{Instrument, info_span};

use crate::clock::Micros;
use crate::engine::AFTER_START;
use crate::log::Position;
use crate::log_admin::{RetentionOutcome, verify_again};
use crate::operation::Context;
use crate::reloadable::Reloadable;
use crate::service::program_pages::release_program_pages;
use crate::sessions::AccessTimes;
use crate::store::Error;
use crate::upstream::Resolvers;
use crate::{
    capture, checkpoints, documents, entities, forgetting, mailboxes, packs, projects, search,
    spool,
};

/// Size of a block whose end makes the allocator return what was freed before, in bytes. Smaller ones do not.
const LARGE_BLOCK_BYTES: usize = 1 << 20;

/// Interval of the check for idle work after the store was used. The work starts after two of them without writes at the
/// latest. At rest there are no checks.
const IDLE_TICK: Duration = Duration::from_secs(30);
/// Minimum delay before the next automatic compaction after an incomplete one.
const COMPACT_AGAIN: Duration = Duration::from_secs(600);

/// Interval of the check for forgotten data on disk while something is recorded, and first delay after a failed erasure.
/// The maximum delay follows.
const ERASE_TICK: Duration = Duration::from_secs(30);
const ERASE_AGAIN_MIN: Duration = Duration::from_secs(1);
const ERASE_AGAIN_MAX: Duration = Duration::from_secs(600);

/// Delay before the first run of the retention rules after the start, and the interval of later runs.
pub const RETAIN_FIRST: Duration = Duration::from_secs(60);
pub const RETAIN_TICK: Duration = Duration::from_secs(3600);

/// The tokenizer is dropped after this long without a token count.
const TOKENS_IDLE: Duration = Duration::from_secs(30);

/// Indexes and models are dropped after this long without a search or a write.
const SEARCH_IDLE: Duration = Duration::from_secs(30);

/// Starts all background jobs, each in a named log span; dropping the set ends them.
pub fn begin(context: &Arc<Context>) -> JoinSet<()> {
    let mut background_jobs = JoinSet::new();
    let cx = || Arc::clone(context);
    background_jobs.spawn(rest(cx()).instrument(info_span!("rest")));
    background_jobs.spawn(compact_when_due(cx()).instrument(info_span!("compact")));
    background_jobs.spawn(entities::follow::run(cx()).instrument(info_span!("recognise")));
    if context.extensions.get::<Resolvers>().is_some() {
        background_jobs
            .spawn(entities::follow::resolve::run(cx()).instrument(info_span!("resolve")));
    }
    if packs::PackSettings::of(context).prune_automatically {
        background_jobs.spawn(packs::auto_prune::run(cx()).instrument(info_span!("prune")));
    }
    if context.reaches_files {
        background_jobs.spawn(projects::files::run(cx()).instrument(info_span!("context_files")));
        background_jobs
            .spawn(documents::sources::run::run(cx()).instrument(info_span!("documents")));
        background_jobs.spawn(spool::run(cx()).instrument(info_span!("spool")));
        let following = capture::transcripts::follow::run(cx());
        background_jobs.spawn(following.instrument(info_span!("transcripts")));
        if let Some(roots) = context.extensions.get::<mailboxes::MailRoots>() {
            let serving = mailboxes::run(cx(), roots.clone());
            background_jobs.spawn(serving.instrument(info_span!("mailboxes")));
        }
    }
    background_jobs.spawn(search::follow::run(cx()).instrument(info_span!("index")));
    background_jobs.spawn(erase_when_left(cx()).instrument(info_span!("erase")));
    background_jobs.spawn(verify_again::run(cx()).instrument(info_span!("verify")));
    background_jobs.spawn(retain_when_due(cx()).instrument(info_span!("retain")));
    background_jobs
}

/// Does idle work: drops derived data, empties the journal, sweeps blobs without an event. Once all is done, it waits
/// until the store is used again.
async fn rest(context: Arc<Context>) {
    let mut activity = context.engine.activity();
    let mut seen = context.engine.position();
    let mut swept = None;
    sweep_with(&context, sweep_at_start).await;
    tokio::time::sleep(AFTER_START).await;
    activity.forget();
    loop {
        let released_in = release_unused(&context);
        return_memory();
        let now = context.engine.position();
        let is_idle = std::mem::replace(&mut seen, now) == now;
        if is_idle {
            release_derived(&context);
        }
        if is_idle && swept != Some(now) {
            match context.engine.rest().await {
                Ok(true) => swept = Some(now),
                // A call holds the store: the next tick tries again.
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "the journal was not emptied while idle"),
            }
            sweep_with(&context, sweep).await;
        }
        if swept != Some(now) {
            tokio::time::sleep(IDLE_TICK).await;
            continue;
        }
        if activity.next().now_or_never().is_some() {
            tokio::time::sleep(IDLE_TICK).await;
            continue;
        }
        // The tenants of a daemon for all users share the program.
        if context.reaches_files
            && let Err(error) = release_program_pages()
        {
            tracing::debug!(%error, "the pages of the program stay mapped");
        }
        let released = async {
            match released_in {
                Some(left) => tokio::time::sleep(left).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = activity.next() => tokio::time::sleep(IDLE_TICK).await,
            () = released => {}
        }
    }
}

/// Drops what takes memory and was not used for some time. Returns when more of it can be dropped, or access times are to
/// be written; `None` if nothing is left.
fn release_unused(context: &Context) -> Option<Duration> {
    let indexes = context.extensions.get::<search::SearchIndexes>();
    let tokens = context.extensions.get::<checkpoints::Checkpoints>();
    let left = [
        note_access(context),
        indexes.and_then(|room| room.release_when_idle(SEARCH_IDLE)),
        tokens.and_then(|room| room.tokens.release_when_idle(TOKENS_IDLE)),
    ];
    left.into_iter().flatten().min()
}

/// Drops derived data, which the next call derives again.
fn release_derived(context: &Context) {
    context.cache.clear();
    checkpoints::release();
    if let Some(room) = context.extensions.get::<entities::Entities>() {
        room.release();
    }
    if let Some(room) = context.extensions.get::<projects::ProjectState>() {
        room.release();
    }
    if let Some(room) = context.extensions.get::<documents::Documents>() {
        room.release();
    }
}

/// Has the allocator return freed memory to the system, for a daemon that was started without `MIMALLOC_PURGE_DELAY=0`. It
/// does so by itself, but only when a large block is freed some time later, which an idle daemon does not do. The block here
/// is never touched, so the system gives no memory for it.
fn return_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(
        LARGE_BLOCK_BYTES,
    )));
}

/// Removes blobs without an event, off the event loop.
async fn sweep_with(context: &Arc<Context>, sweep: fn(&Context) -> Result<usize, Error>) {
    let shared = Arc::clone(context);
    let result = tokio::task::spawn_blocking(move || sweep(&shared)).await;
    match result {
        Ok(Ok(0)) | Err(_) => {}
        Ok(Ok(count)) => tracing::info!(count, "blobs without an event were removed"),
        Ok(Err(error)) => tracing::warn!(%error, "blobs were not swept"),
    }
}

/// Removes unreferenced blobs and returns their number.
fn sweep(context: &Context) -> Result<usize, Error> {
    let now = UNIX_EPOCH + Duration::from_micros(context.engine.clock().now());
    let released = context.remove_released_blobs()?;
    let is_named = |blob: &[u8; 32]| context.is_blob_named(blob);
    Ok(released + context.blobs.sweep(now, is_named)?)
}

/// Removes the blobs that writes of an earlier daemon left when they were refused or cut off. The log is recovered, so
/// blobs of any age go; a damaged log is examined first.
fn sweep_at_start(context: &Context) -> Result<usize, Error> {
    match context.engine.health().is_log_certain() {
        true => context.blobs.sweep_all(|blob| context.is_blob_named(blob)),
        false => Ok(0),
    }
}

/// Writes the access times once an hour; returns when they are to be written next, if they have changed.
fn note_access(context: &Context) -> Option<Duration> {
    let access = context.extensions.get::<AccessTimes>()?;
    match access.write_hourly(context.engine.clock().now()) {
        Ok(left) => left.map(Duration::from_micros),
        Err(error) => {
            tracing::warn!(%error, "the last access to sessions was not written down");
            Some(IDLE_TICK)
        }
    }
}

/// Compacts the store once enough was removed.
async fn compact_when_due(context: Arc<Context>) {
    loop {
        context.engine.compaction_due().await;
        match context.engine.compact().await {
            Ok(done) if done.warnings.is_empty() => continue,
            Ok(done) => tracing::warn!(?done.warnings, "not all disk space was given back"),
            Err(error) => tracing::warn!(%error, "no disk space was given back"),
        }
        tokio::time::sleep(COMPACT_AGAIN).await;
    }
}

/// Continues an unfinished erasure of forgotten data, for example after a long call that held the store.
/// Retries soon, then less and less often.
async fn erase_when_left(context: Arc<Context>) {
    let mut again = ERASE_AGAIN_MIN;
    let mut published = context.engine.watch();
    loop {
        published.mark_unchanged();
        if !is_unerased(&context) {
            again = ERASE_AGAIN_MIN;
            // Only a commit leaves something to erase.
            if published.changed().await.is_err() {
                return;
            }
            tokio::time::sleep(ERASE_TICK).await;
            continue;
        }
        match forgetting::finish(&context).await {
            Ok(reported) if reported.is_empty() => continue,
            Ok(reported) => tracing::warn!(?reported, "what was forgotten is being erased"),
            Err(error) => tracing::warn!(%error, "what was forgotten is not erased yet"),
        }
        tokio::time::sleep(again).await;
        again = (again * 2).min(ERASE_AGAIN_MAX);
    }
}

/// Applies the retention rules, once something is recorded. If they are replaced meanwhile, the next run is published again, if any rule is set.
async fn retain_when_due(context: Arc<Context>) {
    let (Some(rules), Some(retained)) = (
        context.extensions.get::<Reloadable<forgetting::Rules>>(),
        context.extensions.get::<RetentionOutcome>(),
    ) else {
        return;
    };
    let mut changes = rules.changes();
    let mut published = context.engine.watch();
    let mut due = Instant::now() + RETAIN_FIRST;
    loop {
        published.mark_unchanged();
        let is_any = rules.get().is_any();
        let is_empty = context.engine.position() == Position(0);
        let wait = due.saturating_duration_since(Instant::now()).as_micros();
        let next = u64::try_from(wait)
            .unwrap_or(u64::MAX)
            .saturating_add(context.engine.clock().now());
        retained.plan(is_any.then_some(next));
        tokio::select! {
            () = tokio::time::sleep_until(due), if is_any && !is_empty => {}
            Ok(()) = published.changed(), if is_any && is_empty => {
                due = due.max(Instant::now() + RETAIN_FIRST);
                continue;
            }
            Ok(()) = changes.changed() => {
                if !is_any {
                    due = due.max(Instant::now() + RETAIN_FIRST);
                }
                continue;
            }
            // The engine has ended.
            else => return,
        }
        due = Instant::now() + RETAIN_TICK;
        retain(&context, *rules.get(), context.engine.clock().now()).await;
    }
}

/// Forgets the data that the rules select at a time.
async fn retain(context: &Arc<Context>, rules: forgetting::Rules, now: Micros) {
    if rules.is_any()
        && let Err(error) = forgetting::retain(context, rules, now).await
    {
        tracing::warn!(%error, "what the rules of retention mean is not forgotten yet");
    }
}

/// Maintains a store whose user has been offline for some time: erases forgotten data and applies the retention
/// rules at a time.
pub async fn while_absent(context: &Arc<Context>, rules: forgetting::Rules, now: Micros) {
    if is_unerased(context)
        && let Err(error) = forgetting::finish(context).await
    {
        tracing::warn!(%error, "what was forgotten is not erased yet");
    }
    retain(context, rules, now).await;
}

/// Whether forgotten data may still be on disk, as far as is known now.
fn is_unerased(context: &Context) -> bool {
    let published = context.engine.published();
    let is_left = published.map(|published| forgetting::has_unerased(&published));
    is_left.is_some_and(|is_left| {
        is_left.unwrap_or_else(|error| {
            tracing::warn!(%error, "what was forgotten is not known");
            false
        })
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::daemon::Daemon;
    use crate::daemon::tests::paths;

    /// The next run is known as soon as rules exist, and cleared once there are none.
    #[tokio::test]
    async fn replaced_rules_are_planned_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon::open(&Config::new(), &paths(folder.path())).unwrap();
        let context = daemon.context().unwrap();
        let retained = context.extensions.get::<RetentionOutcome>().unwrap();
        let mut retaining = std::pin::pin!(retain_when_due(Arc::clone(context)));
        let rules = context
            .extensions
            .get::<Reloadable<forgetting::Rules>>()
            .unwrap();
        for days in [90, 0] {
            rules.set(forgetting::Rules {
                closed_sessions_days: days,
                ..forgetting::Rules::default()
            });
            assert!(retaining.as_mut().now_or_never().is_none());
            assert_eq!(retained.status().next.is_some(), days > 0);
        }
    }
}
