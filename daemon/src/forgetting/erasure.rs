//! Erasure after a tombstone: removes the content from records, blobs, copies and tables, then writes the event
//! that confirms it. After a kill, the next run finishes the work.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::command::RecordErasure;
use super::forget_command::RecordEventErasure;
use crate::checkpoints;
use crate::engine::{PublishedState, erasure};
use crate::entities;
use crate::error::{Code, Refusal};
use crate::log::{Actor, Position, StreamName, forgotten};
use crate::log_admin::verify;
use crate::operation::{Caller, Context, blocking};
use crate::projects;
use crate::search;
use crate::sessions::{self, AccessTimes};
use crate::store::{Rows, recovery};

/// Time to wait for the search indexes.
const INDEXED_MAX: Duration = Duration::from_secs(20);

/// Serialises erasures, because each rewrites records from the previous batch's state.
#[derive(Debug, Default)]
pub struct EraseGuard(tokio::sync::Mutex<()>);

/// Returns whether bytes of forgotten content may still be on disk.
pub fn has_unerased(published: &PublishedState) -> Result<bool, Refusal> {
    Ok(!PendingErasures::of(&published.snapshot)?.is_empty())
}

/// Forgotten content that may still be on disk.
struct PendingErasures {
    sessions: Vec<String>,
    /// Tombstones of events in streams that continue.
    parts: Vec<(Position, StreamName)>,
}

impl PendingErasures {
    fn of(rows: &dyn Rows) -> Result<Self, Refusal> {
        Ok(Self {
            sessions: sessions::unerased(rows)?,
            parts: forgotten::unerased(rows)?,
        })
    }

    fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.parts.is_empty()
    }

    /// Returns the streams whose records must be rewritten, without duplicates.
    fn streams(&self) -> BTreeSet<StreamName> {
        let sessions = self.sessions.iter().cloned().map(StreamName::Session);
        let parts = self.parts.iter().map(|(_, stream)| stream.clone());
        sessions.chain(parts).collect()
    }
}

/// Erases all forgotten content that is not erased yet, and frees the disk space. Space that cannot be freed now is
/// reported as sentences and retried later. The work continues if the caller disconnects.
pub async fn finish(cx: &Arc<Context>) -> Result<Vec<String>, Refusal> {
    let cx = Arc::clone(cx);
    let finished = tokio::spawn(async move { finish_all(&cx).await }).await;
    finished.unwrap_or_else(|_| {
        let message = "the daemon is stopping; the next one goes on erasing";
        Err(Refusal::new(Code::StorageUnavailable, message))
    })
}

async fn finish_all(cx: &Arc<Context>) -> Result<Vec<String>, Refusal> {
    let erasing = cx
        .extensions
        .get::<EraseGuard>()
        .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without forgetting"))?;
    let _one = erasing.0.lock().await;
    let unerased = Arc::new(PendingErasures::of(&cx.read(None).await?.snapshot)?);
    if unerased.is_empty() {
        return Ok(Vec::new());
    }
    for stream in unerased.streams() {
        erase(cx, &stream).await?;
    }
    cx.cache.clear();
    let (shared, files) = (Arc::clone(cx), Arc::clone(&unerased));
    let mut reported = blocking(move || clear_files(&shared, &files)).await?;
    let shared = Arc::clone(cx);
    let uncleared = blocking(move || Ok(clear_indexes(&shared))).await?;
    let compacted = cx.engine.compact().await?;
    let left: Vec<String> = uncleared.into_iter().chain(compacted.warnings).collect();
    let is_erased = left.is_empty();
    reported.extend(left);
    if !is_erased {
        return Ok(reported);
    }
    for session in &unerased.sessions {
        let command = RecordErasure::new(session, cx.engine.clock().random());
        cx.write(&of_daemon(), None, 0, command).await?;
    }
    for (tombstone, stream) in &unerased.parts {
        let salt = cx.engine.clock().random();
        let command = RecordEventErasure::new(*tombstone, stream.clone(), salt);
        cx.write(&of_daemon(), None, 0, command).await?;
    }
    let published = cx.read(None).await?;
    if PendingErasures::of(&published.snapshot)?.is_empty() {
        cx.engine.note_erased(published.tail.position);
    }
    Ok(reported)
}

/// Rewrites the records of a stream, batch by batch.
async fn erase(cx: &Arc<Context>, stream: &StreamName) -> Result<(), Refusal> {
    let mut after = Some(Position(0));
    while let Some(from) = after {
        // The newest state contains the previous batch; it is released before the writer is called.
        let published = cx.read(None).await?;
        let (fold, stream) = (Arc::clone(&cx.fold), stream.clone());
        let batch = blocking(move || {
            let rows = &published.snapshot;
            Ok(erasure::batch(rows, &*fold, stream.scope(), from)?)
        })
        .await?;
        after = batch.next;
        cx.engine.rewrite(batch).await?;
    }
    Ok(())
}

/// Removes unreferenced blobs, files of deleted projects, copies of damaged journals, access times of sessions, and
/// remains of killed verifications. Returns warnings for the user.
fn clear_files(cx: &Context, unerased: &PendingErasures) -> Result<Vec<String>, Refusal> {
    cx.blobs.sweep_all(|blob| match cx.engine.published() {
        Some(published) => checkpoints::is_blob_named(&published.snapshot, blob),
        None => Ok(true),
    })?;
    if let Some(access) = cx.extensions.get::<AccessTimes>() {
        let sessions = unerased.sessions.iter();
        sessions.for_each(|session| access.forget(session));
        access.write(cx.engine.clock().now())?;
    }
    for (_, stream) in &unerased.parts {
        if let StreamName::Project(project) = stream {
            projects::remove_files(cx, project)?;
        }
    }
    if let Some(room) = cx.extensions.get::<entities::Entities>() {
        // It caches names from each session.
        room.release();
    }
    verify::remove_left_over(&cx.folder.scratch())?;
    let copies = recovery::remove_copies(&cx.folder.damaged()).map_err(|error| {
        let message = format!("copies of damaged journals were not removed: {error}");
        Refusal::new(Code::StorageUnavailable, message)
    })?;
    let reported = "copies of damaged journals could have held some of it and were removed; their reports \
                are kept";
    Ok(if copies > 0 {
        vec![reported.to_owned()]
    } else {
        Vec::new()
    })
}

/// Removes words and vectors from the search index files; returns the reason if some remain.
fn clear_indexes(cx: &Context) -> Option<String> {
    match search::follow::take_out_forgotten(cx, INDEXED_MAX) {
        Ok(true) => None,
        Ok(false) => Some(
            "search is behind with what was recorded; words of it leave the index once it has come so far"
                .to_owned(),
        ),
        Err(error) => Some(format!(
            "words of it may be in the index of search still, until it can be written: {error}"
        )),
    }
}

/// Returns the daemon's own caller identity.
pub(super) fn of_daemon() -> Caller {
    Caller {
        actor: Arc::new(Actor {
            agent: "lored".to_owned(),
            ..Actor::default()
        }),
        ..Caller::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::forgetting::tests::{call, opened};

    /// While an index that cannot be written may still contain words, no erasure is recorded. Once it can be written,
    /// the words are removed and the erasure is recorded.
    #[tokio::test]
    async fn what_an_index_may_hold_is_not_erased() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = opened(folder.path());
        let cx = daemon.context().unwrap();
        call(cx, "create_session", json!({"session": "s"})).await;
        let step = json!({"session": "s", "tool": "t", "result": "zanzibar"});
        call(cx, "record_step", step).await;
        std::fs::write(cx.folder.index(), "no folder").unwrap();
        call(cx, "forget_session", json!({"session": "s"})).await;
        let is_left = || has_unerased(&cx.engine.published().unwrap()).unwrap();
        assert!(is_left());
        let reported = finish(cx).await.unwrap();
        assert!(
            is_left() && reported.concat().contains("index of search"),
            "{reported:?}"
        );
        std::fs::remove_file(cx.folder.index()).unwrap();
        assert_eq!(finish(cx).await.unwrap(), Vec::<String>::new());
        assert!(!is_left());
    }
}
