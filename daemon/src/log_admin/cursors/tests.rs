//! Cursors on disk: durable, grouped, bound to one store, and checked for damage.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::os::unix::fs::MetadataExt;

use super::*;

const HERE: StoreId = StoreId([1; 16]);
const ELSEWHERE: StoreId = StoreId([2; 16]);

fn actor(uid: u32) -> Actor {
    Actor {
        agent: "a".to_owned(),
        uid,
        client: String::new(),
    }
}

fn by(actor: &Actor, store: StoreId) -> Committer<'_> {
    Committer {
        actor,
        store,
        now: 5,
    }
}

fn to(position: u64, reset: bool) -> Change {
    Change::Commit {
        position: Position(position),
        reset,
    }
}

fn code(done: Result<(), Refusal>) -> Code {
    done.unwrap_err().code
}

/// Cursors survive a restart. They move forward; moving back and deletion must be explicit. Each user has
/// separate cursors.
#[tokio::test]
async fn cursors_are_kept_and_do_not_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cursors");
    let cursors = Cursors::open(path.clone());
    let (one, two) = (actor(1), actor(2));
    let here = by(&one, HERE);
    cursors.change(&here, "index", &to(7, false)).await.unwrap();
    cursors.change(&here, "index", &to(7, false)).await.unwrap();
    let back = cursors.change(&here, "index", &to(6, false)).await;
    assert_eq!(code(back), Code::Conflict);
    let at = |cursors: &Cursors, uid| cursors.get(uid, "index", HERE);
    assert_eq!(at(&cursors, 1).unwrap(), Position(7));
    cursors.change(&here, "index", &to(6, true)).await.unwrap();
    let near = cursors.get(1, "indxe", HERE).unwrap_err();
    assert_eq!(
        near.hint.map(|hint| hint.plain()).as_deref(),
        Some("Did you mean `index`?")
    );
    assert_eq!(at(&cursors, 2).unwrap_err().code, Code::NotFound);
    let theirs = by(&two, HERE);
    cursors
        .change(&theirs, "index", &to(9, false))
        .await
        .unwrap();

    let cursors = Cursors::open(path.clone());
    assert_eq!(at(&cursors, 1).unwrap(), Position(6));
    assert_eq!(at(&cursors, 2).unwrap(), Position(9));
    cursors
        .change(&here, "index", &Change::Remove)
        .await
        .unwrap();
    let again = cursors.change(&here, "index", &Change::Remove).await;
    assert_eq!(code(again), Code::NotFound);
    let cursors = Cursors::open(path);
    assert_eq!(at(&cursors, 1).unwrap_err().code, Code::NotFound);
    assert_eq!(cursors.list(2, None, 10).len(), 1);
    assert!(cursors.list(2, Some("index"), 10).is_empty());
}

/// A cursor of another store is refused by name until it is reset.
#[tokio::test]
async fn cursors_are_of_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let cursors = Cursors::open(folder.path().join("cursors"));
    let one = actor(1);
    cursors
        .change(&by(&one, ELSEWHERE), "i", &to(7, false))
        .await
        .unwrap();
    let refusal = cursors.get(1, "i", HERE).unwrap_err();
    assert!(
        refusal.message.contains("of another store: 0202"),
        "{refusal}"
    );
    let here = by(&one, HERE);
    let taken = cursors.change(&here, "i", &to(9, false)).await;
    assert_eq!(code(taken), Code::Conflict);
    cursors.change(&here, "i", &to(2, true)).await.unwrap();
    assert_eq!(cursors.get(1, "i", HERE).unwrap(), Position(2));
}

/// Changes that arrive during a write are written together, with one rename.
#[test]
fn commits_are_written_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cursors");
    let Cursors(shared) = Cursors::open(path.clone());
    let one = actor(1);
    for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
        let number = shared.lock().change(&by(&one, HERE), name, &to(1, false));
        assert_eq!(number.unwrap(), Some(at as u64 + 1));
    }
    assert!(shared.lock().durable.is_empty(), "nothing is promised yet");
    shared.write_down(1).unwrap();
    let file = fs::metadata(&path).unwrap().ino();
    shared.write_down(2).unwrap();
    shared.write_down(3).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().ino(), file);
    assert_eq!(Cursors::open(path).list(1, None, 10).len(), 3);
}

/// If the file cannot be written, the change fails and the old state remains.
#[tokio::test]
async fn what_is_not_written_is_not_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone").join("cursors");
    let cursors = Cursors::open(path.clone());
    let one = actor(1);
    let here = by(&one, HERE);
    let failed = cursors.change(&here, "i", &to(7, false)).await;
    assert_eq!(code(failed), Code::StorageUnavailable);
    assert_eq!(cursors.get(1, "i", HERE).unwrap_err().code, Code::NotFound);
    fs::create_dir(path.parent().unwrap()).unwrap();
    cursors.change(&here, "i", &to(7, false)).await.unwrap();
    assert_eq!(cursors.get(1, "i", HERE).unwrap(), Position(7));
}

/// Any flipped bit is detected, and the damaged file stays unchanged.
#[test]
fn damage_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cursors");
    let Cursors(shared) = Cursors::open(path.clone());
    let one = actor(1);
    shared
        .lock()
        .change(&by(&one, HERE), "i", &to(1, false))
        .unwrap();
    shared.write_down(1).unwrap();
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 1;
        fs::write(&path, &broken).unwrap();
        let Cursors(shared) = Cursors::open(path.clone());
        assert!(shared.lock().damage.is_some(), "byte {at}");
    }
    fs::write(&path, &whole[..20]).unwrap();
    assert!(Cursors::open(path).0.lock().damage.is_some());
}

/// The number of cursors is limited; existing cursors can still move.
#[test]
fn the_number_of_cursors_is_bounded() {
    let one = actor(1);
    let here = by(&one, HERE);
    let mut inner = Inner::default();
    for at in 0..CURSORS_MAX {
        inner
            .change(&here, &format!("c{at}"), &to(1, false))
            .unwrap();
    }
    let refusal = inner.change(&here, "more", &to(1, false)).unwrap_err();
    assert_eq!(refusal.code, Code::StorageQuotaExceeded);
    inner.change(&here, "c0", &to(2, false)).unwrap();
    inner.change(&here, "c0", &Change::Remove).unwrap();
    inner.change(&here, "more", &to(1, false)).unwrap();
}

/// Cursors ahead of a truncated log move to its end, in memory and on disk. Cursors of another store, or within the
/// log, stay.
#[tokio::test]
async fn cursors_ahead_of_the_log_are_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cursors");
    let one = actor(1);
    let cursors = Cursors::open(path.clone());
    for (name, store, position) in [
        ("ahead", HERE, 11),
        ("at-end", HERE, 6),
        ("behind", HERE, 2),
        ("other", ELSEWHERE, 11),
    ] {
        let change = to(position, false);
        cursors
            .change(&by(&one, store), name, &change)
            .await
            .unwrap();
    }
    let cursors = Cursors::open(path.clone());
    cursors.take_back(HERE, Position(5));
    for cursors in [cursors, Cursors::open(path)] {
        let at = |name, store| cursors.get(1, name, store).unwrap().0;
        assert_eq!(at("ahead", HERE), 6);
        assert_eq!((at("at-end", HERE), at("behind", HERE)), (6, 2));
        assert_eq!(at("other", ELSEWHERE), 11);
    }
}
