//! Stored checkpoints: object rows and event metadata of arbitrary bytes never panic, and valid ones round-trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::checkpoints::{self, CheckpointEvent};
use lored::log::{
    Actor, Hash, Header, Kind, LoggedEvent, OBJECTS, Payload, Position, RecordKey, objects,
};
use lored::store::{MemoryStore, RowsMut};

fn event(kind: &str, meta: &[u8]) -> LoggedEvent {
    LoggedEvent {
        header: Header {
            position: Position(1),
            time: 1,
            actor: Actor::default(),
            session: Some("s".to_owned()),
            project: None,
            kind: Kind::of(kind),
            key: None,
            origin: None,
        },
        header_bytes: Vec::new(),
        payload_hash: Hash::default(),
        link: Hash::default(),
        payload: Some(Payload {
            salt: [0; 16],
            meta: meta.to_vec(),
            body: Vec::new(),
        }),
        key: None,
        seal: None,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let hash = Hash::of(bytes);
    let mut rows = MemoryStore::new();
    rows.put(OBJECTS, &hash.0, bytes);
    if let Ok(Some(object)) = objects::get(&rows, &hash) {
        assert_eq!(object.encode(), bytes);
    }
    for kind in ["CheckpointSaved", "CheckpointsDeleted", "KeyMarked"] {
        let event = event(kind, bytes);
        if let Ok(Some(meta)) = CheckpointEvent::of(&event) {
            let record = RecordKey(Position(1));
            let mut rows = MemoryStore::new();
            for _ in 0..2 {
                checkpoints::apply(&mut rows, &event, &meta, record).expect("rows are in memory");
            }
        }
    }
});
