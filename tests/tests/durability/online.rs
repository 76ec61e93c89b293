//! A program that writes the store's files while the daemon runs: what is served is genuine, or the edit is reported.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::disk::files;
use tests::{Daemon, Home, Random, home, noise, until};
use xxhash_rust::xxh3::xxh3_128;

/// Time limit for the daemon to notice an edit: it looks every ten seconds.
const LIMIT: Duration = Duration::from_secs(120);
const SETTINGS: &str = "[engine]\nflush_idle_ms = 100\nreserve_bytes = 0\n";
/// Bytes of the header of a block in a table: magic, kind, checksum (16), length, length before compression, and the
/// checksum of the header.
const HEADER: usize = 33;
const MAGIC: &[u8] = b"LSM\x03";
const VALUE: &str = "VALUE-ORIGINAL-0001";
const OTHER: &str = "VALUE-ORIGINAL-0002";

/// A served store whose rows are in tables, with a value, an entity, a large result and a checkpoint.
struct ServedStore {
    home: Home,
    daemon: Daemon,
    checkpoint: String,
    large: u64,
}

fn tables(home: &Home) -> Vec<PathBuf> {
    let all = files(&home.data().join("store")).into_iter();
    let is_table = |path: &PathBuf| path.parent().unwrap().ends_with("tables");
    all.filter(is_table).collect()
}

/// Returns the tables that hold some bytes, of the log (keyspace 1) or of the views.
fn holders(home: &Home, needle: &[u8], of_log: bool) -> Vec<PathBuf> {
    let is_of_log = |path: &PathBuf| path.to_str().unwrap().contains("/keyspaces/1/");
    let holds = |path: &PathBuf| memchr(&std::fs::read(path).unwrap(), needle).is_some();
    let all = tables(home).into_iter();
    all.filter(|path| is_of_log(path) == of_log && holds(path))
        .collect()
}

fn memchr(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|part| part == needle)
}

/// Replaces bytes in every block of a file, and computes the checksums of the blocks again.
fn edit_blocks(path: &Path, from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut bytes = std::fs::read(path).unwrap();
    let mut edits = 0;
    let mut at = 0;
    while let Some(found) = memchr(&bytes[at..], MAGIC) {
        let begin = at + found;
        at = begin + MAGIC.len();
        let Some(header) = bytes.get(begin..begin + HEADER) else {
            break;
        };
        let length = u32::from_le_bytes(header[21..25].try_into().unwrap()) as usize;
        let sum = header[29..33].to_vec();
        if xxh3_128(&header[..29]).to_le_bytes()[..4] != sum[..] {
            continue;
        }
        let (data, end) = (begin + HEADER, begin + HEADER + length);
        let Some(block) = bytes.get_mut(data..end) else {
            continue;
        };
        let mut is_edited = false;
        while let Some(place) = memchr(block, from) {
            block[place..place + to.len()].copy_from_slice(to);
            is_edited = true;
        }
        if is_edited {
            let of_data = xxh3_128(&bytes[data..end]).to_le_bytes();
            bytes[begin + 5..begin + 21].copy_from_slice(&of_data);
            let of_header = xxh3_128(&bytes[begin..begin + 29]).to_le_bytes();
            bytes[begin + 29..begin + 33].copy_from_slice(&of_header[..4]);
            edits += 1;
        }
    }
    assert!(edits > 0, "{path:?} has no block with it");
    std::fs::write(path, bytes).unwrap();
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(path, bytes).unwrap();
}

impl ServedStore {
    fn new() -> Self {
        let home = home!();
        home.configure(SETTINGS);
        let daemon = home.start();
        daemon.call("create_session", json!({"session": "s"}));
        let step = json!({"session": "s", "tool": "fetch", "result": {"id": VALUE}});
        daemon.call("record_step", step);
        let said =
            json!({"session": "s", "sender": "user", "content": "look at switch-nyc-01 please"});
        daemon.call("record_message", said);
        let large = noise(90_000, &mut Random::new(7));
        let step = json!({"session": "s", "tool": "fetch", "result": large});
        let large = daemon.call("record_step", step)["step"].as_u64().unwrap();
        let context = json!({"large": noise(150_000, &mut Random::new(9))});
        let args = json!({"sessionId": "s", "context": context});
        let saved = daemon.call("workflow_checkpoint_save", args);
        let served = Self {
            checkpoint: saved["checkpointId"].as_str().unwrap().to_owned(),
            large,
            home,
            daemon,
        };
        until("tables", LIMIT, || {
            let of_log = holders(&served.home, VALUE.as_bytes(), true);
            (!of_log.is_empty()).then_some(())
        });
        served
    }

    fn status(&self) -> Value {
        self.daemon.call("status", json!({}))
    }

    /// Waits until a verification of everything has ended after this one.
    fn verified_again(&self, before: &Value) -> Value {
        until("a verification", LIMIT, || {
            let status = self.status();
            (status["verified"] != *before && !status["verified"].is_null()).then_some(status)
        })
    }

    /// Waits until the daemon has looked at the files twice after they were written.
    fn watched(self) -> Self {
        let uptime = |status: &Value| status["uptime"].as_u64().unwrap();
        let begin = uptime(&self.status());
        until("two looks at the files", LIMIT, || {
            let status = self.status();
            (uptime(&status) >= begin + 25).then_some(())
        });
        self
    }
}

/// A row of a view, a record of the log: with the checksums of the engine computed again, the daemon sees that a file was
/// changed, and verifies everything. A view is rebuilt, and an event is refused.
#[test]
fn edited_tables_are_noticed_while_the_daemon_runs() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let served = ServedStore::new().watched();
            let before = served.status()["verified"].clone();
            let edited = holders(&served.home, b"switch-nyc-01", false);
            assert!(!edited.is_empty(), "a view has the entity");
            for path in &edited {
                edit_blocks(path, b"switch-nyc-01", b"switch-nyc-99");
            }
            let status = served.verified_again(&before);
            assert!(
                status["verified"]["findings"].as_u64().unwrap() > 0,
                "{status:#}"
            );
            until("the views are rebuilt", LIMIT, || {
                let found = served.daemon.call("list_entities", json!({"session": "s"}));
                let text = found.to_string();
                (text.contains("switch-nyc-01") && !text.contains("switch-nyc-99")).then_some(())
            });
            served.daemon.verify();
            assert!(
                served
                    .daemon
                    .stop()
                    .stderr
                    .contains("another program has changed the file")
            );
        });
        scope.spawn(|| {
            let served = ServedStore::new().watched();
            let before = served.status()["verified"].clone();
            for path in holders(&served.home, VALUE.as_bytes(), true) {
                edit_blocks(&path, VALUE.as_bytes(), OTHER.as_bytes());
            }
            let status = served.verified_again(&before);
            let warnings = status["warnings"].to_string();
            assert!(warnings.contains("lored verify"), "{status:#}");
            let events = served.daemon.call("read_events", json!({"limit": 100}));
            assert!(!events.to_string().contains(OTHER), "{events:#}");
            let args = json!({"session": "s", "names": ["ID_FROM_STEP_1"]});
            let refused = served.daemon.refusal("resolve_variables", args);
            assert_eq!(refused.code, Code::Corrupt);
            let verified = served.daemon.call("verify_log", json!({}));
            assert_eq!(verified["ok"], false, "{verified:#}");
            served.daemon.stop();
            assert_eq!(served.home.run(&["verify"]).status.code(), Some(1));
        });
        scope.spawn(|| {
            // Without computing checksums: the engine refuses the block, and the next start puts what it can read into a
            // new store.
            let served = ServedStore::new().watched();
            let before = served.daemon.call("read_events", json!({"limit": 100}));
            for path in holders(&served.home, b"switch-nyc-01", false) {
                let mut bytes = std::fs::read(&path).unwrap();
                let at = memchr(&bytes, b"switch-nyc-01").unwrap();
                bytes[at] ^= 1;
                std::fs::write(&path, bytes).unwrap();
            }
            let ServedStore {
                home, mut daemon, ..
            } = served;
            until("the daemon ends to read its files again", LIMIT, || {
                (!daemon.is_running()).then_some(())
            });
            drop(daemon);
            let daemon = home.start();
            assert_eq!(
                daemon.call("read_events", json!({"limit": 100}))["events"],
                before["events"]
            );
            daemon.verify();
        });
        scope.spawn(|| {
            let served = ServedStore::new();
            let found = |served: &ServedStore| {
                let args = json!({"query": "switch-nyc-01", "search_type": "text", "limit": 10});
                until("everything is searched", LIMIT, || {
                    let found = served.daemon.call("search", args.clone());
                    found.get("partial").is_none().then(|| {
                        let hits = found["results"].as_array().unwrap().iter();
                        hits.map(|hit| hit["id"].clone()).collect::<Vec<_>>()
                    })
                })
            };
            let before = found(&served);
            assert!(!before.is_empty());
            let text = served.home.data().join("index/text");
            let segments = || -> Vec<PathBuf> {
                let terms = |path: &PathBuf| path.extension().is_some_and(|end| end == "term");
                files(&text).into_iter().filter(terms).collect()
            };
            until("an index on disk", LIMIT, || {
                (!segments().is_empty()).then_some(())
            });
            let served = served.watched();
            let edited = segments();
            for path in &edited {
                flip(path);
            }
            until("the index is made again", LIMIT, || {
                // A search opens it.
                found(&served);
                let now = segments();
                (!now.is_empty() && edited.iter().all(|path| !now.contains(path))).then_some(())
            });
            assert_eq!(found(&served), before);
        });
    });
}

/// The seal is written again; the key, the watermark, the journal, the cursors and the superblock are in the daemon's
/// memory, so edits of them change nothing that is served, and the next start is whole or says what is wrong.
#[test]
fn edits_of_what_the_daemon_holds_change_nothing() {
    let served = ServedStore::new();
    served
        .daemon
        .call("commit_cursor", json!({"name": "reader", "position": 2}));
    let ServedStore { home, daemon, .. } = served;
    let seal = files(&home.path().join("state/seals"))
        .into_iter()
        .find(|path| path.extension().is_none() && path.file_name().unwrap() != "key")
        .unwrap();
    let journal = files(&home.data().join("store"))
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "jnl"))
        .unwrap();
    let before = daemon.call("read_events", json!({"limit": 100}));
    let whole = std::fs::read(&seal).unwrap();
    for path in [
        seal.clone(),
        home.data().join("head"),
        home.data().join("store/lore-store"),
    ] {
        std::fs::write(&path, b"another program was here").unwrap();
    }
    let mut bytes = std::fs::read(&journal).unwrap();
    let end = bytes.len().min(4096);
    bytes[..end].fill(0x5a);
    std::fs::write(&journal, bytes).unwrap();
    until("the seal is written again", LIMIT, || {
        // Files are looked at while someone reads.
        daemon.call("read_events", json!({"limit": 1}));
        let now = std::fs::read(&seal).unwrap();
        (now.len() == whole.len() && now[..8] == whole[..8]).then_some(())
    });
    assert_eq!(daemon.call("read_events", json!({"limit": 100})), before);
    daemon.call(
        "record_step",
        json!({"session": "s", "tool": "t", "result": "r"}),
    );
    daemon.verify();
    let ended = daemon.stop();
    assert!(ended.stderr.contains("changed the seal"), "{ended}");
    let daemon = home.start();
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], true, "{status:#}");
    daemon.verify();
    // The positions of readers are read once, and a damaged file is refused.
    let cursors = home.data().join("cursors");
    assert!(cursors.is_file());
    std::fs::write(&cursors, b"another program was here").unwrap();
    daemon.call("list_cursors", json!({}));
    daemon.stop();
    let daemon = home.start();
    let refused = daemon.refusal("list_cursors", json!({}));
    assert_eq!(refused.code, Code::Corrupt);
    std::fs::remove_file(&cursors).unwrap();
    daemon.stop();
    // Another key: nothing that is served changes, and the next start refuses writes.
    let daemon = home.start();
    flip(&home.path().join("state/seals/key"));
    daemon.call(
        "record_step",
        json!({"session": "s", "tool": "t", "result": "r"}),
    );
    daemon.stop();
    let daemon = home.start();
    assert_eq!(daemon.call("status", json!({}))["writable"], false);
}

/// Contents in files are compared with their hash when they are read: the result of a step, and the value of a checkpoint.
/// (What becomes of a context file that is edited, `tests/projects` shows: a new version.)
#[test]
fn edited_contents_are_refused_when_they_are_read() {
    let served = ServedStore::new();
    let blobs = files(&served.home.data().join("blobs"));
    assert!(blobs.len() >= 2, "a result and a value");
    for path in &blobs {
        flip(path);
    }
    let large = json!({"session": "s", "step": served.large, "bytes_max": 60_000});
    let load = json!({"checkpointId": served.checkpoint});
    // Until then the daemon may have the contents in its memory.
    let is_refused =
        |daemon: &Daemon, name: &str, args: &Value| match daemon.try_call(name, args.clone()) {
            Ok(_) => false,
            Err(lore::connection::Error::Refused(body)) => {
                assert_eq!(body.code, Code::Corrupt, "{body:?}");
                true
            }
            Err(error) => panic!("{error}"),
        };
    assert!(is_refused(&served.daemon, "get_step", &large));
    let verified = served.daemon.call("verify_log", json!({}));
    assert_eq!(verified["ok"], false, "{verified:#}");
    let ServedStore { home, daemon, .. } = served;
    daemon.stop();
    let daemon = home.start();
    assert!(is_refused(&daemon, "get_step", &large));
    assert!(is_refused(&daemon, "workflow_checkpoint_load", &load));
}
