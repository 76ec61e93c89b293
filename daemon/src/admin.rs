//! `lored verify`, `rebuild` and `repair`: admin commands on a store that is not served.

pub mod backup;
pub mod doctor;
pub mod files;
pub mod import;
pub mod models;
pub mod redact;
pub mod settings;

use std::io::{self, IsTerminal};

use lore::connection::Connection;
use lore::paths::Paths;
use lore::protocol::log::VerifyLogReply;

use crate::clock::Clock;
use crate::config::Config;
use crate::engine::{DataFolder, Fold, OpenedStore, replay};
use crate::log_admin::verify::{Report, VerifyTarget};
use crate::projections::Projections;
use crate::service::{Lock, LockError};
use crate::store::watermark::{DurableHead, WatermarkFile};
use crate::store::{Blobs, recovery};

/// Whether the store is intact; or the reason why the command failed.
type Outcome = Result<bool, String>;

/// Number of positions between two progress lines.
const PROGRESS_EVERY: u64 = 10_000;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn folder(paths: &Paths) -> DataFolder {
    DataFolder {
        data: paths.data.clone(),
    }
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
    OpenedStore::open(&folder(paths), &Projections, &config.engine, &Clock::System).map_err(text)
}

/// Verifies the log through a running daemon, or by opening the store.
///
/// # Errors
/// A message, when nothing could be verified.
pub fn verify(config: &Config, paths: &Paths) -> Outcome {
    match lock_for("verify", paths) {
        Ok(_lock) => {
            let opened = open(config, paths)?;
            let blobs = Blobs::open(&folder(paths).blobs()).map_err(text)?;
            let head = WatermarkFile::peek(&folder(paths).watermark_path()).ok();
            let subject = VerifyTarget {
                rows: &opened.store,
                blobs: &blobs,
                fold: &Projections,
                tail: opened.tail.position,
                head,
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
            Ok(print(&report) && opened.damage.is_none())
        }
        Err(StartError::Served(_)) => ask_daemon(paths),
        Err(StartError::Never(why)) => Err(why),
    }
}

fn ask_daemon(paths: &Paths) -> Outcome {
    let mut connection = Connection::connect(&paths.socket, &Default::default()).map_err(text)?;
    let reply = connection
        .call("verify_log", &lore::protocol::Args::Json(b"{}".to_vec()))
        .map_err(text)?;
    let reply: VerifyLogReply = serde_json::from_slice(&reply.json).map_err(text)?;
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
    replay::catch_up(&opened.store, &Projections, config.engine.progress).map_err(text)?;
    opened.store.flush().map_err(text)?;
    opened.upgrade(&folder(paths));
    lore::outln!("views rebuilt from {} events", opened.tail.position);
    Ok(true)
}

/// Repairs a missing store whose head file exists: only an empty store remains to be served.
fn repair_vanished(paths: &Paths, accept_head: bool) -> Outcome {
    let _lock = Lock::take(&paths.daemon_lock()).map_err(text)?;
    let head = folder(paths).watermark_path();
    let recorded = WatermarkFile::peek(&head).map(|recorded| recorded.position);
    let store = folder(paths).store();
    match &recorded {
        Ok(position) => lore::outln!(
            "the store {} is gone; it held {position} events",
            store.display()
        ),
        Err(error) => lore::outln!("the store {} is gone, and {error}", store.display()),
    }
    if !accept_head {
        lore::outln!("Put it back, or run `lored repair --accept-head` to start again.");
        return Ok(false);
    }
    begin_followers_anew(&folder(paths))?;
    let aside = head.with_extension(match recorded {
        Ok(position) => format!("of-{position}-events"),
        Err(_) => "broken".to_owned(),
    });
    std::fs::rename(&head, &aside).map_err(text)?;
    lore::outln!(
        "accepted: the next start continues from this log; the old head is kept as {}",
        aside.display()
    );
    Ok(true)
}

/// Deletes data derived from the log in separate files, because other events will get the lost positions.
fn begin_followers_anew(folder: &DataFolder) -> Result<(), String> {
    let removed = [
        std::fs::remove_dir_all(folder.index()),
        std::fs::remove_file(folder.followed()),
    ];
    let is_failure = |error: &std::io::Error| error.kind() != std::io::ErrorKind::NotFound;
    match removed.into_iter().filter_map(Result::err).find(is_failure) {
        Some(error) => Err(format!("what follows the log was not removed: {error}")),
        None => Ok(()),
    }
}

/// Shows the damage and, with `accept_head`, accepts it.
///
/// # Errors
/// A message, when a daemon is running or the store cannot be opened.
pub fn repair(config: &Config, paths: &Paths, accept_head: bool) -> Outcome {
    if !folder(paths).store().exists() && folder(paths).watermark_path().exists() {
        return repair_vanished(paths, accept_head);
    }
    let _lock = lock_for("repair", paths)?;
    let opened = open(config, paths)?;
    let Some(damage) = &opened.damage else {
        lore::outln!(
            "nothing is damaged: {} events, the last one acknowledged",
            opened.tail.position
        );
        return Ok(true);
    };
    lore::outln!("{damage}");
    if !accept_head {
        lore::outln!(
            "The log is whole up to position {}. To go on from there, run `lored repair \
             --accept-head`; copies of damaged journals stay in {}.",
            opened.tail.position,
            folder(paths).damaged().display()
        );
        return Ok(false);
    }
    begin_followers_anew(&folder(paths))?;
    recovery::accept(&folder(paths).damaged()).map_err(text)?;
    let head = DurableHead {
        position: opened.tail.position.0,
        link: opened.tail.link.0,
    };
    WatermarkFile::create(&folder(paths).watermark_path(), opened.store.id().0, head)
        .map_err(text)?;
    lore::outln!(
        "accepted: the log continues after position {}",
        opened.tail.position
    );
    Ok(true)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Derived data is deleted; its absence is not an error.
    #[test]
    fn followers_begin_anew() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder {
            data: dir.path().to_path_buf(),
        };
        begin_followers_anew(&folder).unwrap();
        std::fs::create_dir_all(folder.index().join("text")).unwrap();
        std::fs::write(folder.followed(), "7").unwrap();
        begin_followers_anew(&folder).unwrap();
        assert!(!folder.index().exists() && !folder.followed().exists());
        std::fs::write(folder.index(), "no folder").unwrap();
        assert!(begin_followers_anew(&folder).is_err());
    }
}
