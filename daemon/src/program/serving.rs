//! `lored serve`: the daemon with its threads, told to and by the service manager.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lore::paths::Paths;
use lore::protocol::Position;
use tokio_util::sync::CancellationToken;

use super::{GOOD, NOT_STARTED, USAGE, fail};
use crate::config::Config;
use crate::daemon::{Daemon, Error};
use crate::operation::Context;
use crate::privileged_init::PrivilegedInit;
use crate::reload::{Reload, ReloadableSettings};
use crate::service;
use crate::service::manager::{self, ManagerMessage};

/// Worker threads of the event loop: connections are cheap, the writer has a thread of its own.
const WORKERS: usize = 2;
/// Threads that carry out what takes long; further calls wait. Each keeps memory of its own for what it makes,
/// so that hundreds cost more than they are quicker.
const BLOCKING_THREADS: usize = 64;
/// A thread that carried out a call and has had no other one for so long ends.
const IDLE_THREAD: Duration = Duration::from_secs(1);

/// The store may take at least so long to be closed, however little of the time to stop in is left.
const CLOSE_MIN: Duration = Duration::from_secs(1);

/// How much longer a start may take once more, each time that it tells how far it is.
const START_MORE: Duration = Duration::from_secs(60);
const START_TELL_EVERY: Duration = Duration::from_secs(20);
const MAINTENANCE_LOOK_EVERY: Duration = Duration::from_millis(50);

/// Serves until told to stop.
pub(super) fn serve(
    config: &Config,
    places: &Paths,
    is_system: bool,
    reload: impl FnOnce(ReloadableSettings) -> Reload,
) -> ExitCode {
    // Settings that cannot be served are no fault that goes away by itself.
    if is_system && config.http.listen.is_some() {
        return fail(&Error::HttpForAll.to_string(), USAGE);
    }
    let prepared = match PrivilegedInit::to_serve(config, places, is_system) {
        Ok(prepared) => prepared,
        Err(error) => return fail(&error.to_string(), NOT_STARTED),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("doors")
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_keep_alive(IDLE_THREAD)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("no threads to serve with: {error}"), NOT_STARTED),
    };
    let mut config = config.clone();
    config.engine.progress = report_folding;
    let config = &config;
    let drain = Duration::from_millis(config.limits.shutdown_timeout_ms);
    let (mut lock, mut stopped) = (None, None);
    let result = runtime.block_on(async {
        let signals = service::listen().map_err(|error| error.to_string())?;
        if manager::find().is_service_manager() {
            maintenance_ended(places, &signals.stop).await;
        }
        if signals.stop.is_cancelled() {
            return Ok(());
        }
        let daemon = match is_system {
            true => Daemon::open_system_wide(config, places, prepared),
            false => Daemon::open_prepared(config, places, prepared),
        };
        let daemon = daemon.map_err(|error| error.to_string())?;
        lock = Some(daemon.lock());
        tracing::info!(
            socket = %places.socket.display(),
            data = %places.data.display(),
            position = %daemon.context().map_or(Position(0), |context| context.engine.position()),
            "serving"
        );
        let reloading = reload(daemon.lives().clone()).run(signals.reload);
        let reloading = tokio::spawn(reloading);
        let managed = tokio::spawn(be_managed(daemon.context().cloned(), signals.stop.clone()));
        let ended = daemon.run(signals.stop).await;
        reloading.abort();
        // The daemon ends only once it was told to stop, and then this has one thing left to tell.
        let reported = managed.await;
        stopped = reported
            .inspect_err(|error| tracing::debug!(%error, "the service manager was not told"))
            .ok();
        ended.map_err(|error: Error| error.to_string())
    });
    // Work that nobody waits for may still be read or written for, also for longer than a stop may take: the end of the
    // process ends it as a kill would. Only that gives the lock back, so no other daemon has the store open beside it.
    let left = stopped.map_or(drain, |stopped| drain.saturating_sub(stopped.elapsed()));
    runtime.shutdown_timeout(left.max(CLOSE_MIN));
    std::mem::forget(lock);
    match result {
        Ok(()) => {
            tracing::info!("stopped");
            GOOD.into()
        }
        Err(message) => fail(&message, NOT_STARTED),
    }
}

/// Waits for whoever works on the store, a backup of one that was at rest, say. A service manager would start a daemon
/// that gave up again at once, and after a few times not any more.
async fn maintenance_ended(places: &Paths, stop: &CancellationToken) {
    let mut reported: Option<Instant> = None;
    while let Ok(Some(holder)) = lore::manager::holder(&places.daemon_lock())
        && holder.is_maintenance
        && !stop.is_cancelled()
    {
        if reported.is_none() {
            tracing::info!(process = ?holder.pid, "waiting for who works on the store");
        }
        if reported.is_none_or(|reported| reported.elapsed() >= START_TELL_EVERY) {
            report(ManagerMessage::Longer(START_MORE));
            reported = Some(Instant::now());
        }
        tokio::time::sleep(MAINTENANCE_LOOK_EVERY).await;
    }
}

/// Tells the service manager that a start takes its time, while views are folded.
fn report_folding(at: Position, to: Position) {
    tracing::info!(%at, %to, "folding views");
    report(ManagerMessage::Longer(START_MORE));
}

/// Tells the service manager that calls are answered, then, as often as it wants to hear it and as long as
/// the writer answers, that the daemon is alive; and that it is stopping, once it is: since when.
async fn be_managed(context: Option<Arc<Context>>, stop: CancellationToken) -> Instant {
    report(ManagerMessage::Ready("serving"));
    let alive = async {
        let Some(every) = manager::watchdog() else {
            return std::future::pending().await;
        };
        loop {
            let is_alive = match &context {
                Some(context) => context.engine.is_alive().await,
                // One that does not answer is one user's; the others are served.
                None => true,
            };
            if is_alive {
                report(ManagerMessage::Alive);
            }
            // Twice as often as is wanted, so that one that is late does not end the daemon.
            tokio::time::sleep(every / 2).await;
        }
    };
    tokio::select! {
        () = alive => {}
        () = stop.cancelled() => {}
    }
    let since = Instant::now();
    report(ManagerMessage::Stopping);
    since
}

fn report(news: ManagerMessage<'_>) {
    if let Err(error) = manager::notify(news) {
        tracing::warn!(%error, "the service manager was not told");
    }
}
