//! Serves the [mailboxes](lore::mailbox) through which commands call where a sandbox refuses sockets.
//!
//! A mailbox belongs to one host session. A client makes the folder, and the daemon serves it once it knows the session
//! from a hook or an MCP server, which run outside of the sandbox. Each request is sealed with the session's id, and acts
//! for that session in its folder, whatever it says.
//!
//! One watch wakes the task when a request or a mailbox arrives. An idle task does nothing.

mod answer;
mod binding;
mod open_mailboxes;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use lore::mailbox::store_folder;

use crate::capture::Capture;
use crate::error::{Code, Refusal};
use crate::operation::{Context, blocking};
use crate::watch::Wake;
use binding::Bindings;
use open_mailboxes::{OpenMailboxes, Request};

/// First delay before the next attempt after a failure, doubled up to the maximum.
const AGAIN_MIN: Duration = Duration::from_millis(10);
const AGAIN_MAX: Duration = Duration::from_secs(600);
/// Interval of looks where folders cannot be watched.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Interval of sweeps while there are mailboxes.
const SWEEP_EVERY: Duration = Duration::from_secs(3600);

/// Folders of all stores' mailboxes that this daemon may write into: made before it is confined.
#[derive(Clone, Debug, Default)]
pub struct MailRoots(pub Vec<PathBuf>);

/// Serves the mailboxes until the future is dropped.
pub async fn run(cx: Arc<Context>, roots: MailRoots) {
    let folders: Vec<_> = roots
        .0
        .iter()
        .map(|root| store_folder(root, &cx.folder.data))
        .collect();
    if folders.is_empty() {
        return;
    }
    let mut again = AGAIN_MIN;
    loop {
        let served = tokio::time::Instant::now();
        if let Err(refusal) = serve(&cx, &folders).await {
            tracing::debug!(%refusal, "the mailboxes are not served");
        }
        if served.elapsed() > AGAIN_MAX {
            again = AGAIN_MIN;
        }
        tokio::time::sleep(again).await;
        again = (again * 2).min(AGAIN_MAX);
    }
}

/// Serves the mailboxes until a failure.
async fn serve(cx: &Arc<Context>, folders: &[PathBuf]) -> Result<(), Refusal> {
    let wake = Arc::new(Wake::begin(LOOK_EVERY).map_err(unusable)?);
    let mut changes = Capture::of(cx)?.host_sessions.changes();
    let (folders, watch) = (folders.to_vec(), Arc::clone(&wake));
    let bindings = Bindings::in_data(&cx.folder.data);
    let opened = move || OpenMailboxes::open(&folders, bindings, watch).map_err(unusable);
    let mut mailboxes = blocking(opened).await?;
    let mut in_flight = FuturesUnordered::new();
    let mut sweep = std::pin::pin!(tokio::time::sleep(SWEEP_EVERY));
    let mut task = Task::Look;
    loop {
        let (now, requests) = work(cx, mailboxes, task).await?;
        mailboxes = now;
        for request in requests {
            in_flight.push(async {
                let key = (
                    request.bound.seal.mailbox().to_owned(),
                    request.name.clone(),
                );
                if let Err(refusal) = answer::answer(cx, request).await {
                    tracing::debug!(%refusal, "an answer was not left in its mailbox");
                }
                key
            });
        }
        task = loop {
            tokio::select! {
                woken = wake.woken() => {
                    woken.map_err(unusable)?;
                    break Task::Look;
                }
                Some((mailbox, name)) = in_flight.next() => {
                    if mailboxes.finish(&mailbox, name) {
                        break Task::Look;
                    }
                }
                Ok(()) = changes.changed(), if !mailboxes.is_empty() => break Task::End,
                () = &mut sweep, if !mailboxes.is_empty() => {
                    sweep.set(tokio::time::sleep(SWEEP_EVERY));
                    break Task::Sweep;
                }
            }
        };
    }
}

/// Work on files.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// Look for requests.
    Look,
    /// Host sessions are new, or have ended.
    End,
    /// Remove what is old.
    Sweep,
}

/// Works on files, off the event loop, and returns the requests that wait.
async fn work(
    cx: &Arc<Context>,
    mut mailboxes: OpenMailboxes,
    task: Task,
) -> Result<(OpenMailboxes, Vec<Request>), Refusal> {
    let cx = Arc::clone(cx);
    blocking(move || {
        let sessions = &Capture::of(&cx)?.host_sessions;
        match task {
            Task::Look => {}
            Task::End => mailboxes.end(&sessions.take_ended()),
            Task::Sweep => mailboxes.sweep(),
        }
        let requests = mailboxes.look(sessions).map_err(unusable)?;
        Ok((mailboxes, requests))
    })
    .await
}

fn unusable(error: io::Error) -> Refusal {
    Refusal::new(Code::StorageUnavailable, error.to_string())
}
