//! Damaged files of the storage engine: what can be read of the log is served, and what cannot is named.

use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::edits_at_rest::{Original, flip, opened};
use crate::engine::{DataFolder, OpenedStore, mark_unreadable};
use crate::log::{KEPT, LOG, Log, Position};
use crate::store::{Direction, Error, Rows, Store};

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
    assert_eq!(kept, 1);
    drop(after);
    // The mark is gone, and the damage is still known by the seal or the gap.
    let again = opened(&folder).unwrap();
    assert!(matches!(
        again.store.get(LOG, b"none"),
        Ok(None) | Err(Error::Corrupt { .. })
    ));
}
