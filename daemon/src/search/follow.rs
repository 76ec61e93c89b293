//! What is done behind the log so that searches find all of it at once: new events are applied, what is
//! fresh is written down, vectors that are missing are made.
//!
//! One thread of low priority: whoever writes or searches goes first. It holds a state only for
//! milliseconds at a time, so that the store can always be compacted.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::feature::SearchIndexes;
use super::index::{AdvanceState, Index, IndexError};
use crate::log::Position;
use crate::operation::Context;

/// Its name in `status`.
pub const NAME: &str = "search";

/// What is recorded is applied when nothing more came for so long: whoever writes goes first, and a
/// search does not wait for it, since it applies the rest itself.
const QUIET: Duration = Duration::from_millis(300);
/// It is applied after so long in any case.
const PUT_OFF_MAX: Duration = Duration::from_secs(2);
/// A state is held so long at most.
const GO: Duration = Duration::from_millis(20);
/// What is fresh is written down when nothing has happened for so long.
const SETTLE_AFTER: Duration = Duration::from_secs(5);
/// After a failure it tries again in so long.
const AGAIN: Duration = Duration::from_secs(2);
/// Niceness of the thread, from 0 to 19.
const NICE: i32 = 10;

/// Follows the log until it is dropped.
pub async fn run(cx: Arc<Context>) {
    let (wake, wakes) = sync_channel(1);
    let shared = Arc::clone(&cx);
    let span = tracing::Span::current();
    let thread = std::thread::Builder::new()
        .name("search".to_owned())
        .spawn(move || span.in_scope(|| follow(&shared, &wakes)));
    match (thread, SearchIndexes::of(&cx)) {
        (Ok(thread), Ok(room)) => room.keep(thread, wake.clone()),
        (Ok(_), Err(refusal)) => tracing::error!(%refusal, "nothing is indexed"),
        (Err(error), _) => {
            tracing::error!(%error, "nothing is indexed: no thread can be started");
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

/// Wakes the thread; one that has been woken already needs no more.
fn knock(wake: &SyncSender<()>) {
    let _ = wake.try_send(());
}

fn follow(cx: &Context, wakes: &Receiver<()>) {
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::debug!(%error, "indexing runs with the priority of all else");
    }
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
                tracing::warn!(%error, "search does not follow");
                if let Ok(room) = SearchIndexes::of(cx) {
                    room.close(&error);
                }
                AGAIN
            }
        };
    }
}

/// Waits until nothing is recorded for a while; whether the daemon goes on.
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

/// What is still to be done when nothing new comes.
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
    catch_up(cx, &index)?;
    room.note(None);
    index.flush(is_quiet)?;
    let embedded = match cx.engine.published() {
        Some(published) => {
            index.embed_some(&published, &cx.blobs, is_quiet || index.wants_few())?
        }
        None => 0,
    };
    Ok(if embedded > 0 {
        RemainingWork::ToEmbed
    } else if is_quiet && index.compact_some()? {
        RemainingWork::ToCompact
    } else if !is_quiet {
        // It is compacted when it is quiet.
        RemainingWork::ToSettle
    } else if index.is_settled() && !index.wants_vectors() {
        RemainingWork::Nothing
    } else {
        RemainingWork::ToSettle
    })
}

/// Brings the indexes up to what is published, within a time, and takes what was forgotten out of their
/// files; whether that was possible in that time. Otherwise it is to be tried again. Blocks.
///
/// # Errors
/// Why an index cannot be used; it is opened again by the next try.
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

fn catch_up(cx: &Context, index: &Index) -> Result<(), IndexError> {
    while let Some(published) = cx.engine.published() {
        if SearchIndexes::of(cx).is_ok_and(SearchIndexes::is_stopping) {
            return Ok(());
        }
        match index.advance(&published, &cx.blobs, Instant::now() + GO)? {
            AdvanceState::All => return Ok(()),
            AdvanceState::Part(_) => {
                drop(published);
                index.flush(false)?;
            }
        }
    }
    Ok(())
}
