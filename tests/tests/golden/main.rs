//! Stable formats, checked against files that are never edited: stored bytes of every event kind, and the public
//! lists of names.
//!
//! A line of tests/golden/ is never changed or removed. New lines are added at the end.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod capture;
mod checkpoints;
mod documents;
mod forgetting;
mod formats;
mod metadata;
mod names;
mod projects;
mod talk;

use std::path::Path;

use lore::protocol::Code;
use lore::protocol::tools::READ_OPERATIONS;
use lored::checkpoints::{
    CheckpointDescribed, CheckpointKey, CheckpointSaved, CheckpointsDeleted, ContextPart,
    DeletedCheckpoint, DeletionCause, DeltaLink, KeyMarked, MarkHolder,
};
use lored::clock::Clock;
use lored::engine::{Fold, KeyClaim};
use lored::events::{self, Event, NewEvent};
use lored::log::objects::{self, Object, ObjectForm, ObjectLocation};
use lored::log::{
    Actor, Body, EncodedEvent, EventKind, Hash, INDEX, ImportOrigin, KeyMark, LOG, Log,
    LoggedEvent, OBJECTS, Position, RecordBuilder, RecordKey, codec, decode_record,
};
use lored::operation::Access;
use lored::projections::Projections;
use lored::sessions::{SessionCreated, SessionEvent, SessionOrigin};
use lored::steps::{ExtractorRegistered, FieldMappingRegistered, StepAssigned, StepRecorded, Text};
use lored::store::watermark::{DurableHead, WatermarkFile};
use lored::store::{BlobRef, Blobs, MemoryStore, RowsMut};
use serde::Serialize;
use tests::home;

use checkpoints::{checkpoint_events, kept_objects};

const STORED: &str = include_str!("../../golden/stored.txt");
const SURFACE: &str = include_str!("../../golden/surface.txt");

/// 2026-01-31T12:00:00Z, in microseconds.
const TIME: u64 = 1_769_860_800_000_000;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// Checks that every golden line is produced unchanged; any other produced line must be appended to the file.
fn hold(file: &str, golden: &str, now: &[String]) {
    let kept: Vec<&str> = golden
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    for line in &kept {
        assert!(
            now.iter().any(|said| said == line),
            "golden/{file} holds what is no longer so:\n{line}"
        );
    }
    let mut new: Vec<&str> = now.iter().map(String::as_str).collect();
    new.retain(|line| !kept.contains(line));
    if !new.is_empty() {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
        std::fs::write(&path, new.join("\n") + "\n").unwrap();
        panic!("golden/{file} lacks lines that are in {}", path.display());
    }
}

/// Returns the bytes of the golden line with this name.
fn golden_bytes(name: &str) -> Vec<u8> {
    let line = STORED
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no golden line {name}"));
    unhex(line.rsplit(' ').next().unwrap())
}

fn actor() -> Actor {
    Actor {
        agent: "claude".to_owned(),
        uid: 1000,
        client: "lore/0.1.0".to_owned(),
    }
}

/// Events of one stream in their order, each with the name of its golden line and a salt of the clock.
struct Events {
    clock: Clock,
    session: Option<String>,
    project: Option<String>,
    found: Vec<(&'static str, EncodedEvent)>,
}

/// Metadata or a body without fields.
#[derive(Serialize)]
struct NoFields {}

impl Events {
    fn new(seed: u64, session: Option<&str>, project: &str) -> Self {
        Self {
            clock: Clock::fixed(TIME, seed),
            session: session.map(str::to_owned),
            project: Some(project.to_owned()),
            found: Vec::new(),
        }
    }

    fn add(
        &mut self,
        name: &'static str,
        kind: EventKind,
        meta: &impl Serialize,
        body: &impl Serialize,
    ) {
        let event = EncodedEvent {
            kind,
            session: self.session.clone(),
            project: self.project.clone(),
            meta: codec::encode(meta),
            body: Body::new(codec::encode(body), self.clock.random()),
            origin: None,
        };
        self.found.push((name, event));
    }

    fn add_meta(&mut self, name: &'static str, kind: EventKind, meta: &impl Serialize) {
        self.add(name, kind, meta, &NoFields {});
    }

    fn create(&mut self, name: &'static str, origin: SessionOrigin, created: &SessionCreated) {
        let body = created.prepare(self.clock.random());
        let session = self.session.as_deref().unwrap();
        let created = SessionEvent::Created(origin);
        let event = NewEvent::in_session(session, self.project.clone(), created, body);
        self.found.push((name, event.encode().1));
    }
}

/// Returns one event of every kind and shape, with the name of its golden line.
fn events() -> Vec<(&'static str, EncodedEvent)> {
    let mut events = Events::new(7, Some("s-1"), "p-1");
    let created = SessionCreated {
        title: Some("Fix the login loop".to_owned()),
        user: Some("ada".to_owned()),
        topic: None,
        tags: vec!["web".to_owned(), "bug".to_owned()],
        preferences: Some(r#"{"language":"en"}"#.to_owned()),
    };
    let inline = StepRecorded {
        tool: "search_issues".to_owned(),
        parameters: Some(Text::Inline(r#"{"query":"login"}"#.to_owned())),
        purpose: Some("find the issue".to_owned()),
        result: Some(Text::Inline(
            r#"[{"id":4711,"title":"Schleife ä"}]"#.to_owned(),
        )),
        error: None,
    };
    let content = "x".repeat(70_000);
    let blob = BlobRef::of(content.as_bytes());
    let with_blob = StepRecorded {
        tool: "read_file".to_owned(),
        parameters: None,
        purpose: None,
        result: Some(Text::Blob {
            blob: blob.hash,
            bytes: blob.bytes,
        }),
        error: None,
    };
    let failed = StepRecorded {
        tool: "fetch".to_owned(),
        parameters: None,
        purpose: None,
        result: None,
        error: Some(Text::Inline("timed out".to_owned())),
    };
    let extractor = ExtractorRegistered {
        name: "ticket".to_owned(),
        pattern: Some("[A-Z]+-([0-9]+)".to_owned()),
        group: Some(1),
        fields: vec!["ticket".to_owned(), "issue".to_owned()],
    };
    let mapping = FieldMappingRegistered {
        field: "email".to_owned(),
        aliases: vec!["mail".to_owned(), "e_mail".to_owned()],
    };
    events.create("session_created", SessionOrigin::default(), &created);
    (events.session, events.project) = (Some("s-2".to_owned()), None);
    let least = SessionCreated::default();
    events.create("session_created_least", SessionOrigin::default(), &least);
    (events.session, events.project) = (Some("s-1".to_owned()), Some("p-1".to_owned()));
    for (step, name, body) in [
        (1, "step_recorded", &inline),
        (2, "step_recorded_with_blob", &with_blob),
        (3, "step_recorded_failed", &failed),
    ] {
        let meta = StepAssigned {
            step,
            attempt: 1,
            success: body.error.is_none(),
            suspect: Vec::new(),
            blobs: body.blobs().map(|blob| blob.hash.into()).collect(),
        };
        events.add(name, EventKind::StepRecorded, &meta, body);
    }
    let kind = EventKind::ExtractorRegistered;
    events.add("extractor_registered", kind, &NoFields {}, &extractor);
    let kind = EventKind::FieldMappingRegistered;
    events.session = None;
    events.add("field_mapping_registered", kind, &NoFields {}, &mapping);
    events.project = None;
    let everywhere = "field_mapping_registered_everywhere";
    events.add(everywhere, kind, &NoFields {}, &mapping);
    events.found
}

/// Returns a separate log: events without their content, and the events that record the forgetting.
fn forgotten() -> Vec<(&'static str, LoggedEvent)> {
    let mut found: Vec<(&'static str, LoggedEvent)> = Vec::new();
    let names = ["content_forgotten_with_key", "content_forgotten"];
    for (name, (_, mut event)) in names.into_iter().zip(stamped()) {
        (event.payload, event.key) = (None, None);
        found.push((name, event));
    }
    for (name, event) in forgetting::events() {
        let (previous, position) = match found.last() {
            Some((_, last)) => (last.link, Position(last.position().0 + 1)),
            None => (Hash::default(), Position(1)),
        };
        let event = LoggedEvent::stamp(event, &previous, position, TIME, &actor(), None);
        found.push((name, event));
    }
    found
}

/// Returns a separate log of imported events, with and without the name of an agent. A mark's key is in no
/// checkpoint, or in one that is not the latest.
fn imported() -> Vec<(&'static str, LoggedEvent)> {
    let clock = Clock::fixed(TIME, 10);
    let marked = |held_by| {
        let mark = KeyMarked {
            key: "userGoal".to_owned(),
            is_unmarked: false,
            held_by: Some(held_by),
        };
        codec::encode(&mark)
    };
    let first = MarkHolder::Checkpoint(CheckpointKey::of([1; 16]));
    let events = [
        ("imported", "claude", marked(first)),
        ("imported_by_nobody", "", marked(MarkHolder::Nobody)),
    ];
    let mut previous = Hash::default();
    let mut found = Vec::new();
    for (at, (name, agent, fact)) in (1..).zip(events) {
        let event = EncodedEvent {
            kind: EventKind::KeyMarked,
            session: Some("s-1".to_owned()),
            project: None,
            meta: fact,
            body: Body::new(codec::EMPTY.to_vec(), clock.random()),
            origin: Some(ImportOrigin {
                at: TIME - 1_000_000,
                agent: agent.to_owned(),
            }),
        };
        let event = LoggedEvent::stamp(event, &previous, Position(at), TIME, &actor(), None);
        previous = event.link;
        found.push((name, event));
    }
    found
}

/// Returns separate logs: forgotten events, imported events, and one of each family with events of its own.
fn others() -> [Vec<(&'static str, LoggedEvent)>; 6] {
    let families = [
        talk::events(),
        projects::events(),
        documents::events(),
        capture::events(),
    ];
    let [said, projects, documents, captured] = families.map(chained);
    [forgotten(), imported(), said, projects, documents, captured]
}

/// Chains events in order.
fn chained(events: Vec<(&'static str, EncodedEvent)>) -> Vec<(&'static str, LoggedEvent)> {
    let mut previous = Hash::default();
    let mut found = Vec::new();
    for (at, (name, event)) in (1..).zip(events) {
        let event = LoggedEvent::stamp(event, &previous, Position(at), TIME, &actor(), None);
        previous = event.link;
        found.push((name, event));
    }
    found
}

/// Returns the events with positions, every other one under a key.
fn stamped() -> Vec<(&'static str, LoggedEvent)> {
    let mut previous = Hash::default();
    let mut found = Vec::new();
    let events = events().into_iter().chain(checkpoint_events());
    for (at, (name, event)) in events.enumerate() {
        let key = (at % 2 == 0).then(|| {
            let text = format!("key-{at}");
            let claim = KeyClaim::new(&text, &actor(), Hash::of(b"record_step\n{}"));
            let mark = KeyMark {
                hash: claim.hash,
                body: claim.body,
            };
            (text, mark)
        });
        let position = Position(at as u64 + 1);
        let event = LoggedEvent::stamp(event, &previous, position, TIME + at as u64, &actor(), key);
        previous = event.link;
        found.push((name, event));
    }
    found
}

/// Returns records of one group, and their index rows: only of the first kinds, so that new kinds add no rows.
fn rows() -> MemoryStore {
    let nothing = MemoryStore::new();
    let mut rows = MemoryStore::new();
    let mut records = RecordBuilder::default();
    for (_, event) in stamped().into_iter().take(8) {
        // The group's third command begins a second record, as in a full record.
        let bytes = if event.position() == Position(4) {
            16_384
        } else {
            600
        };
        let record = records.place(event.position(), &[bytes])[0];
        let meta = Event::of(&event).unwrap();
        Projections
            .apply(
                &mut rows,
                &Log::new(&nothing),
                &event,
                meta.as_ref(),
                record,
            )
            .unwrap();
        records.push(&event, record);
    }
    for (key, value) in records.finish() {
        rows.put(LOG, &key.to_bytes(), &value);
    }
    rows
}

/// Stored bytes never change: every kind of event, the record around them, every row of the index, and the other
/// files of the store are written today exactly as in the first version.
#[test]
fn stored_bytes_are_for_ever() {
    let mut lines = Vec::new();
    for (name, event) in stamped() {
        let mut bytes = Vec::new();
        codec::encode_event(&event, &mut bytes);
        lines.push(format!("event {name} {}", hex(&bytes)));
    }
    for (name, event) in others().into_iter().flatten() {
        let mut bytes = Vec::new();
        codec::encode_event(&event, &mut bytes);
        lines.push(format!("event {name} {}", hex(&bytes)));
    }
    let rows = rows();
    for (key, value) in rows.rows(LOG) {
        lines.push(format!("record {} {}", hex(key), hex(value)));
    }
    for (key, value) in rows.rows(INDEX) {
        lines.push(format!("index {} {}", hex(key), hex(value)));
    }
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
    let blob = blobs.put(b"short and raw").unwrap().reference();
    let path = folder
        .path()
        .join("blobs")
        .join(&blob.hex()[..2])
        .join(blob.hex());
    lines.push(format!(
        "blob {} {}",
        blob.hex(),
        hex(&std::fs::read(path).unwrap())
    ));
    let path = folder.path().join("head");
    let head = DurableHead {
        position: 3,
        link: [9; 32],
    };
    WatermarkFile::create(&path, [7; 16], head).unwrap();
    let head = std::fs::read(path).unwrap();
    lines.push(format!("head 0 {}", hex(&head[..96])));
    lines.push(format!("head 1 {}", hex(&head[4096..])));
    let mut objects = MemoryStore::new();
    for (hash, object) in kept_objects() {
        objects::put(&mut objects, &hash, &object);
    }
    for (key, value) in objects.rows(OBJECTS) {
        lines.push(format!("object {} {}", hex(key), hex(value)));
    }
    hold("stored.txt", STORED, &lines);
}

/// Bytes of the first version are readable: every golden event decodes to its input, links to the previous one, and
/// is found in its golden record.
#[test]
fn old_bytes_are_read() {
    let mut previous = Hash::default();
    let mut rows = MemoryStore::new();
    for line in STORED.lines() {
        if let ["record", key, value] = line.split(' ').collect::<Vec<_>>()[..] {
            decode_record(&unhex(value)).unwrap();
            rows.put(LOG, &unhex(key), &unhex(value));
        }
    }
    for (name, event) in stamped() {
        let read = codec::decode_event(&golden_bytes(&format!("event {name}"))).unwrap();
        assert_eq!(read, event, "{name}");
        read.check(&previous, event.position()).unwrap();
        previous = read.link;
        if event.position() <= Position(8) {
            assert_eq!(Log::new(&rows).at(event.position()).unwrap(), Some(event));
        }
    }
    for events in others() {
        let mut previous = Hash::default();
        for (name, event) in events {
            let read = codec::decode_event(&golden_bytes(&format!("event {name}"))).unwrap();
            assert_eq!(read, event, "{name}");
            read.check(&previous, event.position()).unwrap();
            previous = read.link;
        }
    }
    let mut objects = MemoryStore::new();
    for line in STORED.lines() {
        if let ["object", key, value] = line.split(' ').collect::<Vec<_>>()[..] {
            objects.put(OBJECTS, &unhex(key), &unhex(value));
        }
    }
    for (hash, object) in kept_objects() {
        assert_eq!(objects::get(&objects, &hash).unwrap(), Some(object));
    }
    let step = Log::new(&rows)
        .event(RecordKey(Position(1)), Position(3))
        .unwrap();
    let (assigned, recorded): (StepAssigned, StepRecorded) = events::both(&step).unwrap();
    assert_eq!((assigned.step, assigned.attempt), (1, 1));
    assert_eq!(recorded.tool, "search_issues");
}

/// A blob compressed by an older release is readable.
#[test]
fn old_blobs_are_read() {
    let content = "lore ".repeat(40);
    let blob = BlobRef::of(content.as_bytes());
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(folder.path()).unwrap();
    let shard = folder.path().join(&blob.hex()[..2]);
    std::fs::create_dir(&shard).unwrap();
    // Codec 1 (an LZ4 block), the length, then five literals and one long copy of them.
    let packed = "01c8000000000000005f6c6f7265200500ab506c6f726520";
    std::fs::write(shard.join(blob.hex()), unhex(packed)).unwrap();
    assert_eq!(blobs.get(&blob).unwrap(), content.as_bytes());
}
