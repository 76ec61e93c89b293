//! Tests which files a walk finds, on the real file system.
#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use tempfile::TempDir;

use super::*;
use crate::documents::sources::SourceError;

/// Creates a folder with files; each file contains its own path.
fn folder(files: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        put(&dir, file, file);
    }
    dir
}

fn put(dir: &TempDir, file: &str, text: &str) {
    let path = dir.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn reach(dir: &TempDir) -> SourceScope {
    SourceScope::new(dir.path(), &[], &[], &[]).unwrap()
}

fn files_of(walk: FolderWalk) -> Vec<String> {
    let files = walk.filter_map(|step| match step {
        Step::File(found) => Some(found.path),
        Step::Folder(_) => None,
        Step::Trouble(trouble) => Some(format!("{}: {}", trouble.path, trouble.reason)),
    });
    files.collect()
}

fn files(reach: &SourceScope) -> Vec<String> {
    files_of(reach.walk(&PathSet::all()))
}

fn texts(of: &[&str]) -> Vec<String> {
    of.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn in_the_order_of_names_with_stamps() {
    let dir = folder(&["b.md", "a/y.md", "a/x/z.md", "a-b.md", "c/.keep"]);
    assert_eq!(
        files(&reach(&dir)),
        ["a/x/z.md", "a/y.md", "a-b.md", "b.md"]
    );
    let steps: Vec<Step> = reach(&dir).walk(&PathSet::all()).collect();
    let folders = steps.iter().filter_map(|step| match step {
        Step::Folder(folder) => Some(folder.as_str()),
        Step::File(_) | Step::Trouble(_) => None,
    });
    assert_eq!(folders.collect::<Vec<_>>(), ["", "a", "a/x", "c"]);
    let found = fs::metadata(dir.path().join("b.md")).unwrap();
    assert!(steps.contains(&Step::File(FoundFile {
        path: "b.md".to_owned(),
        stamp: FileFingerprint::of(&found),
    })));
}

/// The same rules apply within a git repository and without one.
#[test]
fn what_ignore_files_say() {
    for in_repository in [false, true] {
        let dir = folder(&[
            "src/main.rs",
            "target/debug/x.rs",
            "notes/draft.md",
            "notes/final.md",
            "notes/secret.md",
            "notes/sub/secret.md",
            ".hidden/x.md",
            ".shown/x.md",
            ".env",
        ]);
        if in_repository {
            put(&dir, ".git/HEAD", "ref: refs/heads/main");
            put(&dir, ".git/info/exclude", "final.md");
        }
        put(&dir, ".gitignore", "target/\ndraft.md\n");
        put(&dir, "notes/.loreignore", "secret.md\n!draft.md\n");
        put(&dir, ".loreignore", "!.shown/\n!.git/\n");
        let mut expected = vec![".shown/x.md", "notes/draft.md", "src/main.rs"];
        if !in_repository {
            expected.insert(2, "notes/final.md");
        }
        assert_eq!(files(&reach(&dir)), expected);
    }
}

/// A source within a repository also follows the ignore files above it; any other source follows only its own.
#[test]
fn ignore_files_above_a_source() {
    let dir = folder(&["docs/a.md", "docs/b.md", "docs/c.md"]);
    put(&dir, ".gitignore", "a.md");
    let docs = SourceScope::new(&dir.path().join("docs"), &[], &[], &[]).unwrap();
    assert_eq!(files(&docs), ["a.md", "b.md", "c.md"]);
    fs::create_dir(dir.path().join(".git")).unwrap();
    put(&dir, ".loreignore", "b.md");
    assert_eq!(files(&docs), ["c.md"]);
}

#[test]
fn what_patterns_say() {
    let dir = folder(&[
        "a.md",
        "a.txt",
        "docs/b.md",
        "docs/img/c.txt",
        "#d.md",
        ".e.md",
    ]);
    put(&dir, ".ignore", "docs/img/z.txt");
    put(&dir, "docs/img/z.txt", "ignored");
    let with = |include: &[&str], exclude: &[&str]| {
        files(&SourceScope::new(dir.path(), &texts(include), &texts(exclude), &[]).unwrap())
    };
    assert_eq!(with(&["*.md"], &[]), ["#d.md", "a.md", "docs/b.md"]);
    assert_eq!(with(&["docs/"], &[]), ["docs/b.md", "docs/img/c.txt"]);
    assert_eq!(with(&["docs/**"], &["img/"]), ["docs/b.md"]);
    assert_eq!(with(&["/*.md"], &["#*"]), ["a.md"]);
    assert_eq!(
        with(&["**"], &["*.md", "!a.md"]),
        ["a.md", "a.txt", "docs/img/c.txt"]
    );
    assert!(with(&["*.rs"], &[]).is_empty());

    for (pattern, why) in [
        ("", "is empty"),
        ("[z-a]", "cannot be used"),
        ("{a", "cannot be used"),
    ] {
        let refused = SourceScope::new(dir.path(), &[], &texts(&[pattern]), &[]).unwrap_err();
        let said = refused.to_string();
        assert!(said.contains("`exclude`") && said.contains(why), "{said}");
    }
    let many = vec!["x".to_owned(); 101];
    assert!(SourceScope::new(dir.path(), &many, &[], &[]).is_err());
    assert!(SourceScope::new(dir.path(), &["x".repeat(1001)], &[], &[]).is_err());
}

/// Links that lead out, in a circle or to another file in the source are ignored, as are special files.
#[test]
fn only_regular_files_in_the_source() {
    let outside = folder(&["secret.md"]);
    let dir = folder(&["a/b.md"]);
    let at = |name: &str| dir.path().join(name);
    symlink(outside.path(), at("out")).unwrap();
    symlink(outside.path().join("secret.md"), at("secret.md")).unwrap();
    symlink(dir.path(), at("a/loop")).unwrap();
    symlink("b.md", at("a/c.md")).unwrap();
    symlink("nowhere", at("broken.md")).unwrap();
    nix::unistd::mkfifo(&at("pipe.md"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _socket = UnixListener::bind(at("socket.md")).unwrap();
    assert_eq!(files(&reach(&dir)), ["a/b.md"]);

    // The source itself may be named by a link.
    symlink(dir.path(), outside.path().join("in")).unwrap();
    let linked = SourceScope::new(&outside.path().join("in"), &[], &[], &[]).unwrap();
    let real = dir.path().canonicalize().unwrap();
    assert_eq!(linked.path(), real);
    assert_eq!(files(&linked), ["a/b.md"]);
    // But it is followed only while its path has no link.
    assert!(linked.clone().still_at(&real).is_ok());
    let by_link = outside.path().canonicalize().unwrap().join("in");
    let moved = linked.still_at(&by_link).unwrap_err();
    assert_eq!(moved, SourceError::Moved(by_link));
}

#[test]
fn parts_that_cannot_be_read_are_told_and_the_rest_is_walked() {
    let dir = folder(&["a/x.md", "b/x.md", "c/x.md", ".d/x.md"]);
    fs::write(dir.path().join(OsStr::from_bytes(b"caf\xe9.md")), "x").unwrap();
    fs::create_dir(dir.path().join(OsStr::from_bytes(b"dir\xe9"))).unwrap();
    put(&dir, "c/.gitignore", "{a\nnone.md");
    let close = |name: &str, mode| {
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    close("b", 0);
    close(".d", 0);
    let can_read_all = fs::read_dir(dir.path().join("b")).is_ok();
    let steps: Vec<Step> = reach(&dir).walk(&PathSet::all()).collect();
    close("b", 0o700);
    close(".d", 0o700);
    let troubles = steps.iter().filter_map(|step| match step {
        Step::Trouble(trouble) => Some((trouble.path.as_str(), trouble.is_unread)),
        Step::File(_) | Step::Folder(_) => None,
    });
    let mut troubles: Vec<_> = troubles.collect();
    troubles.sort_unstable();
    let mut expected = vec![
        ("c", false),
        ("caf\u{fffd}.md", false),
        ("dir\u{fffd}", false),
    ];
    // A privileged user can read everything.
    if !can_read_all {
        expected.insert(0, ("b", true));
    }
    for (path, _) in &mut troubles {
        // The `ignore` crate reports either the ignore file or its folder.
        *path = path.strip_suffix("/.gitignore").unwrap_or(path);
    }
    assert_eq!(troubles, expected);
    let walked = |path: &str| {
        let is_it = |step: &Step| matches!(step, Step::File(found) if found.path == path);
        steps.iter().any(is_it)
    };
    assert!(walked("a/x.md") && walked("c/x.md"));
}

#[test]
fn what_is_no_source() {
    let dir = folder(&["data/x", "a.md"]);
    let new = |path: &Path| SourceScope::new(path, &[], &[], &[dir.path().join("data")]);
    let refused = |path: &Path| new(path).unwrap_err();
    assert_eq!(refused(Path::new("/")), SourceError::Root);
    assert_eq!(refused(Path::new("/..")), SourceError::Root);
    assert!(matches!(
        refused(Path::new("/proc/self")),
        SourceError::System(_, "proc")
    ));
    assert!(matches!(
        refused(&dir.path().join("none")),
        SourceError::Missing(_)
    ));
    assert!(matches!(
        refused(&dir.path().join("data")),
        SourceError::Own(_)
    ));
    assert!(matches!(
        refused(&dir.path().join("data/x")),
        SourceError::Own(_)
    ));
    let pipe = dir.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(refused(&pipe), SourceError::Neither(_)));
    // The daemon's own folder within a source is excluded.
    assert_eq!(files(&new(dir.path()).unwrap()), ["a.md"]);

    let source = new(dir.path()).unwrap();
    assert!(
        source
            .notice(Some(&dir.path().join("data")))
            .unwrap()
            .contains("home")
    );
    assert!(source.notice(Some(dir.path())).is_some());
    assert_eq!(source.notice(Some(Path::new("/"))), None);
}

/// A single file is selected explicitly, so no rule excludes it.
#[test]
fn one_file() {
    let dir = folder(&[".hidden.md", "other.md"]);
    put(&dir, ".gitignore", "*.md");
    let one = SourceScope::new(&dir.path().join(".hidden.md"), &[], &[], &[]).unwrap();
    assert!(one.is_file());
    assert_eq!(files(&one), [".hidden.md"]);
    let mut places = PathSet::default();
    places.add("other.md".to_owned());
    assert!(files_of(one.walk(&places)).is_empty());
}

/// Selected places are walked by the rules of the whole source.
#[test]
fn some_places() {
    let dir = folder(&[
        "a/b/c.md",
        "a/b/d.md",
        "a/e.md",
        "f.md",
        "target/x.md",
        ".h/x.md",
    ]);
    put(&dir, ".gitignore", "target/\n/a/b/d.md");
    let reach = reach(&dir);
    let at = |of: &[&str]| {
        let mut places = PathSet::default();
        for place in of {
            places.add((*place).to_owned());
        }
        files_of(reach.walk(&places))
    };
    assert_eq!(at(&["a/b"]), ["a/b/c.md"]);
    assert_eq!(at(&["a/b/d.md"]), [""; 0]);
    assert_eq!(at(&["a/e.md", "f.md"]), ["a/e.md", "f.md"]);
    assert_eq!(
        at(&["a", "a/e.md", "none", "none/at/all"]),
        ["a/b/c.md", "a/e.md"]
    );
    assert_eq!(at(&["target/x.md", "target", ".h/x.md"]), [""; 0]);
    assert_eq!(at(&[""]), ["a/b/c.md", "a/e.md", "f.md"]);
}

/// The content of a missing source is unknown, not empty.
#[test]
fn a_source_that_vanishes() {
    let dir = folder(&["a.md"]);
    let reach = reach(&dir);
    dir.close().unwrap();
    let steps: Vec<Step> = reach.walk(&PathSet::all()).collect();
    assert!(
        matches!(steps.as_slice(), [Step::Trouble(it)] if it.is_unread && it.path.is_empty()),
        "{steps:?}"
    );
}
