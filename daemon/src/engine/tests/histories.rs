//! Properties of every history: rows depend on the log alone.

use super::history::ViewRows;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::history::{a_step_forgotten_twice, erase_stream, histories, live, ungrouped};
use super::{Fixture, folded_anew};
use crate::checkpoints::{self, decided};
use crate::engine::{open, replay};
use crate::log::{EventKind, Hash, KEPT, OBJECTS, objects};
use crate::projections::Projections;
use crate::sessions;
use crate::store::{Changes, Direction, Limits, MemoryStore, Rows, RowsMut, Store, StoreId};

/// Number of histories; `LORE_HISTORIES` for more.
fn cases(usual: u32) -> u32 {
    std::env::var("LORE_HISTORIES").map_or(usual, |number| number.parse().unwrap())
}

/// Copies every row of a store to memory.
fn read_all(store: &Store) -> MemoryStore {
    let mut rows = MemoryStore::new();
    for space in open::keyspaces(&Projections) {
        store
            .scan(
                space,
                &[],
                &[u8::MAX; 9],
                Direction::Forward,
                &mut |key, value| {
                    rows.put(space, key, value);
                    Ok(ControlFlow::Continue(()))
                },
            )
            .unwrap();
    }
    rows
}

pub(crate) fn store_of(dir: &std::path::Path, commits: &[Changes]) -> Store {
    let spaces = open::keyspaces(&Projections);
    Store::build(dir, StoreId([1; 16]), &spaces, &Limits::default()).unwrap();
    let (store, _) = Store::open(dir, &spaces, &Limits::default()).unwrap();
    for changes in commits {
        store.commit(changes, false).unwrap();
    }
    store
}

/// Erases all forgotten content from the records. The moment does not depend on grouping: content forgotten in a
/// group is erased after the whole group is decided.
fn erase_all(fixture: &mut Fixture) {
    let mut streams = Vec::new();
    let events = fixture.events();
    for event in &events {
        if !streams.contains(&event.scope()) {
            streams.push(event.scope());
        }
    }
    for stream in streams {
        erase_stream(fixture, stream);
    }
}

/// Lists events without the fields that depend on the moment of the commit.
fn contents(fixture: &Fixture) -> Vec<(String, Option<String>, Option<Vec<u8>>)> {
    fixture
        .events()
        .into_iter()
        .map(|event| {
            let is_timed = event.header.kind == EventKind::SessionLeased;
            let fact = event
                .payload
                .filter(|_| !is_timed)
                .map(|payload| payload.meta);
            (event.header.kind.to_string(), event.header.session, fact)
        })
        .collect()
}

/// What is forgotten twice in a group is counted once, as in two groups.
#[test]
fn what_is_forgotten_twice_in_a_group_is_counted_once() {
    let history = a_step_forgotten_twice();
    let (grouped, _) = live(&history);
    let (single, _) = live(&ungrouped(&history));
    let (grouped, single) = (contents(&grouped), contents(&single));
    assert!(grouped.iter().any(|(kind, ..)| kind == "EventsForgotten"));
    assert_eq!(grouped, single);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(128)))]

    /// Live rows equal the rows folded from the log alone, byte for byte; the hash chain is complete.
    #[test]
    fn a_fold_of_the_log_equals_the_live_rows(history in histories()) {
        let (fixture, _) = live(&history);
        fixture.events();
        prop_assert_eq!(folded_anew(&fixture).rows_of_views(), fixture.rows.rows_of_views());
    }

    /// Exactly the objects that a checkpoint needs are stored, with the recorded sizes, and the counted bytes are their
    /// sum.
    #[test]
    fn objects_are_kept_while_they_are_needed(history in histories()) {
        let (fixture, _) = live(&history);
        let mut bytes = 0;
        for (key, _) in fixture.rows.rows(OBJECTS) {
            let hash = Hash(key.try_into().unwrap());
            let object = objects::get(&fixture.rows, &hash).unwrap().unwrap();
            let used = decided::object(&fixture.rows, &hash).unwrap();
            let used = used.expect("what is kept is needed");
            prop_assert_eq!(used.base, object.base());
            prop_assert_eq!(used.stored_bytes, object.place.bytes());
            prop_assert!(decided::chain(&fixture.rows, &hash).unwrap().is_some(), "bases are there");
            bytes += used.stored_bytes;
        }
        let in_use = fixture.rows.rows(checkpoints::SPACE);
        let in_use = in_use.filter(|(key, _)| key.first() == Some(&b'o')).count();
        prop_assert_eq!(in_use, fixture.rows.len(OBJECTS), "what is needed is kept");
        prop_assert_eq!(checkpoints::totals(&fixture.rows).unwrap().bytes, bytes);
    }

    /// Results do not depend on the grouping of commands.
    #[test]
    fn grouping_changes_nothing_that_happened(history in histories()) {
        let (mut grouped, _) = live(&history);
        let (mut single, _) = live(&ungrouped(&history));
        erase_all(&mut grouped);
        erase_all(&mut single);
        let keep_keys = |fixture: &Fixture| -> Vec<Vec<u8>> {
            let rows = fixture.rows.rows_of_views().into_iter();
            rows.map(|(space, key, _)| without_time(space, key)).collect()
        };
        prop_assert_eq!(contents(&grouped), contents(&single));
        prop_assert_eq!(keep_keys(&grouped), keep_keys(&single));
    }
}

/// Lists of sessions are by time, which a group has in common: the position behind it is the same in any grouping.
fn without_time(space: &str, mut key: Vec<u8>) -> Vec<u8> {
    let is_list =
        space == sessions::SPACE.name() && matches!(key.first(), Some(b'n' | b'u' | b'j'));
    if is_list {
        let end = key.len() - 8;
        key.drain(end - 8..end);
    }
    key
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12)))]

    /// On a real store, live rows equal those in memory. They are the same, byte for byte, after a rebuild and after a
    /// view stopped half way.
    #[test]
    fn a_rebuilt_store_equals_the_live_one(history in histories(), cut in 0..20_usize) {
        let (fixture, commits) = live(&history);
        let dir = tempfile::tempdir().unwrap();
        let store = store_of(dir.path(), &commits);
        prop_assert_eq!(read_all(&store), fixture.rows.clone());

        replay::clear(&store, &Projections).unwrap();
        prop_assert!(read_all(&store).rows_of_views().is_empty());
        replay::catch_up(&store, &Projections, |_, _| {}).unwrap();
        prop_assert_eq!(read_all(&store), fixture.rows.clone());

        // Views of an earlier moment with the whole log: each continues from its position.
        let behind = tempfile::tempdir().unwrap();
        let early = cut.min(commits.len());
        let store = store_of(behind.path(), &commits[..early]);
        let mut log_alone = crate::store::Transaction::new(&store);
        for space in KEPT {
            for (key, _) in read_all(&store).rows(space) {
                log_alone.remove(space, key);
            }
            for (key, value) in fixture.rows.rows(space) {
                log_alone.put(space, key, value);
            }
        }
        store.commit(&log_alone.into_changes(), false).unwrap();
        replay::catch_up(&store, &Projections, |_, _| {}).unwrap();
        prop_assert_eq!(read_all(&store), fixture.rows);
    }
}
