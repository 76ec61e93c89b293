//! Disk usage of checkpoints: proportional to the changes, and nearly nothing after their deletion.

use std::time::Duration;

use lore::connection::Connection;
use serde_json::{Value, json};
use tests::bench::Context;
use tests::{Daemon, Random, call, disk, serve, until};

use super::{context_of, create_session, delete, save, value_of};

const SAVES: usize = 201;
const CONTEXT_BYTES: usize = 200_000;
/// The store may take at most one part in this many of the contexts' total size.
const PART: u64 = 20;
/// Upper limit for the remains of deleted checkpoints in bytes: their events.
const EVENTS_BYTES_MAX: u64 = 1 << 20;
const SETTLE_MAX: Duration = Duration::from_secs(60);

fn compacted(daemon: &Daemon, data: &std::path::Path) -> u64 {
    // While the store is read, as by the indexing of what was saved, a compaction frees nothing.
    until("a compaction that frees all", SETTLE_MAX, || {
        let done = daemon.call("compact", json!({}));
        let warnings = done["warnings"].as_array();
        warnings.is_none_or(Vec::is_empty).then_some(())
    });
    disk::taken_bytes(data)
}

/// Saves successive states of a context; returns the ids and the expected contexts.
fn save_all(connection: &mut Connection, work: &mut Context) -> Vec<(String, Value)> {
    let mut saved: Vec<(String, Value)> = Vec::new();
    let mut session = None;
    for _ in 0..SAVES {
        let context = value_of(work);
        let args = match &session {
            None => json!({ "context": context }),
            Some(session) => json!({"sessionId": session, "context": context}),
        };
        let reply = save(connection, args).unwrap();
        session = Some(reply.session);
        saved.push((reply.id, context));
        work.step();
    }
    saved
}

/// 201 saves of 200 KB, with about 1 % changed each time, take at most a twentieth of their 40 MB on disk in total.
/// That is below 2 MiB, and all load unchanged. With all but three deleted the disk space is freed without a
/// request, and the three still load. With all deleted the store is nearly as small as an empty one.
#[test]
fn disk_use_grows_with_what_changed() {
    let (home, daemon) = serve!("[engine]\ncompact_freed_bytes_min = 65536\n");
    let mut connection = daemon.connect("");
    let empty = compacted(&daemon, &home.data());
    let mut work = Context::new(7, CONTEXT_BYTES);
    let saved = save_all(&mut connection, &mut work);
    let raw: u64 = saved
        .iter()
        .map(|(_, context)| context.to_string().len() as u64)
        .sum();
    assert!(
        raw > (SAVES * CONTEXT_BYTES * 9 / 10) as u64,
        "only {raw} bytes were saved"
    );
    let taken = compacted(&daemon, &home.data());
    println!(
        "{SAVES} saves of {raw} bytes take {taken} bytes on disk ({empty} of them an empty store's): \
         1/{}",
        raw / taken
    );
    assert!(taken * PART <= raw, "{taken} of {raw}");
    assert!(taken < 2 << 20, "{taken}");
    daemon.stop();

    let daemon = home.start();
    let mut connection = daemon.connect("");
    for (id, context) in &saved {
        assert!(
            context_of(&mut connection, id).unwrap() == *context,
            "{id} is another"
        );
    }
    let kept = [0, SAVES / 2, SAVES - 1];
    let mut freed = 0;
    for (at, (id, _)) in saved.iter().enumerate() {
        if !kept.contains(&at) {
            freed += delete(&mut connection, id).unwrap();
        }
    }
    let three = until("less on disk by itself", SETTLE_MAX, || {
        let now = disk::taken_bytes(&home.data());
        (now < taken - freed / 2).then_some(now)
    });
    println!("with three left {three} bytes; {freed} were said to be freed");
    for at in kept {
        let (id, context) = &saved[at];
        assert!(
            context_of(&mut connection, id).unwrap() == *context,
            "{id} is another"
        );
    }
    daemon.verify();
    for at in kept {
        freed += delete(&mut connection, &saved[at].0).unwrap();
    }
    let none = compacted(&daemon, &home.data());
    println!("with none left {none} bytes; {freed} were said to be freed");
    assert!(none < empty + EVENTS_BYTES_MAX, "{none} and {empty}");
    assert!(none < three);
    let status = call(
        &mut connection,
        "workflow_checkpoint_list",
        json!({"sessionId": first_session(&daemon)}),
    );
    assert_eq!(status.unwrap(), json!([]));
    daemon.verify();
}

fn first_session(daemon: &Daemon) -> Value {
    let events = daemon.call("read_events", json!({"from": 1, "limit": 1}));
    events["events"][0]["session"].clone()
}

/// Values that two sessions save are stored once, whatever their keys: the second save adds nothing, and deleting
/// one session's values leaves the other's.
#[test]
fn sessions_share_what_is_equal() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("");
    let work = value_of(&Context::new(8, CONTEXT_BYTES));
    create_session(&daemon, "mine");
    create_session(&daemon, "theirs");
    let first = json!({"sessionId": "mine", "context": {"mine": work["messages"]}});
    let first = save(&mut connection, first).unwrap();
    let renamed = json!({"sessionId": "theirs", "context": {"theirs": work["messages"], "also": work["messages"]}});
    let second = save(&mut connection, renamed.clone()).unwrap();
    assert_ne!(first.session, second.session);
    assert_eq!(second.new_bytes, 0, "{second:?}");
    assert_eq!(second.stored_bytes, first.stored_bytes, "one value, twice");
    assert_eq!(delete(&mut connection, &first.id).unwrap(), 0);
    assert_eq!(
        context_of(&mut connection, &second.id).unwrap(),
        renamed["context"]
    );
    assert_eq!(
        delete(&mut connection, &second.id).unwrap(),
        second.stored_bytes
    );
    daemon.verify();
}

/// A large value is stored once, as a file, and removed with the last checkpoint that needs it, without compaction.
#[test]
fn a_large_value_goes_with_its_last_use() {
    let (home, daemon) = serve!();
    let mut connection = daemon.connect("");
    let noise = tests::noise(400_000, &mut Random::new(9));
    let first = save(&mut connection, json!({"context": {"noise": noise}})).unwrap();
    let other = json!({"sessionId": first.session, "context": {"noise": noise, "n": 1}});
    let second = save(&mut connection, other).unwrap();
    let blobs = home.data().join("blobs");
    assert_eq!(disk::files(&blobs).len(), 1);
    delete(&mut connection, &first.id).unwrap();
    assert!(context_of(&mut connection, &second.id).is_ok());
    assert_eq!(disk::files(&blobs).len(), 1);
    let freed = delete(&mut connection, &second.id).unwrap();
    assert!(freed > 200_000, "{freed}");
    until("the file to go", SETTLE_MAX, || {
        disk::files(&blobs).is_empty().then_some(())
    });
    daemon.verify();
}
