//! Recorded data survives a clean stop and a kill.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use lore::connection::Error;
use lore::protocol::Code;
use serde_json::json;
use tests::{Random, call, home, noise, serve, until};

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Stopping and starting preserves everything: earlier variables resolve, the log continues at the next position,
/// and the proof is complete.
#[test]
fn stop_and_start_keep_everything() {
    let (home, daemon) = serve!();
    let first = daemon.call(
        "record_step",
        json!({"tool": "search", "result": {"id": 42}, "key": "k"}),
    );
    let session = first["session"].clone();
    let position = first["position"].as_u64().unwrap();
    daemon.stop();
    let daemon = home.start();
    let resolved = daemon.call(
        "resolve_variables",
        json!({"session": session, "names": ["ID_FROM_STEP_1"]}),
    );
    assert_eq!(resolved["resolutions"][0]["value"], 42, "{resolved:#}");
    let again = daemon.call(
        "record_step",
        json!({"tool": "search", "result": {"id": 42}, "key": "k"}),
    );
    assert_eq!(again, first, "the same key and body give the first reply");
    let next = daemon.call(
        "record_step",
        json!({"tool": "t", "result": "", "session": session}),
    );
    assert_eq!(next["position"], position + 1);
    assert_eq!(next["step"], 2);
    assert_eq!(daemon.verify(), position + 1);
}

/// Four agents with fifty acknowledged records each: all two hundred exist after kill -9, in each agent's order.
#[test]
fn two_hundred_of_two_hundred_survive_a_kill() {
    let (home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "shared"}));
    let record = |agent: String| {
        let mut connection = daemon.connect(&agent);
        let mut acknowledged = Vec::new();
        for number in 0..50 {
            let args = json!({
                "session": "shared", "tool": agent, "result": {"number": number},
            });
            let reply = call(&mut connection, "record_step", args).unwrap();
            acknowledged.push((reply["step"].as_u64().unwrap(), number));
        }
        acknowledged
    };
    let by_agent: Vec<Vec<(u64, u64)>> = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..4)
            .map(|agent| scope.spawn(move || record(format!("agent-{agent}"))))
            .collect();
        agents
            .into_iter()
            .map(|agent| agent.join().unwrap())
            .collect()
    });
    daemon.kill();
    let daemon = home.start();
    let mut connection = daemon.connect("");
    let mut found = 0;
    for (agent, steps) in by_agent.iter().enumerate() {
        assert!(steps.is_sorted(), "agent {agent} has its steps in order");
        for (step, number) in steps {
            let args = json!({"session": "shared", "step": step});
            let reply = call(&mut connection, "get_step", args).unwrap();
            assert_eq!(reply["tool"], format!("agent-{agent}"), "{reply:#}");
            assert_eq!(reply["result"], json!({"number": number}).to_string());
            found += 1;
        }
    }
    assert_eq!(found, 200);
    assert_eq!(daemon.verify(), 201);
}

/// Returns the disk usage of all files below a folder in bytes, or of journals alone.
fn taken_bytes(folder: &Path, journals: bool) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap();
    let taken = entries.map(|entry| {
        let (path, metadata) = {
            let entry = entry.unwrap();
            (entry.path(), entry.metadata().unwrap())
        };
        let is_journal = path.extension().is_some_and(|end| end == "jnl");
        match metadata.is_dir() {
            true => taken_bytes(&path, journals),
            false if is_journal || !journals => metadata.blocks() * 512,
            false => 0,
        }
    });
    taken.sum()
}

/// `compact` reports the size before and after, and recorded data is unchanged; a stop leaves nothing in the
/// journal for the next start to replay.
#[test]
fn compact_and_stop_leave_a_small_store() {
    let (home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "s"}));
    let mut connection = daemon.connect("a");
    for number in 0..300 {
        let result = json!({"number": number, "filler": "lore ".repeat(400)});
        let args = json!({"session": "s", "tool": "t", "result": result});
        call(&mut connection, "record_step", args).unwrap();
    }
    let store = home.data().join("store");
    assert!(taken_bytes(&store, true) > 300 * 2000);
    let before = daemon.call("read_events", json!({"limit": 400}));
    // On a busy machine a follower may still read, and a compaction then leaves the rest to the next, and says so.
    let done = until("a compaction alone with the store", LIMIT, || {
        let done = daemon.call("compact", json!({}));
        let warnings = done["warnings"].as_array();
        warnings.is_none_or(Vec::is_empty).then_some(done)
    });
    let bytes = |name: &str| done[name].as_u64().unwrap();
    assert_eq!(bytes("position"), 301);
    assert!(bytes("bytes_after") < bytes("bytes_before"), "{done:#}");
    assert_eq!(bytes("bytes_after"), taken_bytes(&store, false));
    assert_eq!(taken_bytes(&store, true), 0);
    let after = daemon.call("read_events", json!({"limit": 400}));
    assert_eq!(after, before);
    let args = json!({"session": "s", "tool": "t", "result": {"number": 300}});
    call(&mut connection, "record_step", args).unwrap();
    assert_eq!(daemon.verify(), 302);
    daemon.stop();
    assert_eq!(taken_bytes(&store, true), 0);
    let daemon = home.start();
    assert_eq!(daemon.verify(), 302);
}

/// A stop during a compaction is clean: the call is answered or interrupted, and the next start has everything.
#[test]
fn a_stop_during_a_compaction() {
    let home = home!();
    let mut recorded = 0;
    for _ in 0..8 {
        let daemon = home.start();
        let mut connection = daemon.connect("a");
        for number in 0..20 {
            let args = json!({"tool": "t", "result": {"number": number}});
            call(&mut connection, "record_step", args).unwrap();
            recorded += 1;
        }
        std::thread::scope(|scope| {
            let mut compactor = daemon.connect("compactor");
            let begun = scope.spawn(move || call(&mut compactor, "compact", json!({})));
            call(&mut connection, "status", json!({})).unwrap();
            daemon.signal(rustix::process::Signal::TERM);
            match begun.join().unwrap() {
                Ok(_) => {}
                Err(Error::Refused(body)) => assert_eq!(body.code, Code::StorageUnavailable),
                Err(error) => assert!(error.is_lost_connection(), "{error}"),
            }
        });
        let ended = daemon.wait();
        assert!(ended.status.success(), "{ended:?}");
    }
    let daemon = home.start();
    let steps = daemon.call("status", json!({}))["counts"]["steps"].clone();
    assert_eq!(steps, recorded);
    daemon.verify();
}

/// Default size of the log in megabytes; `LORE_LOG_MB` overrides it.
const LOG_MB: usize = 12;

/// A log of many large events whose daemon was killed while background work lagged: the next daemon serves it up to
/// the last acknowledged step. The test prints the duration. `LORE_LOG_MB` for more.
#[test]
fn a_large_log_is_served_after_a_kill() {
    let megabytes = std::env::var("LORE_LOG_MB").map_or(LOG_MB, |mb| mb.parse().unwrap());
    let (home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "s"}));
    let mut random = Random::new(1);
    let (mut last, mut last_text) = (0, String::new());
    let mut connection = daemon.connect("w");
    // Just too small to be separate files.
    for _ in 0..megabytes * 1_000_000 / 60_000 {
        last_text = noise(60_000, &mut random);
        let args = json!({"session": "s", "tool": "t", "result": last_text});
        let reply = call(&mut connection, "record_step", args).unwrap();
        last = reply["step"].as_u64().unwrap();
    }
    daemon.kill();
    for _ in 0..5 {
        let start = Instant::now();
        let daemon = home.start();
        let step = daemon.call("get_step", json!({"session": "s", "step": last}));
        println!("{megabytes} MB of events: read after {:?}", start.elapsed());
        let result = step["result"].as_str().unwrap();
        assert!(
            !result.is_empty() && last_text.starts_with(result),
            "{last}"
        );
        daemon.kill();
    }
}
