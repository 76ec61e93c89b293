//! Tests of the indexes that are opened again: behind a log that was cut, and after a kill.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::retrieval::models::{ModelPlaces, Settings};
use crate::retrieval::text::{Addition, Change, Kind, Unit};

fn open(folder: &Path, end: Option<u64>) -> Index {
    let settings = Settings {
        second_tier: false,
        ..Settings::default()
    };
    let models = Models::find(&ModelPlaces::default(), &settings);
    Index::open(folder, Arc::new(models), 0, end.map(Position)).unwrap()
}

/// Takes in a text for each position up to this one, with its vector, and writes all of it down.
fn take_in(index: &Index, up_to: u64) {
    let first = index.first.as_ref().unwrap();
    let known = index.models.known(Tier::First).unwrap();
    let vector = vec![1.0; known.dimension];
    for position in 1..=up_to {
        let unit = Unit {
            key: text::key(position, 0),
            kind: Kind::Document,
            group: position,
            session: 0,
            number: 0,
        };
        let addition = Addition {
            unit,
            text: format!("word{position}"),
            around: String::new(),
        };
        let change = Change::Add(addition);
        index.text.apply(&[change], position).unwrap();
        let mut store = first.store.write().unwrap();
        store.append(&[(unit.key, &vector)], position).unwrap();
    }
    index.settle(true).unwrap();
}

/// The positions whose texts have a vector.
fn embedded(index: &Index) -> BTreeSet<u64> {
    let first = index.first.as_ref().unwrap();
    let store = first.store.read().unwrap();
    store.keys().map(text_position).collect()
}

/// Indexes that have what the log lost are begun anew, and say so: other events have those positions now.
/// Vectors of what the log still has are kept.
#[test]
fn what_the_log_lost_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    take_in(&open(folder.path(), Some(0)), 7);
    for end in [None, Some(8), Some(7)] {
        let index = open(folder.path(), end);
        assert_eq!(index.applied(), Position(7), "the log ended at {end:?}");
        assert_eq!(embedded(&index).len(), 7);
    }
    let index = open(folder.path(), Some(4));
    assert_eq!(index.applied(), Position(0));
    assert!(index.text.units(None).unwrap().is_empty());
    assert_eq!(embedded(&index), (1..=4).collect());
    assert_eq!(lock(&index.warnings).len(), 1);
}

/// A vector that was made after the texts were written down goes, too, when the log has lost its text.
#[test]
fn a_vector_beyond_the_log_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path(), Some(0));
    take_in(&index, 3);
    let vector = vec![1.0; index.models.known(Tier::First).unwrap().dimension];
    let first = index.first.as_ref().unwrap();
    for position in [4, 5] {
        let mut store = first.store.write().unwrap();
        let key = text::key(position, 0);
        store.append(&[(key, &vector)], position).unwrap();
    }
    drop(index);
    let index = open(folder.path(), Some(4));
    assert_eq!(index.applied(), Position(3));
    assert_eq!(embedded(&index), (1..=4).collect());
}

/// The files of segments, by name.
fn segments(folder: &Path) -> BTreeSet<std::ffi::OsString> {
    let files = fs::read_dir(folder.join("text")).unwrap();
    let names = files.map(|file| file.unwrap().file_name());
    let is_words = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".term");
    names.filter(is_words).collect()
}

/// What was taken out leaves the files, although a kill came after it was written down as gone and before
/// they were written anew: by then nothing is to be applied that tells of it.
#[test]
fn what_was_taken_out_leaves_the_files_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path(), Some(0));
    take_in(&index, 8);
    let removed = Change::RemovePosition { position: 3 };
    index.text.apply(&[removed], 9).unwrap();
    index.text.settle().unwrap();
    drop(index);
    let before = segments(folder.path());
    let index = open(folder.path(), Some(9));
    assert!(!index.settle(true).unwrap() && segments(folder.path()) == before);
    index.purge().unwrap();
    let after = segments(folder.path());
    assert!(!after.is_empty() && after.is_disjoint(&before), "{after:?}");
    assert_eq!(index.text.units(None).unwrap().len(), 7);
}
