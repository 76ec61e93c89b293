//! Tests which files are read, on the real file system.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use super::*;

fn at(file: &str, content: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    dir
}

fn read_within(
    dir: &tempfile::TempDir,
    path: &str,
    bytes_max: u64,
) -> Result<Content, ReadFailure> {
    let base = dir.path().canonicalize().unwrap();
    read(&base, path, bytes_max, &Clock::System)
}

#[test]
fn a_file_with_its_stamp_and_hash() {
    let dir = at("a/b/c.md", b"text");
    let file = fs::File::options()
        .write(true)
        .open(dir.path().join("a/b/c.md"))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
        .unwrap();
    let content = read_within(&dir, "a/b/c.md", 4).unwrap();
    assert_eq!(content.bytes, b"text");
    assert_eq!(content.hash, Hash::of(b"text"));
    assert_eq!(
        content.stamp,
        FileFingerprint::of(&file.metadata().unwrap())
    );
    assert_eq!(content.stamp.mtime, 1_000_000_000_000_000_000);
}

/// A file that was just written can be written again without a new time.
#[test]
fn a_file_that_was_just_written_has_no_stamp_to_rely_on() {
    let dir = at("a.md", b"text");
    let file = fs::File::options()
        .write(true)
        .open(dir.path().join("a.md"))
        .unwrap();
    let future = SystemTime::UNIX_EPOCH + Duration::from_secs(8_000_000_000);
    file.set_modified(future).unwrap();
    let content = read_within(&dir, "a.md", 100).unwrap();
    assert_ne!(
        content.stamp,
        FileFingerprint::of(&file.metadata().unwrap())
    );
}

#[test]
fn what_is_not_read() {
    let dir = at("a/b.md", b"12345");
    let path = |name: &str| dir.path().join(name);
    let failed = |name: &str| match read_within(&dir, name, 4) {
        Err(ReadFailure::Failed(why) | ReadFailure::Barred(why)) => why,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(
        failed("a/b.md"),
        "has 5 bytes; at most 4 are read, so split it"
    );
    assert_eq!(read_within(&dir, "a/none.md", 4), Err(ReadFailure::Gone));
    assert_eq!(read_within(&dir, "none/b.md", 4), Err(ReadFailure::Gone));
    symlink("b.md", path("a/link.md")).unwrap();
    symlink("a", path("link")).unwrap();
    assert!(failed("a/link.md").contains("is a symbolic link"));
    assert!(failed("link/b.md").contains("behind a symbolic link"));
    assert!(failed("a").contains("is a folder"));
    // Opening a pipe would block until it has a writer.
    nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(failed("pipe").contains("is a named pipe"));

    // A sparse file of two gigabytes is refused by its size alone.
    let huge = fs::File::create(path("huge.txt")).unwrap();
    huge.set_len(2 << 30).unwrap();
    let limit = 50 << 20;
    let refused = read_within(&dir, "huge.txt", limit);
    assert!(matches!(refused, Err(ReadFailure::Failed(why)) if why.contains("2147483648 bytes")));
}

/// A link in place of the folder, or of a folder above it, is not followed.
#[test]
#[cfg(target_os = "linux")]
fn a_link_above_the_source() {
    let dir = at("a/b/c.md", b"text");
    let real = dir.path().canonicalize().unwrap();
    let read = |base: &str| read(&real.join(base), "c.md", 100, &Clock::System);
    assert_eq!(read("a/b").unwrap().bytes, b"text");
    fs::rename(real.join("a"), real.join("moved")).unwrap();
    symlink("moved", real.join("a")).unwrap();
    symlink("moved/b", real.join("b")).unwrap();
    for base in ["a/b", "b"] {
        match read(base) {
            Err(ReadFailure::Barred(why)) => {
                assert!(why.contains("behind a symbolic link"), "{why}")
            }
            other => panic!("{base}: {other:?}"),
        }
    }
}

/// Binary files are skipped by their first bytes, unless their names promise a document.
#[test]
fn binary_files() {
    let mut program = b"\x7fELF".to_vec();
    program.resize(100_000, 0);
    let dir = at("program", &program);
    fs::write(dir.path().join("program.md"), &program).unwrap();
    fs::write(dir.path().join("data.bin"), [0, 159, 146, 150]).unwrap();
    fs::write(dir.path().join("notes"), "only text").unwrap();
    let skipped = |name| read_within(&dir, name, 1000);
    assert_eq!(
        skipped("program"),
        Err(ReadFailure::Skipped("a program".into()))
    );
    assert_eq!(
        skipped("data.bin"),
        Err(ReadFailure::Skipped("not text".into()))
    );
    assert!(matches!(skipped("program.md"), Err(ReadFailure::Failed(_))));
    assert_eq!(skipped("notes").unwrap().bytes, b"only text");
}
