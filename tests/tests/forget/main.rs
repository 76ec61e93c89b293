//! Forgetting a session: none of its bytes stay on disk, other sessions are unchanged, the log still verifies, and
//! a kill at any moment leaves the session complete or gone.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod by_hand;
mod outside;
mod parts;
mod redaction;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lore::connection::Error;
use lored::engine::Fold;
use lored::log::objects::{self, ObjectLocation, Row};
use lored::log::{Hash, KEPT};
use lored::projections::Projections;
use lored::store::{Direction, Keyspace, Limits, Rows, Store};
use serde_json::{Value, json};
use tests::{Daemon, Home, Random, disk, has_words, home, seed, serve, until};

const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Upper limit for the completion of an erasure.
const ERASED_MAX: Duration = Duration::from_secs(300);

/// Returns a text that compresses too little to hide a part of it.
fn words(bytes: usize, random: &mut Random) -> String {
    let digit = |bits: u64| char::from(DIGITS[(bits % 62) as usize]);
    (0..bytes).map(|_| digit(random.bits())).collect()
}

/// Returns the names of the needles found in any file below a folder.
fn found<'n>(folder: &Path, needles: &'n BTreeMap<String, Vec<u8>>) -> Vec<&'n str> {
    // A table may be merged into another one after the files were listed: they are listed again then.
    let all = || -> Option<Vec<Vec<u8>>> {
        let files = disk::files(folder).into_iter();
        files.map(|file| std::fs::read(file).ok()).collect()
    };
    let contents = std::iter::repeat_with(all).flatten().next().unwrap();
    let is_in = |needle: &[u8], content: &[u8]| {
        let first = needle[0];
        let mut from = 0;
        while let Some(at) = content[from..].iter().position(|byte| *byte == first) {
            if content[from + at..].starts_with(needle) {
                return true;
            }
            from += at + 1;
        }
        false
    };
    let is_there = |needle: &Vec<u8>| contents.iter().any(|content| is_in(needle, content));
    let named = needles.iter().filter(|(_, needle)| is_there(needle));
    named.map(|(name, _)| name.as_str()).collect()
}

/// Opens the store of a home without a daemon.
fn open(home: &Home) -> Store {
    let spaces: Vec<Keyspace> = KEPT
        .iter()
        .chain(Projections.keyspaces())
        .copied()
        .collect();
    let (store, _) = Store::open(&home.data().join("store"), &spaces, &Limits::default()).unwrap();
    store
}

/// Returns the compressed bytes of every object, by its hash.
fn objects_of(home: &Home) -> BTreeMap<String, Vec<u8>> {
    let store = open(home);
    let blobs = lored::store::Blobs::open(&home.data().join("blobs")).unwrap();
    let mut packed = BTreeMap::new();
    let mut add = |object: Hash| {
        let bytes = match objects::get(&store, &object)?.unwrap().place {
            ObjectLocation::Inline(bytes) => bytes,
            ObjectLocation::Blob(blob) => blobs.get(&blob)?,
        };
        packed.insert(object.to_string(), bytes);
        Ok(())
    };
    objects::walk(&store, &mut |row| match row {
        Row::Object(object) => add(object),
        Row::Blob { .. } => Ok(()),
    })
    .unwrap();
    packed
}

/// Returns every uncompressed row of a store's keyspaces, concatenated.
fn rows_of(home: &Home) -> Vec<u8> {
    let store = open(home);
    let mut all = Vec::new();
    for space in KEPT.iter().chain(Projections.keyspaces()) {
        let mut add = |key: &[u8], value: &lored::store::Bytes| {
            all.extend(key);
            all.extend(value.iter());
            Ok(ControlFlow::Continue(()))
        };
        let end = [u8::MAX; 9];
        store
            .scan(*space, &[], &end, Direction::Forward, &mut add)
            .unwrap();
    }
    all
}

fn save(daemon: &Daemon, session: &str, context: Value, metadata: Value) -> String {
    let args = json!({"sessionId": session, "context": context, "metadata": metadata});
    let reply = daemon.call("workflow_checkpoint_save", args);
    reply["checkpointId"].as_str().unwrap().to_owned()
}

fn context_of(daemon: &Daemon, checkpoint: &str) -> Value {
    let reply = daemon.call(
        "workflow_checkpoint_load",
        json!({"checkpointId": checkpoint}),
    );
    reply["context"].clone()
}

fn events_of(daemon: &Daemon, session: &str) -> Vec<Value> {
    let mut events = Vec::new();
    let mut from = json!(1);
    loop {
        let args = json!({"session": session, "limit": 1000, "from": from});
        let page = daemon.call("read_events", args);
        events.extend(page["events"].as_array().unwrap().iter().cloned());
        match page.get("next") {
            Some(next) => from = next.clone(),
            None => return events,
        }
    }
}

/// Whether all forgotten data is erased from disk, according to the daemon.
fn is_erased(daemon: &Daemon) -> bool {
    let status = daemon.call("status", json!({}));
    let warnings = status["warnings"].as_array().into_iter().flatten();
    !warnings
        .into_iter()
        .any(|warning| warning.as_str().unwrap().contains("being erased"))
}

/// Content of a session that must become unfindable: a text in each possible place.
struct Secret {
    texts: BTreeMap<String, Vec<u8>>,
    /// A text that another session contains, too.
    shared: String,
    random: Random,
}

impl Secret {
    fn new(random: &mut Random) -> Self {
        Self {
            texts: BTreeMap::new(),
            shared: words(90_000, random),
            random: Random::new(random.bits()),
        }
    }

    /// Returns a text of this size and remembers a part of its middle as a needle.
    fn text(&mut self, place: &str, bytes: usize) -> String {
        let text = words(bytes, &mut self.random);
        let at = bytes / 2 - 10;
        let part = text.as_bytes()[at..at + 20].to_vec();
        self.texts.insert(place.to_owned(), part);
        text
    }

    /// Records all texts in a session.
    fn record(&mut self, daemon: &Daemon, session: &str) -> Vec<String> {
        daemon.call(
            "create_session",
            json!({
                "session": session, "title": self.text("title", 40), "user": self.text("user", 40),
                "tags": [self.text("tag", 40)], "preferences": {"of": self.text("preference", 40)},
            }),
        );
        let large = self.text("blob", 100_000);
        for (place, result) in [("step", self.text("result", 40)), ("large step", large)] {
            daemon.call(
                "record_step",
                json!({
                    "session": session, "tool": self.text(&format!("tool of the {place}"), 40),
                    "parameters": {"of": self.text(&format!("parameter of the {place}"), 40)},
                    "result": result, "key": self.text(&format!("key of the {place}"), 40),
                }),
            );
        }
        let shared = self.shared.clone();
        let step = json!({"session": session, "tool": "t", "result": shared});
        daemon.call("record_step", step);
        daemon.call(
            "register_extractor",
            json!({
                "session": session, "scope": "session", "name": "mine",
                "pattern": self.text("pattern", 40),
            }),
        );
        let marked = self.text("marked key", 40);
        let mark = json!({"sessionId": session, "contextKey": marked});
        daemon.call("workflow_mark_critical", mark);
        let notes = self.text("value", 9_000);
        let mut saved = Vec::new();
        for number in 0..3 {
            let file = self.text(&format!("large value {number}"), 150_000);
            let changed = format!("{}{}{notes}", words(300, &mut self.random), number);
            let name = self.text(&format!("name {number}"), 40);
            let context = json!({
                "notes": changed, "file": file, "shared": shared, marked.as_str(): "kept",
            });
            saved.push(save(daemon, session, context, json!({"name": name})));
        }
        saved
    }
}

/// Texts in every possible place of a session are on disk before and not after: not in a table, a journal, a blob,
/// the record of reads, or a copy of a damaged journal. This holds at the reply, after a restart, and in every row.
/// Another session with some of the same texts keeps every event and context, and the log verifies.
#[test]
fn no_byte_is_left_on_the_disk() {
    let mut random = Random::new(seed());
    let home = home!();
    let mut secret = Secret::new(&mut random);
    let daemon = home.start();
    let checkpoints = secret.record(&daemon, "secret");
    daemon.call("create_session", json!({"session": "other"}));
    let step = json!({"session": "other", "tool": "t", "result": secret.shared});
    daemon.call("record_step", step.clone());
    let of_secret = context_of(&daemon, &checkpoints[1]);
    let theirs = json!({"shared": secret.shared, "notes": of_secret["notes"], "own": "o"});
    let other = save(&daemon, "other", theirs.clone(), json!({}));
    let before = events_of(&daemon, "other");
    daemon.stop();

    let objects = objects_of(&home);
    let copy = home.data().join("damaged").join("1769860800-0");
    std::fs::create_dir_all(&copy).unwrap();
    let copied = secret.text("journal copy", 40);
    std::fs::write(copy.join("0.jnl"), copied).unwrap();
    std::fs::write(copy.join("report.json"), "{}").unwrap();
    std::fs::write(copy.join("accepted"), "").unwrap();
    let names: Vec<&str> = secret.texts.keys().map(String::as_str).collect();
    // Values of contexts are compressed: their bytes are searched as objects.
    let is_packed = |name: &str| name.contains("value");
    let plain: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !is_packed(name))
        .collect();
    let seen = found(&home.data(), &secret.texts);
    let unseen: Vec<&&str> = plain.iter().filter(|name| !seen.contains(name)).collect();
    assert!(unseen.is_empty(), "could not be found before: {unseen:?}");

    let daemon = home.start();
    let foreseen = daemon.call(
        "forget_session",
        json!({"session": "secret", "dry_run": true}),
    );
    let reported = daemon.call("forget_session", json!({"session": "secret", "key": "f"}));
    assert_eq!(found(&home.data(), &secret.texts), [""; 0]);
    assert_eq!(reported["events"], foreseen["events"]);
    assert_eq!(reported["bytes"], foreseen["bytes"]);
    assert!(reported["bytes"].as_u64().unwrap() > 400_000, "{reported}");
    has_words(&reported["warnings"][0], &["damaged"]);
    assert!(copy.join("report.json").exists() && !copy.join("0.jnl").exists());
    check_others(&daemon, &before, &other, &theirs);
    check_gone(&daemon, &reported, &checkpoints);
    daemon.stop();

    let rows = rows_of(&home);
    for (name, text) in &secret.texts {
        let is_there = rows.windows(text.len()).any(|part| part == text);
        assert!(!is_there, "{name} is in a row");
    }
    let left = objects_of(&home);
    let gone = objects
        .into_iter()
        .filter(|(hash, _)| !left.contains_key(hash));
    let parts: BTreeMap<String, Vec<u8>> = gone
        .map(|(hash, packed)| (hash, packed[packed.len() / 2..][..16].to_vec()))
        .collect();
    assert!(parts.len() >= 5, "{} objects went", parts.len());
    assert_eq!(found(&home.data(), &parts), [""; 0]);
    let daemon = home.start();
    check_others(&daemon, &before, &other, &theirs);
    check_gone(&daemon, &reported, &checkpoints);
    daemon.call("forget_session", json!({"session": "other"}));
    let status = daemon.call("status", json!({}));
    assert_eq!(status["counts"]["sessions"], 0, "{status}");
    assert_eq!(status["counts"]["checkpoints"], 0, "{status}");
    assert_eq!(
        disk::files(&home.data().join("blobs")),
        [""; 0].map(Into::into) as [std::path::PathBuf; 0]
    );
    daemon.verify();
}

/// Checks that the other session is unchanged: its events literally, its context by value.
fn check_others(daemon: &Daemon, before: &[Value], checkpoint: &str, context: &Value) {
    assert_eq!(events_of(daemon, "other"), before);
    assert_eq!(context_of(daemon, checkpoint), *context);
    let step = daemon.call("get_step", json!({"session": "other", "step": 1}));
    assert_eq!(step["result"].as_str().unwrap().len(), 90_000);
}

/// Checks that the session is reported as forgotten everywhere, that its events are empty, and that the log names
/// their positions.
fn check_gone(daemon: &Daemon, reported: &Value, checkpoints: &[String]) {
    let is_told = |name: &str, args: Value| {
        let refusal = daemon.refusal(name, args);
        assert_eq!(refusal.code.as_str(), "SESSION_NOT_FOUND", "{name}");
        assert!(
            refusal.message.contains("was forgotten on 2"),
            "{}",
            refusal.message
        );
    };
    let session = json!({"session": "secret"});
    is_told("get_step", json!({"session": "secret", "step": 1}));
    is_told(
        "get_step",
        json!({"session": "secret", "step": 1, "as_of": 2}),
    );
    is_told("list_steps", session.clone());
    is_told(
        "record_step",
        json!({"session": "secret", "tool": "t", "result": 1}),
    );
    is_told("workflow_checkpoint_list", json!({"sessionId": "secret"}));
    is_told("workflow_checkpoint_load", json!({"sessionId": "secret"}));
    is_told(
        "workflow_mark_critical",
        json!({"sessionId": "secret", "contextKey": "k"}),
    );
    is_told("forget_session", session.clone());
    is_told(
        "forget_session",
        json!({"session": "secret", "dry_run": true}),
    );
    assert_eq!(
        daemon.refusal("create_session", session).code.as_str(),
        "CONFLICT"
    );
    for checkpoint in checkpoints {
        let refusal = daemon.refusal(
            "workflow_checkpoint_load",
            json!({"checkpointId": checkpoint}),
        );
        assert_eq!(refusal.code.as_str(), "CHECKPOINT_NOT_FOUND");
    }
    let again = json!({"session": "secret", "key": "f"});
    let again = daemon.call("forget_session", again);
    assert_eq!(again["position"], reported["position"]);
    assert_eq!(again["bytes"], reported["bytes"]);
    let events = events_of(daemon, "secret");
    let is_of_forgetting = |event: &&Value| {
        ["SessionForgotten", "SessionErased"]
            .map(Value::from)
            .contains(&event["kind"])
    };
    let (kept, said): (Vec<&Value>, Vec<&Value>) = events.iter().partition(is_of_forgetting);
    assert_eq!(kept.len(), 2);
    assert!(
        said.iter()
            .all(|event| event["payload"].is_null() && event["key"].is_null())
    );
    let log = daemon.call("verify_log", json!({}));
    assert_eq!(log["ok"], true, "{log:#}");
    assert_eq!(log["forgotten"], reported["events"]);
    let at = &log["sessions_forgotten"][0];
    assert_eq!(at["session"], "secret");
    assert_eq!(at["position"], reported["position"]);
    assert_eq!(at["is_erased"], true);
    assert!(is_erased(daemon));
}

/// Agents record into a session while it is forgotten, and into others. Each write is either counted and erased or
/// refused as forgotten, and all other sessions are complete.
#[test]
fn a_session_that_is_written_to_is_forgotten() {
    let (_home, daemon) = serve!();
    for session in ["gone", "other"] {
        daemon.call("create_session", json!({ "session": session }));
    }
    let written = AtomicU64::new(0);
    let others = AtomicU64::new(0);
    let is_over = AtomicU64::new(0);
    let reported = std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut connection = daemon.connect("writer");
                let step = json!({"session": "gone", "tool": "t", "result": "r"});
                loop {
                    match tests::call(&mut connection, "record_step", step.clone()) {
                        Ok(_) => written.fetch_add(1, Ordering::Relaxed),
                        Err(Error::Refused(body)) => {
                            assert_eq!(body.code.as_str(), "SESSION_NOT_FOUND");
                            break;
                        }
                        Err(error) => panic!("{error}"),
                    };
                }
            });
        }
        scope.spawn(|| {
            let mut connection = daemon.connect("other");
            while is_over.load(Ordering::Relaxed) == 0 {
                let step = json!({"session": "other", "tool": "t", "result": "r"});
                tests::call(&mut connection, "record_step", step).unwrap();
                others.fetch_add(1, Ordering::Relaxed);
            }
        });
        until("some steps", Duration::from_secs(60), || {
            (written.load(Ordering::Relaxed) > 30).then_some(())
        });
        let reported = daemon.call("forget_session", json!({"session": "gone"}));
        is_over.store(1, Ordering::Relaxed);
        reported
    });
    // The steps, and the event that created the session.
    assert_eq!(reported["events"], written.into_inner() + 1);
    assert_eq!(reported.get("warnings"), None, "{reported}");
    assert_eq!(
        events_of(&daemon, "gone").len() as u64,
        reported["events"].as_u64().unwrap() + 2
    );
    let counts = daemon.call("status", json!({}))["counts"].clone();
    assert_eq!(counts["sessions"], 1);
    assert_eq!(counts["steps"], json!(others.into_inner()));
    daemon.verify();
}

/// A session that is forgotten while the daemon is killed.
struct ForgottenSession {
    session: String,
    secret: Secret,
    checkpoint: String,
    steps: usize,
}

impl ForgottenSession {
    fn new(daemon: &Daemon, number: u64, random: &mut Random) -> Self {
        let session = format!("doomed-{number}");
        let mut secret = Secret::new(random);
        let checkpoint = secret.record(daemon, &session)[0].clone();
        let steps = random.range(0, 160) as usize;
        let mut connection = daemon.connect("");
        for _ in 0..steps {
            let result = words(random.range(100, 20_000) as usize, random);
            let step = json!({"session": session, "tool": "t", "result": result});
            tests::call(&mut connection, "record_step", step).unwrap();
        }
        Self {
            session,
            secret,
            checkpoint,
            steps: steps + 3,
        }
    }

    /// Whether it is forgotten; it must be complete or entirely gone.
    fn is_gone(&self, daemon: &Daemon) -> bool {
        let steps = json!({"session": self.session, "limit": 1000});
        let load = json!({"checkpointId": self.checkpoint});
        let loaded = daemon.try_call("workflow_checkpoint_load", load);
        let events = events_of(daemon, &self.session);
        let silent = events
            .iter()
            .filter(|event| event["payload"].is_null())
            .count();
        match daemon.try_call("list_steps", steps) {
            Ok(listed) => {
                assert_eq!(listed["steps"].as_array().unwrap().len(), self.steps);
                assert_eq!(loaded.unwrap()["sessionId"], self.session);
                assert_eq!(silent, 0);
                false
            }
            Err(Error::Refused(body)) => {
                assert!(body.message.contains("was forgotten"), "{}", body.message);
                assert!(loaded.is_err());
                let of_forgetting = events.len() - silent;
                assert!(
                    (1..=2).contains(&of_forgetting),
                    "{of_forgetting} say something"
                );
                true
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// The daemon is killed repeatedly while sessions are forgotten and others are written. After each start a session
/// is complete or gone, and gone if that was acknowledged. Forgotten data leaves the disk without another request,
/// and the store verifies. `LORE_CRASH_CYCLES` for more.
#[test]
fn a_kill_leaves_it_there_or_gone() {
    let cycles: u64 = std::env::var("LORE_CRASH_CYCLES")
        .map_or(5, |cycles| cycles.parse().expect("a number of cycles"));
    let seed = seed();
    println!("seed {seed}, {cycles} cycles");
    let mut random = Random::new(seed);
    let home = home!();
    home.configure("[engine]\nmemtable_bytes_max = 1048576\n");
    let (mut finished, mut cut_off, mut untouched) = (0, 0, 0);
    for number in 0..cycles {
        let daemon = home.start();
        let to_delete = ForgottenSession::new(&daemon, number, &mut random);
        // Half of the kills come during the decision, half during the erasure.
        let most = if random.one_in(2) { 10 } else { 100 };
        let wanted = random.range(0, most);
        let done = AtomicU64::new(0);
        let acknowledged = std::thread::scope(|scope| {
            let forgetting = scope.spawn(|| {
                let args = json!({"session": to_delete.session});
                daemon.try_call("forget_session", args).is_ok()
            });
            let writing = scope.spawn(|| {
                let Ok(mut connection) = daemon.try_connect("other") else {
                    return;
                };
                let step = json!({"tool": "t", "result": "of another"});
                while tests::call(&mut connection, "record_step", step.clone()).is_ok() {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
            until("steps of another", ERASED_MAX, || {
                (done.load(Ordering::Relaxed) >= wanted || writing.is_finished()).then_some(())
            });
            daemon.signal(rustix::process::Signal::KILL);
            forgetting.join().unwrap()
        });
        daemon.wait();
        let daemon = home.start();
        let is_gone = to_delete.is_gone(&daemon);
        assert!(is_gone || !acknowledged, "acknowledged and there");
        match (is_gone, acknowledged) {
            (true, true) => finished += 1,
            (true, false) => cut_off += 1,
            (false, _) => untouched += 1,
        }
        daemon.verify();
        if is_gone {
            until("what is gone to leave the disk", ERASED_MAX, || {
                is_erased(&daemon).then_some(())
            });
            assert_eq!(found(&home.data(), &to_delete.secret.texts), [""; 0]);
            assert!(to_delete.is_gone(&daemon));
            daemon.verify();
        }
        daemon.stop();
    }
    println!("{finished} acknowledged, {cut_off} gone without, {untouched} still there");
}
