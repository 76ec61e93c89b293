//! One flipped bit anywhere in a store: the next start is correct or reports the damage; nothing is lost silently.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lore::connection::Error;
use lore::protocol::Code;
use serde_json::{Value, json};
use tests::disk::files;
use tests::ledger::{Ledger, content_of, record};
use tests::{Daemon, Home, Random, call, home, seed, serve, until};

use super::adjacent::Adjacent;
use super::inside::{Original, Outcome};

/// Default number of flips of stores that a daemon serves, and of those that are opened in this process; `LORE_FLIPS`
/// and `LORE_OPENED_FLIPS` override them.
const FLIPS: u64 = 30;
const OPENED_FLIPS: u64 = 300;
/// One store in this many that seem intact is also verified.
const VERIFY_EVERY: u64 = 20;
const STEPS: u64 = 90;
/// Keyspaces that have tables: the names of the keyspaces, the log, and views.
const KEYSPACES_MIN: usize = 5;

/// Returns the number of the engine's keyspaces, its own included, that have tables.
fn keyspaces_with_tables(home: &Home) -> usize {
    let files = files(&home.data().join("store")).into_iter();
    let folders = files.map(|path| path.parent().unwrap().to_path_buf());
    let folders: BTreeSet<PathBuf> = folders.filter(|path| path.ends_with("tables")).collect();
    folders.len()
}

/// A stopped store in memory: paths in the data folder and file contents without trailing zeros.
struct StoppedStore {
    files: BTreeMap<PathBuf, (Vec<u8>, u64)>,
    ledger: Ledger,
    adjacent: Adjacent,
}

impl StoppedStore {
    /// Creates a store with tables, a journal with later events, blobs and keys.
    fn make() -> Self {
        let (home, daemon) = serve!("[engine]\nflush_idle_ms = 100\nreserve_bytes = 0\n");
        let mut ledger = Ledger::default();
        let mut connection = daemon.connect("w");
        call(&mut connection, "create_session", json!({"session": "w"})).unwrap();
        for number in 0..STEPS {
            let key = format!("step-{number:04}");
            let answer = record(&mut connection, "w", &key).unwrap();
            ledger.acknowledged.insert(key, answer);
            if number == STEPS * 2 / 3 {
                until("tables", Duration::from_secs(30), || {
                    (keyspaces_with_tables(&home) >= KEYSPACES_MIN).then_some(())
                });
            }
        }
        let keys: Vec<String> = ledger.acknowledged.keys().step_by(20).cloned().collect();
        let adjacent = Adjacent::add(&daemon, &home.data(), &keys);
        daemon.kill();
        let seals = files(&home.path().join("state"));
        let files = files(&home.data())
            .into_iter()
            .chain(seals)
            .map(|path| {
                let mut bytes = std::fs::read(&path).unwrap();
                let length = bytes.len() as u64;
                let end = bytes
                    .iter()
                    .rposition(|byte| *byte != 0)
                    .map_or(0, |at| at + 1);
                bytes.truncate(end);
                let path = path.strip_prefix(home.path()).unwrap().to_path_buf();
                (path, (bytes, length))
            })
            .collect();
        Self {
            files,
            ledger,
            adjacent,
        }
    }

    /// Writes this store to a home, with one bit of one file flipped.
    fn with_flip(&self, flipped: &Path, bit: u64) -> Home {
        let home = home!();
        home.configure("[engine]\nreserve_bytes = 0\n");
        home.make_data();
        self.write(home.path(), flipped, bit);
        home
    }

    fn write(&self, home: &Path, flipped: &Path, bit: u64) {
        for (path, (bytes, length)) in &self.files {
            let at = home.join(path);
            let mut folders = std::fs::DirBuilder::new();
            let made = folders.recursive(true).mode(0o700);
            made.create(at.parent().unwrap()).unwrap();
            let mut bytes = bytes.clone();
            if path == flipped {
                let byte = (bit / 8) as usize;
                bytes.resize(bytes.len().max(byte + 1), 0);
                bytes[byte] ^= 1 << (bit % 8);
            }
            std::fs::write(&at, &bytes).unwrap();
            let file = std::fs::File::options().write(true).open(&at).unwrap();
            file.set_len((*length).max(bytes.len() as u64)).unwrap();
            file.set_permissions(std::fs::Permissions::from_mode(0o600))
                .unwrap();
        }
    }

    /// Picks a bit of a file: mostly within the content, sometimes in the zeros after it.
    fn bit(&self, path: &Path, random: &mut Random) -> u64 {
        let (bytes, length) = &self.files[path];
        let within = match random.one_in(10) {
            true => (*length).min(bytes.len() as u64 + 4096),
            false => bytes.len() as u64,
        };
        random.range(0, within * 8)
    }

    /// Groups files by purpose: each kind is hit equally often, whatever its size.
    fn kinds(&self) -> BTreeMap<&'static str, Vec<&Path>> {
        let mut kinds: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
        for (path, (_, length)) in &self.files {
            let text = path.to_str().unwrap();
            let kind = match text {
                _ if *length == 0 => continue,
                "data/head" => "head",
                "data/lored.lock" => "lock",
                "data/store/lore-store" => "plate",
                "state/seals/key" => "key",
                _ if text.starts_with("state/") => "seal",
                "data/cursors" => "cursors",
                "data/entities.followed" => "followed",
                _ if text.starts_with("data/blobs/") => "blob",
                _ if text.starts_with("data/index/") => "index",
                _ if text.contains("/tables/") => "table",
                _ if text.ends_with(".jnl") => "journal",
                _ => "list",
            };
            kinds.entry(kind).or_default().push(path);
        }
        kinds
    }

    /// Reads every acknowledged step and verifies the log; returns the reported damage, if any.
    fn look(&self, daemon: &Daemon) -> Result<(), DamageReport> {
        let status = ask(daemon, "status", json!({}))?;
        if status["writable"] != true {
            let warnings = status["warnings"].to_string();
            assert!(
                warnings.len() > 10,
                "refuses writes without a word: {status:#}"
            );
            return Err(DamageReport(warnings));
        }
        if let Err(lost) = self.ledger.check(daemon, 1) {
            // A page with a damaged record is refused as a whole: the damage is reported.
            assert!(lost.starts_with("the log: "), "{lost}");
            return Err(DamageReport(lost));
        }
        for (key, answer) in &self.ledger.acknowledged {
            let args = json!({"session": "w", "step": answer.step});
            let step = ask(daemon, "get_step", args)?;
            let result = step["result"].as_str().unwrap_or_default();
            assert!(
                content_of(key).starts_with(result) && !result.is_empty(),
                "{key}: {step}"
            );
        }
        self.adjacent.compare(daemon)?;
        let proof = ask(daemon, "verify_log", json!({}))?;
        if proof["ok"] != true {
            return Err(DamageReport(proof["findings"].to_string()));
        }
        Ok(())
    }
}

/// The daemon's report of damage.
pub struct DamageReport(pub String);

/// Calls an operation; an error that blames the store is a report of damage, any other error fails the test.
pub fn ask(daemon: &Daemon, name: &str, args: Value) -> Result<Value, DamageReport> {
    match daemon.try_call(name, args) {
        Ok(reply) => Ok(reply),
        Err(Error::Refused(body)) => {
            let reports = matches!(body.code, Code::Corrupt | Code::StorageUnavailable);
            assert!(reports, "{name}: {body:?}\n{}", daemon.stderr());
            Err(DamageReport(body.message))
        }
        Err(error) => panic!("{name}: {error}\n{}", daemon.stderr()),
    }
}

/// One bit of a stopped store is flipped repeatedly, in every kind of file. Each start returns every acknowledged
/// step unchanged, or reports the damage. It never loses a step silently, ends without a message, or hangs.
/// `LORE_FLIPS` for more.
#[test]
fn a_flipped_bit_is_harmless_or_told() {
    let seed = seed();
    let flips = std::env::var("LORE_FLIPS").map_or(FLIPS, |flips| flips.parse().unwrap());
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let stopped = StoppedStore::make();
    let kinds = stopped.kinds();
    let names: Vec<&str> = kinds.keys().copied().collect();
    assert_eq!(
        names,
        [
            "blob", "cursors", "followed", "head", "index", "journal", "key", "list", "lock",
            "plate", "seal", "table"
        ],
        "every kind of file is there"
    );
    let mut outcomes: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for round in 0..flips {
        let kind = names[round as usize % names.len()];
        let path = *random.pick(&kinds[kind]);
        let bit = stopped.bit(path, &mut random);
        let what = format!("seed {seed}, flip {round}: bit {bit} of {}", path.display());
        let home = stopped.with_flip(path, bit);
        let outcome = match home.try_start() {
            Ok(mut daemon) => {
                println!("{what}");
                let outcome = match stopped.look(&daemon) {
                    Ok(()) => "whole",
                    Err(DamageReport(said)) => {
                        println!("  told: {}", said.chars().take(150).collect::<String>());
                        "told"
                    }
                };
                assert!(daemon.is_running(), "{what}: it ended");
                outcome
            }
            Err(ended) => {
                let said = ended.stderr.lines().last().unwrap_or_default();
                println!("{what}\n  refused: {said}");
                assert!(
                    !["list", "plate", "table"].contains(&kind),
                    "{what}: what else tables and lists hold can be read"
                );
                assert_eq!(ended.status.code(), Some(3), "{what}: {ended}");
                assert!(
                    said.starts_with("lored: ") && said.len() > 30,
                    "{what}: {ended}"
                );
                "refused"
            }
        };
        *outcomes.entry((kind, outcome)).or_default() += 1;
    }
    report(flips, &outcomes);
}

fn report(flips: u64, outcomes: &BTreeMap<(&str, &str), u32>) {
    let outcomes = outcomes.iter();
    let counts = outcomes.map(|((kind, outcome), number)| format!(", {number} {kind} {outcome}"));
    println!("counted: {flips} bit flips{}", counts.collect::<String>());
}

/// The same for many more bits, in a store that is opened as a daemon opens it. Every event, content and row is the
/// original, byte for byte, or damage is reported; what can be read is the original then, too. `LORE_OPENED_FLIPS` for
/// more.
#[test]
fn a_flipped_bit_in_an_opened_store() {
    let seed = seed();
    let flips = std::env::var("LORE_OPENED_FLIPS").map_or(OPENED_FLIPS, |all| all.parse().unwrap());
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let stopped = StoppedStore::make();
    let folder = tempfile::tempdir().unwrap();
    let write = |flipped: &Path, bit| {
        let home = folder.path().join("home");
        if home.exists() {
            std::fs::remove_dir_all(&home).unwrap();
        }
        stopped.write(&home, flipped, bit);
        home
    };
    let original = Original::of(&write(Path::new(""), 0), &stopped.ledger);
    let mut kinds = stopped.kinds();
    // Only a daemon reads these.
    for kind in ["cursors", "followed", "index", "lock"] {
        kinds.remove(kind);
    }
    let names: Vec<&str> = kinds.keys().copied().collect();
    let mut outcomes: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for round in 0..flips {
        let kind = names[round as usize % names.len()];
        let path = *random.pick(&kinds[kind]);
        let bit = stopped.bit(path, &mut random);
        println!("seed {seed}, flip {round}: bit {bit} of {}", path.display());
        // What only checkpoints name is read by a verification.
        let is_verified = round % VERIFY_EVERY == 0 || kind == "blob";
        let outcome = match original.examine(&write(path, bit), is_verified) {
            Outcome::Whole(events) => {
                assert_eq!(events, original.events(), "events are gone");
                "whole"
            }
            Outcome::Told(why) => {
                println!("  told: {why}");
                "told"
            }
            Outcome::Refused(why) => {
                println!("  refused: {why}");
                assert!(!["list", "plate", "table"].contains(&kind), "{why}");
                "refused"
            }
        };
        *outcomes.entry((kind, outcome)).or_default() += 1;
    }
    report(flips, &outcomes);
}
