//! Random edits of a stopped store by a program without the key of the seals: what is served afterwards is the original,
//! or the damage is reported.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use lored::engine::{Fold, Settings};
use lored::log::{
    Hash, INDEX, KEPT, LOG, LoggedEvent, Position, RecordKey, codec, decode_record, encode_record,
    link, payload_hash,
};
use lored::projections::Projections;
use lored::store::watermark::{DurableHead, WatermarkFile};
use lored::store::{Direction, Keyspace, Rows, RowsMut, Store, Transaction};
use serde_json::{Value, json};
use tests::disk::files;
use tests::ledger::{Ledger, record};
use tests::{Daemon, Home, Random, call, home, noise, seed};

use super::inside::{Original, Outcome};

/// Default number of edits; `LORE_EDITS` overrides it.
const EDITS: u64 = 36;
/// Number of edits of one random store.
const EDITS_OF_STORE: u64 = 40;
/// One edit in this many is also shown to a daemon and to the commands.
const SERVED_EVERY: u64 = 12;

/// Paths in a home, with their bytes.
type Files = BTreeMap<PathBuf, Vec<u8>>;
type Row = (Vec<u8>, Vec<u8>);

/// A random store, an older copy of it, and another store.
struct Stores {
    whole: Files,
    older: Files,
    other: Files,
    original: Original,
    /// Where the store was: the seals know its place.
    home: Home,
}

fn read_home(home: &Path) -> Files {
    let folders = ["data", "state"].map(|folder| files(&home.join(folder)));
    let paths = folders.into_iter().flatten();
    paths
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            (path.strip_prefix(home).unwrap().to_path_buf(), bytes)
        })
        // Only a daemon reads them.
        .filter(|(path, _)| !path.starts_with("data/index"))
        .collect()
}

/// Replaces the data and the state of a home.
fn put_home(home: &Path, files: &Files) {
    for folder in ["data", "state"] {
        match std::fs::remove_dir_all(home.join(folder)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            Ok(()) | Err(_) => {}
        }
    }
    write_home(home, files);
}

fn write_home(home: &Path, files: &Files) {
    for (path, bytes) in files {
        let at = home.join(path);
        let mut folders = std::fs::DirBuilder::new();
        let made = folders.recursive(true).mode(0o700);
        made.create(at.parent().unwrap()).unwrap();
        std::fs::write(&at, bytes).unwrap();
        std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// Records random things; steps of the session `w` are in the ledger.
fn live(daemon: &Daemon, random: &mut Random, ledger: &mut Ledger) {
    let mut connection = daemon.connect("w");
    let mut number = ledger.acknowledged.len();
    for _ in 0..random.range(8, 30) {
        match random.range(0, 8) {
            0 => {
                let context =
                    json!({"n": number, "text": noise(random.range(10, 9000) as usize, random)});
                let args = json!({"sessionId": "w", "context": context});
                call(&mut connection, "workflow_checkpoint_save", args).unwrap();
            }
            1 => {
                let args = json!({"session": "w", "sender": "user", "content": format!("ticket T-{number} of switch-nyc-01")});
                call(&mut connection, "record_message", args).unwrap();
            }
            2 => {
                let args = json!({"session": "secret", "tool": "t", "result": noise(50, random)});
                // It may be forgotten.
                let _ = call(&mut connection, "record_step", args);
            }
            _ => {
                let key = format!("step-{number:04}");
                let answer = record(&mut connection, "w", &key).unwrap();
                ledger.acknowledged.insert(key, answer);
                number += 1;
            }
        }
    }
}

impl Stores {
    fn random(random: &mut Random) -> Self {
        let settings = "[engine]\nreserve_bytes = 0\nflush_idle_ms = 100\n";
        let home = home!();
        home.configure(settings);
        let mut ledger = Ledger::default();
        let daemon = home.start();
        for session in ["w", "secret"] {
            daemon.call("create_session", json!({"session": session}));
        }
        live(&daemon, random, &mut ledger);
        // A content in a file of its own.
        let mut connection = daemon.connect("w");
        for number in 0..100 {
            let key = format!("large-{number:04}");
            if tests::ledger::content_of(&key).len() > 66_000 {
                let answer = record(&mut connection, "w", &key).unwrap();
                ledger.acknowledged.insert(key, answer);
                break;
            }
        }
        drop(connection);
        daemon.stop();
        let older = read_home(home.path());
        let daemon = home.start();
        live(&daemon, random, &mut ledger);
        if random.one_in(2) {
            daemon.call("forget_session", json!({"session": "secret"}));
        }
        live(&daemon, random, &mut ledger);
        match random.one_in(2) {
            true => drop(daemon.stop()),
            false => drop(daemon.kill()),
        }
        let whole = read_home(home.path());
        let stranger = home!();
        stranger.configure(settings);
        let daemon = stranger.start();
        daemon.call("create_session", json!({"session": "w"}));
        live(&daemon, random, &mut Ledger::default());
        daemon.stop();
        put_home(home.path(), &whole);
        Self {
            original: Original::of(home.path(), &ledger),
            whole,
            older,
            other: read_home(stranger.path()),
            home,
        }
    }
}

fn keyspaces() -> Vec<Keyspace> {
    let mut all = KEPT.to_vec();
    all.push(INDEX);
    let folded = Projections.keyspaces().iter().copied();
    all.extend(folded.filter(|space| *space != INDEX));
    all
}

/// Opens the store of a home as another program does.
fn store(home: &Path) -> Option<Store> {
    let dir = home.join("data/store");
    let opened = Store::open(&dir, &keyspaces(), &Settings::default().store);
    opened.ok().map(|(store, _)| store)
}

fn rows(store: &Store, space: Keyspace) -> Vec<Row> {
    let mut found = Vec::new();
    let all = [u8::MAX; 9];
    let scanned = store.scan(space, &[], &all, Direction::Forward, &mut |key, value| {
        found.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    });
    scanned.unwrap();
    found
}

fn put(store: &Store, space: Keyspace, before: &[Row], after: &[Row]) {
    let mut tx = Transaction::new(store);
    before.iter().for_each(|(key, _)| tx.remove(space, key));
    after
        .iter()
        .for_each(|(key, value)| tx.put(space, key, value));
    store.commit(&tx.into_changes(), true).unwrap();
    store.sync().unwrap();
}

fn events_of(rows: &[Row]) -> Vec<LoggedEvent> {
    let mut events = Vec::new();
    for (_, record) in rows {
        let slices = decode_record(record).unwrap();
        let decoded = slices.iter().map(|slice| codec::decode_event(slice));
        events.extend(decoded.map(Result::unwrap));
    }
    events
}

fn records_of(events: &[LoggedEvent]) -> Vec<Row> {
    let record = |event: &LoggedEvent| {
        let key = RecordKey(event.position()).to_bytes().to_vec();
        (key, encode_record(std::slice::from_ref(event)))
    };
    events.iter().map(record).collect()
}

/// Computes the whole chain again, and the watermark, as a program without the key can.
fn chain_again(home: &Path, events: &mut [LoggedEvent]) {
    let mut previous = Hash::default();
    for event in events.iter_mut() {
        if let Some(payload) = &event.payload {
            let digest = Hash::of(&payload.body);
            event.payload_hash = payload_hash(&payload.salt, &payload.meta, &digest);
        }
        event.link = link(&previous, &event.header_bytes, &event.payload_hash);
        previous = event.link;
    }
    let id = Store::identify(&home.join("data/store")).unwrap();
    let last = events.last().unwrap();
    let head = DurableHead {
        position: last.position().0,
        link: last.link.0,
    };
    WatermarkFile::create(&home.join("data/head"), id.0, head).unwrap();
}

/// Number of kinds that change files; the others change rows.
const KINDS_OF_FILES: usize = 8;

/// The kinds of edits.
const KINDS: [&str; 18] = [
    "flipped bit",
    "truncated file",
    "removed file",
    "older file",
    "foreign file",
    "older data folder",
    "foreign data folder",
    "zeroed page",
    "swapped records",
    "older record again",
    "record less",
    "record more",
    "other body",
    "other chain",
    "other row",
    "row less",
    "row more",
    "older row",
];

/// Edits the files of a home. Returns what was done.
fn edit_files(kind: &str, stores: &Stores, random: &mut Random) -> (Files, String) {
    let mut edited = stores.whole.clone();
    let paths: Vec<PathBuf> = edited.keys().cloned().collect();
    let path = random.pick(&paths).clone();
    let shown = path.display().to_string();
    let bytes = edited.get_mut(&path).unwrap();
    match kind {
        "flipped bit" if !bytes.is_empty() => {
            let bit = random.range(0, bytes.len() as u64 * 8);
            bytes[bit as usize / 8] ^= 1 << (bit % 8);
        }
        "truncated file" => bytes.truncate(random.range(0, bytes.len() as u64) as usize),
        "removed file" => drop(edited.remove(&path)),
        "zeroed page" if !bytes.is_empty() => {
            let at = random.range(0, bytes.len() as u64) as usize / 512 * 512;
            let end = bytes.len().min(at + 512);
            bytes[at..end].fill(0);
        }
        "older file" | "foreign file" => {
            let from = match kind {
                "older file" => &stores.older,
                _ => &stores.other,
            };
            let of_data = from.iter().filter(|(path, _)| path.starts_with("data"));
            let found: Vec<(&PathBuf, &Vec<u8>)> = of_data.collect();
            let (path, bytes) = *random.pick(&found);
            edited.insert(path.clone(), bytes.clone());
            return (edited, path.display().to_string());
        }
        "older data folder" | "foreign data folder" => {
            let from = match kind {
                "older data folder" => &stores.older,
                _ => &stores.other,
            };
            edited.retain(|path, _| !path.starts_with("data"));
            let data = from.iter().filter(|(path, _)| path.starts_with("data"));
            edited.extend(data.map(|(path, bytes)| (path.clone(), bytes.clone())));
            return (edited, String::new());
        }
        _ => {}
    }
    (edited, shown)
}

/// Edits the rows of the store in a home. Returns what was done.
fn edit_rows(kind: &str, home: &Path, stores: &Stores, random: &mut Random) -> String {
    let Some(store) = store(home) else {
        return "nothing".to_owned();
    };
    let space = match kind {
        "other row" | "row less" | "row more" | "older row" => {
            let folded: Vec<Keyspace> = Projections.keyspaces().to_vec();
            let kept = [folded, vec![lored::log::OBJECTS]].concat();
            *random.pick(&kept)
        }
        _ => LOG,
    };
    let before = rows(&store, space);
    if before.is_empty() {
        return format!("{} is empty", space.name());
    }
    let mut after = before.clone();
    let at = random.range(0, before.len() as u64) as usize;
    let other = random.range(0, before.len() as u64) as usize;
    match kind {
        "swapped records" => {
            let value = after[at].1.clone();
            after[at].1 = std::mem::replace(&mut after[other].1, value);
        }
        "older record again" => {
            let end = events_of(&before).last().unwrap().position().0 + 1;
            after.push((end.to_be_bytes().to_vec(), before[at].1.clone()));
        }
        "record less" | "row less" => drop(after.remove(at)),
        "record more" => {
            let mut events = events_of(&before);
            let at = random.range(0, events.len() as u64) as usize;
            let (mut forged, end) = (events[at].clone(), events.len() as u64 + 1);
            forged.header.position = Position(end);
            events.push(forged);
            chain_again(home, &mut events);
            after = records_of(&events);
        }
        "other body" | "other chain" => {
            let mut events = events_of(&before);
            let at = random.range(0, events.len() as u64) as usize;
            let event = &mut events[at];
            match &mut event.payload {
                Some(payload) if !payload.body.is_empty() => {
                    let byte = random.range(0, payload.body.len() as u64) as usize;
                    payload.body[byte] ^= 1;
                }
                _ => event.key = Some("other".to_owned()),
            }
            if kind == "other chain" {
                chain_again(home, &mut events);
            }
            after = records_of(&events);
        }
        "other row" => match after[at].1.is_empty() {
            true => after[at].1 = vec![7],
            false => {
                let byte = random.range(0, after[at].1.len() as u64) as usize;
                after[at].1[byte] ^= 1 << random.range(0, 8);
            }
        },
        "row more" => {
            let mut key = before[at].0.clone();
            *key.last_mut().unwrap() ^= 1;
            if !after.iter().any(|(known, _)| *known == key) {
                after.push((key, before[other].1.clone()));
            }
        }
        "older row" => {
            let folder = tempfile::tempdir().unwrap();
            write_home(folder.path(), &stores.older);
            let older = rows(&super::edits::store(folder.path()).unwrap(), space);
            let differs = |row: &&Row| !before.contains(row);
            let changed: Vec<&Row> = older.iter().filter(differs).collect();
            if !changed.is_empty() {
                let (key, value) = (*random.pick(&changed)).clone();
                after.retain(|(known, _)| *known != key);
                after.push((key, value));
            }
        }
        other => panic!("no such kind: {other}"),
    }
    put(&store, space, &before, &after);
    format!("row {at} of {}", space.name())
}

/// Damage that is reported has a position or a name, and a command.
#[track_caller]
fn check_message(why: &str) {
    let is_long = why.len() > 20;
    assert!(is_long && why.contains("lored "), "no command in: {why}");
}

/// A random store, a random edit of it, in every kind: after a start, reading everything and a verification, all that is
/// served is the original, or the damage is reported with what to do. `LORE_EDITS` for more.
#[test]
fn random_edits_are_harmless_or_told() {
    let seed = seed();
    let edits = std::env::var("LORE_EDITS").map_or(EDITS, |edits| edits.parse().unwrap());
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let mut stores = Stores::random(&mut random);
    let mut outcomes: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for round in 0..edits {
        if round > 0 && round % EDITS_OF_STORE == 0 {
            stores = Stores::random(&mut random);
        }
        let kind = KINDS[round as usize % KINDS.len()];
        let is_served = round % SERVED_EVERY == SERVED_EVERY - 1;
        let home = stores.home.path();
        let is_of_files = round as usize % KINDS.len() < KINDS_OF_FILES;
        let what = match is_of_files {
            true => {
                let (edited, what) = edit_files(kind, &stores, &mut random);
                put_home(home, &edited);
                what
            }
            false => {
                put_home(home, &stores.whole);
                edit_rows(kind, home, &stores, &mut random)
            }
        };
        println!("seed {seed}, edit {round}: {kind}: {what}");
        let outcome = match is_served {
            true => agree(&stores.home),
            false => match stores.original.examine_edit(home) {
                Outcome::Whole(events) => {
                    assert_eq!(events, stores.original.events(), "events are gone");
                    "whole"
                }
                Outcome::Told(why) => {
                    println!("  told: {why}");
                    // A reply adds the command, as `agree` shows.
                    assert!(why.len() > 20, "{why}");
                    "told"
                }
                Outcome::Refused(why) => {
                    println!("  refused: {why}");
                    check_message(&why);
                    "refused"
                }
            },
        };
        *outcomes.entry((kind, outcome)).or_default() += 1;
    }
    let counts = outcomes.iter();
    let counts = counts.map(|((kind, outcome), number)| format!(", {number} {kind} {outcome}"));
    println!("counted: {edits} edits{}", counts.collect::<String>());
}

/// A daemon and all commands agree whether the store is whole.
fn agree(home: &Home) -> &'static str {
    let daemon = match home.try_start() {
        Ok(daemon) => daemon,
        Err(ended) => {
            let said = ended.stderr.lines().last().unwrap_or_default();
            check_message(said);
            for arguments in [["verify"], ["doctor"]] {
                let output = home.run(&arguments);
                assert_ne!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
            }
            return "refused";
        }
    };
    let verified = match daemon.try_call("verify_log", json!({})) {
        Ok(verified) => verified,
        Err(error) => {
            println!("  told: {error}");
            return "told";
        }
    };
    let is_whole = verified["ok"] == true;
    println!("  verified: {verified}");
    let status = daemon.call("status", json!({}));
    let warnings = status["warnings"].to_string();
    assert_eq!(!warnings.contains("damaged"), is_whole, "{status:#}");
    if !is_whole {
        check_message(&warnings);
    }
    let is_good = |arguments: &[&str]| home.run(arguments).status.code() == Some(0);
    assert_eq!(is_good(&["verify"]), is_whole, "lored verify, served");
    if !is_whole {
        assert!(!is_good(&["doctor"]), "lored doctor, served");
    }
    assert!(!daemon.stop().stderr.contains("panicked"));
    let is_whole_now = is_good(&["verify"]);
    assert!(is_whole_now || !is_whole, "lored verify, not served");
    assert_ne!(verified["ok"], Value::Null);
    match is_whole {
        true => "whole",
        false => "told",
    }
}
