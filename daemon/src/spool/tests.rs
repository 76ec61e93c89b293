//! Files of the spool are delivered once, in order, and a bad one blocks no other.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::cell::RefCell;
use std::fs;

use futures_util::FutureExt;
use lore::spool::Header;

use super::*;

fn spool(payloads: &[&str]) -> (tempfile::TempDir, Spool) {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::in_data(folder.path());
    for (at, payload) in (1..).zip(payloads) {
        put(&spool, at, payload);
    }
    (folder, spool)
}

fn put(spool: &Spool, at: u64, payload: &str) {
    let header = Header {
        host: "codex".into(),
        received_at_us: at,
        ..Header::default()
    };
    spool.put(&header, payload.as_bytes()).unwrap();
}

/// Delivers, and returns the payloads in the order of delivery.
async fn delivered(
    spool: &Spool,
    refused: impl Fn(&str) -> Option<Code>,
) -> (Result<usize, Refusal>, Vec<String>) {
    let seen = RefCell::new(Vec::new());
    let done = take_up(spool, |entry: Entry| {
        let payload = String::from_utf8(entry.payload).unwrap();
        let answer = match refused(&payload) {
            Some(code) => Err(Refusal::new(code, "no")),
            None => Ok(()),
        };
        seen.borrow_mut().push(payload);
        std::future::ready(answer)
    });
    let done = done.await;
    (done, seen.into_inner())
}

#[tokio::test]
async fn each_is_delivered_once_in_order() {
    let (_folder, spool) = spool(&["a", "b", "c"]);
    let (done, seen) = delivered(&spool, |_| None).await;
    assert_eq!(
        (done.unwrap(), seen),
        (3, ["a", "b", "c"].map(str::to_owned).to_vec())
    );
    let (done, seen) = delivered(&spool, |_| None).await;
    assert_eq!((done.unwrap(), seen.len()), (0, 0));
    assert_eq!(spool.usage().files, 0);
}

/// While the store takes nothing, everything stays; afterwards nothing is missing.
#[tokio::test]
async fn what_cannot_be_stored_now_waits() {
    let (_folder, spool) = spool(&["a", "b", "c"]);
    for code in [
        Code::StorageUnavailable,
        Code::ResourceExhausted,
        Code::UnknownOperation,
    ] {
        let (done, seen) = delivered(&spool, |payload| (payload == "b").then_some(code)).await;
        assert_eq!(done.unwrap_err().code, code);
        assert_eq!(seen.last().unwrap(), "b");
        assert_eq!(spool.waiting().unwrap().len(), 2);
    }
    let (_, seen) = delivered(&spool, |_| None).await;
    assert_eq!(seen, ["b", "c"]);
}

#[tokio::test]
async fn a_bad_file_blocks_no_other() {
    let (_folder, spool) = spool(&["a", "b", "c"]);
    fs::write(spool.folder().join("0-garbage.hook"), "no header").unwrap();
    let (done, seen) = delivered(&spool, |payload| {
        (payload == "b").then_some(Code::InvalidInput)
    })
    .await;
    assert_eq!((done.unwrap(), seen.len()), (4, 3));
    assert!(spool.waiting().unwrap().is_empty());
    assert_eq!(spool.rejected().len(), 2);
}

/// A file that arrives while the watch runs is taken up without a restart.
#[tokio::test]
async fn arrivals_are_seen() {
    let (_folder, spool) = spool(&[]);
    spool.recount(DRAFT_AGE_MAX).unwrap();
    let (sender, mut changes) = mpsc::unbounded_channel();
    let scope = SpooledFiles::in_folder(spool.folder()).unwrap();
    let watch = WatchHandle::start(scope, TIMES, move |change| {
        sender.send(change).unwrap();
    })
    .unwrap();
    put(&spool, 7, "a");
    let change = changes.recv().await.unwrap();
    let name = spool.waiting().unwrap().remove(0);
    assert_eq!(change, Change::Written(name));
    // Drafts and counts are not files of the spool.
    assert!(changes.try_recv().is_err());
    drop(watch);
}

/// The folder is found when a hook makes it, and when it was there before.
#[tokio::test]
async fn a_new_folder_is_seen() {
    let data = tempfile::tempdir().unwrap();
    let spool = Spool::in_data(data.path());
    let mut waiting = std::pin::pin!(appears(spool.folder(), data.path()));
    assert!(waiting.as_mut().now_or_never().is_none());
    put(&spool, 7, "a");
    waiting.await;
    assert!(spool.folder().is_dir());
    appears(spool.folder(), data.path()).await;
}
