//! Damaged files of the storage engine: what can be read of the log is served, and what cannot is named.

use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::edits_at_rest::{Original, copy, flip, opened, settings, start, write};
use super::history::{create, record, record_long};
use super::{START, TestCall};
use crate::clock::Clock;
use crate::engine::{DataFolder, OpenedStore, mark_unreadable};
use crate::log::{KEPT, LOG, Log, Position};
use crate::projections::Projections;
use crate::store::seal::ForgettingCopies;
use crate::store::{Direction, Error, Rows, Store, recovery};

/// Returns the files below the folders of the engine's keyspaces, with the name of their folder.
fn files(folder: &DataFolder) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Store::engine_dir(&folder.store()).join("keyspaces")];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found.sort();
    found
}

fn positions(opened: &OpenedStore) -> Vec<u64> {
    let mut found = Vec::new();
    let log = Log::new(&opened.store);
    let walked = log.walk_whole(Position(1), &mut |event, _| {
        found.push(event.position().0);
        Ok(ControlFlow::Continue(()))
    });
    walked.unwrap();
    found
}

/// One flipped bit in any manifest: nothing is lost, and writing goes on.
#[tokio::test]
async fn a_damaged_manifest_loses_nothing() {
    let original = Original::new().await;
    let whole = positions(&opened(&original.again()).unwrap());
    let manifests: Vec<PathBuf> = files(&original.again())
        .into_iter()
        .filter(|path| !path.parent().unwrap().ends_with("tables"))
        .collect();
    assert!(manifests.len() > 10, "{manifests:?}");
    for path in manifests {
        let folder = original.again();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        flip(&mut bytes[..=middle]);
        std::fs::write(&path, bytes).unwrap();
        let opened = opened(&folder).unwrap();
        assert_eq!(opened.damage, None, "{path:?}");
        assert_eq!(positions(&opened), whole, "{path:?}");
    }
}

/// A copy of the original whose rows are in tables, and these tables, without those of the log and its objects.
fn with_tables(original: &Original) -> (DataFolder, Vec<PathBuf>) {
    let folder = original.again();
    let opened = opened(&folder).unwrap();
    opened.store.flush().unwrap();
    let spaces = opened.store.keyspaces();
    // Keyspace 0 has the names.
    let kept: Vec<String> = (1..)
        .zip(spaces)
        .filter(|(_, space)| KEPT.contains(space))
        .map(|(number, _)| format!("keyspaces/{number}/tables"))
        .collect();
    let is_kept = |path: &PathBuf| kept.iter().any(|end| path.parent().unwrap().ends_with(end));
    let tables = files(&folder)
        .into_iter()
        .filter(|path| path.parent().unwrap().ends_with("tables") && !is_kept(path));
    let tables = tables.collect();
    (folder, tables)
}

/// A flipped bit at many places of the tables of the views, and of the names of the keyspaces: the start serves the whole
/// log, and writing goes on.
#[tokio::test]
async fn a_damaged_view_or_name_loses_nothing() {
    let original = Original::new().await;
    let whole = positions(&opened(&original.again()).unwrap());
    let (folder, tables) = with_tables(&original);
    let names = Store::engine_dir(&folder.store()).join("keyspaces/0");
    assert!(tables.len() > 5 && tables.iter().any(|path| path.starts_with(&names)));
    let mut salvaged = 0;
    for number in 0..tables.len() {
        let places = if tables[number].starts_with(&names) {
            12
        } else {
            2
        };
        for place in 0..places {
            let (folder, tables) = with_tables(&original);
            let path = &tables[number];
            let mut bytes = std::fs::read(path).unwrap();
            let at = bytes.len() * place / places + 60;
            flip(&mut bytes[..=at]);
            std::fs::write(path, bytes).unwrap();
            let opened = opened(&folder).unwrap();
            assert_eq!(opened.damage, None, "{path:?} at {at}");
            assert_eq!(positions(&opened), whole, "{path:?} at {at}");
            salvaged += usize::from(folder.damaged().exists());
        }
    }
    assert!(salvaged > 5, "{salvaged} starts have met the damage");
}

/// A flipped bit in a table of the log: once it was found, everything else is served, the gap is named, and the old files
/// are there for examination.
#[tokio::test]
async fn a_damaged_table_loses_a_block() {
    let original = Original::new().await;
    let folder = original.again();
    // The start reads the last block.
    let engine = start(&folder);
    for _ in 0..4 {
        write(&engine, vec![record_long("s-1", 9000)]).await;
    }
    drop(engine);
    // With them the start reads the log, and meets the damage at once.
    let id = Store::identify(&folder.store()).unwrap();
    let copies = ForgettingCopies::of(&folder.seals, id);
    copies.remove().unwrap();
    let number = {
        let opened = opened(&folder).unwrap();
        opened.store.flush().unwrap();
        opened
            .store
            .keyspaces()
            .iter()
            .position(|space| *space == LOG)
    };
    // Keyspace 0 has the names.
    let tables = format!("keyspaces/{}/tables", number.unwrap() + 1);
    let tables: Vec<PathBuf> = files(&folder)
        .into_iter()
        .filter(|path| path.parent().unwrap().ends_with(&tables))
        .collect();
    let table = tables.first().unwrap();
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(table)
        .unwrap();
    // In the first block, behind its header.
    let mut byte = [0];
    file.read_exact_at(&mut byte, 60).unwrap();
    file.write_all_at(&[byte[0] ^ 1], 60).unwrap();
    let before = opened(&folder).unwrap();
    let read = before
        .store
        .scan(LOG, &[], &[u8::MAX; 9], Direction::Forward, &mut |_, _| {
            Ok(ControlFlow::Continue(()))
        });
    let error = read.unwrap_err();
    assert!(error.is_engine_damage(), "{error}");
    let id = before.store.id();
    drop(before);
    mark_unreadable(&folder, id).unwrap();
    let after = opened(&folder).unwrap();
    let damage = after.damage.as_deref().unwrap();
    assert!(damage.contains("could not be read"), "{damage}");
    let kept = std::fs::read_dir(folder.damaged()).unwrap().count();
    assert_eq!(kept, 2, "the old files and a report");
    drop(after);
    // The mark is gone, and the damage is still known by the report.
    let again = opened(&folder).unwrap();
    assert!(again.damage.is_some());
    assert!(matches!(
        again.store.get(LOG, b"none"),
        Ok(None) | Err(Error::Corrupt { .. })
    ));
}

/// A store as a kill leaves it, with every event in its journal.
async fn killed(dir: &Path) -> DataFolder {
    let live = DataFolder::new(dir.join("live/data"), dir.join("live/state"));
    let engine = start(&live);
    write(&engine, vec![TestCall::new(create("s-1"))]).await;
    for _ in 0..12 {
        write(&engine, vec![record(Some("s-1"), None, false)]).await;
    }
    copy(&dir.join("live"), &dir.join("killed"));
    drop(engine);
    DataFolder::new(dir.join("killed/data"), dir.join("killed/state"))
}

/// Damage in the middle of a journal, anywhere: everything before and after it is served, the gap is named and stays known
/// until a person accepts it, and then writing continues after it.
#[tokio::test]
async fn what_follows_damage_in_a_journal_is_served() {
    let mut gaps = 0;
    for part in 1..8 {
        let dir = tempfile::tempdir().unwrap();
        let folder = killed(dir.path()).await;
        let engine = Store::engine_dir(&folder.store());
        let journal = std::fs::read_dir(&engine)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|end| end == "jnl"))
            .unwrap();
        let mut bytes = std::fs::read(&journal).unwrap();
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        let at = end * part / 8;
        flip(&mut bytes[..=at]);
        std::fs::write(&journal, bytes).unwrap();
        let first = opened(&folder).unwrap();
        let served = positions(&first);
        assert_eq!((served[0], *served.last().unwrap()), (1, 13), "at {at}");
        let lost: Vec<u64> = (1..=13).filter(|at| !served.contains(at)).collect();
        if lost.is_empty() {
            // A row of a view, or of something that was written again later.
            assert_eq!(first.damage, None, "at {at}");
            continue;
        }
        gaps += 1;
        let named = format!("positions {} to {}", lost[0], lost.last().unwrap());
        let damage = first.damage.clone().unwrap();
        assert!(damage.contains(&named), "{lost:?}: {damage}");
        drop(first);
        let damage = opened(&folder).unwrap().damage.unwrap();
        assert!(damage.contains(&named), "{lost:?}: {damage}");
        recovery::accept(&folder.damaged()).unwrap();
        let accepted = opened(&folder).unwrap();
        assert_eq!(accepted.damage, None);
        assert_eq!(positions(&accepted), served);
        let (fold, clock) = (Arc::new(Projections), Arc::new(Clock::fixed(START, 1)));
        let engine = accepted
            .start(folder.clone(), fold, &settings(), clock)
            .unwrap();
        write(&engine, vec![record(Some("s-1"), None, false)]).await;
        drop(engine);
        assert_eq!(positions(&opened(&folder).unwrap()).last(), Some(&14));
        // What is forgotten later is in no copy.
        assert!(recovery::remove_copies(&folder.damaged()).unwrap() > 0);
        let left = std::fs::read_dir(folder.damaged()).unwrap();
        let names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(
            names
                .collect::<Vec<_>>()
                .iter()
                .all(|name| !name.starts_with("store-"))
        );
    }
    assert!(gaps > 3, "{gaps} gaps");
}
