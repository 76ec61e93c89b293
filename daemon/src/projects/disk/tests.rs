//! Tests against the real file system: refusals, preserved content and concurrent edits.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::VecDeque;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use super::*;

const BYTES_MAX: u64 = 1024 * 1024;
/// Far longer than any step of these tests.
const LONG: Duration = Duration::from_secs(60);

struct Fixture {
    root: TempDir,
    folder: Folder,
    name: Name,
}

impl Fixture {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::open(root.path().join("projects"), BYTES_MAX).unwrap();
        let name = Name::new("app-01234567", "bugs").unwrap();
        Self { root, folder, name }
    }

    /// Creates a fixture with one file.
    fn with(text: &str) -> Self {
        let place = Self::new();
        place.replace(text, ExpectedFile::Absent);
        place
    }

    /// Simulates a file system that cannot exchange files.
    fn without_exchange(mut self) -> Self {
        self.folder.exchange = false;
        self
    }

    fn path(&self) -> PathBuf {
        self.folder.path(&self.name)
    }

    /// Creates the project's folder without the file; returns the path of the file.
    fn empty(&self) -> PathBuf {
        fs::create_dir_all(self.path().parent().unwrap()).unwrap();
        self.path()
    }

    fn read(&self) -> DiskEntry {
        self.folder.read(&self.name).unwrap()
    }

    fn text(&self) -> String {
        text_of(&self.read())
    }

    fn refused(&self) -> ReadRefusal {
        match self.read() {
            DiskEntry::Refused(why) => why,
            other => panic!("{other:?}"),
        }
    }

    /// Replaces the file and expects success.
    fn replace(&self, text: &str, expected: ExpectedFile) -> WrittenFile {
        let outcome = self.folder.replace(&self.name, text.as_bytes(), expected);
        match outcome.unwrap() {
            Outcome::Done(written) => written,
            Outcome::Overtaken(there) => panic!("{there:?}"),
        }
    }

    /// Returns whether no temporary files are left.
    fn is_tidy(&self) -> bool {
        let folder = self.path().parent().unwrap().to_path_buf();
        fs::read_dir(folder).unwrap().all(|entry| {
            !entry
                .unwrap()
                .file_name()
                .as_encoded_bytes()
                .starts_with(b".")
        })
    }
}

fn text_of(there: &DiskEntry) -> String {
    match there {
        DiskEntry::Content(content) => String::from_utf8(content.bytes.clone()).unwrap(),
        DiskEntry::Absent | DiskEntry::Refused(_) => panic!("{there:?}"),
    }
}

fn overtaken<T: std::fmt::Debug>(outcome: Result<Outcome<T>, Error>) -> DiskEntry {
    match outcome.unwrap() {
        Outcome::Overtaken(there) => there,
        Outcome::Done(done) => panic!("{done:?}"),
    }
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn written_and_read() {
    let place = Fixture::new();
    assert_eq!(place.read(), DiskEntry::Absent);
    let first = place.replace("one\n", ExpectedFile::Absent);
    assert!(first.replaced_file.is_none());
    assert_eq!(place.text(), "one\n");
    let second = place.replace("two\r\n", ExpectedFile::bytes(b"one\n"));
    assert_eq!(place.text(), "two\r\n");
    assert_ne!(first.stamp, second.stamp);
    assert_eq!(place.folder.stamp(&place.name).unwrap(), Some(second.stamp));
    assert_eq!(second.replaced_file.unwrap().edited().unwrap(), None);
    assert!(place.is_tidy());
}

/// A file that has the new content already is not written, whatever content is expected.
#[test]
fn the_same_again_is_not_written() {
    let place = Fixture::with("one");
    let stamp = place.folder.stamp(&place.name).unwrap();
    for expected in [
        ExpectedFile::Absent,
        ExpectedFile::bytes(b"other"),
        ExpectedFile::bytes(b"one"),
    ] {
        let written = place.replace("one", expected);
        assert_eq!(Some(written.stamp), stamp);
        assert!(written.replaced_file.is_none());
    }
}

#[test]
fn permissions() {
    let place = Fixture::with("one");
    assert_eq!(mode(&place.path()), 0o600);
    assert_eq!(mode(place.path().parent().unwrap()), 0o700);
    assert_eq!(mode(&place.root.path().join("projects")), 0o700);
    for (kept, place) in [
        (0o640, place),
        (0o664, Fixture::with("one").without_exchange()),
    ] {
        fs::set_permissions(place.path(), fs::Permissions::from_mode(kept)).unwrap();
        place.replace("two", ExpectedFile::bytes(b"one"));
        assert_eq!(mode(&place.path()), kept);
    }
}

#[test]
fn links_are_refused() {
    let place = Fixture::new();
    let secret = place.root.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, place.empty()).unwrap();
    assert_eq!(place.refused(), ReadRefusal::Link);
    assert_eq!(place.folder.stamp(&place.name).unwrap(), None);
    for expected in [ExpectedFile::Absent, ExpectedFile::bytes(b"secret")] {
        let outcome = place.folder.replace(&place.name, b"new", expected);
        assert_eq!(overtaken(outcome), DiskEntry::Refused(ReadRefusal::Link));
    }
    overtaken(place.folder.remove(&place.name, Hash::of(b"secret")));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
}

#[test]
fn a_linked_folder_is_refused() {
    let place = Fixture::new();
    let elsewhere = place.root.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("bugs.md"), "secret").unwrap();
    symlink(&elsewhere, place.path().parent().unwrap()).unwrap();
    assert_eq!(place.refused(), ReadRefusal::FolderIsLink);
    let outcome = place
        .folder
        .replace(&place.name, b"new", ExpectedFile::bytes(b"secret"));
    assert_eq!(
        overtaken(outcome),
        DiskEntry::Refused(ReadRefusal::FolderIsLink)
    );
    assert_eq!(
        fs::read_to_string(elsewhere.join("bugs.md")).unwrap(),
        "secret"
    );
    assert_eq!(place.folder.names(10).unwrap(), []);

    fs::remove_file(place.path().parent().unwrap()).unwrap();
    fs::write(place.path().parent().unwrap(), "a file").unwrap();
    assert_eq!(place.refused(), ReadRefusal::NoFolder);
}

/// Reading none of these blocks, whether the other end is open or not.
#[test]
fn what_is_no_file_is_refused() {
    let place = Fixture::new();
    let path = place.empty();
    let no_file = |what| {
        assert_eq!(place.refused(), ReadRefusal::NoFile(what));
        let outcome = place
            .folder
            .replace(&place.name, b"new", ExpectedFile::Absent);
        assert_eq!(
            overtaken(outcome),
            DiskEntry::Refused(ReadRefusal::NoFile(what))
        );
    };

    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    no_file("a named pipe");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    no_file("a folder");
    fs::remove_dir(&path).unwrap();

    let _listener = UnixListener::bind(&path).unwrap();
    no_file("a socket");
    fs::remove_file(&path).unwrap();

    // Only root can create a device: use /dev/null.
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
        let null = makedev(1, 3);
        if mknodat(CWD, &path, FileType::CharacterDevice, Mode::RWXU, null).is_ok() {
            no_file("a device");
        }
    }
}

#[test]
fn a_long_file_is_refused() {
    let place = Fixture::new();
    let bytes = 20 * 1024 * 1024;
    fs::write(place.empty(), vec![b'x'; bytes]).unwrap();
    let why = ReadRefusal::TooLong {
        bytes: bytes as u64,
        bytes_max: BYTES_MAX,
    };
    assert_eq!(place.refused(), why);
    assert!(why.to_string().contains("shorten"), "{why}");
    let outcome = place
        .folder
        .replace(&place.name, b"new", ExpectedFile::Absent);
    assert_eq!(overtaken(outcome), DiskEntry::Refused(why));

    fs::write(place.path(), vec![b'x'; BYTES_MAX as usize]).unwrap();
    assert_eq!(place.text().len() as u64, BYTES_MAX);
}

/// The edit is detected before anything is written.
#[test]
fn what_was_written_by_hand_before_is_left() {
    for place in [
        Fixture::with("ours"),
        Fixture::with("ours").without_exchange(),
    ] {
        fs::write(place.path(), "by hand").unwrap();
        for expected in [ExpectedFile::bytes(b"ours"), ExpectedFile::Absent] {
            let outcome = place.folder.replace(&place.name, b"new", expected);
            assert_eq!(text_of(&overtaken(outcome)), "by hand");
        }
        let outcome = place.folder.remove(&place.name, Hash::of(b"ours"));
        assert_eq!(text_of(&overtaken(outcome)), "by hand");
        assert_eq!(place.text(), "by hand");

        fs::remove_file(place.path()).unwrap();
        let outcome = place
            .folder
            .replace(&place.name, b"new", ExpectedFile::bytes(b"ours"));
        assert_eq!(overtaken(outcome), DiskEntry::Absent);
        assert_eq!(place.read(), DiskEntry::Absent);
        assert!(place.is_tidy());
    }
}

/// Saves like editors that write a new file and rename it.
fn rename_over(path: &std::path::Path, text: &str) {
    let beside = path.with_extension("saving");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

/// Calls `edit` with the round between the check and each exchange.
fn replace_while(
    place: &Fixture,
    expected: ExpectedFile,
    mut edit: impl FnMut(usize),
) -> DiskEntry {
    let outcome = place
        .folder
        .replace_while(&place.name, b"new", expected, &mut edit);
    let there = overtaken(outcome);
    assert!(place.is_tidy());
    there
}

#[test]
fn what_is_written_by_hand_meanwhile_is_left() {
    for exchange in [true, false] {
        let make = || match exchange {
            true => Fixture::with("ours"),
            false => Fixture::with("ours").without_exchange(),
        };
        let ours = ExpectedFile::bytes(b"ours");

        let place = make();
        let there = replace_while(&place, ours, |_| rename_over(&place.path(), "by hand"));
        assert_eq!(
            (text_of(&there), place.text()),
            ("by hand".into(), "by hand".into())
        );

        let place = make();
        let there = replace_while(&place, ours, |_| {
            fs::write(place.path(), "in place").unwrap()
        });
        assert_eq!(
            (text_of(&there), place.text()),
            ("in place".into(), "in place".into())
        );

        let place = make();
        let there = replace_while(&place, ours, |_| fs::remove_file(place.path()).unwrap());
        assert_eq!(
            (there, place.read()),
            (DiskEntry::Absent, DiskEntry::Absent)
        );

        let place = make();
        let there = replace_while(&place, ours, |_| {
            let _ = fs::remove_file(place.path());
            symlink("/etc/passwd", place.path()).unwrap();
        });
        assert_eq!(there, DiskEntry::Refused(ReadRefusal::Link));
        assert_eq!(
            fs::read_link(place.path()).unwrap(),
            PathBuf::from("/etc/passwd")
        );

        let place = make();
        fs::remove_file(place.path()).unwrap();
        let there = replace_while(&place, ExpectedFile::Absent, |_| {
            fs::write(place.path(), "made by hand").unwrap();
        });
        assert_eq!(text_of(&there), "made by hand");
    }
}

/// While the first edit is put back, more edits arrive: the last one stays.
#[test]
fn the_last_edit_of_several_stays() {
    let place = Fixture::with("ours");
    let ours = ExpectedFile::bytes(b"ours");
    let there = replace_while(&place, ours, |round| {
        if round < 5 {
            rename_over(&place.path(), &format!("edit {round}"));
        }
    });
    assert_eq!(text_of(&there), "edit 4");
    assert_eq!(place.text(), "edit 4");

    let place = Fixture::with("ours");
    let there = replace_while(&place, ours, |round| match round {
        0 => rename_over(&place.path(), "edit"),
        _ => fs::remove_file(place.path()).unwrap(),
    });
    assert_eq!(text_of(&there), "edit", "what was not seen yet comes back");
    assert_eq!(place.text(), "edit");
}

/// A program that opened the file before it was replaced writes afterwards.
#[test]
fn a_late_writer_is_noticed() {
    let place = Fixture::with("ours");
    let mut late = fs::OpenOptions::new()
        .append(true)
        .open(place.path())
        .unwrap();
    let replaced_file = place
        .replace("new", ExpectedFile::bytes(b"ours"))
        .replaced_file
        .unwrap();
    assert_eq!(replaced_file.edited().unwrap(), None);
    late.write_all(b" and a line").unwrap();
    assert_eq!(
        text_of(&replaced_file.edited().unwrap().unwrap()),
        "ours and a line"
    );
    assert_eq!(place.text(), "new");

    let mut late = fs::OpenOptions::new()
        .write(true)
        .open(place.path())
        .unwrap();
    let outcome = place.folder.remove(&place.name, Hash::of(b"new")).unwrap();
    let Outcome::Done(Some(replaced_file)) = outcome else {
        panic!("{outcome:?}")
    };
    late.seek(SeekFrom::Start(0)).unwrap();
    late.write_all(b"NEW").unwrap();
    assert_eq!(text_of(&replaced_file.edited().unwrap().unwrap()), "NEW");
}

#[test]
fn removed() {
    for place in [
        Fixture::with("ours"),
        Fixture::with("ours").without_exchange(),
    ] {
        let removed = place.folder.remove(&place.name, Hash::of(b"ours"));
        assert!(matches!(removed, Ok(Outcome::Done(Some(_)))), "{removed:?}");
        assert_eq!(place.read(), DiskEntry::Absent);
        let again = place.folder.remove(&place.name, Hash::of(b"ours"));
        assert!(matches!(again, Ok(Outcome::Done(None))), "{again:?}");
        assert!(place.is_tidy());
    }
    let nowhere = Fixture::new();
    let removed = nowhere.folder.remove(&nowhere.name, Hash::of(b""));
    assert!(matches!(removed, Ok(Outcome::Done(None))), "{removed:?}");
}

/// A crash while writing leaves nothing. A crash during the exchange leaves a file that may be a manual edit, and
/// no later temporary file takes its name.
#[test]
fn after_a_crash() {
    let place = Fixture::with("one");
    let beside = |name: &str| place.path().with_file_name(name);
    fs::write(beside(".bugs.md.1-0.new"), "torn").unwrap();
    fs::write(beside(".bugs.md.swp"), "an editor's").unwrap();
    fs::write(beside(".bugs.md.x.old"), "somebody's").unwrap();
    let process = std::process::id();
    for count in 0..200 {
        fs::write(
            beside(&format!(".bugs.md.{process}-{count}.old")),
            format!("edit {count}"),
        )
        .unwrap();
    }

    let folder = Folder::open(place.root.path().join("projects"), BYTES_MAX).unwrap();
    assert!(!beside(".bugs.md.1-0.new").exists());
    place.replace("two", ExpectedFile::bytes(b"one"));
    let leftovers = folder.leftovers().unwrap();
    assert_eq!(leftovers.len(), 200);
    assert!(leftovers.iter().all(|orphan| orphan.name == place.name));
    assert!(
        leftovers
            .iter()
            .any(|orphan| text_of(&orphan.content) == "edit 7")
    );
    for orphan in &leftovers {
        folder.discard(orphan).unwrap();
        folder.discard(orphan).unwrap();
    }
    assert!(folder.leftovers().unwrap().is_empty());
    assert!(beside(".bugs.md.swp").exists() && beside(".bugs.md.x.old").exists());
    assert_eq!(folder.names(10).unwrap(), std::slice::from_ref(&place.name));
}

#[test]
fn listed() {
    let place = Fixture::with("one");
    for (project, file) in [
        ("b", "features.md"),
        ("b", "bugs.md"),
        ("b", "bugs.md~"),
        ("b", "#bugs.md#"),
        ("b", "Notes.md"),
        ("UPPER", "bugs.md"),
        (".git", "bugs.md"),
    ] {
        let folder = place.root.path().join("projects").join(project);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), "").unwrap();
    }
    let names = |max| -> Vec<String> {
        let names = place.folder.names(max).unwrap();
        names.iter().map(Name::to_string).collect()
    };
    assert_eq!(
        names(10),
        ["app-01234567/bugs.md", "b/bugs.md", "b/features.md"]
    );
    assert_eq!(names(2).len(), 2);
}

#[test]
fn a_place_that_cannot_be_is_said_plainly() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "").unwrap();
    let error = Folder::open(root.path().join("file/projects"), BYTES_MAX).unwrap_err();
    assert!(
        error.to_string().contains("this is not a folder"),
        "{error}"
    );

    let place = Fixture::with("one");
    fs::remove_dir_all(place.root.path().join("projects")).unwrap();
    let error = place
        .folder
        .replace(&place.name, b"x", ExpectedFile::Absent)
        .unwrap_err();
    assert!(error.to_string().starts_with("cannot open "), "{error}");
    assert!(!error.is_full());
}

/// A replacement is a new inode: a reader of the old file still sees the old content.
#[test]
fn a_file_is_never_half_written() {
    let place = Fixture::with("one");
    let before = fs::metadata(place.path()).unwrap().ino();
    let old = fs::File::open(place.path()).unwrap();
    place.replace("two", ExpectedFile::bytes(b"one"));
    assert_ne!(fs::metadata(place.path()).unwrap().ino(), before);
    assert_eq!(std::io::read_to_string(old).unwrap(), "one");
}

/// One thread saves by hand, and saves again only after the other side has seen its last text. The other side
/// writes all the time, so a lost edit causes a timeout.
fn race(place: Fixture, rounds: usize, save: fn(&std::path::Path, &str)) {
    let (tell, seen) = mpsc::channel::<String>();
    let path = place.path();
    let mut known = place.read();
    let hand = std::thread::spawn(move || {
        for round in 0..rounds {
            let text = format!("hand {round}");
            save(&path, &text);
            while seen.recv_timeout(LONG).expect("the edit is lost") != text {}
        }
    });
    // A thread may still write to one of these files, so they are checked repeatedly; 200 of them take far longer
    // than a save.
    let mut replaced_file = VecDeque::<ReplacedFile>::new();
    let saw = |there: &DiskEntry| {
        if there.hash().is_some() && text_of(there).starts_with("hand") {
            let _ = tell.send(text_of(there));
        }
    };
    for count in 0.. {
        if hand.is_finished() {
            break;
        }
        let expected = known
            .hash()
            .map_or(ExpectedFile::Absent, ExpectedFile::Hash);
        let new = format!("agent {count}");
        known = match place
            .folder
            .replace(&place.name, new.as_bytes(), expected)
            .unwrap()
        {
            Outcome::Done(written) => {
                replaced_file.extend(written.replaced_file);
                place.read()
            }
            Outcome::Overtaken(there) => there,
        };
        saw(&known);
        for replaced_file in &replaced_file {
            replaced_file.edited().unwrap().iter().for_each(saw);
        }
        if replaced_file.len() > 200 {
            replaced_file.pop_front();
        }
    }
    hand.join().unwrap();
    assert!(place.is_tidy());
}

#[test]
fn no_edit_is_lost_in_a_race() {
    race(Fixture::with("agent"), 300, rename_over);
    race(Fixture::with("agent").without_exchange(), 300, rename_over);
}

#[test]
fn no_edit_in_place_is_lost_in_a_race() {
    race(Fixture::with("agent"), 300, |path, text| {
        fs::write(path, text).unwrap();
    });
}
