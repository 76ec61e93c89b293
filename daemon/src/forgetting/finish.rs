//! What follows a tombstone: records, blobs, copies and tables without the content, and the event that
//! says so. Whatever was left undone by a kill is done by whoever comes next.

use std::sync::Arc;

use super::command::NoteErased;
use crate::audit::verify;
use crate::checkpoints;
use crate::engine::{Published, erasure};
use crate::error::{Code, Refusal};
use crate::log::{Actor, Position};
use crate::operation::{Caller, Context, blocking};
use crate::sessions::{self, LastAccess};
use crate::store::recovery;

/// One erases at a time: records are rewritten from what the last batch left.
#[derive(Debug, Default)]
pub struct Erasing(tokio::sync::Mutex<()>);

/// Whether bytes of a forgotten session may still be on disk.
///
/// # Errors
/// `CORRUPT` when the rows cannot be read.
pub fn has_unerased(published: &Published) -> Result<bool, Refusal> {
    Ok(!sessions::unerased(&published.snapshot)?.is_empty())
}

/// Erases whatever was forgotten and not erased yet, and gives the disk space back; what could not be
/// given back now comes as sentences, and is tried again later. A caller that goes away stops nothing.
///
/// # Errors
/// `STORAGE_UNAVAILABLE` when nothing can be written, `CORRUPT` when a record cannot be read.
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
        .get::<Erasing>()
        .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without forgetting"))?;
    let _one = erasing.0.lock().await;
    let unerased = sessions::unerased(&cx.read(None).await?.snapshot)?;
    if unerased.is_empty() {
        return Ok(Vec::new());
    }
    for session in &unerased {
        erase(cx, session).await?;
    }
    cx.cache.clear();
    let shared = Arc::clone(cx);
    let sessions = unerased.clone();
    let told = blocking(move || clear_files(&shared, &sessions)).await?;
    let compacted = cx.engine.compact().await?;
    if !compacted.warnings.is_empty() {
        return Ok(compacted.warnings);
    }
    for session in &unerased {
        let command = NoteErased::new(session, cx.engine.clock().random());
        cx.write(&of_daemon(), None, 0, command).await?;
    }
    Ok(told)
}

/// Rewrites the records of a session, batch by batch.
async fn erase(cx: &Arc<Context>, session: &str) -> Result<(), Refusal> {
    let mut after = Some(Position(0));
    while let Some(from) = after {
        // Of the newest state, which has the batch before; it is let go before the writer is asked.
        let published = cx.read(None).await?;
        let (fold, session) = (Arc::clone(&cx.fold), session.to_owned());
        let batch =
            blocking(move || Ok(erasure::batch(&published.snapshot, &*fold, &session, from)?))
                .await?;
        after = batch.next;
        cx.engine.rewrite(batch).await?;
    }
    Ok(())
}

/// Blobs that nothing names any more, copies of damaged journals, when the sessions were looked at, and
/// what a killed verification left behind. What a person should know comes back.
fn clear_files(cx: &Context, unerased: &[String]) -> Result<Vec<String>, Refusal> {
    cx.blobs.sweep_all(|blob| match cx.engine.published() {
        Some(published) => checkpoints::is_blob_named(&published.snapshot, blob),
        None => Ok(true),
    })?;
    if let Some(access) = cx.extensions.get::<LastAccess>() {
        unerased.iter().for_each(|session| access.forget(session));
        access.write(cx.engine.clock().now())?;
    }
    verify::remove_left_over(&cx.folder.scratch())?;
    let copies = recovery::remove_copies(&cx.folder.damaged()).map_err(|error| {
        let message = format!("copies of damaged journals were not removed: {error}");
        Refusal::new(Code::StorageUnavailable, message)
    })?;
    let told = "copies of damaged journals could have held some of it and were removed; their reports \
                are kept";
    Ok(if copies > 0 {
        vec![told.to_owned()]
    } else {
        Vec::new()
    })
}

fn of_daemon() -> Caller {
    Caller {
        actor: Arc::new(Actor {
            agent: "lored".to_owned(),
            ..Actor::default()
        }),
        ..Caller::default()
    }
}
