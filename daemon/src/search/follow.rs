//! Background indexing: applies new events, flushes in-memory segments, and makes missing vectors, so that searches
//! find everything at once.
//!
//! It is one thread of low priority, so writes and searches go first, and while something is recorded it has a share of the
//! time. It holds a state only while it reads some events, so that the store can always be compacted, and what is written
//! meanwhile need not stay in memory.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::feature::SearchIndexes;
use super::index::{AdvanceState, Index, IndexError};
use crate::background_priority::{give_way, pause, sleep};
use crate::log::Position;
use crate::operation::Context;

/// Name of the projection in `status`.
pub const NAME: &str = "search";

/// Quiet time after which new events are applied. Writes go first, and a search does not wait because it applies
/// the rest itself.
const QUIET: Duration = Duration::from_millis(300);
/// Time after which new events are applied in any case.
const PUT_OFF_MAX: Duration = Duration::from_secs(2);
/// Time after which it looks whether something is recorded.
const GO: Duration = Duration::from_millis(20);
/// Idle time after which in-memory segments are flushed.
const SETTLE_AFTER: Duration = Duration::from_secs(5);
/// Delay before a retry after a failure.
const AGAIN: Duration = Duration::from_secs(2);

/// Follows the log until the future is dropped.
pub async fn run(cx: Arc<Context>) {
    let (wake, wakes) = sync_channel(1);
    let shared = Arc::clone(&cx);
    let span = tracing::Span::current();
    let thread = std::thread::Builder::new()
        .name("search".to_owned())
        .spawn(move || span.in_scope(|| follow(&shared, &wakes)));
    match (thread, SearchIndexes::of(&cx)) {
        (Ok(thread), Ok(room)) => room.keep(thread, wake.clone()),
        (Ok(_), Err(refusal)) => tracing::error!(%refusal, "indexing cannot start"),
        (Err(error), _) => {
            tracing::error!(%error, "the indexing thread cannot start: new events are not indexed");
            return;
        }
    }
    let mut published = cx.engine.watch();
    drop(cx);
    loop {
        knock(&wake);
        if published.changed().await.is_err() {
            return;
        }
    }
}

/// Wakes the thread; a pending wake-up is enough.
fn knock(wake: &SyncSender<()>) {
    let _ = wake.try_send(());
}

fn follow(cx: &Context, wakes: &Receiver<()>) {
    give_way();
    let mut wait = SETTLE_AFTER;
    loop {
        let is_quiet = match wakes.recv_timeout(wait) {
            Ok(()) => false,
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let stops = || SearchIndexes::of(cx).is_ok_and(SearchIndexes::is_stopping);
        if stops() || (!is_quiet && !put_off(wakes)) || stops() {
            return;
        }
        wait = match work(cx, is_quiet) {
            Ok(RemainingWork::Nothing) => Duration::from_secs(3600),
            Ok(RemainingWork::ToSettle) => SETTLE_AFTER,
            Ok(RemainingWork::ToEmbed | RemainingWork::ToCompact) => Duration::ZERO,
            Err(error) => {
                tracing::warn!(%error, "indexing failed; it is retried");
                if let Ok(room) = SearchIndexes::of(cx) {
                    room.close(&error);
                }
                AGAIN
            }
        };
    }
}

/// Waits until nothing is recorded for a while; returns `false` when the daemon stops.
fn put_off(wakes: &Receiver<()>) -> bool {
    let until = Instant::now() + PUT_OFF_MAX;
    loop {
        match wakes.recv_timeout(QUIET) {
            Ok(()) if Instant::now() < until => {}
            Ok(()) | Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

/// The remaining work when nothing new is recorded.
enum RemainingWork {
    Nothing,
    ToSettle,
    ToEmbed,
    ToCompact,
}

fn work(cx: &Context, is_quiet: bool) -> Result<RemainingWork, IndexError> {
    let Ok(room) = SearchIndexes::of(cx) else {
        return Ok(RemainingWork::Nothing);
    };
    let Some(tail) = cx.engine.published().map(|state| state.tail.position) else {
        return Ok(RemainingWork::Nothing);
    };
    let is_behind = room.position() < tail;
    if tail == Position(0) || (!is_behind && room.peek_open().is_none()) {
        return Ok(RemainingWork::Nothing);
    }
    let index = room.index()?;
    catch_up(cx, room, &index)?;
    room.note(None);
    index.flush(is_quiet)?;
    let embedded = match cx.engine.published() {
        Some(published) => {
            let may_embed = is_quiet || index.wants_few() || index.is_due_for_second();
            index.embed_some(published, &cx.blobs, may_embed)?
        }
        None => 0,
    };
    Ok(if embedded > 0 && (is_quiet || index.wants_few()) {
        RemainingWork::ToEmbed
    } else if embedded > 0 {
        RemainingWork::ToSettle
    } else if is_quiet && index.compact_some()? {
        RemainingWork::ToCompact
    } else if !is_quiet {
        // Compaction waits for a quiet moment.
        RemainingWork::ToSettle
    } else if index.is_settled() && !index.wants_vectors() {
        RemainingWork::Nothing
    } else {
        RemainingWork::ToSettle
    })
}

/// Brings the indexes up to the published state and removes forgotten text from their files. It blocks, and
/// returns `false` if `within` was too short; the caller then tries again.
///
/// # Errors
/// The reason why an index cannot be used; the next attempt opens it again.
pub fn take_out_forgotten(cx: &Context, within: Duration) -> Result<bool, String> {
    let (Ok(room), Some(published)) = (SearchIndexes::of(cx), cx.engine.published()) else {
        return Ok(true);
    };
    let reached = room.index().and_then(|index| {
        let reached = index.advance(&published, &cx.blobs, Instant::now() + within)?;
        drop(published);
        if reached == AdvanceState::All {
            index.purge()?;
        }
        Ok(reached)
    });
    match reached {
        Ok(AdvanceState::All) => Ok(true),
        Ok(AdvanceState::Part(_)) => Ok(false),
        Err(error) => {
            room.close(&error);
            Err(error.to_string())
        }
    }
}

fn catch_up(cx: &Context, room: &SearchIndexes, index: &Index) -> Result<(), IndexError> {
    let mut worked_to = Position(0);
    let tail = || cx.engine.published().map(|state| state.tail.position);
    while let Some(tail) = tail() {
        if room.is_stopping() {
            return Ok(());
        }
        // Something was recorded while the last part was indexed.
        let is_recording = worked_to != Position(0) && tail > worked_to;
        worked_to = tail;
        let began = Instant::now();
        match index.advance_to(tail, || cx.engine.published(), &cx.blobs, began + GO)? {
            AdvanceState::All => return Ok(()),
            AdvanceState::Part(_) => {
                index.flush(false)?;
                if is_recording {
                    let pause = pause(began.elapsed(), room.limits.background_share);
                    sleep(pause, || room.is_stopping());
                }
            }
        }
    }
    Ok(())
}
