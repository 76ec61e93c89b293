//! Backups of a store that changes between two requests, played from a script.

use std::collections::VecDeque;

use super::super::check;
use super::super::source::Rows;
use super::*;
use crate::log::objects::{Object, ObjectForm, ObjectLocation};
use crate::log::{Actor, Body, EncodedEvent, EventKind, codec, encode_record};
use crate::store::StoreId;

const STORE: StoreId = StoreId([7; 16]);

/// Returns answers in the order of the requests.
#[derive(Default)]
struct Scripted {
    pages: VecDeque<Page>,
    objects: VecDeque<(Rows, Position)>,
    pieces: VecDeque<(Option<Vec<u8>>, Position)>,
}

impl Source for Scripted {
    fn page(&mut self, after: Position) -> Result<Page, Error> {
        match after {
            Position(u64::MAX) => Ok(page(&[], 0)),
            _ => Ok(self.pages.pop_front().unwrap()),
        }
    }

    fn objects(&mut self, _wanted: &[Hash]) -> Result<(Rows, Position), Error> {
        Ok(self.objects.pop_front().unwrap())
    }

    fn piece(&mut self, _blob: &BlobRef, _from: u64) -> Result<(Option<Vec<u8>>, Position), Error> {
        Ok(self.pieces.pop_front().unwrap())
    }

    fn data_files(&mut self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        Ok(Vec::new())
    }
}

/// Builds a chain of `count` events, each in a separate record.
fn chain(count: u64) -> Vec<LoggedEvent> {
    let mut previous = Hash::default();
    let events = (1..=count).map(|position| {
        let new = EncodedEvent {
            kind: EventKind::StepRecorded,
            session: Some("s-1".to_owned()),
            project: None,
            meta: codec::EMPTY.to_vec(),
            body: Body::new(codec::EMPTY.to_vec(), [1; 16]),
            origin: None,
        };
        let actor = Actor::default();
        let event = LoggedEvent::stamp(new, &previous, Position(position), position, &actor, None);
        previous = event.link;
        event
    });
    events.collect()
}

/// Builds a page with these events, read when the log ended at `position`.
fn page(events: &[LoggedEvent], position: u64) -> Page {
    Page {
        store: STORE,
        link: Some(Hash::default()),
        records: events
            .iter()
            .map(|event| encode_record(std::slice::from_ref(event)))
            .collect(),
        last: events.last().map_or(Position(0), LoggedEvent::position),
        objects: Vec::new(),
        objects_gone: 0,
        blobs: Vec::new(),
        position: Position(position),
    }
}

fn made(mut source: Scripted) -> (tempfile::TempDir, Report) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::fixed(1, 1);
    let choices = BackupOptions::default();
    let report = make(&mut source, folder.path(), &clock, choices, &mut |_, _| {}).unwrap();
    (folder, report)
}

/// The backup contains a blob that was gone when an early event named it and that came back before a later event.
/// If the backup then loses the blob, the check reports it.
#[test]
fn a_blob_that_came_back_is_kept() {
    let content = b"a large text".to_vec();
    let blob = BlobRef::of(&content);
    let events = chain(2);
    let mut pages = [page(&events[..1], 2), page(&events[1..], 2)];
    for page in &mut pages {
        page.blobs.push(blob);
    }
    let (folder, report) = made(Scripted {
        pages: pages.into(),
        pieces: [(None, Position(2)), (Some(content.clone()), Position(2))].into(),
        ..Scripted::default()
    });
    assert_eq!((report.position, report.blobs), (Position(2), 1));
    let manifest = Manifest::read(folder.path()).unwrap();
    let kept = check::blob(folder.path(), &manifest, &blob).unwrap();
    assert_eq!(kept, Some(content));
    std::fs::remove_file(folder.path().join(blob_file(&blob))).unwrap();
    assert!(check::blob(folder.path(), &manifest, &blob).is_err());
}

/// An object whose row differs from its tag in the page was saved again. The backup continues to that position,
/// because the row may depend on objects saved then.
#[test]
fn an_object_in_another_form_takes_the_backup_on() {
    let row = |packed: &[u8]| {
        let object = Object {
            form: ObjectForm::Plain,
            bytes: packed.len() as u64,
            place: ObjectLocation::Inline(packed.to_vec()),
        };
        object.encode()
    };
    let hash = Hash::of(b"an object");
    let (old, new) = (row(b"as it was"), row(b"as it is"));
    let events = chain(3);
    let mut pages = [page(&events[..1], 1), page(&events[1..], 3)];
    for (page, row) in pages.iter_mut().zip([&old, &new]) {
        page.objects.push((hash, Tag::of(row)));
    }
    let (_folder, report) = made(Scripted {
        pages: pages.into(),
        objects: [(vec![(hash, new)], Position(3))].into(),
        ..Scripted::default()
    });
    assert_eq!(report.position, Position(3));
}
