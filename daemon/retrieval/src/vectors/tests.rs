//! Tests against a map and a scan of all rows, and of torn and damaged files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;

const DIMENSION: usize = 24;

fn generation() -> Generation {
    Generation {
        model: "tiny@0123".into(),
        dimension: DIMENSION,
        number: 3,
    }
}

fn open(folder: &Path) -> VectorStore {
    let opened = VectorStore::open(folder, generation()).unwrap();
    assert_eq!(opened.cut, 0);
    opened.store
}

/// Returns a unit vector derived from a number.
fn vector(seed: u64) -> Vec<f32> {
    vector_of(DIMENSION, seed)
}

fn vector_of(dimension: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let mut vector: Vec<f32> = (0..dimension).map(|_| next()).collect();
    let length = vector
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt();
    vector.iter_mut().for_each(|number| *number /= length);
    vector
}

fn append(store: &mut VectorStore, rows: &[(u64, u64)], position: u64) {
    let vectors: Vec<(u64, Vec<f32>)> = rows
        .iter()
        .map(|(key, seed)| (*key, vector(*seed)))
        .collect();
    let vectors: Vec<(u64, &[f32])> = vectors
        .iter()
        .map(|(key, vector)| (*key, vector.as_slice()))
        .collect();
    store.append(&vectors, position).unwrap();
}

/// Returns the expected hits, by comparison with all stored rows.
fn expected(
    store: &VectorStore,
    rows: &BTreeMap<u64, u64>,
    query: &[f32],
    limit: usize,
    wanted: impl Fn(u64) -> bool,
) -> Vec<(u64, f32)> {
    let keys = rows.keys().filter(|key| wanted(**key));
    let mut hits: Vec<(u64, f32)> = keys
        .map(|key| {
            let stored = store.vector(*key).unwrap().unwrap();
            (
                *key,
                query
                    .iter()
                    .zip(stored)
                    .map(|(left, right)| left * right)
                    .sum(),
            )
        })
        .collect();
    hits.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    hits.truncate(limit);
    hits
}

fn assert_finds(
    store: &VectorStore,
    rows: &BTreeMap<u64, u64>,
    query: u64,
    limit: usize,
    wanted: impl Fn(u64) -> bool + Copy,
) {
    let query = vector(query);
    let found = store.search(&query, limit, wanted).unwrap();
    let expected = expected(store, rows, &query, limit, wanted);
    assert_eq!(found.len(), expected.len());
    for (hit, (key, score)) in found.iter().zip(&expected) {
        assert!((hit.score - score).abs() < 1e-5, "{hit:?} is not {score}");
        let near = expected
            .iter()
            .filter(|(_, other)| (other - score).abs() < 1e-5)
            .any(|(other, _)| *other == hit.key);
        assert!(
            near || hit.score - expected.last().unwrap().1 < 1e-5,
            "{hit:?} should be {key}"
        );
    }
}

fn segment_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn what_is_stored_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    assert!(store.is_empty() && store.position() == 0);
    assert_eq!(store.search(&vector(1), 5, |_| true).unwrap(), []);
    append(&mut store, &[(7, 70), (3, 30), (5, 50)], 11);
    store.sync().unwrap();
    let store = open(folder.path());
    assert_eq!((store.len(), store.position()), (3, 11));
    assert!(store.contains(3) && !store.contains(4));
    let hits = store.search(&vector(30), 2, |_| true).unwrap();
    assert_eq!(hits[0].key, 3);
    assert!((hits[0].score - 1.0).abs() < 1e-2);
    assert_eq!(
        store.scores(&vector(30), &[4, 3]).unwrap(),
        &hits[..1],
        "scored alone as among others"
    );
    assert_eq!(
        store
            .search(&vector(30), 2, |key| key != 3 && key != 5)
            .unwrap()
            .len(),
        1
    );
    assert_eq!(store.search(&vector(30), 0, |_| true).unwrap(), []);
}

#[test]
fn of_equal_rows_the_lower_key_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    append(&mut store, &[(9, 1), (2, 1), (40, 1), (5, 1)], 1);
    let keys = |limit| {
        store
            .search(&vector(1), limit, |_| true)
            .unwrap()
            .iter()
            .map(|hit| hit.key)
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(4), [2, 5, 9, 40]);
    assert_eq!(keys(2), [2, 5]);
}

#[test]
fn a_key_has_one_vector_and_can_lose_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    append(&mut store, &[(1, 10), (2, 20), (1, 11)], 5);
    store.delete(&[2, 99], 6).unwrap();
    for store in [&store, &open(folder.path())] {
        assert_eq!((store.len(), store.position()), (1, 6));
        let stored = store.vector(1).unwrap().unwrap();
        assert!(
            stored
                .iter()
                .zip(vector(11))
                .all(|(left, right)| (left - right).abs() < 0.01)
        );
        assert_eq!(store.vector(2).unwrap(), None);
        assert_eq!(store.search(&vector(20), 9, |_| true).unwrap().len(), 1);
    }
}

#[test]
fn positions_never_go_down() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    store.advance(7).unwrap();
    append(&mut store, &[(1, 1)], 4);
    store.advance(2).unwrap();
    assert_eq!(open(folder.path()).position(), 7);
}

#[test]
fn what_is_not_a_number_is_never_near() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let (broken, zeros) = (vec![f32::NAN; DIMENSION], vec![0.0; DIMENSION]);
    store
        .append(&[(1, &broken), (2, &zeros), (3, &vector(1))], 1)
        .unwrap();
    let hits = store.search(&vector(1), 9, |_| true).unwrap();
    assert_eq!(
        hits.iter().map(|hit| hit.key).collect::<Vec<_>>(),
        [3, 1, 2]
    );
    assert_eq!(hits[1].score, 0.0);
    assert_eq!(store.search(&broken, 9, |_| true).unwrap().len(), 3);
}

#[test]
fn wrong_lengths_and_other_generations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    assert!(matches!(
        store.append(&[(1, &[1.0])], 1),
        Err(VectorError::Dimension {
            found: 1,
            wanted: DIMENSION
        })
    ));
    assert!(matches!(
        store.search(&[1.0], 1, |_| true),
        Err(VectorError::Dimension { .. })
    ));
    append(&mut store, &[(1, 1)], 1);
    let other = Generation {
        number: 4,
        ..generation()
    };
    assert!(matches!(
        VectorStore::open(folder.path(), other),
        Err(VectorError::Other { .. })
    ));
    let unfit = Generation {
        model: "m".repeat(MAX_MODEL + 1),
        ..generation()
    };
    assert!(matches!(
        VectorStore::open(folder.path(), unfit),
        Err(VectorError::Unfit)
    ));
}

#[test]
fn a_torn_end_is_cut_at_the_last_whole_block() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    append(&mut store, &[(1, 1), (2, 2)], 10);
    let whole = store.size();
    append(&mut store, &[(3, 3), (1, 9)], 20);
    let all = fs::read(&segment_files(folder.path())[0]).unwrap();
    for length in whole..all.len() as u64 {
        let torn = tempfile::tempdir().unwrap();
        fs::write(
            torn.path().join("0000000001.vectors"),
            &all[..usize::try_from(length).unwrap()],
        )
        .unwrap();
        let opened = VectorStore::open(torn.path(), generation()).unwrap();
        assert_eq!(
            (opened.cut, opened.store.position(), opened.store.len()),
            (length - whole, 10, 2)
        );
        let mut store = opened.store;
        append(&mut store, &[(3, 3)], 20);
        assert_eq!(open(torn.path()).len(), 3);
    }
}

#[test]
fn flipped_rows_are_told_not_searched() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    append(&mut store, &[(1, 1)], 1);
    let at = usize::try_from(store.size()).unwrap() - 3;
    append(&mut store, &[(2, 2)], 2);
    let file = &segment_files(folder.path())[0];
    let mut bytes = fs::read(file).unwrap();
    bytes[at] ^= 1;
    fs::write(file, bytes).unwrap();
    assert!(matches!(
        open(folder.path()).search(&vector(1), 1, |_| true),
        Err(VectorError::Damaged { .. })
    ));
}

#[test]
fn a_file_that_shrinks_under_us_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    append(&mut store, &[(1, 1)], 1);
    fs::write(&segment_files(folder.path())[0], b"").unwrap();
    assert!(matches!(
        store.search(&vector(1), 1, |_| true),
        Err(VectorError::Io { .. })
    ));
}

/// Asserts that a store holds exactly these rows, also after it is opened again.
fn assert_holds(store: &VectorStore, folder: &Path, rows: &BTreeMap<u64, u64>) {
    for store in [store, &open(folder)] {
        assert_eq!(store.len(), rows.len());
        assert!(rows.keys().all(|key| store.contains(*key)));
        assert_finds(store, rows, 77, 10, |_| true);
        assert_finds(store, rows, 78, 10, |key| key % 3 == 0);
    }
}

#[test]
fn compaction_keeps_what_is_there_and_forgets_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let mut rows = BTreeMap::new();
    for round in 0..4u64 {
        let some: Vec<(u64, u64)> = (0..1500)
            .map(|key| (key + round * 500, key * 31 + round))
            .collect();
        append(&mut store, &some, round + 1);
        rows.extend(some);
        let gone: Vec<u64> = (0..300).map(|key| key * 2 + round * 500).collect();
        store.delete(&gone, round + 1).unwrap();
        rows.retain(|key, _| !gone.contains(key));
        store.begin().unwrap();
    }
    assert_holds(&store, folder.path(), &rows);
    let before = store.size();
    let mut freed = 0;
    while let Some(segments) = store.worth_compacting() {
        let rewritten = store.rewrite(segments).unwrap();
        // Writes between the two steps must take effect.
        let (key, seed) = (*rows.keys().next().unwrap(), 5000 + freed);
        append(&mut store, &[(key, seed)], 9);
        rows.insert(key, seed);
        let gone = *rows.keys().next_back().unwrap();
        store.delete(&[gone], 9).unwrap();
        rows.remove(&gone);
        freed += store.adopt(rewritten).unwrap();
        assert_holds(&store, folder.path(), &rows);
        assert_eq!(store.position(), 9);
        if segment_files(folder.path()).len() == 2 {
            break;
        }
    }
    assert!(freed > before / 3, "{freed} of {before}");
}

#[test]
fn what_was_rewritten_for_nothing_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    append(&mut store, &[(1, 1), (2, 2)], 1);
    store.begin().unwrap();
    let (first, second) = (
        store.rewrite(0..1).unwrap(),
        segment_files(folder.path()).len(),
    );
    assert_eq!(second, 3, "two segments and a draft");
    drop(first);
    let again = store.rewrite(0..1).unwrap();
    store.adopt(again).unwrap();
    assert_eq!(segment_files(folder.path()).len(), 2);
    assert_eq!(open(folder.path()).len(), 2);
}

#[derive(Debug, Clone)]
enum StoreAction {
    Append(Vec<(u64, u64)>),
    Delete(Vec<u64>),
    Begin,
    Compact(usize, usize),
    Reopen,
}

fn act() -> impl Strategy<Value = StoreAction> {
    let key = || 0..40u64;
    prop_oneof![
        4 => prop::collection::vec((key(), 0..1000u64), 0..12).prop_map(StoreAction::Append),
        2 => prop::collection::vec(key(), 0..8).prop_map(StoreAction::Delete),
        2 => Just(StoreAction::Begin),
        2 => (0..4usize, 1..4usize).prop_map(|(first, count)| StoreAction::Compact(first, count)),
        1 => Just(StoreAction::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_store_is_a_map(acts in prop::collection::vec(act(), 1..30)) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        let mut rows = BTreeMap::new();
        for (position, act) in (1..).zip(acts) {
            match act {
                StoreAction::Append(some) => {
                    append(&mut store, &some, position);
                    rows.extend(some);
                }
                StoreAction::Delete(keys) => {
                    store.delete(&keys, position).unwrap();
                    rows.retain(|key, _| !keys.contains(key));
                }
                StoreAction::Begin => store.begin().unwrap(),
                StoreAction::Compact(first, count) => {
                    let settled = store.segments.len().saturating_sub(1);
                    let (first, end) = (first.min(settled), (first + count).min(settled));
                    if first < end {
                        let rewritten = store.rewrite(first..end).unwrap();
                        store.adopt(rewritten).unwrap();
                    }
                }
                StoreAction::Reopen => store = open(folder.path()),
            }
            prop_assert_eq!(store.len(), rows.len());
        }
        assert_holds(&store, folder.path(), &rows);
    }

    #[test]
    fn no_bytes_are_believed(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(), tail in prop::collection::vec(any::<u8>(), 0..60)) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        append(&mut store, &[(1, 1), (2, 2)], 1);
        store.delete(&[1], 2).unwrap();
        append(&mut store, &[(3, 3)], 3);
        let file = &segment_files(folder.path())[0];
        let mut bytes = fs::read(file).unwrap();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        bytes.extend(tail);
        fs::write(file, bytes).unwrap();
        if let Ok(opened) = VectorStore::open(folder.path(), generation()) {
            prop_assert!(opened.store.len() <= 2 && opened.store.position() <= 3);
            // Damage is reported or cut off, and every hit was stored.
            if let Ok(hits) = opened.store.search(&vector(3), 5, |_| true) {
                prop_assert!(hits.iter().all(|hit| (1..=3).contains(&hit.key)));
            }
        }
    }
}

/// Dimension of the first tier's model.
const LARGE: usize = 256;

/// Many rows: vectors around common centres, as those of texts about the same subjects are.
fn many(folder: &Path, count: u64) -> (VectorStore, BTreeMap<u64, Vec<f32>>) {
    let mut store = open_large(folder);
    let row = |key: u64| {
        let (centre, own) = (
            vector_of(LARGE, (1 << 40) + key % 40),
            vector_of(LARGE, key),
        );
        let mixed = centre.iter().zip(own).map(|(centre, own)| centre + own);
        mixed.collect::<Vec<f32>>()
    };
    let rows: BTreeMap<u64, Vec<f32>> = (1..=count).map(|key| (key, row(key))).collect();
    for keys in rows.iter().collect::<Vec<_>>().chunks(1000) {
        let vectors: Vec<(u64, &[f32])> = keys
            .iter()
            .map(|(key, row)| (**key, row.as_slice()))
            .collect();
        store.append(&vectors, *keys[0].0).unwrap();
    }
    (store, rows)
}

fn open_large(folder: &Path) -> VectorStore {
    let generation = Generation {
        dimension: LARGE,
        ..generation()
    };
    VectorStore::open(folder, generation).unwrap().store
}

/// Of many rows, sketches find what a comparison with all rows finds: the best always, and nearly all of the others.
/// So does a search among keys.
#[test]
fn sketches_of_many_rows_find_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let (store, rows) = many(folder.path(), 10_000);
    let wanted = |key: u64| !key.is_multiple_of(3);
    let keys: Vec<u64> = rows.keys().copied().filter(|key| wanted(*key)).collect();
    let (mut same, mut all) = (0, 0);
    for (key, row) in rows.iter().step_by(250) {
        // A row, a bit aside.
        let aside = vector_of(LARGE, key * 31);
        let query: Vec<f32> = row
            .iter()
            .zip(aside)
            .map(|(own, aside)| own + aside * 0.5)
            .collect();
        let mut expected = store.scores(&query, &keys).unwrap();
        expected.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score.then(one.key.cmp(&other.key))
        });
        let among = store.search_keys(&query, 100, -1.0, keys.iter().copied());
        for found in [store.search(&query, 100, wanted).unwrap(), among.unwrap()] {
            assert_eq!(found[0], expected[0]);
            assert_eq!(found.len(), 100);
            all += 100;
            let nearest = expected[..100].iter();
            same += nearest.filter(|hit| found.contains(hit)).count();
        }
        let lowest = expected[20].score;
        let near = store.search_near(&query, 1000, lowest, wanted).unwrap();
        assert_eq!(near, expected[..21]);
        let count = store
            .count_near(&query, expected[3000].score, wanted)
            .unwrap();
        assert!((2700..3300).contains(&count), "{count}");
    }
    assert!(same * 100 >= all * 97, "{same} of {all}");
}

/// Sketches are made of verified rows, and deleted rows are not found by them.
#[test]
fn sketches_are_of_rows_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, rows) = many(folder.path(), 9000);
    let near = |store: &VectorStore, key: u64| store.search(&rows[&key], 1, |_| true);
    assert_eq!(near(&store, 77).unwrap()[0].key, 77);
    store.delete(&[77], 10_000).unwrap();
    assert_ne!(near(&store, 77).unwrap()[0].key, 77);
    // A later block is sketched when it is there.
    store.append(&[(77, rows[&77].as_slice())], 10_001).unwrap();
    assert_eq!(near(&store, 77).unwrap()[0].key, 77);
    let file = &segment_files(folder.path())[0];
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
    let damaged = open_large(folder.path());
    assert!(matches!(
        near(&damaged, 5),
        Err(VectorError::Damaged { .. })
    ));
    // A search among a few keys does not believe unverified rows either.
    assert!(matches!(
        damaged.search_keys(&rows[&5], 1, -1.0, [5, 6].into_iter()),
        Err(VectorError::Damaged { .. })
    ));
}
