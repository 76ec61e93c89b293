//! Takes up the payloads that hooks left in the [spool](lore::spool): at the start, and as they arrive.
//!
//! One file at a time, in the order of their arrival, as calls of the operation that hooks call. A file is removed when
//! its events are acknowledged. If the daemon ends before, the next start calls again: the keys of observations make that
//! harmless. A file that cannot be read or is refused for good is moved aside; while the store refuses all writes,
//! everything waits.

mod delivery;
mod scope;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lore::spool::{Entry, Spool, SpoolError};
use tokio::sync::mpsc;

use crate::capture::Capture;
use crate::error::{Code, Refusal};
use crate::operation::{Context, blocking};
use crate::watch::{Change, Times, Wake, WatchHandle};
use scope::SpooledFiles;

/// Delay before the next attempt after the daemon refused for now.
const AGAIN: Duration = Duration::from_secs(2);
/// Least time between two looks for a folder that does not exist, while no hook has called. At rest there are none.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Age at which a file that is still being written is given up: a hook ends after 5 s.
const DRAFT_AGE_MAX: Duration = Duration::from_secs(60);
/// Files are renamed when they are complete, so there is little to wait for.
const TIMES: Times = Times {
    quiet: Duration::from_millis(5),
    longest: Duration::from_millis(500),
    poll: Duration::from_secs(30),
};

/// Follows the spool until the future is dropped.
pub async fn run(cx: Arc<Context>) {
    let spool = Spool::in_data(&cx.folder.data);
    // Most stores of a daemon for all users have none: a watch for each would be wasted. A hook that reached the daemon
    // shows that others may not.
    while !spool.folder().is_dir() {
        tokio::select! {
            () = first_hook(&cx) => prepare(&spool).await,
            () = appears(spool.folder(), &cx.folder.data) => {}
        }
    }
    loop {
        if let Err(refusal) = follow(&cx, &spool).await {
            tracing::warn!(%refusal, "payloads of hooks wait in the spool");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Waits for the first call of a hook.
async fn first_hook(cx: &Context) {
    match Capture::of(cx) {
        Ok(capture) => capture.first_hook().await,
        Err(_) => std::future::pending().await,
    }
}

/// Waits until the folder may have been made in a store's folder. The store makes files of its own there, so it looks
/// again after a while.
async fn appears(folder: &Path, data: &Path) {
    let watch = || {
        let wake = Wake::begin(LOOK_EVERY)?;
        wake.add_for_new(data)?;
        std::io::Result::Ok(wake)
    };
    match watch() {
        // It may have been made before the watch began.
        Ok(_) if folder.is_dir() => return,
        Ok(wake) => {
            if let Err(error) = wake.woken().await {
                tracing::debug!(%error, "the folder of the spool is not watched");
            }
        }
        Err(error) => tracing::debug!(%error, "the folder of the spool is not watched"),
    }
    if !folder.is_dir() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Makes the folder, so that it can be watched.
async fn prepare(spool: &Spool) {
    let made = spool.clone();
    let made = blocking(move || made.prepare().map_err(unusable)).await;
    if let Err(refusal) = made {
        tracing::warn!(%refusal, "the folder of the spool was not made");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Takes up what waits, and what comes, until a failure.
async fn follow(cx: &Arc<Context>, spool: &Spool) -> Result<(), Refusal> {
    let counted = spool.clone();
    blocking(move || counted.recount(DRAFT_AGE_MAX).map_err(unusable)).await?;
    let (sender, mut changes) = mpsc::unbounded_channel();
    let scope = SpooledFiles::in_folder(spool.folder()).map_err(unwatched)?;
    let _watch = WatchHandle::start(scope, TIMES, move |change| {
        // Our own removals are no news. If the receiver is gone, everything is listed again.
        if !matches!(change, Change::Removed(_)) {
            let _ = sender.send(());
        }
    })
    .map_err(unwatched)?;
    loop {
        let deliver = |entry| delivery::deliver(cx, entry);
        while take_up(spool, deliver).await? > 0 {}
        if changes.recv().await.is_none() {
            return Err(unwatched("the watch ended"));
        }
        while changes.try_recv().is_ok() {}
    }
}

/// Delivers all waiting files once, and returns their number.
///
/// # Errors
/// When nothing can be delivered now. The files that were not delivered stay.
async fn take_up<F>(spool: &Spool, deliver: impl Fn(Entry) -> F) -> Result<usize, Refusal>
where
    F: Future<Output = Result<(), Refusal>>,
{
    let listed = spool.clone();
    let names = blocking(move || listed.waiting().map_err(unusable)).await?;
    for name in &names {
        let (one, file) = (spool.clone(), name.clone());
        let read = blocking(move || Ok(one.read(&file))).await?;
        let is_done = match read {
            Ok(entry) => match deliver(entry).await {
                Ok(()) => true,
                Err(refusal) if waits(refusal.code) => return Err(refusal),
                Err(refusal) => {
                    tracing::warn!(file = name, %refusal, "a payload of a hook was refused");
                    false
                }
            },
            Err(SpoolError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                continue;
            }
            Err(error) => {
                tracing::warn!(%error, "a file of the spool cannot be read");
                false
            }
        };
        let (one, file) = (spool.clone(), name.clone());
        let done = move || match is_done {
            true => one.remove(&file).map_err(unusable),
            false => one.reject(&file).map_err(unusable),
        };
        blocking(done).await?;
    }
    Ok(names.len())
}

/// Returns whether a refusal is about the daemon rather than about the payload.
const fn waits(code: Code) -> bool {
    code.retryable()
        || matches!(
            code,
            Code::UnknownOperation | Code::StorageQuotaExceeded | Code::Corrupt | Code::Forbidden
        )
}

fn unusable(error: SpoolError) -> Refusal {
    Refusal::new(Code::StorageUnavailable, error.to_string())
}

fn unwatched(error: impl std::fmt::Display) -> Refusal {
    Refusal::new(Code::Internal, format!("the spool is not watched: {error}"))
}
