//! Files in the spool: their order, their limits, and what is not one of them.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn spool() -> (tempfile::TempDir, Spool) {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::at(folder.path().join("data/spool"));
    (folder, spool)
}

fn header(at: u64) -> Header {
    Header {
        host: "codex".into(),
        received_at_us: at,
        ..Header::default()
    }
}

#[test]
fn payloads_wait_in_the_order_of_their_arrival() {
    let (_folder, spool) = spool();
    assert_eq!(spool.waiting().unwrap(), Vec::<String>::new());
    for at in [30, 10, 20] {
        spool
            .put(&header(at), format!("{{\"at\":{at}}}\n\n\u{0}").as_bytes())
            .unwrap();
    }
    let names = spool.waiting().unwrap();
    let read = names.iter().map(|name| spool.read(name).unwrap());
    let read: Vec<Entry> = read.collect();
    let at: Vec<u64> = read
        .iter()
        .map(|entry| entry.header.received_at_us)
        .collect();
    assert_eq!(at, [10, 20, 30]);
    assert_eq!(read[0].payload, b"{\"at\":10}\n\n\0");
    assert_eq!(spool.usage().files, 3);
    for name in &names {
        spool.remove(name).unwrap();
    }
    assert_eq!(spool.usage(), Usage::default());
    let mode = fs::metadata(spool.folder()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// A file that is still written is not there, and one that is given up leaves nothing.
#[test]
fn a_draft_is_not_in_the_spool() {
    let (_folder, spool) = spool();
    let mut draft = spool.draft(&header(1)).unwrap();
    draft.write(b"{").unwrap();
    assert!(spool.waiting().unwrap().is_empty());
    drop(draft);
    assert_eq!(fs::read_dir(spool.folder()).unwrap().count(), 0);
    let kept = spool.draft(&header(2)).unwrap();
    std::mem::forget(kept);
    spool.recount(Duration::from_secs(3600)).unwrap();
    assert_eq!(fs::read_dir(spool.folder()).unwrap().count(), 2);
    spool.recount(Duration::ZERO).unwrap();
    // The counts alone.
    assert_eq!(fs::read_dir(spool.folder()).unwrap().count(), 1);
}

/// A full spool refuses new payloads and counts them; large ones are refused first.
#[test]
fn a_full_spool_says_what_it_refused() {
    let (_folder, spool) = spool();
    spool.put(&header(1), b"{}").unwrap();
    let set = |files, bytes| {
        let text = format!(r#"{{"files":{files},"bytes":{bytes}}}"#);
        fs::write(spool.folder().join(USAGE), text).unwrap();
    };
    set(1, BYTES_MAX / 2);
    let large = vec![b' '; usize::try_from(LARGE_BYTES).unwrap()];
    let refused = spool.put(&header(2), &large).unwrap_err();
    assert!(matches!(refused, SpoolError::Full { .. }), "{refused}");
    spool.put(&header(3), b"{}").unwrap();
    assert_eq!(spool.usage().refused, 1);
    assert!(spool.usage().refused_bytes > LARGE_BYTES);
    set(FILES_MAX, 1);
    assert!(spool.put(&header(4), b"{}").is_err());
    assert_eq!(spool.waiting().unwrap().len(), 2);
    let counted = spool.recount(Duration::ZERO).unwrap();
    assert_eq!((counted.files, counted.refused), (2, 1));
    spool.put(&header(5), b"{}").unwrap();
}

#[test]
fn only_files_of_the_spool_are_read() {
    let (folder, spool) = spool();
    spool.put(&header(1), b"{}").unwrap();
    let name = |name: &str| format!("{name}{ENDING}");
    let secret = folder.path().join("secret");
    fs::write(&secret, "{}\nsecret").unwrap();
    symlink(&secret, spool.folder().join(name("link"))).unwrap();
    fs::write(spool.folder().join(name("empty")), "").unwrap();
    fs::write(spool.folder().join(name("garbage")), "no\nheader").unwrap();
    fs::create_dir(spool.folder().join(name("folder"))).unwrap();
    let pipe = spool.folder().join(name("pipe"));
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for bad in ["link", "empty", "garbage", "folder", "pipe"] {
        let refused = spool.read(&name(bad)).unwrap_err();
        let SpoolError::Io { error, .. } = refused else {
            panic!("{refused}");
        };
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{bad}: {error}");
        spool.reject(&name(bad)).unwrap();
    }
    assert_eq!(spool.waiting().unwrap().len(), 1);
    assert_eq!(spool.rejected().len(), 5);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "{}\nsecret");
}

#[test]
fn a_folder_that_others_may_write_is_not_used() {
    let (folder, spool) = spool();
    spool.put(&header(1), b"{}").unwrap();
    fs::set_permissions(spool.folder(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(spool.waiting().is_err());
    assert!(spool.put(&header(2), b"{}").is_err());
    let linked = Spool::at(folder.path().join("linked"));
    symlink(folder.path(), linked.folder()).unwrap();
    assert!(linked.put(&header(3), b"{}").is_err());
}
