//! Tests how editors save, on the real file system with inotify events. The clock stands still
//! between the steps of a save and is moved by the test, so no step is ever late.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::watch::tests::{overflow, until, wait_for, watch};
use crate::watch::{Status, real, tests};

/// Time between two steps of a save, shorter than the quiet period.
const STEP: u64 = 50;
/// Duration of a step that exceeds the quiet period.
const PAUSE: u64 = 400;

fn name(file_type: &str) -> Name {
    Name::new("app", file_type).unwrap()
}

fn written(file_type: &str) -> Change {
    Change::Written(name(file_type))
}

/// Real events with a simulated clock.
struct Fixture {
    _dir: TempDir,
    root: PathBuf,
    watched: tests::Fixture<Projects>,
    marks: u32,
    reported: Vec<Change>,
}

impl Fixture {
    /// Creates a fixture with a file `bugs` of the project `app`.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = real(dir.path()).unwrap();
        fs::create_dir(root.join("app")).unwrap();
        fs::write(root.join("app/bugs.md"), "before").unwrap();
        Self {
            _dir: dir,
            watched: tests::Fixture::new(Projects::new(&root).unwrap()),
            root,
            marks: 0,
            reported: Vec::new(),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.join("app").join(file)
    }

    /// Waits until all events so far are recorded, advances the clock, and collects the settled changes.
    fn pass(&mut self, millis: u64) -> &mut Self {
        self.marks += 1;
        let mark = name(&format!("mark{}", self.marks));
        fs::create_dir(self.path(&mark.file())).unwrap();
        self.watched.heard_of(&mark);
        let changes = self.watched.pass(millis);
        self.reported
            .extend(changes.into_iter().filter(|change| match change {
                Change::Written(name) | Change::Removed(name) => {
                    !name.file_type().starts_with("mark")
                }
                Change::Rescan => true,
            }));
        self
    }

    /// Returns all reported changes once no more can follow.
    fn changes(&mut self) -> Vec<Change> {
        self.pass(5000).pass(5000);
        std::mem::take(&mut self.reported)
    }

    /// Asserts that one change is reported, and that the file then has this content.
    fn assert_saved(&mut self, text: &str) {
        assert_eq!(self.changes(), [written("bugs")]);
        assert_eq!(fs::read_to_string(self.path("bugs.md")).unwrap(), text);
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }
}

/// `echo > x`, nano, and others: the file is truncated, then written in parts and slowly.
#[test]
fn in_place() {
    for wait in [STEP, PAUSE] {
        let mut fixture = Fixture::new();
        let mut file = fs::File::create(fixture.path("bugs.md")).unwrap();
        fixture.pass(wait);
        file.write_all(b"first ").unwrap();
        fixture.pass(wait);
        file.write_all(b"second").unwrap();
        fixture.pass(STEP);
        drop(file);
        fixture.assert_saved("first second");
    }
}

/// The file is truncated and closed, and written only then.
#[test]
fn in_place_in_two_goes() {
    let mut fixture = Fixture::new();
    fs::write(fixture.path("bugs.md"), "").unwrap();
    fixture.pass(PAUSE);
    fs::write(fixture.path("bugs.md"), "after").unwrap();
    fixture.assert_saved("after");

    fs::write(fixture.path("bugs.md"), "").unwrap();
    fixture.assert_saved("");
}

#[test]
fn renamed_over() {
    let mut fixture = Fixture::new();
    for (count, beside) in ["bugs.md.tmp", ".goutputstream-X1", "bugs.md.4f2a.new"]
        .iter()
        .enumerate()
    {
        let text = format!("after {count}");
        fs::write(fixture.path(beside), &text).unwrap();
        fixture.pass(PAUSE);
        fixture.rename(beside, "bugs.md");
        fixture.assert_saved(&text);
    }
}

/// The old file is renamed to a backup while the new file is written.
#[test]
fn with_a_backup() {
    for wait in [STEP, PAUSE] {
        let mut fixture = Fixture::new();
        fixture.rename("bugs.md", "bugs.md~");
        fixture.pass(wait);
        let mut file = fs::File::create(fixture.path("bugs.md")).unwrap();
        fixture.pass(wait);
        file.write_all(b"after").unwrap();
        drop(file);
        fixture.pass(STEP);
        fs::remove_file(fixture.path("bugs.md~")).unwrap();
        fixture.assert_saved("after");
    }
}

/// vim: a swap file, a probe for permission to create files, a backup, permissions.
#[test]
fn vim() {
    use std::os::unix::fs::PermissionsExt;
    let mut fixture = Fixture::new();
    fs::write(fixture.path(".bugs.md.swp"), "swap").unwrap();
    fs::write(fixture.path(".bugs.md.swx"), "").unwrap();
    fs::remove_file(fixture.path(".bugs.md.swx")).unwrap();
    assert_eq!(fixture.changes(), []);

    fs::write(fixture.path("4913"), "").unwrap();
    fs::remove_file(fixture.path("4913")).unwrap();
    fixture.pass(STEP).rename("bugs.md", "bugs.md~");
    fixture.pass(PAUSE);
    fs::write(fixture.path("bugs.md"), "after").unwrap();
    fixture.pass(STEP);
    fs::set_permissions(fixture.path("bugs.md"), fs::Permissions::from_mode(0o600)).unwrap();
    fixture.pass(STEP);
    fs::remove_file(fixture.path("bugs.md~")).unwrap();
    fs::write(fixture.path(".bugs.md.swp"), "more swap").unwrap();
    fixture.assert_saved("after");
    fs::remove_file(fixture.path(".bugs.md.swp")).unwrap();
    assert_eq!(fixture.changes(), []);
}

/// Emacs: a lock that is a dangling link, an autosave file, a backup copy.
#[test]
fn emacs() {
    let mut fixture = Fixture::new();
    symlink("me@host.1234:5678", fixture.path(".#bugs.md")).unwrap();
    fixture.pass(PAUSE);
    fs::write(fixture.path("#bugs.md#"), "autosave").unwrap();
    assert_eq!(fixture.changes(), []);

    fs::copy(fixture.path("bugs.md"), fixture.path("bugs.md~")).unwrap();
    fixture.pass(STEP);
    fs::write(fixture.path("bugs.md"), "after").unwrap();
    fixture.pass(STEP);
    fs::remove_file(fixture.path(".#bugs.md")).unwrap();
    fs::remove_file(fixture.path("#bugs.md#")).unwrap();
    fixture.assert_saved("after");
}

/// The daemon itself: the files are swapped.
#[test]
fn replaced_by_us() {
    let mut fixture = Fixture::new();
    let folder = crate::projects::disk::Folder::open(&fixture.root, 1000).unwrap();
    let expected = crate::projects::disk::ExpectedFile::bytes(b"before");
    folder.replace(&name("bugs"), b"after", expected).unwrap();
    fixture.assert_saved("after");
    assert!(matches!(
        folder.read(&name("bugs")),
        Ok(crate::projects::disk::DiskEntry::Content(_))
    ));
    assert_eq!(fixture.changes(), [], "reading is no change");
}

#[test]
fn removed() {
    let mut fixture = Fixture::new();
    fs::remove_file(fixture.path("bugs.md")).unwrap();
    fixture.pass(900);
    assert_eq!(fixture.reported, [], "not before it is sure");
    assert_eq!(fixture.changes(), [Change::Removed(name("bugs"))]);

    fs::write(fixture.path("bugs.md"), "x").unwrap();
    fixture.assert_saved("x");
    fixture.rename("bugs.md", "elsewhere");
    assert_eq!(fixture.changes(), [Change::Removed(name("bugs"))]);
}

/// A link in place of a file is reported, and refused only when it is read.
#[test]
fn a_link_instead() {
    let mut fixture = Fixture::new();
    fs::remove_file(fixture.path("bugs.md")).unwrap();
    symlink("/nowhere", fixture.path("bugs.md")).unwrap();
    assert_eq!(fixture.changes(), [written("bugs")]);
}

/// A new folder is listed after its watch begins, so no file is missed.
#[test]
fn folders_come_and_go() {
    let mut fixture = Fixture::new();
    let folder = |fixture: &mut Fixture, project: &str| {
        fixture.watched.heard_of_folder(project);
        fixture.watched.watch(project)
    };
    let tell = |fixture: &mut Fixture, folder: Folder<Name>| {
        fixture.watched.note(folder);
        fixture.changes()
    };
    let early = Name::new("new", "early").unwrap();
    let late = Name::new("new", "late").unwrap();

    fs::create_dir(fixture.root.join("new")).unwrap();
    fs::write(fixture.root.join("new/early.md"), "x").unwrap();
    let came = folder(&mut fixture, "new");
    assert_eq!(came, Folder::Watched(vec![early.clone()]));
    fs::write(fixture.root.join("new/late.md"), "x").unwrap();
    let mut reported = tell(&mut fixture, came);
    reported.sort_by_key(|change| format!("{change:?}"));
    assert_eq!(
        reported,
        [Change::Written(early.clone()), Change::Written(late)]
    );

    // The folder is moved away with its content, and replaced at once.
    fs::rename(fixture.root.join("new"), fixture.root.join("OLD")).unwrap();
    fs::create_dir(fixture.root.join("new")).unwrap();
    let replaced = folder(&mut fixture, "new");
    assert_eq!(replaced, Folder::Replaced(vec![]));
    assert_eq!(tell(&mut fixture, replaced), [Change::Rescan]);

    fixture.pass(STEP).watched.forget_folders();
    fs::remove_dir(fixture.root.join("new")).unwrap();
    let gone = folder(&mut fixture, "new");
    assert_eq!(gone, Folder::Gone);
    assert_eq!(tell(&mut fixture, gone), [Change::Rescan]);

    // These are not project folders.
    fs::create_dir(fixture.root.join("UPPER")).unwrap();
    fs::write(fixture.root.join("UPPER/bugs.md"), "x").unwrap();
    symlink(fixture.root.join("UPPER"), fixture.root.join("link")).unwrap();
    assert_eq!(folder(&mut fixture, "link"), Folder::None);
    fs::write(fixture.root.join("UPPER/bugs.md"), "y").unwrap();
    assert_eq!(fixture.changes(), []);
}

#[test]
fn changes_are_reported_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (watch, reported, _) = watch(Projects::new(dir.path()).unwrap());
    assert_eq!(watch.status(), Status::Watching);
    fs::create_dir(dir.path().join("app")).unwrap();
    fs::write(dir.path().join("app/bugs.md"), "one").unwrap();
    until(&reported, &written("bugs"));
    fs::write(dir.path().join("app/bugs.md"), "two").unwrap();
    until(&reported, &written("bugs"));
    fs::remove_file(dir.path().join("app/bugs.md")).unwrap();
    until(&reported, &Change::Removed(name("bugs")));
    drop(watch);
    assert!(reported.iter().all(|change| change != Change::Rescan));
}

/// The kernel's event queue overflows: everything is watched again and rescanned.
#[test]
fn lost_events() {
    let dir = tempfile::tempdir().unwrap();
    let (watch, reported, on_event) = watch(Projects::new(dir.path()).unwrap());
    on_event(Ok(overflow()));
    until(&reported, &Change::Rescan);
    on_event(Err(notify::Error::generic("cannot read events")));
    until(&reported, &Change::Rescan);
    assert_eq!(watch.status(), Status::Watching);
    fs::create_dir(dir.path().join("app")).unwrap();
    fs::write(dir.path().join("app/bugs.md"), "x").unwrap();
    until(&reported, &written("bugs"));
}

/// The folder is polled while it cannot be watched, and watched as soon as it can.
#[test]
fn a_folder_that_comes_later_and_goes() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("projects");
    let (watch, reported, _) = watch(Projects::new(&root).unwrap());
    let Status::Polling(why) = watch.status() else {
        panic!("watching nothing")
    };
    assert!(
        why.contains("projects cannot be watched") && why.contains("every 0.05 s"),
        "{why}"
    );
    until(&reported, &Change::Rescan);
    until(&reported, &Change::Rescan);

    for round in 0..2 {
        fs::create_dir_all(root.join("app")).unwrap();
        wait_for(&reported, || watch.status() == Status::Watching);
        fs::write(root.join("app/bugs.md"), format!("{round}")).unwrap();
        until(&reported, &written("bugs"));

        fs::remove_dir_all(&root).unwrap();
        wait_for(&reported, || watch.status() != Status::Watching);
    }
}
