//! Stores as faults leave them, opened in this process: many a second, because no daemon starts and ends.

use std::ops::ControlFlow;
use std::path::Path;

use lore::protocol::Code;
use lored::clock::Clock;
use lored::engine::{DataFolder, Fold, OpenedStore, Settings, replay};
use lored::events::Event;
use lored::log::{Log, LoggedEvent, OBJECTS, Position};
use lored::log_admin::verify::VerifyTarget;
use lored::projections::Projections;
use lored::store::{BlobRef, Blobs, Direction, Error, Keyspace, MemoryStore, Rows, RowsMut};
use tests::ledger::{Ledger, content_of};

/// Longer contents are files.
const INLINE_MAX: usize = 60_000;

/// All that a store must serve.
pub struct Original {
    events: Vec<LoggedEvent>,
    rows: MemoryStore,
    /// Position of a step, and its content in a file.
    contents: Vec<(u64, Vec<u8>)>,
}

/// What a store says of itself after a fault.
pub enum Outcome {
    /// Nothing is wrong. The number of its events.
    Whole(u64),
    /// Damage is reported when it is opened or read. What can be read is as it was.
    Told(String),
    /// It does not open.
    Refused(String),
}

/// A store that was read without a word about damage.
struct ReadStore {
    opened: OpenedStore,
    folder: DataFolder,
    rows: MemoryStore,
    /// Its last position.
    end: u64,
    /// The position after the first missing one.
    gap: Option<Position>,
}

fn folder(home: &Path) -> DataFolder {
    DataFolder::new(home.join("data"), home.join("state").join("seals"))
}

fn settings() -> Settings {
    Settings {
        reserve_bytes: 0,
        disk_free_bytes_min: 0,
        ..Settings::default()
    }
}

fn keyspaces() -> impl Iterator<Item = Keyspace> {
    Projections.keyspaces().iter().copied()
}

/// Copies the rows of the views and the objects.
fn rows_of(rows: &dyn Rows) -> Result<MemoryStore, Error> {
    let mut copy = MemoryStore::new();
    for space in keyspaces().chain([OBJECTS]) {
        rows.scan(
            space,
            &[],
            &[u8::MAX; 9],
            Direction::Forward,
            &mut |key, value| {
                copy.put(space, key, value);
                Ok(ControlFlow::Continue(()))
            },
        )?;
    }
    Ok(copy)
}

/// Folds everything from the log alone, and copies the objects.
fn replayed(rows: &dyn Rows, end: u64) -> Result<MemoryStore, Error> {
    let mut folded = MemoryStore::new();
    let log = Log::new(rows);
    log.walk(Position(1), &mut |event, record| {
        let meta = Event::of(&event)?;
        Projections.apply(&mut folded, &log, &event, meta.as_ref(), record)?;
        Ok(ControlFlow::Continue(()))
    })?;
    for space in keyspaces().filter(|_| end > 0) {
        replay::mark(&mut folded, space, Position(end));
    }
    let objects = rows_of(rows)?;
    for (key, value) in objects.rows(OBJECTS) {
        folded.put(OBJECTS, key, value);
    }
    Ok(folded)
}

/// Names the keyspaces whose rows differ.
fn differences(one: &MemoryStore, other: &MemoryStore) -> Vec<Keyspace> {
    let all = keyspaces().chain([OBJECTS]);
    all.filter(|space| !one.rows(*space).eq(other.rows(*space)))
        .collect()
}

impl Original {
    /// Reads an intact store.
    pub fn of(home: &Path, ledger: &Ledger) -> Self {
        let opened =
            OpenedStore::open(&folder(home), &Projections, &settings(), &Clock::System).unwrap();
        assert_eq!(opened.damage, None);
        let mut events = Vec::new();
        let log = Log::new(&opened.store);
        let walked = log.walk(Position(1), &mut |event, _| {
            events.push(event);
            Ok(ControlFlow::Continue(()))
        });
        walked.unwrap();
        let contents = ledger.acknowledged.iter();
        let contents = contents.map(|(key, answer)| (answer.position, content_of(key)));
        let contents = contents.filter(|(_, content)| content.len() > INLINE_MAX);
        let contents: Vec<_> = contents.map(|(at, text)| (at, text.into_bytes())).collect();
        assert!(!contents.is_empty() && events.len() >= ledger.acknowledged.len());
        let rows = rows_of(&opened.store).unwrap();
        Self {
            events,
            rows,
            contents,
        }
    }

    /// Returns the number of events.
    pub fn events(&self) -> u64 {
        self.events.len() as u64
    }

    /// Opens a store that a fault has left and reads all of it. Whatever it serves must be as it was, before a
    /// verification, too.
    ///
    /// # Panics
    /// When something else is served, or less, without a word.
    pub fn examine(&self, home: &Path, is_verified: bool) -> Outcome {
        let read = match self.read(home) {
            Ok(read) => read,
            Err(outcome) => return outcome,
        };
        self.compare(&read);
        let findings = is_verified.then(|| verify(&read.opened, &read.folder));
        let findings = findings.flatten();
        findings.map_or(Outcome::Whole(read.end), Outcome::Told)
    }

    /// As [`Self::examine`], of a store whose files another program has edited: rows of views, and events that are gone,
    /// may be found by the verification that such a start begins.
    ///
    /// # Panics
    /// As [`Self::examine`].
    pub fn examine_edit(&self, home: &Path) -> Outcome {
        let read = match self.read(home) {
            Ok(read) => read,
            Err(outcome) => return outcome,
        };
        if let Some(found) = verify(&read.opened, &read.folder) {
            assert!(!read.opened.is_untouched, "not verified by itself: {found}");
            return Outcome::Told(found);
        }
        self.compare(&read);
        Outcome::Whole(read.end)
    }

    /// Opens a store and reads all of it.
    fn read(&self, home: &Path) -> Result<ReadStore, Outcome> {
        let folder = folder(home);
        // As a daemon does.
        std::fs::create_dir_all(&folder.data).unwrap();
        let opened = OpenedStore::open(&folder, &Projections, &settings(), &Clock::System);
        let opened = opened.map_err(|error| Outcome::Refused(error.to_string()))?;
        let mut told = opened.damage.clone();
        let mut tell = |error: Error| told = told.take().or(Some(error.to_string()));
        let mut next = 1;
        let mut gap = None;
        let walked = Log::new(&opened.store).walk_all(Position(1), &mut |at, event, _| {
            gap = gap.or((at.0 != next).then_some(at));
            next = at.0 + 1;
            match event {
                Ok(event) => {
                    let original = self.events.get(at.0 as usize - 1);
                    assert!(original == Some(&event), "position {at} is another");
                }
                Err(error) => tell(error),
            }
            Ok(ControlFlow::Continue(()))
        });
        walked.unwrap_or_else(&mut tell);
        self.read_contents(&folder, next - 1, &mut tell);
        let found = rows_of(&opened.store).map_err(&mut tell).ok();
        match (told, found) {
            (None, Some(rows)) => Ok(ReadStore {
                opened,
                folder,
                rows,
                end: next - 1,
                gap,
            }),
            (told, _) => Err(Outcome::Told(told.unwrap_or_default())),
        }
    }

    /// Compares the rows of a store that reports no damage.
    fn compare(&self, read: &ReadStore) {
        assert_eq!(read.gap, None, "positions are missing");
        let is_all = read.end == self.events();
        let expected = match is_all {
            true => self.rows.clone(),
            false => replayed(&read.opened.store, read.end).unwrap(),
        };
        assert_eq!(
            differences(&read.rows, &expected),
            [],
            "other rows in views"
        );
    }

    fn read_contents(&self, folder: &DataFolder, end: u64, tell: &mut impl FnMut(Error)) {
        let blobs = match Blobs::open(&folder.blobs()) {
            Ok(blobs) => blobs,
            Err(error) => return tell(error),
        };
        for (_, content) in self.contents.iter().filter(|(at, _)| *at <= end) {
            match blobs.get(&BlobRef::of(content)) {
                Ok(found) => assert!(found == *content, "another content"),
                Err(error) => tell(error),
            }
        }
    }
}

/// Verifies a store as its daemon would. Returns what is wrong.
fn verify(opened: &OpenedStore, folder: &DataFolder) -> Option<String> {
    let blobs = Blobs::open(&folder.blobs()).unwrap();
    let target = VerifyTarget {
        rows: &opened.store,
        blobs: &blobs,
        fold: &Projections,
        tail: opened.tail.position,
        head: None,
        since: None,
        is_there: &|_| Ok(true),
        is_forgotten: &|header| Projections.is_forgotten(&opened.store, header),
        scratch: &folder.scratch(),
    };
    match target.verify((None, None), &mut |_| {}) {
        Ok(report) => {
            let findings = report.findings.into_iter();
            findings.map(|finding| finding.message).next()
        }
        // A table that only a verification reads: the refusal says so, with what to do.
        Err(refusal) => {
            assert_eq!(refusal.code, Code::Corrupt, "{refusal}");
            Some(refusal.to_string())
        }
    }
}
