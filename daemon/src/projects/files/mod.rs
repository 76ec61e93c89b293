//! Synchronises the context files on disk with the log, in both directions.
//!
//! The log is authoritative. A follower writes each new version to its file once its event is committed, and only
//! over the expected content. If the file was edited meanwhile, the edit is recorded first, as a separate version
//! by the agent `file`. It is merged with the new version if they do not touch the same lines. So neither side is
//! lost.

mod edit;
mod last_synced;
mod sync;
mod sync_status;

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::disk::{DiskEntry, Folder, Name, OrphanTempFile};
use super::feature::ProjectState;
use super::view;
use super::watch::{Change, Projects};
use crate::error::Refusal;
use crate::log::{EventKind, Hash, Position};
use crate::operation::{Context, blocking};
use crate::rows::until;
use crate::state::State;
use crate::store::Error;
use crate::watch::{Times, WatchHandle};
use sync::{FileSync, SyncTrigger};

pub use edit::record_without;
pub use sync_status::SyncStatus;

/// Name in `status`.
pub const NAME: &str = "files";
/// Events read at a time.
const EVENTS_MAX: usize = 1000;
/// Limit on the files that are listed.
const FILES_MAX: usize = 100_000;
/// Delay before a retry after a failure.
const AGAIN: Duration = Duration::from_secs(2);

/// Follows the log and the folder until the future is dropped.
pub async fn run(cx: Arc<Context>) {
    loop {
        match follow(&cx).await {
            Ok(()) => return,
            Err(refusal) => {
                if let Ok(room) = ProjectState::of(&cx) {
                    room.sync_status.fail(refusal.to_string());
                }
                tracing::warn!(%refusal, "context files are not written or watched");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

/// Follows until a failure.
async fn follow(cx: &Arc<Context>) -> Result<(), Refusal> {
    let mut published = cx.engine.watch();
    let sync_status = &ProjectState::of(cx)?.sync_status;
    // A folder without context files is not watched, which saves the cost.
    let (mut done, files) = loop {
        published.borrow_and_update();
        let (position, files) = all(cx).await?;
        if !files.is_empty() || sync_status.root().is_dir() {
            break (position, files);
        }
        sync_status.reached(position);
        if published.changed().await.is_err() {
            return Ok(());
        }
    };
    let limit = ProjectState::of(cx)?.limits.content_bytes_max;
    let root = sync_status.root().to_path_buf();
    let folder = blocking(move || Folder::open(root, limit).map_err(no_files)).await?;
    let mut sync = FileSync::new(cx, folder);
    sync.take_up_leftovers().await?;
    let (sender, mut changes) = mpsc::unbounded_channel();
    let watch = Projects::new(sync_status.root()).and_then(|projects| {
        WatchHandle::start(projects, Times::default(), move |change| {
            // If the receiver is gone, everything is about to be checked again.
            let _ = sender.send(change);
        })
    });
    let watch = watch.map_err(|error| {
        Refusal::new(
            crate::error::Code::Internal,
            format!("no thread for watching context files: {error}"),
        )
    })?;
    for name in files.into_iter().chain(sync.names()?) {
        sync.one(&name, SyncTrigger::Start).await;
    }
    sync_status.reached(done);
    loop {
        sync_status.watched(watch.status());
        tokio::select! {
            changed = published.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
                let tail = published.borrow_and_update().as_ref().map(|state| state.tail.position);
                while tail.is_some_and(|tail| done < tail) {
                    let (to, files) = written(cx, done).await?;
                    for name in files {
                        sync.one(&name, SyncTrigger::Any).await;
                    }
                    done = to;
                    sync_status.reached(done);
                }
            }
            change = changes.recv() => match change {
                Some(Change::Written(name)) => sync.one(&name, SyncTrigger::Written).await,
                Some(Change::Removed(name)) => sync.one(&name, SyncTrigger::Removed).await,
                Some(Change::Rescan) => {
                    let (_, files) = all(cx).await?;
                    let there = sync.names()?;
                    let all: BTreeSet<Name> = files.into_iter().chain(there).collect();
                    for name in all {
                        sync.one(&name, SyncTrigger::Any).await;
                    }
                }
                None => return Err(Refusal::new(
                    crate::error::Code::Internal,
                    "the watch of context files ended",
                )),
            },
        }
    }
}

/// Removes the files of a forgotten project; the files of a known project stay.
///
/// # Errors
/// `STORAGE_UNAVAILABLE` if the folder cannot be removed.
pub fn remove_files(cx: &Context, project: &str) -> Result<(), Refusal> {
    let Some(published) = cx.engine.published() else {
        return Ok(());
    };
    // No other text may become part of a path.
    let is_name = Name::new(project, "a").is_ok();
    if !is_name || view::project(&published.snapshot, project)?.is_some() {
        return Ok(());
    }
    let root = ProjectState::of(cx)?.sync_status.root();
    let folder = root.join(project);
    let unless_gone = |done: std::io::Result<()>| match done {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        done => done,
    };
    let removed = std::fs::remove_dir_all(&folder);
    unless_gone(removed).map_err(Error::file("removing", &folder))?;
    // Also if the folder was already gone: a killed process may have removed it without a sync, and a power loss would
    // restore it.
    let synced = File::open(root).and_then(|root| root.sync_all());
    unless_gone(synced).map_err(Error::file("syncing", root))?;
    Ok(())
}

/// Lists every context file in the log, with the log position.
async fn all(cx: &Arc<Context>) -> Result<(Position, BTreeSet<Name>), Refusal> {
    let state = State::live(cx, None).await?;
    blocking(move || {
        let mut names = BTreeSet::new();
        for (project, _) in view::projects(&state)? {
            for (file_type, _) in view::files(&state, &project)? {
                names.extend(Name::new(&project, &file_type).ok());
            }
        }
        Ok((state.position(), names))
    })
    .await
}

/// Lists the context files that the next events wrote, with the position of the last event read.
async fn written(cx: &Arc<Context>, done: Position) -> Result<(Position, BTreeSet<Name>), Refusal> {
    let state = State::live(cx, None).await?;
    blocking(move || {
        let (mut to, mut names, mut looked_at) = (done, BTreeSet::new(), 0);
        state
            .log()
            .walk_whole(Position(done.0 + 1), &mut |event, _| {
                to = event.position();
                looked_at += 1;
                if event.header.kind == EventKind::ContextWritten
                    && let (Some(project), Some(file_type)) =
                        (&event.header.project, type_of(&event)?)
                {
                    names.extend(Name::new(project, &file_type).ok());
                }
                Ok(until(looked_at == EVENTS_MAX))
            })?;
        Ok((to, names))
    })
    .await
}

fn type_of(event: &crate::log::LoggedEvent) -> Result<Option<String>, Error> {
    Ok(match crate::events::projects::ProjectEvent::of(event)? {
        Some(crate::events::projects::ProjectEvent::Written(written)) => Some(written.file_type),
        Some(_) | None => None,
    })
}

/// Converts a failure of the context files' folder to a refusal.
fn no_files(error: super::disk::Error) -> Refusal {
    let refusal = Refusal::new(crate::error::Code::StorageUnavailable, error.to_string());
    refusal.hint("What was recorded is safe; the files are written once that is mended.")
}

impl FileSync {
    /// Lists the context files on disk.
    fn names(&self) -> Result<Vec<Name>, Refusal> {
        self.folder().names(FILES_MAX).map_err(no_files)
    }

    /// Records the files that a crash left, unless the log has their content: they may be manual edits.
    async fn take_up_leftovers(&mut self) -> Result<(), Refusal> {
        let leftovers: Vec<OrphanTempFile> = self.folder().leftovers().map_err(no_files)?;
        for orphan in leftovers {
            if let DiskEntry::Content(content) = &orphan.content {
                let hash = Hash::of(&content.bytes);
                self.record_unless_known(&orphan.name, content.bytes.clone(), hash)
                    .await?;
            }
            self.folder().discard(&orphan).map_err(no_files)?;
        }
        Ok(())
    }
}
