//! `lored serve`: runs the daemon with its threads, and communicates with the service manager.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lore::paths::{FileSystem, Paths};
use lore::protocol::Position;
use tokio_util::sync::CancellationToken;

use super::{GOOD, NOT_STARTED, USAGE, fail};
use crate::admin::doctor;
use crate::config::Config;
use crate::daemon::{CLOSE_MAX, Daemon, Error};
use crate::operation::Context;
use crate::privileged_init::PrivilegedInit;
use crate::reload::{Reload, ReloadableSettings};
use crate::service;
use crate::service::manager::{self, ManagerMessage};

/// Worker threads of the event loop: connections are cheap, and the writer has a separate thread.
const WORKERS: usize = 2;
/// Threads for blocking work; further calls wait. Each thread retains allocated memory, so hundreds cost more than
/// they speed up.
const BLOCKING_THREADS: usize = 64;
/// Idle time after which a blocking thread ends.
const IDLE_THREAD: Duration = Duration::from_secs(1);

/// Minimum time for threads to end, however little of the shutdown timeout is left.
const CLOSE_MIN: Duration = Duration::from_millis(100);

/// Extension of the start timeout, requested with each progress report.
const START_MORE: Duration = Duration::from_secs(60);
const START_TELL_EVERY: Duration = Duration::from_secs(20);
const MAINTENANCE_LOOK_EVERY: Duration = Duration::from_millis(50);

/// Asks the system for small pages. The allocator asks for huge ones, of which a daemon that mostly rests fills a part:
/// an import takes a third less memory, and as much processor time.
fn take_small_pages() {
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_thp_disable(true) {
        tracing::debug!(%error, "the system may use huge pages");
    }
}

/// Serves until a stop is requested.
pub(super) fn serve(
    config: &Config,
    paths: &Paths,
    is_system: bool,
    reload: impl FnOnce(ReloadableSettings) -> Reload,
) -> ExitCode {
    take_small_pages();
    // Invalid settings are an error that a restart does not solve.
    if is_system && config.http.listen.is_some() {
        return fail(&Error::HttpForAll.to_string(), USAGE);
    }
    let mut prepared = match PrivilegedInit::to_serve(config, paths, is_system) {
        Ok(prepared) => prepared,
        Err(error) => return fail(&error.to_string(), NOT_STARTED),
    };
    if !is_system {
        prepared.health_checks = Some(doctor::health_checks(paths));
    }
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
    config.engine.in_memory = FileSystem::of(&paths.data) == FileSystem::Memory;
    let config = &config;
    let drain = Duration::from_millis(config.limits.shutdown_timeout_ms);
    let (mut lock, mut stopped) = (None, None);
    let result = runtime.block_on(async {
        let signals = service::listen().map_err(|error| error.to_string())?;
        if manager::find().is_service_manager() {
            maintenance_ended(paths, &signals.stop).await;
        }
        if signals.stop.is_cancelled() {
            return Ok(());
        }
        let daemon = match is_system {
            true => Daemon::open_system_wide(config, paths, prepared),
            false => Daemon::open_prepared(config, paths, prepared),
        };
        let daemon = daemon.map_err(|error| error.to_string())?;
        lock = Some(daemon.lock());
        tracing::info!(
            socket = %paths.socket.display(),
            data = %paths.data.display(),
            position = %daemon.context().map_or(Position(0), |context| context.engine.position()),
            "serving"
        );
        let reloading = reload(daemon.lives().clone()).run(signals.reload);
        let reloading = tokio::spawn(reloading);
        let managed = tokio::spawn(be_managed(daemon.context().cloned(), signals.stop.clone()));
        let ended = daemon.run(signals.stop).await;
        reloading.abort();
        // The daemon ends only after a stop request, so this task has only one report left to send.
        let reported = managed.await;
        stopped = reported
            .inspect_err(|error| tracing::debug!(%error, "the service manager was not notified"))
            .ok();
        ended.map_err(|error: Error| error.to_string())
    });
    // Abandoned work may still read or write, even beyond the shutdown timeout: the end of the process ends it like a
    // kill. Only that releases the lock, so no other daemon opens the store at the same time.
    let stop_max = drain + CLOSE_MAX;
    let left = stopped.map_or(stop_max, |stopped| {
        stop_max.saturating_sub(stopped.elapsed())
    });
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

/// Waits for an admin command that works on the store, for example a backup. Otherwise a service manager would
/// restart a daemon that fails at once, and stop trying after a few times.
async fn maintenance_ended(paths: &Paths, stop: &CancellationToken) {
    let mut reported: Option<Instant> = None;
    while let Ok(Some(holder)) = lore::manager::holder(&paths.daemon_lock())
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

/// Reports to the service manager that the start takes longer, while views are folded.
fn report_folding(at: Position, to: Position) {
    tracing::info!(%at, %to, "folding views");
    report(ManagerMessage::Longer(START_MORE));
}

/// Reports readiness to the service manager, then liveness at its interval as long as the writer responds, and
/// finally stopping. Returns when stopping began.
async fn be_managed(context: Option<Arc<Context>>, stop: CancellationToken) -> Instant {
    report(ManagerMessage::Ready("serving"));
    let alive = async {
        let Some(every) = manager::watchdog() else {
            return std::future::pending().await;
        };
        loop {
            let is_alive = match &context {
                Some(context) => context.engine.is_alive().await,
                // An unresponsive tenant belongs to one user; the others are served.
                None => true,
            };
            if is_alive {
                report(ManagerMessage::Alive);
            }
            // Twice as often as required, so that one late report does not end the daemon.
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
        tracing::warn!(%error, "the service manager was not notified");
    }
}
