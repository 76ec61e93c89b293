//! Nothing acknowledged is lost silently: whatever happens to its files, a store is complete or reported.

use super::*;
use crate::store::journal::sample::{self, Random, State};
use std::collections::BTreeSet;

mod flips;

/// A closed store of [`sample::log_store`], to be copied and damaged: record N holds positions 2N-1 and 2N.
struct Fixture {
    folder: tempfile::TempDir,
    /// The store's content before the first and after each batch.
    states: Vec<State>,
    /// Start of each batch, and the end of the last.
    bounds: Vec<u64>,
}

/// A damaged copy of a store.
struct DamagedStore {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new(batches: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        sample::log_store(&store, batches, 60);
        let mut bounds = vec![0];
        JournalScan::read(&store, |_, batch, _| {
            if bounds.last() != Some(&batch.range.end) {
                bounds.push(batch.range.end);
            }
        })
        .unwrap();
        sample::truncate(&store.join("0.jnl"), *bounds.last().unwrap());
        let fixture = Self {
            folder,
            states: Vec::new(),
            bounds,
        };
        let states = (0..=batches as usize)
            .map(|n| fixture.state_at(fixture.bounds[n]))
            .collect();
        Self { states, ..fixture }
    }

    fn state_at(&self, len: u64) -> State {
        let damaged_store = self.damaged_store();
        sample::truncate(&damaged_store.journal(), len);
        let db = sample::open(&damaged_store.store()).unwrap();
        sample::state(&db).unwrap()
    }

    fn damaged_store(&self) -> DamagedStore {
        let folder = tempfile::tempdir().unwrap();
        sample::copy(
            &self.folder.path().join("store"),
            &folder.path().join("store"),
        );
        DamagedStore { folder }
    }

    fn len(&self) -> u64 {
        *self.bounds.last().unwrap()
    }

    /// Returns the last position of the log.
    fn watermark(&self) -> u64 {
        2 * (self.states.len() as u64 - 1)
    }
}

impl DamagedStore {
    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn journal(&self) -> PathBuf {
        self.store().join("0.jnl")
    }

    fn damaged(&self) -> PathBuf {
        self.folder.path().join("damaged")
    }

    fn scan(&self, head: Option<u64>) -> Result<RecoveryScan, Error> {
        let site = RecoveryPaths {
            store: &self.store(),
            damaged: &self.damaged(),
            unix_seconds: 1_800_000_000,
        };
        scan(&site, head, sample::positions)
    }

    /// Scans, opens and settles, like a start.
    fn start(&self, head: Option<u64>) -> Result<(State, RecoveryReport), String> {
        let look = self.scan(head).map_err(|error| error.to_string())?;
        let db = sample::open(&self.store()).map_err(|error| error.to_string())?;
        let state = sample::state(&db).map_err(|error| error.to_string())?;
        let recovery_report = look
            .finish(&db, last_in(&state))
            .map_err(|error| error.to_string())?;
        Ok((state, recovery_report))
    }

    fn copies(&self) -> BTreeSet<String> {
        let Ok(entries) = std::fs::read_dir(self.damaged()) else {
            return BTreeSet::new();
        };
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}

/// Creates a store with two tables of the log, one of a view, and one record only in the journal.
fn flushed() -> (DamagedStore, State) {
    let damaged_store = DamagedStore {
        folder: tempfile::tempdir().unwrap(),
    };
    sample::log_store(&damaged_store.store(), 5, 60);
    {
        let db = sample::open(&damaged_store.store()).unwrap();
        let (log, view) = (sample::keyspace(&db, "log"), sample::keyspace(&db, "view"));
        view.rotate_memtable_and_wait().unwrap();
        log.rotate_memtable_and_wait().unwrap();
        log.insert(11_u64.to_be_bytes(), "second table").unwrap();
        log.rotate_memtable_and_wait().unwrap();
        log.insert(13_u64.to_be_bytes(), "in the journal alone")
            .unwrap();
    }
    let (whole, recovery_report) = damaged_store.start(Some(14)).unwrap();
    assert_eq!(recovery_report, RecoveryReport::Clean);
    (damaged_store, whole)
}

fn last_in(state: &State) -> u64 {
    let last = state.get("log").and_then(|log| log.last_key_value());
    last.map_or(0, |(key, _)| {
        u64::from_be_bytes(key.as_slice().try_into().unwrap()) + 1
    })
}

fn causes(recovery_report: &RecoveryReport) -> Vec<LossCause> {
    match recovery_report {
        RecoveryReport::Damage(found) => found.iter().map(|damage| damage.cause).collect(),
        RecoveryReport::Clean | RecoveryReport::TornTail(_) => Vec::new(),
    }
}

/// If the last batch is not acknowledged and is cut at any byte, it is removed. The store opens with exactly the
/// previous batches, without any copy, and the next scan finds nothing.
#[test]
fn a_torn_tail_beyond_the_head_is_cut() {
    let fixture = Fixture::new(4);
    let head = Some(fixture.watermark() - 2);
    for cut in fixture.bounds[3]..fixture.len() {
        let damaged_store = fixture.damaged_store();
        sample::truncate(&damaged_store.journal(), cut);
        if cut % 2 == 0 {
            sample::truncate(&damaged_store.journal(), cut + 5000);
        }
        let (state, recovery_report) = damaged_store.start(head).unwrap();
        assert_eq!(state, fixture.states[3], "cut {cut}");
        assert_eq!(
            matches!(recovery_report, RecoveryReport::TornTail(_)),
            cut > fixture.bounds[3],
            "cut {cut}"
        );
        assert!(damaged_store.copies().is_empty());
        let (state, recovery_report) = damaged_store.start(head).unwrap();
        assert_eq!(
            (state, recovery_report),
            (fixture.states[3].clone(), RecoveryReport::Clean),
            "cut {cut}"
        );
    }
}

/// A half-written value in the last batch makes fjall refuse to open; after the scan it opens.
#[test]
fn what_fjall_refuses_opens_after_the_cut() {
    let fixture = Fixture::new(4);
    let damaged_store = fixture.damaged_store();
    sample::flip(&damaged_store.journal(), (fixture.bounds[3] + 60) * 8);
    let refused = fixture.damaged_store();
    sample::flip(&refused.journal(), (fixture.bounds[3] + 60) * 8);
    assert!(sample::open(&refused.store()).is_err());
    let (state, recovery_report) = damaged_store.start(Some(fixture.watermark() - 2)).unwrap();
    assert_eq!(state, fixture.states[3]);
    assert!(matches!(recovery_report, RecoveryReport::TornTail(_)));
}

/// If that last batch was acknowledged, this start and the next ones report damage, with a copy of the whole
/// journal. This lasts until the damage is accepted and the watermark is set to the existing log.
#[test]
fn a_torn_tail_before_the_head_is_damage() {
    let fixture = Fixture::new(4);
    for cut in [
        fixture.bounds[3] + 1,
        fixture.bounds[3] + 80,
        fixture.len() - 1,
    ] {
        let damaged_store = fixture.damaged_store();
        sample::truncate(&damaged_store.journal(), cut);
        let before = std::fs::read(damaged_store.journal()).unwrap();
        let (state, recovery_report) = damaged_store.start(Some(fixture.watermark())).unwrap();
        assert_eq!(state, fixture.states[3]);
        let RecoveryReport::Damage(found) = &recovery_report else {
            panic!("cut {cut}")
        };
        assert_eq!(found[0].cause, LossCause::BeforeHead);
        assert_eq!(
            (found[0].cuts[0].offset, found[0].cuts[0].lost_to),
            (fixture.bounds[3], cut)
        );
        assert_eq!(
            found[0].positions_kept,
            Some(Positions {
                first: 1,
                last: fixture.watermark() - 2
            })
        );
        let copy = found[0].folder.as_ref().unwrap().join("0.jnl");
        assert_eq!(std::fs::read(copy).unwrap(), before);
        assert_eq!(
            damaged_store.start(Some(fixture.watermark())).unwrap(),
            (state.clone(), recovery_report)
        );
        assert_eq!(damaged_store.copies().len(), 1, "one copy a finding");
        accept(&damaged_store.damaged()).unwrap();
        assert_eq!(
            damaged_store.start(Some(fixture.watermark() - 2)).unwrap(),
            (state, RecoveryReport::Clean)
        );
        assert_eq!(damaged_store.copies().len(), 1, "accepting deletes nothing");
    }
}

/// Without a watermark, losses are unknown, so the torn tail is cut and copied.
#[test]
fn a_torn_tail_without_a_head_is_kept() {
    let fixture = Fixture::new(4);
    let damaged_store = fixture.damaged_store();
    sample::truncate(&damaged_store.journal(), fixture.len() - 1);
    let (state, recovery_report) = damaged_store.start(None).unwrap();
    assert!(state == fixture.states[3] && matches!(recovery_report, RecoveryReport::TornTail(_)));
    assert_eq!(damaged_store.copies().len(), 1);
    assert_eq!(damaged_store.start(None).unwrap().1, RecoveryReport::Clean);
}

/// A bad batch followed by good ones is cut there and copied, and reported at each start until it is accepted.
#[test]
fn damage_in_the_middle_is_kept_and_remembered() {
    let fixture = Fixture::new(10);
    let damaged_store = fixture.damaged_store();
    sample::flip(&damaged_store.journal(), (fixture.bounds[5] + 50) * 8);
    let before = std::fs::read(damaged_store.journal()).unwrap();
    let first = damaged_store.start(Some(fixture.watermark())).unwrap();
    assert_eq!(first.0, fixture.states[5]);
    let RecoveryReport::Damage(found) = &first.1 else {
        panic!()
    };
    assert_eq!(causes(&first.1)[0], LossCause::Middle);
    assert_eq!(found[0].cuts[0].good_batches_after, 4);
    assert_eq!(
        found[0].positions_behind,
        Some(Positions {
            first: 13,
            last: 20
        })
    );
    let copy = found[0].folder.as_ref().unwrap().join("0.jnl");
    assert_eq!(std::fs::read(&copy).unwrap(), before);
    assert_eq!(
        std::fs::metadata(damaged_store.journal()).unwrap().len(),
        fixture.bounds[5]
    );
    assert_eq!(
        damaged_store.start(Some(fixture.watermark())).unwrap().0,
        first.0
    );
    assert_eq!(
        causes(&damaged_store.start(Some(fixture.watermark())).unwrap().1)[0],
        LossCause::Middle
    );
    assert_eq!(
        causes(&damaged_store.start(Some(0)).unwrap().1),
        [LossCause::Middle],
        "whatever the head says later"
    );
    accept(&damaged_store.damaged()).unwrap();
    assert_eq!(
        damaged_store.start(Some(10)).unwrap().1,
        RecoveryReport::Clean
    );
    // The cut content can be restored, because the copy is the original journal.
    sample::flip(&copy, (fixture.bounds[5] + 50) * 8);
    std::fs::copy(&copy, damaged_store.journal()).unwrap();
    assert_eq!(
        damaged_store.start(Some(fixture.watermark())).unwrap(),
        (fixture.states[10].clone(), RecoveryReport::Clean)
    );
}

/// A kill between the copy and the cut, or during the copy, changes nothing.
#[test]
fn a_look_can_be_killed_and_repeated() {
    let fixture = Fixture::new(10);
    let damaged_store = fixture.damaged_store();
    sample::flip(&damaged_store.journal(), (fixture.bounds[5] + 50) * 8);
    let before = std::fs::read(damaged_store.journal()).unwrap();
    let once = damaged_store.scan(Some(fixture.watermark())).unwrap();
    std::fs::write(damaged_store.journal(), &before).unwrap();
    std::fs::create_dir(damaged_store.damaged().join(".1800000000-1.creating-1-0")).unwrap();
    let again = damaged_store.scan(Some(fixture.watermark())).unwrap();
    assert_eq!(once.recovery_report, again.recovery_report);
    assert_eq!(
        damaged_store.copies(),
        BTreeSet::from(["1800000000-0".into()])
    );
    assert_eq!(
        std::fs::metadata(damaged_store.journal()).unwrap().len(),
        fixture.bounds[5]
    );
    // Other damage gets a separate copy, next to the first.
    sample::flip(&damaged_store.journal(), (fixture.bounds[2] + 50) * 8);
    let more = damaged_store.scan(Some(fixture.watermark())).unwrap();
    assert_eq!(
        causes(&more.recovery_report),
        [LossCause::Middle, LossCause::Middle]
    );
    assert_eq!(damaged_store.copies().len(), 2);
}

/// The watermark's event may be only in tables. Then a torn tail is a suspicion that the opened log resolves.
#[test]
fn a_suspicion_is_settled_by_the_opened_log() {
    for (acknowledged, lost) in [(8, false), (10, true)] {
        let folder = tempfile::tempdir().unwrap();
        let damaged_store = DamagedStore { folder };
        sample::log_store(&damaged_store.store(), 4, 60);
        {
            let db = sample::open(&damaged_store.store()).unwrap();
            for name in ["log", "view"] {
                sample::keyspace(&db, name)
                    .rotate_memtable_and_wait()
                    .unwrap();
            }
        }
        // As after a rotation of the journal: all rows are in tables, and one batch follows.
        sample::truncate(&damaged_store.journal(), 0);
        {
            let db = sample::open(&damaged_store.store()).unwrap();
            sample::keyspace(&db, "log")
                .insert(9_u64.to_be_bytes(), "ninth")
                .unwrap();
        }
        sample::truncate(
            &damaged_store.journal(),
            sample::content_len(&damaged_store.journal()) - 1,
        );
        let (state, recovery_report) = damaged_store.start(Some(acknowledged)).unwrap();
        assert_eq!(last_in(&state), 8);
        assert_eq!(
            causes(&recovery_report),
            if lost {
                vec![LossCause::BeforeHead]
            } else {
                vec![]
            }
        );
        assert_eq!(
            matches!(recovery_report, RecoveryReport::TornTail(_)),
            !lost
        );
        assert_eq!(damaged_store.copies().len(), 1, "kept before it was known");
        let (_, recovery_report) = damaged_store.start(Some(acknowledged)).unwrap();
        assert_eq!(
            causes(&recovery_report),
            if lost {
                vec![LossCause::BeforeHead]
            } else {
                vec![]
            }
        );
    }
}

/// The very first batch has no predecessor to check its number; if fjall skips it, that is detected.
#[test]
fn a_skipped_first_batch_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let damaged_store = DamagedStore { folder };
    sample::log_store(&damaged_store.store(), 4, 60);
    {
        let db = sample::open(&damaged_store.store()).unwrap();
        for name in ["log", "view"] {
            sample::keyspace(&db, name)
                .rotate_memtable_and_wait()
                .unwrap();
        }
    }
    sample::truncate(&damaged_store.journal(), 0);
    {
        let db = sample::open(&damaged_store.store()).unwrap();
        let (log, view) = (sample::keyspace(&db, "log"), sample::keyspace(&db, "view"));
        for n in 9..=10_u64 {
            let mut batch = db.batch();
            batch.insert(&log, n.to_be_bytes(), "later");
            batch.insert(&view, "count", n.to_be_bytes());
            batch.commit().unwrap();
        }
    }
    let (whole, recovery_report) = damaged_store.start(Some(8)).unwrap();
    assert_eq!(recovery_report, RecoveryReport::Clean);
    let low = 1_u64.to_le_bytes();
    let file = OpenOptions::new()
        .write(true)
        .open(damaged_store.journal())
        .unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &low, 5).unwrap();
    let (state, recovery_report) = damaged_store.start(Some(8)).unwrap();
    assert_ne!(state, whole);
    assert_eq!(causes(&recovery_report), [LossCause::Skipped]);
}

/// A lost journal file, one of several or the only one, is damage. A running daemon's journals are not examined.
#[test]
fn lost_journals_and_running_daemons_are_seen() {
    let fixture = Fixture::new(6);
    let damaged_store = fixture.damaged_store();
    let whole = std::fs::read(damaged_store.journal()).unwrap();
    let (head, tail) = whole.split_at(fixture.bounds[3] as usize);
    std::fs::write(damaged_store.journal(), head).unwrap();
    std::fs::write(damaged_store.store().join("1.jnl"), tail).unwrap();
    std::fs::rename(
        damaged_store.store().join("1.jnl"),
        damaged_store.store().join("2.jnl"),
    )
    .unwrap();
    let look = damaged_store.scan(Some(fixture.watermark())).unwrap();
    assert_eq!(causes(&look.recovery_report), [LossCause::JournalMissing]);
    let RecoveryReport::Damage(found) = look.recovery_report else {
        panic!()
    };
    assert_eq!(found[0].journals_missing, [1]);

    let damaged_store = fixture.damaged_store();
    std::fs::remove_file(damaged_store.journal()).unwrap();
    let (state, recovery_report) = damaged_store.start(None).unwrap();
    assert_eq!(
        (last_in(&state), causes(&recovery_report)),
        (0, vec![LossCause::JournalMissing])
    );

    // Rows in tables are still served, now and at the next start.
    let (damaged_store, mut whole) = flushed();
    std::fs::remove_file(damaged_store.journal()).unwrap();
    whole.get_mut("log").unwrap().pop_last().unwrap();
    for _ in 0..2 {
        let (state, recovery_report) = damaged_store.start(Some(12)).unwrap();
        assert_eq!(
            (state, causes(&recovery_report)),
            (whole.clone(), vec![LossCause::JournalMissing])
        );
    }

    // The last of several: only the watermark reveals the loss.
    let damaged_store = fixture.damaged_store();
    sample::truncate(&damaged_store.journal(), fixture.bounds[3]);
    let (_, recovery_report) = damaged_store.start(Some(fixture.watermark())).unwrap();
    assert_eq!(causes(&recovery_report), [LossCause::BeforeHead]);

    let damaged_store = fixture.damaged_store();
    let db = sample::open(&damaged_store.store()).unwrap();
    assert!(matches!(damaged_store.scan(None), Err(Error::Locked(_))));
    drop(db);
    std::fs::remove_file(damaged_store.store().join("lock")).unwrap();
    assert_eq!(
        damaged_store.start(Some(fixture.watermark())).unwrap(),
        (fixture.states[6].clone(), RecoveryReport::Clean)
    );
}

/// The rest of a damaged sealed journal is copied and cut; the journals after it stay.
#[test]
fn a_hurt_sealed_journal_keeps_its_successors() {
    let fixture = Fixture::new(6);
    let damaged_store = fixture.damaged_store();
    let whole = std::fs::read(damaged_store.journal()).unwrap();
    let (head, tail) = whole.split_at(fixture.bounds[3] as usize);
    std::fs::write(damaged_store.journal(), head).unwrap();
    std::fs::write(damaged_store.store().join("1.jnl"), tail).unwrap();
    sample::flip(&damaged_store.journal(), (fixture.bounds[2] + 50) * 8);
    let (state, recovery_report) = damaged_store.start(Some(fixture.watermark())).unwrap();
    assert_eq!(causes(&recovery_report), [LossCause::Sealed]);
    let positions: Vec<_> = state["log"].keys().map(|key| key[7]).collect();
    assert_eq!(
        positions,
        [1, 3, 7, 9, 11],
        "one record is missing, not all after it"
    );
    let RecoveryReport::Damage(found) = recovery_report else {
        panic!()
    };
    assert_eq!(
        std::fs::metadata(found[0].folder.as_ref().unwrap().join("0.jnl"))
            .unwrap()
            .len(),
        head.len() as u64
    );
}

/// A store that fjall would treat as empty or smaller is refused before fjall opens it.
#[test]
fn a_store_without_its_marks_is_not_opened() {
    let fixture = Fixture::new(3);
    type Damage = fn(&Path);
    type Expected = fn(&Error) -> bool;
    let flushed: Damage = |store| {
        let db = sample::open(store).unwrap();
        sample::keyspace(&db, "log")
            .rotate_memtable_and_wait()
            .unwrap();
    };
    let cases: [(Damage, Expected); 6] = [
        (
            |store| std::fs::remove_file(store.join("version")).unwrap(),
            |e| matches!(e, Error::NoStore(_)),
        ),
        (
            |store| sample::flip(&store.join("version"), 24),
            |e| matches!(e, Error::Version(_)),
        ),
        (
            |store| std::fs::remove_file(store.join("keyspaces/1/current")).unwrap(),
            |e| matches!(e, Error::Manifest(_)),
        ),
        (
            |store| std::fs::remove_file(store.join("keyspaces/0/current")).unwrap(),
            |e| matches!(e, Error::Manifest(_)),
        ),
        (
            |store| std::fs::remove_dir_all(store.join("keyspaces/0")).unwrap(),
            |e| matches!(e, Error::Manifest(_)),
        ),
        (
            |store| std::fs::remove_file(store.join("keyspaces/1/v0")).unwrap(),
            |_| true,
        ),
    ];
    for (nth, (hurt, expected)) in cases.iter().enumerate() {
        let damaged_store = fixture.damaged_store();
        flushed(&damaged_store.store());
        if nth == 5 {
            // An old table of contents is not used any more.
            std::fs::remove_file(damaged_store.store().join("keyspaces/1/v0")).ok();
            assert_eq!(
                damaged_store.scan(None).unwrap().recovery_report,
                RecoveryReport::Clean
            );
            continue;
        }
        hurt(&damaged_store.store());
        let error = damaged_store.scan(None).unwrap_err();
        assert!(expected(&error), "case {nth}: {error}");
    }
}
