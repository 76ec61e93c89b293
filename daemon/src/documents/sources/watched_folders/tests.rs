//! Tests which changes in a source's folders are reported, on the real file system.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use super::*;
use crate::watch::tests::{Fixture, overflow, until, wait_for, watch};
use crate::watch::{Change, Status};

fn source() -> (TempDir, Fixture<WatchedFolders>) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("docs/deep")).unwrap();
    fs::create_dir_all(dir.path().join("target")).unwrap();
    fs::write(dir.path().join("docs/a.md"), "a").unwrap();
    fs::write(dir.path().join(".gitignore"), "target/").unwrap();
    let fixture = Fixture::new(WatchedFolders::new(reach(&dir)));
    (dir, fixture)
}

fn reach(dir: &TempDir) -> SourceScope {
    SourceScope::new(dir.path(), &[], &[], &[]).unwrap()
}

/// Counter for file names that no test has used.
static MARKS: AtomicU32 = AtomicU32::new(0);

/// Returns all reported changes once no more can follow, sorted by path.
fn changes(dir: &TempDir, fixture: &mut Fixture<WatchedFolders>) -> Vec<Change<String>> {
    loop {
        // Events are ordered, so the event of this file follows all earlier ones.
        let mark = format!("mark{}", MARKS.fetch_add(1, Ordering::Relaxed));
        fs::write(dir.path().join(&mark), "x").unwrap();
        fixture.heard_of(&mark);
        if !fixture.follow_folders() {
            break;
        }
    }
    let mut reported = fixture.pass(10_000);
    reported.retain(|change| match change {
        Change::Written(path) | Change::Removed(path) => !path.starts_with("mark"),
        Change::Rescan => true,
    });
    reported.sort_by_key(|change| format!("{change:?}"));
    reported
}

fn written(path: &str) -> Change<String> {
    Change::Written(path.to_owned())
}

fn removed(path: &str) -> Change<String> {
    Change::Removed(path.to_owned())
}

#[test]
fn files_come_change_and_go() {
    let (dir, mut fixture) = source();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("docs/a.md"), "b").unwrap();
    fs::write(at("docs/deep/new.md"), "x").unwrap();
    assert_eq!(
        changes(&dir, &mut fixture),
        [written("docs/a.md"), written("docs/deep/new.md")]
    );
    fs::rename(at("docs/a.md"), at("docs/b.md")).unwrap();
    fs::remove_file(at("docs/deep/new.md")).unwrap();
    assert_eq!(
        changes(&dir, &mut fixture),
        [
            removed("docs/a.md"),
            removed("docs/deep/new.md"),
            written("docs/b.md")
        ]
    );
    // An editor that writes a temporary file and renames it over the original.
    fs::write(at("docs/b.md.tmp"), "y").unwrap();
    fs::rename(at("docs/b.md.tmp"), at("docs/b.md")).unwrap();
    assert!(changes(&dir, &mut fixture).contains(&written("docs/b.md")));
}

/// Excluded folders are not watched, so changes in them cost nothing.
#[test]
fn what_is_left_out_is_not_watched() {
    let (dir, mut fixture) = source();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), dir.path().join("link")).unwrap();
    assert_eq!(changes(&dir, &mut fixture), [written("link")]);
    fs::write(dir.path().join("target/x.md"), "x").unwrap();
    fs::write(outside.path().join("x.md"), "x").unwrap();
    assert_eq!(changes(&dir, &mut fixture), []);
    // The folder is watched as soon as it is no longer excluded.
    fs::write(dir.path().join(".gitignore"), "").unwrap();
    assert_eq!(changes(&dir, &mut fixture), [written("")]);
    fs::write(dir.path().join("target/x.md"), "y").unwrap();
    assert_eq!(changes(&dir, &mut fixture), [written("target/x.md")]);
}

#[test]
fn folders_come_move_and_go() {
    let (dir, mut fixture) = source();
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(outside.path().join("in/deep")).unwrap();
    fs::write(outside.path().join("in/deep/x.md"), "x").unwrap();

    // Moved in: the whole folder must be scanned, and it is watched.
    fs::rename(outside.path().join("in"), at("in")).unwrap();
    assert_eq!(changes(&dir, &mut fixture), [written("in")]);
    fs::write(at("in/deep/x.md"), "y").unwrap();
    assert_eq!(changes(&dir, &mut fixture), [written("in/deep/x.md")]);

    // Renamed: both names are reported, and later changes have the new name.
    fs::rename(at("in"), at("on")).unwrap();
    assert_eq!(changes(&dir, &mut fixture), [removed("in"), written("on")]);
    fs::write(at("on/deep/x.md"), "z").unwrap();
    assert_eq!(changes(&dir, &mut fixture), [written("on/deep/x.md")]);

    // Moved out: later changes are not reported, once the watcher's thread has ended its watch of the folder below.
    fs::rename(at("on"), outside.path().join("out")).unwrap();
    assert_eq!(changes(&dir, &mut fixture), [removed("on")]);
    let is_silent = (0..100).any(|count| {
        fs::write(outside.path().join("out/deep/x.md"), count.to_string()).unwrap();
        changes(&dir, &mut fixture).is_empty()
    });
    assert!(is_silent);

    // Another folder takes its name, and is removed with all its content.
    fs::create_dir_all(at("on/deep")).unwrap();
    changes(&dir, &mut fixture);
    fs::write(at("on/deep/x.md"), "2").unwrap();
    assert_eq!(changes(&dir, &mut fixture), [written("on/deep/x.md")]);
    fs::remove_dir_all(at("on")).unwrap();
    assert!(changes(&dir, &mut fixture).contains(&removed("on")));
}

/// A folder that replaced another is scanned again like a new one, because changes before its watch began
/// were not reported.
#[test]
fn a_folder_that_is_replaced() {
    let (dir, mut fixture) = source();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("other")).unwrap();
    fs::rename(at("docs"), at("old")).unwrap();
    fs::rename(at("other"), at("docs")).unwrap();
    let mut docs = PathSet::default();
    docs.add("docs".to_owned());
    let watch_scope = Arc::clone(&fixture.watch_scope);
    assert!(watch_scope.watch(&mut fixture.watcher, &docs).unwrap());
    assert!(!watch_scope.watch(&mut fixture.watcher, &docs).unwrap());
}

/// A branch switch reports so many files that the whole source is scanned.
#[test]
fn five_thousand_files_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = |count: u32| dir.path().join(format!("{}/{count}.md", count % 50));
    for count in 0..5000 {
        fs::create_dir_all(path(count).parent().unwrap()).unwrap();
        fs::write(path(count), "main").unwrap();
    }
    let (_watch, reported, _) = watch(WatchedFolders::new(reach(&dir)));
    for count in 0..5000 {
        fs::write(path(count), "branch").unwrap();
    }
    let mut places = PathSet::default();
    while !places.is_all() {
        match reported.recv_timeout(crate::watch::tests::LONG).unwrap() {
            Change::Written(path) | Change::Removed(path) => places.add(path),
            Change::Rescan => places = PathSet::all(),
        }
    }
    let walked = reach(&dir).walk(&places);
    let files = walked.filter(|step| matches!(step, Step::File(_))).count();
    assert_eq!(files, 5000);
}

/// A new folder with files in it is reported as one path.
#[test]
fn a_folder_with_many_files() {
    let (dir, mut fixture) = source();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("in")).unwrap();
    for count in 0..2000 {
        fs::write(outside.path().join(format!("in/{count}.md")), "x").unwrap();
    }
    fs::rename(outside.path().join("in"), dir.path().join("in")).unwrap();
    assert_eq!(changes(&dir, &mut fixture), [written("in")]);
}

#[test]
fn lost_events_and_a_source_that_vanishes() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("source");
    fs::create_dir(&root).unwrap();
    let reach = SourceScope::new(&root, &[], &[], &[]).unwrap();
    let (watch, reported, on_event) = watch(WatchedFolders::new(reach));
    assert_eq!(watch.status(), Status::Watching);
    on_event(Ok(overflow()));
    until(&reported, &Change::Rescan);
    on_event(Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch)));
    until(&reported, &Change::Rescan);

    fs::remove_dir(&root).unwrap();
    wait_for(&reported, || watch.status() != Status::Watching);
    let Status::Polling(why) = watch.status() else {
        panic!("watching nothing")
    };
    assert!(
        why.contains("documents in") && why.contains("folder not found"),
        "{why}"
    );
    fs::create_dir(&root).unwrap();
    wait_for(&reported, || watch.status() == Status::Watching);
    fs::write(root.join("x.md"), "x").unwrap();
    until(&reported, &written("x.md"));
}

/// The folder of a single file is watched, because programs replace files. Other files in it are not reported.
#[test]
fn one_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("one.md"), "x").unwrap();
    let reach = SourceScope::new(&at("one.md"), &[], &[], &[]).unwrap();
    let (_watch, reported, _) = watch(WatchedFolders::new(reach));
    fs::write(at("other.md"), "x").unwrap();
    fs::write(at("new"), "y").unwrap();
    fs::rename(at("new"), at("one.md")).unwrap();
    assert_eq!(
        reported.recv_timeout(crate::watch::tests::LONG).unwrap(),
        written("one.md")
    );
    fs::remove_file(at("one.md")).unwrap();
    until(&reported, &removed("one.md"));
}
