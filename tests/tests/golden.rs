//! What other programs and old stores rely on, held by files that are never edited: stored bytes
//! of every event kind, and the public lists of names.
//!
//! A line of tests/golden/ is never changed or taken away. What is new is added at the end.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;

use lore::protocol::Code;
use lored::clock::Clock;
use lored::engine::{Fold, KeyClaim};
use lored::log::{
    Actor, Body, Hash, INDEX, KeyMark, LOG, Log, NewEvent, Position, RecordBuilder, RecordKey,
    Stamped, codec, decode_record,
};
use lored::rooms::Rooms;
use lored::sessions::SessionCreated;
use lored::steps::{
    ExtractorRegistered, FieldMappingRegistered, StepNumbered, StepRecorded, Text, decode_step,
};
use lored::store::head::{DurableHead, Head};
use lored::store::{BlobRef, Blobs, Memory, RowsMut};
use tests::home;

const STORED: &str = include_str!("../golden/stored.txt");
const SURFACE: &str = include_str!("../golden/surface.txt");

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

/// Every golden line has to be said as it stands; new ones may come after it.
fn hold(file: &str, golden: &str, now: &[String]) {
    let kept: Vec<&str> = golden
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    if kept != now {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
        std::fs::write(&path, now.join("\n") + "\n").unwrap();
        for line in &kept {
            assert!(
                now.iter().any(|said| said == line),
                "golden/{file} holds what is no longer so:\n{line}\nNow is in {}",
                path.display()
            );
        }
        panic!("golden/{file} lacks lines that are in {}", path.display());
    }
}

/// The part of a golden line after these words.
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

fn step(number: u32, success: bool, body: &StepRecorded, salt: [u8; 16]) -> NewEvent {
    let fact = StepNumbered {
        step: number,
        attempt: 1,
        success,
        blobs: body.blobs().map(|blob| blob.hash.into()).collect(),
    };
    NewEvent {
        kind: StepRecorded::KIND,
        session: Some("s-1".to_owned()),
        project: Some("p-1".to_owned()),
        fact: codec::encode(&fact),
        body: Body::new(codec::encode(body), salt),
    }
}

fn registration(
    kind: &'static str,
    scope: (Option<&str>, Option<&str>),
    body: Vec<u8>,
    salt: [u8; 16],
) -> NewEvent {
    NewEvent {
        kind,
        session: scope.0.map(str::to_owned),
        project: scope.1.map(str::to_owned),
        fact: codec::EMPTY.to_vec(),
        body: Body::new(body, salt),
    }
}

/// One event of every kind and shape, with the name of its golden line.
fn events() -> Vec<(&'static str, NewEvent)> {
    let clock = Clock::fixed(TIME, 7);
    let created = SessionCreated {
        title: Some("Fix the login loop".to_owned()),
        user: Some("ada".to_owned()),
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
    let session = (Some("s-1"), Some("p-1"));
    vec![
        (
            "session_created",
            SessionCreated::event(
                "s-1".to_owned(),
                Some("p-1".to_owned()),
                created.prepare(clock.random()),
            ),
        ),
        (
            "session_created_least",
            SessionCreated::event(
                "s-2".to_owned(),
                None,
                SessionCreated::default().prepare(clock.random()),
            ),
        ),
        ("step_recorded", step(1, true, &inline, clock.random())),
        (
            "step_recorded_with_blob",
            step(2, true, &with_blob, clock.random()),
        ),
        (
            "step_recorded_failed",
            step(3, false, &failed, clock.random()),
        ),
        (
            "extractor_registered",
            registration(
                ExtractorRegistered::KIND,
                session,
                codec::encode(&extractor),
                clock.random(),
            ),
        ),
        (
            "field_mapping_registered",
            registration(
                FieldMappingRegistered::KIND,
                (None, Some("p-1")),
                codec::encode(&mapping),
                clock.random(),
            ),
        ),
        (
            "field_mapping_registered_everywhere",
            registration(
                FieldMappingRegistered::KIND,
                (None, None),
                codec::encode(&mapping),
                clock.random(),
            ),
        ),
    ]
}

/// The events in their places, every other one under a key.
fn stamped() -> Vec<(&'static str, Stamped)> {
    let mut previous = Hash::default();
    let mut found = Vec::new();
    for (at, (name, event)) in events().into_iter().enumerate() {
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
        let event = Stamped::stamp(event, &previous, position, TIME + at as u64, &actor(), key);
        previous = event.link;
        found.push((name, event));
    }
    found
}

/// Records of one group, and the rows that its events make: of the first kinds alone, so that the
/// rows stay when a kind is added.
fn rows() -> Memory {
    let mut rows = Memory::new();
    let mut records = RecordBuilder::default();
    for (_, event) in stamped().into_iter().take(8) {
        // The group's third command begins a second record, as a full one does.
        let bytes = if event.position() == Position(4) {
            16_384
        } else {
            600
        };
        let record = records.place(event.position(), bytes);
        Rooms.apply(&mut rows, &event, record).unwrap();
        records.push(&event);
    }
    for (key, value) in records.finish() {
        rows.put(LOG, &key.to_bytes(), &value);
    }
    rows
}

/// Stored bytes are for ever: every kind of event, the record around them, every row of the
/// index, and the files beside the store are written today exactly as they were on the first day.
#[test]
fn stored_bytes_are_for_ever() {
    let mut lines = Vec::new();
    for (name, event) in stamped() {
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
    Head::create(&path, [7; 16], head).unwrap();
    let head = std::fs::read(path).unwrap();
    lines.push(format!("head 0 {}", hex(&head[..96])));
    lines.push(format!("head 1 {}", hex(&head[4096..])));
    hold("stored.txt", STORED, &lines);
}

/// What was stored on the first day is read today: every golden event decodes to what went in,
/// links to the one before it, and is found in its golden record.
#[test]
fn old_bytes_are_read() {
    let mut previous = Hash::default();
    let mut rows = Memory::new();
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
    let step = Log::new(&rows)
        .event(RecordKey(Position(1)), Position(3))
        .unwrap();
    let (numbered, recorded) = decode_step(&step).unwrap();
    assert_eq!((numbered.step, numbered.attempt), (1, 1));
    assert_eq!(recorded.tool, "search_issues");
}

/// A blob that an older release packed is read today.
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

/// Names that scripts and clients rely on stay: operations, error codes with what they mean,
/// settings.
#[test]
fn public_names_stay() {
    let mut lines: Vec<String> = lored::api::TABLE
        .values()
        .map(|operation| format!("operation {} {:?}", operation.name, operation.access))
        .collect();
    lines.extend(Code::ALL.iter().map(|code| {
        let again = if code.retryable() {
            "retryable"
        } else {
            "final"
        };
        format!("error {} {} {again}", code.as_str(), code.status())
    }));
    lines.extend(
        lored::config::keys()
            .iter()
            .map(|key| format!("setting {key}")),
    );
    hold("surface.txt", SURFACE, &lines);
}

/// The daemon's exit codes: 0 good, 1 refused or damage found, 2 usage, 3 not started; shown by
/// one command for each.
#[test]
fn exit_codes_of_the_daemon() {
    let home = home!();
    let code = |arguments: &[&str]| home.run(arguments).status.code();
    assert_eq!(code(&["--help"]), Some(0));
    assert_eq!(code(&["--no-such-flag"]), Some(2));
    assert_eq!(code(&["verify"]), Some(3), "there is no store yet");
    home.start().stop();
    assert_eq!(code(&["verify"]), Some(0));
    home.configure("[engine]\nno_such_setting = 1");
    assert_eq!(code(&["serve"]), Some(2));
    home.configure("");
    std::fs::write(home.data().join("store").join("lore-store"), "other").unwrap();
    assert_eq!(code(&["serve"]), Some(3));
}

/// The client's exit codes: 0 good, 1 refused, 2 usage, 3 no daemon, 5 conflict; shown by one call
/// for each.
#[test]
fn exit_codes_of_the_client() {
    let home = home!();
    let code = |arguments: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
            .env_clear()
            .env("LORE_HOME", home.path())
            .env("LORE_DAEMON", "/nowhere/lored")
            .args(arguments)
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(code(&["call", "status", "{}"]), Some(3), "nobody serves");
    let _daemon = home.start();
    assert_eq!(code(&["call", "status", "{}"]), Some(0));
    assert_eq!(code(&["no-such-verb"]), Some(2));
    assert_eq!(code(&["call", "no_such_operation", "{}"]), Some(1));
    let session = r#"{"session":"s-1"}"#;
    assert_eq!(code(&["call", "create_session", session]), Some(0));
    assert_eq!(code(&["call", "create_session", session]), Some(5));
}
