//! Verifies a log: its chain, payloads, blobs, objects and recorded head, and that every view equals a
//! replay of the log.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use lore::protocol::log::{Finding, ForgottenEvents, ForgottenSession};
use lore::protocol::{Position, SessionId};

use crate::checkpoints::{self, ObjectFault};
use crate::clock::{Clock, format_time};
use crate::engine::{DataFolder, Fold, Settings, replay, seal_key};
use crate::error::{Code, Refusal};
use crate::events;
use crate::log::{Hash, Header, Log, LoggedEvent, StreamName, forgotten};
use crate::sessions;
use crate::store::seal::Seal;
use crate::store::watermark::DurableHead;
use crate::store::{Blobs, Direction, Error, Keyspace, Rows, Store, StoreId};

/// Maximum number of reported findings; the rest is counted. The same holds for forgotten sessions.
const FINDINGS_MAX: usize = 100;
/// Prefix of a replay's folder name, before the process id and a number.
const VERIFY: &str = "verify-";

/// The data to verify.
pub struct VerifyTarget<'s> {
    /// A snapshot of all rows.
    pub rows: &'s dyn Rows,
    /// The blob store.
    pub blobs: &'s Blobs,
    /// The fold that the views should match.
    pub fold: &'s dyn Fold,
    /// The end of the log.
    pub tail: Position,
    /// Content of the head file, when nothing writes it.
    pub head: Option<DurableHead>,
    /// A seal of this store, before which nothing may have changed.
    pub since: Option<Seal>,
    /// Whether an object of these rows, or a use of it, still exists.
    pub is_there: &'s dyn Fn(&Hash) -> Result<bool, Error>,
    /// Whether an event's data is forgotten by now.
    pub is_forgotten: &'s dyn Fn(&Header) -> Result<bool, Error>,
    /// Folder for a temporary replay.
    pub scratch: &'s Path,
}

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of events read.
    pub events: u64,
    /// Number of those that were forgotten on purpose.
    pub forgotten: u64,
    /// The sessions that they were in.
    pub sessions_forgotten: Vec<ForgottenSession>,
    /// Ranges of forgotten events in other streams, which continue.
    pub events_forgotten: Vec<ForgottenEvents>,
    /// Damage; empty when the log is intact.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Adds a finding, within the limit.
    pub(super) fn find(
        &mut self,
        position: Option<Position>,
        kind: &str,
        message: impl Into<String>,
    ) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding {
                position,
                kind: kind.to_owned(),
                message: message.into(),
            });
        }
    }
}

impl VerifyTarget<'_> {
    /// Verifies the events in a range. For the whole range, also verifies the head, the objects and the views.
    /// `progress` is called with each position.
    ///
    /// # Errors
    /// When the verification itself cannot continue; damage is a finding, not an error.
    pub fn verify(
        &self,
        range: (Option<Position>, Option<Position>),
        progress: &mut dyn FnMut(Position),
    ) -> Result<Report, Refusal> {
        let from = Position(range.0.map_or(1, |from| from.0.max(1)));
        let to = range.1.unwrap_or(self.tail).min(self.tail);
        let mut report = Report::default();
        self.walk(from, to, &mut report, progress)?;
        let is_whole = from == Position(1) && to == self.tail;
        if is_whole && report.findings.is_empty() {
            self.compare_views(&mut report)?;
        }
        if is_whole {
            self.check_objects(&mut report);
        }
        report.sessions_forgotten = forgotten_sessions(self.rows)?;
        report.events_forgotten = forgotten_events(self.rows)?;
        Ok(report)
    }

    fn check_objects(&self, report: &mut Report) {
        let mut note = |fault: ObjectFault| {
            if (self.is_there)(&fault.object)? {
                report.find(None, "object", fault.what);
            }
            Ok(())
        };
        if let Err(error) = checkpoints::check_objects(self.rows, self.blobs, &mut note) {
            report.find(None, "object", error.to_string());
        }
    }

    fn walk(
        &self,
        from: Position,
        to: Position,
        report: &mut Report,
        progress: &mut dyn FnMut(Position),
    ) -> Result<(), Refusal> {
        let log = Log::new(self.rows);
        // `None` after damage: the link of the next event cannot be checked then.
        let mut previous = match from.0 {
            1 => Some(Hash::default()),
            _ => match log.at(Position(from.0 - 1)) {
                Ok(Some(event)) => Some(event.link),
                Ok(None) => return Ok(()),
                Err(_) => None,
            },
        };
        let mut expected = from;
        let walked = log.walk_all(from, &mut |at, event, _| {
            if at > to {
                return Ok(ControlFlow::Break(()));
            }
            if at > expected {
                let message = format!("the positions {expected} to {} are missing", at.0 - 1);
                report.find(Some(expected), "missing", message);
                previous = None;
            }
            expected = Position(at.0 + 1);
            report.events += 1;
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    report.find(Some(at), "record", error.to_string());
                    previous = None;
                    return Ok(ControlFlow::Continue(()));
                }
            };
            if let Some(previous) = &previous
                && let Err(error) = event.check(previous, at)
            {
                report.find(Some(at), "chain", error.to_string());
            }
            // A forgotten payload may still be in a record; its blobs are removed first.
            let is_forgotten = (self.is_forgotten)(&event.header)?;
            match event.payload {
                None if !is_forgotten => {
                    let message = "the content is gone, though nothing has forgotten it";
                    report.find(Some(at), "payload", message);
                }
                Some(_) if !is_forgotten => self.check_blobs(&event, report),
                Some(_) | None => {}
            }
            for (name, position, link) in self.ends() {
                if position == at.0 && link != event.link.0 {
                    let message = format!("the {name} names another event here");
                    report.find(Some(at), name, message);
                }
            }
            report.forgotten += u64::from(is_forgotten);
            previous = Some(event.link);
            progress(at);
            Ok(ControlFlow::Continue(()))
        });
        if let Err(error) = walked {
            report.find(Some(expected), "record", error.to_string());
        } else if expected.0 != to.0 + 1 && from <= to {
            let missing = format!("the log ends before position {}", to.0);
            report.find(Some(expected), "missing", missing);
        }
        for (name, position, _) in self.ends() {
            if position > self.tail.0 {
                let message = format!(
                    "positions {} to {position} were acknowledged and are missing",
                    self.tail.0 + 1,
                );
                report.find(Some(Position(position)), name, message);
            }
        }
        Ok(())
    }

    /// Returns the ends that the log is known to have had: name, position and link.
    fn ends(&self) -> impl Iterator<Item = (&'static str, u64, [u8; 32])> {
        let head = self.head.map(|head| ("head", head.position, head.link));
        let seal = self.since.map(|seal| ("seal", seal.position, seal.link));
        head.into_iter().chain(seal)
    }

    fn check_blobs(&self, event: &LoggedEvent, report: &mut Report) {
        let damaged = events::blobs_of(event).and_then(|named| {
            named
                .iter()
                .try_for_each(|blob| self.blobs.get(blob).map(drop))
        });
        // It may have been forgotten after the check above.
        if let Err(error) = damaged
            && !(self.is_forgotten)(&event.header).unwrap_or(false)
        {
            report.find(Some(event.position()), "blob", error.to_string());
        }
    }

    /// Replays the whole log into a temporary store, so that memory stays bounded, and compares each row.
    fn compare_views(&self, report: &mut Report) -> Result<(), Refusal> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = self
            .scratch
            .join(format!("{VERIFY}{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).map_err(Error::file("creating", &dir))?;
        let compared = self.compare_in(&dir, report);
        let removed = std::fs::remove_dir_all(&dir).map_err(Error::file("removing", &dir));
        compared?;
        Ok(removed?)
    }

    fn compare_in(&self, dir: &Path, report: &mut Report) -> Result<(), Error> {
        let spaces = self.fold.keyspaces();
        let limits = Settings::default().store;
        Store::build(dir, StoreId([0; 16]), spaces, &limits)?;
        let (replayed, _) = Store::open(dir, spaces, &limits)?;
        if self.tail > Position(0) {
            let behind: Vec<(Keyspace, Position)> =
                spaces.iter().map(|space| (*space, Position(0))).collect();
            let all = (Position(1), self.tail);
            replay::fold_range(
                self.rows,
                &replayed,
                self.fold,
                &behind,
                all.0,
                all.1,
                |_, _| {},
            )?;
        }
        for space in spaces {
            compare_space(self.rows, &replayed, *space, report)?;
        }
        Ok(())
    }
}

/// Checks that a seal is of this store and made with its key.
///
/// # Errors
/// A message with what is wrong.
pub fn own_seal(folder: &DataFolder, store: StoreId, seal: &Seal) -> Result<(), String> {
    if seal.store != store {
        return Err(format!(
            "the seal is of the store {}, and this one is {store}",
            seal.store
        ));
    }
    let key = seal_key(folder, &Clock::System).map_err(|error| error.to_string())?;
    match seal.is_made_with(&key) {
        true => Ok(()),
        false => Err("the key of this store did not make the seal".to_owned()),
    }
}

/// Lists the sessions that were forgotten on purpose.
fn forgotten_sessions(rows: &dyn Rows) -> Result<Vec<ForgottenSession>, Refusal> {
    let mut reported = Vec::new();
    for (session, tombstone) in sessions::all_forgotten(rows, FINDINGS_MAX)? {
        let is_erased = !sessions::is_unerased(rows, &session)?;
        let id = SessionId::new(session.clone());
        reported.push(ForgottenSession {
            session: id.map_err(|error| Refusal::new(Code::Corrupt, error.to_string()))?,
            position: tombstone.position,
            time: format_time(tombstone.at),
            is_erased,
        });
    }
    Ok(reported)
}

/// Lists the events that were forgotten on purpose in streams that continue.
fn forgotten_events(rows: &dyn Rows) -> Result<Vec<ForgottenEvents>, Refusal> {
    let mut reported = Vec::new();
    for (position, tombstone) in forgotten::tombstones(rows, FINDINGS_MAX)? {
        let (session, project) = match tombstone.stream {
            StreamName::Session(session) => (Some(session), None),
            StreamName::Project(project) => (None, Some(project)),
            StreamName::Global => (None, None),
        };
        let session = session.map(SessionId::new).transpose();
        reported.push(ForgottenEvents {
            session: session.map_err(|error| Refusal::new(Code::Corrupt, error.to_string()))?,
            project,
            events: tombstone.events,
            first: Position(tombstone.first),
            last: Position(tombstone.last),
            position,
            time: format_time(tombstone.at),
            is_erased: !forgotten::is_unerased(rows, position)?,
        });
    }
    Ok(reported)
}

/// Removes the replay folders of other processes that were killed. This process removes its own.
pub fn remove_left_over(scratch: &Path) -> Result<(), Error> {
    let own = format!("{VERIFY}{}-", std::process::id());
    let entries = match std::fs::read_dir(scratch) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::file("listing", scratch)(error)),
    };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(&own) {
            let path = entry.path();
            std::fs::remove_dir_all(&path).map_err(Error::file("removing", &path))?;
        }
    }
    Ok(())
}

/// Finds the first row in which a view and its replay differ.
fn compare_space(
    live: &dyn Rows,
    replayed: &dyn Rows,
    space: Keyspace,
    report: &mut Report,
) -> Result<(), Error> {
    let mut differs = |key: &[u8], how: &str| {
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        report.find(
            None,
            "view",
            format!("{} row {hex} {how}; run `lored rebuild`", space.name()),
        );
    };
    let end = [u8::MAX];
    let mut found = false;
    live.scan(space, &[], &end, Direction::Forward, &mut |key, value| {
        let how = match replayed.get(space, key)? {
            Some(other) if other == *value => return Ok(ControlFlow::Continue(())),
            Some(_) => "differs from its replay",
            None => "has no cause in the log",
        };
        found = true;
        differs(key, how);
        Ok(ControlFlow::Break(()))
    })?;
    if found {
        return Ok(());
    }
    replayed.scan(space, &[], &end, Direction::Forward, &mut |key, _| {
        if live.get(space, key)?.is_none() {
            differs(key, "is missing");
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })
}
