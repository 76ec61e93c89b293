//! Tests of crashes, damage, other versions, and concurrent use.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn another_version_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    documents(folder.path(), &["x"]).flush().unwrap();
    let error = TextIndex::open(folder.path(), 2).err().unwrap();
    assert!(matches!(error, Error::OtherVersion { .. }), "{error}");
    assert!(error.is_cured_by_rebuilding());
    assert_eq!(TextIndex::open(folder.path(), 1).unwrap().position(), 1);
}

#[test]
fn a_half_made_or_foreign_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    assert!(matches!(
        TextIndex::open(folder.path(), 1),
        Err(Error::Damaged(_))
    ));
    let file = folder.path().join("notes.txt");
    let error = TextIndex::open(&file, 1).err().unwrap();
    assert!(matches!(error, Error::Failed(_)), "{error}");
}

#[test]
fn a_damaged_file_is_an_error_or_answers_and_never_ends_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<String> = (0..300)
        .map(|at| format!("word{at} common text {}", at % 7))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    documents(folder.path(), &texts).flush().unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap();
    let mut refused = 0;
    for file in files {
        let path = file.unwrap().path();
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped
            .iter_mut()
            .step_by(11)
            .for_each(|byte| *byte ^= 0xa5);
        for damaged in [&flipped[..], &whole[..whole.len() / 2], &[]] {
            std::fs::write(&path, damaged).unwrap();
            let answer = TextIndex::open(folder.path(), 1).and_then(|index| {
                index.search(&query("common text word5 wrod7"), None)?;
                index.units()
            });
            refused += u32::from(answer.is_err());
        }
        std::fs::write(&path, whole).unwrap();
    }
    assert!(refused > 10, "{refused}");
    let index = TextIndex::open(folder.path(), 1).unwrap();
    assert_eq!(index.search(&query("common"), None).unwrap().total, 300);
}

#[test]
fn a_flipped_bit_in_the_position_of_a_commit_is_found() {
    let folder = tempfile::tempdir().unwrap();
    documents(folder.path(), &["x one", "x two"])
        .flush()
        .unwrap();
    let list = folder.path().join("meta.json");
    let whole = std::fs::read(&list).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let start = text.find("\"text ").unwrap() + 1;
    let end = start + text[start..].find('"').unwrap();
    assert!(end - start > 20, "{text}");
    for at in start..end {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        std::fs::write(&list, flipped).unwrap();
        let error = TextIndex::open(folder.path(), 1).err().unwrap();
        assert!(error.is_cured_by_rebuilding(), "{error}");
    }
    // As earlier releases wrote it, without a checksum of the whole list.
    std::fs::remove_file(folder.path().join("meta.sums")).unwrap();
    let short = text[start..end].rsplit_once(' ').unwrap().0;
    std::fs::write(&list, text.replace(&text[start..end], short)).unwrap();
    assert_eq!(TextIndex::open(folder.path(), 1).unwrap().position(), 2);
}

#[test]
fn a_flipped_bit_anywhere_in_the_list_of_segments_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["x one", "x two"]);
    index.flush().unwrap();
    let list = folder.path().join("meta.json");
    index
        .apply(&[add(unit(Kind::Document, 3, 0, 3), "x three", &[])], 3)
        .unwrap();
    index.flush().unwrap();
    drop(index);
    let whole = std::fs::read(&list).unwrap();
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&list, flipped).unwrap();
        let error = TextIndex::open(folder.path(), 1).err().unwrap();
        assert!(error.is_cured_by_rebuilding(), "byte {at}: {error}");
    }
    std::fs::write(&list, &whole).unwrap();
    let sums = folder.path().join("meta.sums");
    let written = std::fs::read(&sums).unwrap();
    for at in 0..written.len() {
        let mut flipped = written.clone();
        flipped[at] ^= 1;
        std::fs::write(&sums, flipped).unwrap();
        match TextIndex::open(folder.path(), 1) {
            Ok(index) => assert_eq!(positions(&index, "x"), [1, 2, 3]),
            Err(error) => assert!(error.is_cured_by_rebuilding(), "{error}"),
        }
    }
    std::fs::write(&sums, written).unwrap();
    assert!(TextIndex::open(folder.path(), 1).is_ok());
}

#[test]
fn what_was_not_settled_is_gone_after_a_crash_and_the_position_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["x one", "x two"]);
    index.flush().unwrap();
    index
        .apply(&[add(unit(Kind::Document, 3, 0, 3), "x three", &[])], 3)
        .unwrap();
    index
        .apply(&[Change::RemovePosition { position: 1 }], 4)
        .unwrap();
    drop(index);
    let index = TextIndex::open(folder.path(), 1).unwrap();
    assert_eq!((index.position(), index.settled_position()), (2, 2));
    assert_eq!(positions(&index, "x"), [1, 2]);
}

#[test]
fn a_settling_that_cannot_write_keeps_all_and_the_next_one_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["x one", "x two"]);
    // Another writer holds the folder's lock.
    let other = tantivy::Index::open_in_dir(folder.path()).unwrap();
    let lock = other
        .writer_with_num_threads::<tantivy::TantivyDocument>(1, 15_000_000)
        .unwrap();
    assert!(index.flush().is_err());
    index
        .apply(&[Change::RemovePosition { position: 1 }], 3)
        .unwrap();
    assert_eq!(positions(&index, "x"), [2]);
    drop(lock);
    index.flush().unwrap();
    drop(index);
    let index = TextIndex::open(folder.path(), 1).unwrap();
    assert_eq!(index.position(), 3);
    assert_eq!(positions(&index, "x"), [2]);
}

#[test]
fn searches_and_changes_go_on_while_it_settles() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["x 0"]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let settling = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                index.flush().unwrap();
            }
        });
        let searching = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let found = index.search(&query("x"), None).unwrap();
                // Not zero or two units: the new one is added and the old one removed atomically.
                assert_eq!(found.total, 1);
            }
        });
        for position in 2..200 {
            let changes = [
                Change::RemoveGroup {
                    group: 1,
                    before: position,
                },
                add(
                    unit(Kind::Document, position, 0, 1),
                    &format!("x {position}"),
                    &[],
                ),
            ];
            assert_eq!(
                index.apply(&changes, position).unwrap(),
                [key(position - 1, 0)]
            );
        }
        done.store(true, Ordering::Relaxed);
        settling.join().unwrap();
        searching.join().unwrap();
    });
    index.flush().unwrap();
    assert_eq!(positions(&index, "x"), [199]);
    assert!(index.counts().segments <= 2);
}

#[test]
fn segments_stay_few_and_removed_units_leave_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let index = TextIndex::open(folder.path(), 1).unwrap();
    let mut position = 0;
    let mut bytes = 0;
    for round in 0..12 {
        for _ in 0..50 {
            position += 1;
            let text = format!("common text number{position}");
            index
                .apply(
                    &[add(unit(Kind::Document, position, 0, round), &text, &[])],
                    position,
                )
                .unwrap();
        }
        if round > 0 {
            index
                .apply(
                    &[Change::RemoveGroup {
                        group: round - 1,
                        before: position,
                    }],
                    position,
                )
                .unwrap();
        }
        index.flush().unwrap();
        assert!(index.counts().segments <= 2);
        if round == 1 {
            bytes = index.disk_bytes().unwrap();
        }
    }
    assert_eq!(index.counts().units(), 50);
    assert!(index.disk_bytes().unwrap() < 2 * bytes);
}

/// Returns the file names that tantivy manages, and the file names that exist.
fn files(folder: &std::path::Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let known = std::fs::read(folder.join(".managed.json")).unwrap();
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    (serde_json::from_slice(&known).unwrap(), names.collect())
}

#[test]
fn a_purge_removes_files_that_a_kill_left_behind_a_merge() {
    let (folder, before) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let index = documents(folder.path(), &["x one", "x two"]);
    index.flush().unwrap();
    let (was_known, was_there) = files(folder.path());
    for name in &was_there {
        std::fs::copy(folder.path().join(name), before.path().join(name)).unwrap();
    }
    index
        .apply(&[Change::RemovePosition { position: 1 }], 3)
        .unwrap();
    index.purge().unwrap();
    drop(index);
    let (known, there) = files(folder.path());
    let left: Vec<&String> = was_there.difference(&there).collect();
    assert!(!left.is_empty());
    for name in &left {
        std::fs::copy(before.path().join(name), folder.path().join(name)).unwrap();
    }
    let known: BTreeSet<&String> = known.union(&was_known).collect();
    let known = serde_json::to_vec(&known).unwrap();
    std::fs::write(folder.path().join(".managed.json"), known).unwrap();
    let index = TextIndex::open(folder.path(), 1).unwrap();
    index.purge().unwrap();
    let (_, there) = files(folder.path());
    assert!(left.iter().all(|name| !there.contains(*name)), "{there:?}");
    assert_eq!(positions(&index, "x"), [2]);
}
