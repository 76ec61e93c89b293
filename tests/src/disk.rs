//! What stands on the disk: files of a folder, what they take, and what stands between them and a daemon.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Every file below a folder, in order. What goes meanwhile is left out.
///
/// # Panics
/// When the folder itself cannot be read.
#[must_use]
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

/// What all files of a data folder take on the disk, in bytes, but for the reserve.
#[must_use]
pub fn taken_bytes(data: &Path) -> u64 {
    let files = files(data).into_iter();
    let counted = files.filter(|file| file.file_name().is_some_and(|name| name != "reserve"));
    let taken = counted.filter_map(|file| file.symlink_metadata().ok());
    // Blocks are of 512 bytes, whatever the file system's own are.
    taken.map(|metadata| metadata.blocks() * 512).sum()
}

/// Makes files look as if they were last written at a time.
///
/// # Panics
/// When that is not possible.
pub fn age(files: &[PathBuf], written: SystemTime) {
    for path in files {
        let file = std::fs::File::options().write(true).open(path);
        let aged = file.and_then(|file| file.set_modified(written));
        aged.unwrap_or_else(|error| panic!("{path:?}: {error}"));
    }
}

/// A library that stands between a daemon and its file calls (tests/faults/NAME.c), built into a folder
/// by the compiler that linked this test: `fault` has them fail, `record` writes them down.
///
/// # Panics
/// When it does not compile.
#[must_use]
pub fn between_calls(name: &str, into: &Path) -> PathBuf {
    // Renamed when it is whole: no test, of this process or another one, loads what another one is writing.
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
