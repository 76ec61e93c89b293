//! Tests of reopening the indexes after the log was cut, after a kill and after damage, and of their files on disk.
#![allow(clippy::unwrap_used)]

use std::fs;

use lored_models::{ModelPlaces, Settings};
use lored_retrieval::text::{Change, IndexedText, Kind, NewText};
use lored_retrieval::vectors::{Generation, VectorStore};

use super::*;
use crate::locks::lock_unpoisoned;
use crate::search::searchable_text::EmbeddedText;
use crate::search::{Limits, SearchIndexes};

fn models(second_tier: bool) -> Arc<ModelPool> {
    let settings = Settings {
        second_tier,
        ..Settings::default()
    };
    Arc::new(ModelPool::find(&ModelPlaces::default(), &settings))
}

fn open(folder: &Path, end: Option<u64>) -> Index {
    let at_start = |end| IndexesAtStart {
        end: Position(end),
        is_untouched: false,
    };
    Index::open(folder, models(false), 0, end.map(at_start)).unwrap()
}

/// Opens indexes whose second tier holds at most `second_max` vectors.
fn open_both(folder: &Path, second_max: usize) -> Index {
    Index::open(folder, models(true), second_max, None).unwrap()
}

fn room(folder: &Path, end: u64) -> SearchIndexes {
    let folder = folder.to_owned();
    let at_start = IndexesAtStart {
        end: Position(end),
        is_untouched: false,
    };
    SearchIndexes::new(Limits::default(), folder, models(false), at_start)
}

/// Returns a vector with the length of a tier's vectors.
fn vector(index: &Index, stage: EmbeddingStage) -> Vec<f32> {
    vec![1.0; index.models.known(stage).unwrap().dimension]
}

/// Indexes a text at a position, without a vector; returns its key.
fn take_in_text(index: &Index, position: u64) -> u64 {
    let unit = IndexedText {
        key: text::key(position, 0),
        kind: Kind::Document,
        group: position,
        session: 0,
        number: 0,
        time: 0,
    };
    let addition = NewText {
        unit,
        text: format!("word{position}"),
        before: None,
    };
    index
        .text
        .apply(&[Change::Add(addition)], position)
        .unwrap();
    unit.key
}

/// Indexes a text with a vector for each position up to `up_to`, and flushes.
fn apply(index: &Index, up_to: u64) {
    let first = index.first.as_ref().unwrap();
    let vector = vector(index, EmbeddingStage::First);
    for position in 1..=up_to {
        let key = take_in_text(index, position);
        let mut store = first.write();
        store.append(&[(key, &vector)], position).unwrap();
    }
    index.flush(true).unwrap();
}

/// Returns the positions of texts with a vector.
fn embedded(index: &Index) -> BTreeSet<u64> {
    let first = index.first.as_ref().unwrap();
    let store = first.read();
    store.keys().map(text::position_of).collect()
}

/// A text index beyond the end of the log is rebuilt with a warning, because other events take its positions.
/// Vectors of events that are still in the log are retained.
#[test]
fn what_the_log_lost_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    apply(&open(folder.path(), Some(0)), 7);
    for end in [None, Some(8), Some(7)] {
        let index = open(folder.path(), end);
        assert_eq!(index.applied(), Position(7), "the log ended at {end:?}");
        assert_eq!(embedded(&index).len(), 7);
    }
    let index = open(folder.path(), Some(4));
    assert_eq!(index.applied(), Position(0));
    assert!(index.text.units().unwrap().is_empty());
    assert_eq!(embedded(&index), (1..=4).collect());
    assert_eq!(lock_unpoisoned(&index.warnings).len(), 1);
}

/// A vector that is newer than the last flush of the text index is removed, too, if the log has lost its event.
#[test]
fn a_vector_beyond_the_log_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path(), Some(0));
    apply(&index, 3);
    let vector = vector(&index, EmbeddingStage::First);
    let first = index.first.as_ref().unwrap();
    for position in [4, 5] {
        let mut store = first.write();
        let key = text::key(position, 0);
        store.append(&[(key, &vector)], position).unwrap();
    }
    drop(index);
    let index = open(folder.path(), Some(4));
    assert_eq!(index.applied(), Position(3));
    assert_eq!(embedded(&index), (1..=4).collect());
}

/// Returns the names of segment files.
fn segments(folder: &Path) -> BTreeSet<std::ffi::OsString> {
    let files = fs::read_dir(folder.join("text")).unwrap();
    let names = files.map(|file| file.unwrap().file_name());
    let is_words = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".term");
    names.filter(is_words).collect()
}

/// Removed text leaves the files even after a kill between the flush and the rewrite of the files. At that point,
/// no event that announces the removal remains to be applied.
#[test]
fn what_was_taken_out_leaves_the_files_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path(), Some(0));
    apply(&index, 8);
    let removed = Change::RemovePosition { position: 3 };
    index.text.apply(&[removed], 9).unwrap();
    index.text.flush().unwrap();
    drop(index);
    let before = segments(folder.path());
    let index = open(folder.path(), Some(9));
    assert!(!index.flush(true).unwrap() && segments(folder.path()) == before);
    index.purge().unwrap();
    let after = segments(folder.path());
    assert!(!after.is_empty() && after.is_disjoint(&before), "{after:?}");
    assert_eq!(index.text.units().unwrap().len(), 7);
}

/// A text that is removed while its vector is made gets no vector; otherwise the vector would outlive the purge.
#[test]
fn what_goes_while_it_is_embedded_gets_no_vector() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path(), None);
    apply(&index, 3);
    let texts = [4, 5].map(|position| (take_in_text(&index, position), EmbeddedText::default()));
    let vectors = vec![vector(&index, EmbeddingStage::First); 2];
    let removed = Changes {
        text: vec![Change::RemovePosition { position: 4 }],
        is_forgetting: true,
        ..Changes::default()
    };
    index.apply(removed, Position(6)).unwrap();
    index.purge().unwrap();
    let first = index.first.as_ref().unwrap();
    index.keep(first, &texts, &vectors, 0).unwrap();
    assert_eq!(embedded(&index), [1, 2, 3, 5].into());
}

/// A purge also deletes the vectors of a disabled tier.
#[test]
fn vectors_of_a_tier_that_is_off_leave_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_both(folder.path(), 10);
    apply(&index, 3);
    let key = take_in_text(&index, 4);
    let of_second = vector(&index, EmbeddingStage::Second);
    let second = index.second.as_ref().unwrap();
    let mut store = second.write();
    store.append(&[(key, &of_second)], 4).unwrap();
    drop(store);
    drop(index);
    let left = folder.path().join("vectors/second");
    for second_max in [None, Some(0)] {
        let index = match second_max {
            None => open(folder.path(), None),
            Some(none) => open_both(folder.path(), none),
        };
        assert!(index.second.is_none());
        index.flush(true).unwrap();
        fs::create_dir_all(&left).unwrap();
        index.purge().unwrap();
        assert!(!left.exists());
        assert_eq!(embedded(&index).len(), 3);
    }
}

/// The second tier holds at most its limit of vectors, from the newest texts.
#[test]
fn the_second_tier_keeps_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_both(folder.path(), 4);
    let second = index.second.as_ref().unwrap();
    let positions = |index: &Index| {
        let store = index.second.as_ref().unwrap().read();
        let positions: BTreeSet<u64> = store.keys().map(text::position_of).collect();
        positions
    };
    for position in 1..=20 {
        let key = take_in_text(&index, position);
        lock_unpoisoned(&second.missing).insert(key);
        let wanted = index.wanted_of_second(second);
        assert_eq!(wanted, [key]);
        let texts = [(key, EmbeddedText::default())];
        let of_second = [vector(&index, EmbeddingStage::Second)];
        index.keep(second, &texts, &of_second, 0).unwrap();
        lock_unpoisoned(&second.missing).remove(&key);
        index.let_oldest_go(second).unwrap();
        assert_eq!(positions(&index).len(), position.min(4) as usize);
        assert!(index.wanted_of_second(second).is_empty());
    }
    assert_eq!(positions(&index), (17..=20).collect());
    index.flush(true).unwrap();
    drop(index);
    let index = open_both(folder.path(), 3);
    assert_eq!(positions(&index), (18..=20).collect());
}

/// The lowest end of the log counts until the indexes are opened, regardless of the number of starts in between.
#[test]
fn what_the_log_lost_at_an_earlier_start_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    apply(&open(folder.path(), None), 7);
    drop(room(folder.path(), 4));
    let index = room(folder.path(), 9).index().unwrap();
    assert_eq!(index.applied(), Position(0));
    assert_eq!(embedded(&index), (1..=4).collect());
    apply(&index, 9);
    drop(index);
    let index = room(folder.path(), 9).index().unwrap();
    assert_eq!(index.applied(), Position(9));
}

/// Damage that is only found when rows are read is repaired, too: the vectors are rebuilt, and forgotten text can
/// leave the files.
#[test]
fn damage_found_after_opening_is_cured() {
    let folder = tempfile::tempdir().unwrap();
    apply(&open(folder.path(), None), 7);
    let file = folder.path().join("vectors/first/0000000001.vectors");
    let mut bytes = fs::read(&file).unwrap();
    let first_row = bytes.windows(64).position(|window| window == [127; 64]);
    let at = first_row.unwrap();
    *bytes.get_mut(at).unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();

    let room = room(folder.path(), 7);
    let index = room.index().unwrap();
    let removed = Change::RemovePosition { position: 3 };
    let removed = Changes {
        text: vec![removed],
        ..Changes::default()
    };
    index.apply(removed, Position(8)).unwrap();
    let error = index.purge().unwrap_err();
    let is_damage =
        |error: &IndexError| matches!(error, IndexError::Vectors(VectorError::Damaged { .. }));
    assert!(is_damage(&error), "{error}");
    room.close(&error);
    drop(index);
    let index = room.index().unwrap();
    assert_eq!(index.text.counts().units(), 6);
    assert_eq!(
        (
            embedded(&index).len(),
            index.missing_vectors(EmbeddingStage::First)
        ),
        (0, 6)
    );
    index.purge().unwrap();
    assert!(room.faults().is_empty());

    room.close(&text::Error::Damaged("a list of words".into()).into());
    drop(index);
    let index = room.index().unwrap();
    assert_eq!(index.applied(), Position(0));
}

/// A flipped bit in any file of the text index, whatever a search would make of it, is found when the indexes are first
/// opened after a kill; they are rebuilt, and it is said.
#[test]
fn a_flipped_bit_is_found_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path(), None);
    apply(&index, 6);
    index.flush(true).unwrap();
    drop(index);
    let files = fs::read_dir(folder.path().join("text")).unwrap();
    let segments: Vec<PathBuf> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.file_stem().is_some_and(|stem| stem.len() == 32))
        .collect();
    assert!(segments.len() > 4, "{segments:?}");
    for path in segments {
        let whole = fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        *flipped.get_mut(whole.len() / 3).unwrap() ^= 1;
        fs::write(&path, &flipped).unwrap();
        let copy = tempfile::tempdir().unwrap();
        fs::create_dir(copy.path().join("text")).unwrap();
        for file in fs::read_dir(folder.path().join("text")).unwrap() {
            let from = file.unwrap().path();
            fs::copy(
                &from,
                copy.path().join("text").join(from.file_name().unwrap()),
            )
            .unwrap();
        }
        let index = open(copy.path(), Some(7));
        assert_eq!(index.applied(), Position(0), "{path:?}");
        assert_eq!(lock_unpoisoned(&index.warnings).len(), 1, "{path:?}");
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(open(folder.path(), Some(7)).text.counts().units(), 6);
}

/// A full disk loses neither in-memory texts nor searches; the write is retried.
#[test]
fn what_cannot_be_written_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let room = room(folder.path(), 0);
    let index = room.index().unwrap();
    apply(&index, 3);
    let key = take_in_text(&index, 4);
    // A folder at this path prevents all writes.
    let in_the_way = folder.path().join("text/.tantivy-writer.lock");
    fs::remove_file(&in_the_way).unwrap();
    fs::create_dir(&in_the_way).unwrap();
    let error = index.flush(true).unwrap_err();
    assert!(error.leaves_it_usable(), "{error:?}");
    room.close(&error);
    assert!(room.peek_open().is_some() && room.faults().len() == 1);
    assert!(index.text.contains(key).unwrap() && !index.is_settled());
    fs::remove_dir(&in_the_way).unwrap();
    assert!(index.flush(true).unwrap() && index.is_settled());

    let full = || VectorError::Io {
        path: folder.path().to_owned(),
        source: std::io::ErrorKind::StorageFull.into(),
    };
    assert_eq!(index.unless_put_off(Err(full().into())).unwrap(), 0);
    assert!(lock_unpoisoned(&index.fault).is_some());
    assert_eq!(index.unless_put_off(Ok(1)).unwrap(), 1);
    assert!(lock_unpoisoned(&index.fault).is_none());
}

/// If the second tier's model becomes unreadable, the first tier ranks.
#[test]
fn a_second_tier_that_is_gone_is_done_without() {
    let folder = tempfile::tempdir().unwrap();
    let added = folder.path().join("models");
    let model = added.join("minilm");
    fs::create_dir_all(&model).unwrap();
    let carried = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/minilm-l6");
    for file in fs::read_dir(carried).unwrap().flatten() {
        fs::copy(file.path(), model.join(file.file_name())).unwrap();
    }
    let places = ModelPlaces {
        added,
        beside: None,
    };
    let models = ModelPool::find(&places, &Settings::default());
    fs::remove_dir_all(&model).unwrap();
    let index = Index::open(&folder.path().join("index"), Arc::new(models), 10, None).unwrap();
    apply(&index, 3);
    let second = index.second.as_ref().unwrap();
    let key = take_in_text(&index, 4);
    let texts = [(key, EmbeddedText::default())];
    let of_second = [vector(&index, EmbeddingStage::Second)];
    index.keep(second, &texts, &of_second, 0).unwrap();
    assert_eq!(index.ranking_tier(), Some(EmbeddingStage::Second));
    for _ in 0..2 {
        let (stage, ..) = index.ranking().unwrap().unwrap();
        assert_eq!(stage, EmbeddingStage::First);
        assert_eq!(index.ranking_tier(), Some(EmbeddingStage::First));
        assert_eq!(lock_unpoisoned(&index.warnings).len(), 1);
    }
    lock_unpoisoned(&second.missing).insert(key);
    assert!(!index.wants_vectors());
}

/// A document that is replaced repeatedly leaves few rows.
#[test]
fn rows_that_are_gone_give_back_their_room() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path(), None);
    let first = index.first.as_ref().unwrap();
    let vector = vector(&index, EmbeddingStage::First);
    let save = |position: u64| {
        let mut store = first.write();
        store
            .append(&[(text::key(position, 0), &vector)], position)
            .unwrap();
        store
            .delete(&[text::key(position - 1, 0)], position)
            .unwrap();
        store.size()
    };
    let of_few = (1..=100).map(save).last().unwrap();
    for position in 101..=5000 {
        save(position);
        while position % 100 == 0 && index.compact_some().unwrap() {}
    }
    let of_many = save(5001);
    assert!(of_many < 13 * of_few, "{of_many} of {of_few}");
    assert_eq!(embedded(&index), [5001].into());
    drop(index);
    let reopened = VectorStore::open(&folder.path().join("vectors/first"), {
        let known = models(false);
        let known = known.known(EmbeddingStage::First).unwrap();
        Generation {
            model: known.id.clone(),
            dimension: known.dimension,
            number: u64::from(VERSION),
        }
    });
    assert_eq!(reopened.unwrap().store.len(), 1);
}
