//! `lored verify`, `rebuild`, `seal` and `repair`: admin commands on a store that is not served.

pub mod backup;
pub mod doctor;
pub mod files;
pub mod import;
pub mod models;
pub mod redact;
pub mod repair;
pub mod settings;

use std::io::{self, IsTerminal};

use lore::connection::Connection;
use lore::paths::Paths;
use lore::protocol::log::{VerifyLogArgs, VerifyLogReply};
use lore::protocol::status::StatusReply;

use crate::clock::Clock;
use crate::config::Config;
use crate::engine::{DataFolder, Fold, OpenError, OpenedStore, replay, seal_key};
use crate::log_admin::origin;
use crate::log_admin::verify::{Report, VerifyTarget, own_seal};
use crate::projections::Projections;
use crate::service::{Lock, LockError};
use crate::store::seal::{Seal, SealFile};
use crate::store::watermark::WatermarkFile;
use crate::store::{Blobs, Store};

/// Whether the store is intact; or the reason why the command failed.
type Outcome = Result<bool, String>;

/// Number of positions between two progress lines.
const PROGRESS_EVERY: u64 = 10_000;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn folder(paths: &Paths) -> DataFolder {
    DataFolder::new(&paths.data, paths.seals())
}

/// Reason why a command that needs exclusive access did not start.
enum StartError {
    /// A daemon serves the store; contains the remedy.
    Served(String),
    /// There is no store, or its lock is not usable.
    Never(String),
}

impl From<StartError> for String {
    fn from(why: StartError) -> Self {
        match why {
            StartError::Served(why) | StartError::Never(why) => why,
        }
    }
}

/// Takes the lock for a command that needs exclusive access.
fn lock_for(work: &str, paths: &Paths) -> Result<Lock, StartError> {
    let store = folder(paths).store();
    if let Err(error) = store.symlink_metadata() {
        let data = paths.data.display();
        return Err(StartError::Never(match error.kind() {
            io::ErrorKind::NotFound => format!("no store found in {data}"),
            _ => format!("the store in {data}: {error}"),
        }));
    }
    Lock::take(&paths.daemon_lock()).map_err(|error| match error {
        LockError::Held { .. } => StartError::Served(format!(
            "{error}; stop it first, then run `lored {work}` again"
        )),
        LockError::File { .. } => StartError::Never(error.to_string()),
    })
}

fn open(config: &Config, paths: &Paths) -> Result<OpenedStore, String> {
    opened_store(config, &folder(paths)).map_err(text)
}

fn opened_store(config: &Config, folder: &DataFolder) -> Result<OpenedStore, OpenError> {
    OpenedStore::open(folder, &Projections, &config.engine, &Clock::System)
}

/// Prints the newest seal of the store, for safe-keeping elsewhere. A daemon may be running.
///
/// # Errors
/// A message, when the store, its seal or the key of the seals is missing.
pub fn seal(paths: &Paths) -> Outcome {
    let data = folder(paths);
    let store = Store::identify(&data.store()).map_err(text)?;
    let key = seal_key(&data, &Clock::System).map_err(text)?;
    let file = SealFile::open(&data.seals, &key, store).map_err(text)?;
    lore::outln!("{}", file.end().seal(&key, store));
    Ok(true)
}

/// Verifies the log through a running daemon, or by opening the store; with a seal, also that nothing before it has
/// changed.
///
/// # Errors
/// A message, when nothing could be verified.
pub fn verify(config: &Config, paths: &Paths, since: Option<Seal>) -> Outcome {
    match lock_for("verify", paths) {
        Ok(_lock) => {
            if let Some(seal) = &since {
                let store = Store::identify(&folder(paths).store()).map_err(text)?;
                own_seal(&folder(paths), store, seal)?;
            }
            let opened = open(config, paths)?;
            let blobs = Blobs::open(&folder(paths).blobs()).map_err(text)?;
            let head = WatermarkFile::peek(&folder(paths).watermark_path()).ok();
            let subject = VerifyTarget {
                rows: &opened.store,
                blobs: &blobs,
                fold: &Projections,
                tail: opened.tail.position,
                head,
                since,
                is_there: &|_| Ok(true),
                is_forgotten: &|header| Projections.is_forgotten(&opened.store, header),
                scratch: &folder(paths).scratch(),
            };
            let shows = std::io::stderr().is_terminal();
            let report = subject
                .verify((None, None), &mut |position| {
                    if shows && position.0.is_multiple_of(PROGRESS_EVERY) {
                        lore::err!("\rverified {position} of {}", opened.tail.position);
                    }
                })
                .map_err(text)?;
            if shows {
                lore::errln!("");
            }
            if let Some(damage) = &opened.damage {
                lore::outln!("damage: {damage}");
            }
            if let Some(how) = opened.seal.end().and_then(origin) {
                lore::outln!("{how}");
            }
            Ok(print(&report) && opened.damage.is_none())
        }
        Err(StartError::Served(_)) => ask_daemon(paths, since),
        Err(StartError::Never(why)) => Err(why),
    }
}

fn ask_daemon(paths: &Paths, since: Option<Seal>) -> Outcome {
    let mut connection = Connection::connect(&paths.socket, &Default::default()).map_err(text)?;
    let args = VerifyLogArgs {
        since: since.map(|seal| seal.to_string()),
        ..VerifyLogArgs::default()
    };
    let args = serde_json::to_vec(&args).map_err(text)?;
    let reply = connection
        .call("verify_log", &lore::protocol::Args::Json(args))
        .map_err(text)?;
    let reply: VerifyLogReply = serde_json::from_slice(&reply.json).map_err(text)?;
    let status = connection
        .call("status", &lore::protocol::Args::Json(b"{}".to_vec()))
        .map_err(text)?;
    let status: StatusReply = serde_json::from_slice(&status.json).map_err(text)?;
    if let Some(how) = &status.origin {
        lore::outln!("{how}");
    }
    Ok(print(&Report {
        events: reply.events,
        forgotten: reply.forgotten,
        sessions_forgotten: reply.sessions_forgotten,
        events_forgotten: reply.events_forgotten,
        findings: reply.findings,
    }))
}

fn print(report: &Report) -> bool {
    for finding in &report.findings {
        match finding.position {
            Some(position) => lore::outln!("{} at {position}: {}", finding.kind, finding.message),
            None => lore::outln!("{}: {}", finding.kind, finding.message),
        }
    }
    let still = |is_erased| match is_erased {
        true => "",
        false => "; some of it is still on disk until a daemon continues erasing",
    };
    for of in &report.sessions_forgotten {
        let still = still(of.is_erased);
        let (session, time, position) = (&of.session, &of.time, of.position);
        lore::outln!("the session `{session}` was forgotten on {time}, at {position}{still}");
    }
    for of in &report.events_forgotten {
        let (events, first, last) = (of.events, of.first, of.last);
        let whose = match (&of.session, &of.project) {
            (Some(session), _) => format!("of the session `{session}`"),
            (None, Some(project)) => format!("of the project or source `{project}`"),
            (None, None) => "of no session and no project".to_owned(),
        };
        let (time, position, still) = (&of.time, of.position, still(of.is_erased));
        lore::outln!(
            "{events} events {whose}, from {first} to {last}, were forgotten on {time}, at \
             {position}{still}"
        );
    }
    let forgotten = match report.forgotten {
        0 => String::new(),
        count => format!(", {count} of them forgotten on purpose"),
    };
    let recovery_report = if report.findings.is_empty() {
        "all is well"
    } else {
        "not all is well"
    };
    lore::outln!(
        "{} events verified{forgotten}: {recovery_report}",
        report.events
    );
    report.findings.is_empty()
}

/// Rebuilds every view.
///
/// # Errors
/// A message, when a daemon is running or the store cannot be opened.
pub fn rebuild(config: &Config, paths: &Paths) -> Outcome {
    let _lock = lock_for("rebuild", paths)?;
    let opened = open(config, paths)?;
    replay::clear(&opened.store, &Projections).map_err(text)?;
    let skipped =
        replay::catch_up(&opened.store, &Projections, config.engine.progress).map_err(text)?;
    if let Some(lost) = skipped.describe() {
        lore::outln!("{lost}");
        return Ok(false);
    }
    opened.store.flush().map_err(text)?;
    opened.upgrade(&folder(paths));
    lore::outln!("views rebuilt from {} events", opened.tail.position);
    Ok(true)
}
