//! Files on disk: listings, disk usage, and libraries that intercept a daemon's file calls.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Lists every file below a folder, sorted. Files that vanish meanwhile are omitted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            assert!(!open.is_empty() || !found.is_empty(), "{folder:?}");
            continue;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(_) => found.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    found.sort();
    found
}

/// Returns the disk usage of a data folder's files in bytes, without the ballast file.
pub fn taken_bytes(data: &Path) -> u64 {
    let files = files(data).into_iter();
    let counted = files.filter(|file| file.file_name().is_some_and(|name| name != "reserve"));
    let taken = counted.filter_map(|file| file.symlink_metadata().ok());
    // `blocks` counts units of 512 bytes on every file system.
    taken.map(|metadata| metadata.blocks() * 512).sum()
}

/// Sets the modification time of files.
pub fn age(files: &[PathBuf], written: SystemTime) {
    for path in files {
        let file = std::fs::File::options().write(true).open(path);
        let aged = file.and_then(|file| file.set_modified(written));
        aged.unwrap_or_else(|error| panic!("{path:?}: {error}"));
    }
}

/// Compiles a library that intercepts a daemon's file calls (tests/faults/NAME.c) into a folder, with the
/// compiler that linked this test. `fault` makes calls fail, `record` records them.
pub fn between_calls(name: &str, into: &Path) -> PathBuf {
    // Renamed when complete: no test of this or another process loads a half-written library.
    let library = into.join(format!("{name}.so"));
    let unfinished = tempfile::NamedTempFile::new_in(into).expect("a file in the folder");
    let unfinished = unfinished.into_temp_path();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults");
    let built = Command::new("cc")
        .args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"])
        .arg(&unfinished)
        .arg(sources.join(format!("{name}.c")))
        .args(["-ldl", "-pthread"])
        .status()
        .expect("cc, which links Rust programs, is there");
    assert!(built.success(), "{name}.c does not compile");
    unfinished
        .persist(&library)
        .expect("renaming within a folder");
    library
}

/// Returns the number of file calls that `fault.c` has counted, from its file: each process of the daemon has a line, and
/// its helpers may end after it.
///
/// # Panics
/// If the file is missing or is none of these.
#[must_use]
pub fn counted_calls(file: &Path) -> u64 {
    let lines = std::fs::read_to_string(file).expect("a process that ended has written its count");
    let counts = lines
        .lines()
        .map(|line| line.parse::<u64>().expect("a count is a number"));
    counts.max().unwrap_or_default()
}
