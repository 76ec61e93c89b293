//! Examples, and a property: applying a plan to the known files gives the files on disk.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::*;

fn stamp(inode: u64) -> FileFingerprint {
    FileFingerprint {
        bytes: 5,
        mtime: 10,
        inode,
    }
}

fn hash(of: u8) -> Hash {
    Hash([of; 32])
}

fn document(id: u32, inode: u64, content: u8) -> KnownFile<u32> {
    KnownFile {
        stamp: stamp(inode),
        what: ReadOutcome::Document(id, hash(content)),
    }
}

fn found(path: &str, inode: u64) -> FoundFile {
    FoundFile {
        path: path.to_owned(),
        stamp: stamp(inode),
    }
}

fn scan(known: &[(&str, KnownFile<u32>)]) -> Scan<u32> {
    let known = known.iter().cloned();
    let known = known.map(|(path, known)| (path.to_owned(), known));
    Scan::new(known, &PathSet::all())
}

#[test]
fn what_is_the_same_is_left_alone() {
    let nothing = KnownFile {
        stamp: stamp(2),
        what: ReadOutcome::Nothing,
    };
    let mut scan = scan(&[("a", document(1, 1, 1)), ("b", nothing)]);
    scan.found(found("a", 1));
    scan.found(found("b", 2));
    let plan = scan.finish();
    assert_eq!((plan.unchanged, plan.jobs.len()), (2, 0));
    assert_eq!((plan.moved.len(), plan.lost.count()), (0, 0));
}

#[test]
fn new_changed_and_gone() {
    let nothing = KnownFile {
        stamp: stamp(3),
        what: ReadOutcome::Nothing,
    };
    let before = document(1, 1, 1);
    let mut scan = scan(&[
        ("a", before.clone()),
        ("b", document(2, 2, 2)),
        ("c", nothing),
    ]);
    scan.found(found("a", 9));
    scan.found(found("d", 4));
    let plan = scan.finish();
    let jobs: Vec<_> = plan
        .jobs
        .iter()
        .map(|it| (&*it.path, it.before.clone()))
        .collect();
    assert_eq!(jobs, [("a", Some(before)), ("d", None)]);
    assert_eq!(plan.forgotten, ["c"]);
    assert_eq!(plan.lost.rest().collect::<Vec<_>>(), [("b".to_owned(), 2)]);
}

#[test]
fn a_file_that_moved_keeps_its_document() {
    // By its inode and time.
    let mut one = scan(&[("a", document(1, 1, 1))]);
    one.found(found("b", 1));
    let plan = one.finish();
    assert_eq!(plan.jobs, []);
    let [moved] = plan.moved.as_slice() else {
        panic!("{plan:?}")
    };
    assert_eq!((moved.document, &*moved.from, &*moved.to), (1, "a", "b"));
    assert_eq!(plan.lost.count(), 0);

    // By its hash, after it is read. The first path of several is claimed.
    let mut two = scan(&[("a", document(1, 1, 7)), ("c", document(2, 2, 7))]);
    two.found(found("b", 3));
    let mut plan = two.finish();
    assert_eq!(plan.jobs.len(), 1);
    let mut claim = |of, so: fn(&str) -> bool| plan.lost.claim(hash(of), so).map(|(_, id)| id);
    assert_eq!(claim(8, |_| true), None);
    assert_eq!(claim(7, |_| false), None);
    assert_eq!(claim(7, |path| path == "c"), Some(2));
    assert_eq!(claim(7, |_| true), Some(1));
    assert_eq!(claim(7, |_| true), None);

    // With two names of one file, the fingerprint does not show which of them moved.
    let mut names = scan(&[("a", document(1, 1, 7)), ("c", document(2, 1, 7))]);
    names.found(found("b", 1));
    let plan = names.finish();
    assert_eq!(
        (plan.moved.len(), plan.jobs.len(), plan.lost.count()),
        (0, 1, 2)
    );
}

#[test]
fn what_cannot_be_looked_at_is_not_gone() {
    let all = [("a/b/c", document(1, 1, 1)), ("a-b", document(2, 2, 2))];
    let trouble = |path: &str, is_unread| WalkError {
        path: path.to_owned(),
        reason: String::new(),
        is_unread,
    };
    for (at, gone) in [("a", 1), ("", 0), ("a/b/c", 1), ("a/b/c/d", 2)] {
        let mut scan = scan(&all);
        scan.record_error(&trouble(at, true));
        assert_eq!(scan.finish().lost.count(), gone, "{at:?}");
    }
    let mut scan = scan(&all);
    scan.record_error(&trouble("a", false));
    assert_eq!(scan.finish().lost.count(), 2);
}

#[test]
fn elsewhere_is_not_gone() {
    let mut places = PathSet::default();
    places.add("a".to_owned());
    let known = [("a/x", document(1, 1, 1)), ("b/x", document(2, 2, 2))];
    let known = known.map(|(path, known)| (path.to_owned(), known));
    let plan = Scan::new(known, &places).finish();
    assert_eq!(
        plan.lost.rest().collect::<Vec<_>>(),
        [("a/x".to_owned(), 1)]
    );
}

/// A file: its inode, number of writes, and content.
type File = (u64, u8, u8);

fn of_disk(file: File) -> (FileFingerprint, Hash) {
    let (inode, writes, content) = file;
    let stamp = FileFingerprint {
        bytes: 1 + u64::from(content % 2),
        mtime: i64::from(writes),
        inode,
    };
    // Changing the content of a file requires a write.
    (
        stamp,
        hash(content.wrapping_mul(31).wrapping_add(writes % 3)),
    )
}

proptest! {
    /// Applying a plan makes the known files equal to the files on disk. A document keeps its path. If the path
    /// is missing, the document is retained if its content or its file is found at a new path.
    #[test]
    fn after_a_plan_all_is_known(
        before in prop::collection::btree_map("[abc](/[abc])?", (0u64..6, 0u8..3, 0u8..3), 0..8),
        after in prop::collection::btree_map("[abc](/[abc])?", (0u64..6, 0u8..3, 0u8..3), 0..8),
    ) {
        // The same inode and time mean the same file, regardless of its name.
        let content = |(inode, writes, _): File| (inode % 3) as u8 + writes;
        let before: BTreeMap<String, File> =
            before.into_iter().map(|(path, it)| (path, (it.0, it.1, content(it)))).collect();
        let after: BTreeMap<String, File> =
            after.into_iter().map(|(path, it)| (path, (it.0, it.1, content(it)))).collect();

        let mut known: BTreeMap<String, KnownFile<u32>> = BTreeMap::new();
        for ((path, file), id) in before.iter().zip(0..) {
            let (stamp, hash) = of_disk(*file);
            known.insert(path.clone(), KnownFile { stamp, what: ReadOutcome::Document(id, hash) });
        }
        let mut scan = Scan::new(known.clone(), &PathSet::all());
        for (path, file) in &after {
            scan.found(FoundFile { path: path.clone(), stamp: of_disk(*file).0 });
        }
        let plan = scan.finish();

        let mut done = known.clone();
        for moved in plan.moved {
            done.remove(&moved.from);
            let what = ReadOutcome::Document(moved.document, moved.hash);
            done.insert(moved.to, KnownFile { stamp: moved.stamp, what });
        }
        let (mut lost, mut next) = (plan.lost, 100);
        for job in plan.jobs {
            let (stamp, hash) = of_disk(after[&job.path]);
            let id = match job.before {
                Some(KnownFile { what: ReadOutcome::Document(id, _), .. }) => id,
                Some(KnownFile { what: ReadOutcome::Nothing, .. }) | None => match lost.claim(hash, |_| true) {
                    Some((from, id)) => {
                        done.remove(&from);
                        id
                    }
                    None => {
                        next += 1;
                        next
                    }
                },
            };
            done.insert(job.path, KnownFile { stamp, what: ReadOutcome::Document(id, hash) });
        }
        for (path, _) in lost.rest() {
            done.remove(&path);
        }

        let is: BTreeMap<&String, (FileFingerprint, Hash)> =
            after.iter().map(|(path, file)| (path, of_disk(*file))).collect();
        let reported: BTreeMap<&String, (FileFingerprint, Hash)> = done
            .iter()
            .map(|(path, it)| match &it.what {
                ReadOutcome::Document(_, hash) => (path, (it.stamp, *hash)),
                ReadOutcome::Nothing => unreachable!("every file gives a document"),
            })
            .collect();
        prop_assert_eq!(reported, is);

        let ids = |of: &BTreeMap<String, KnownFile<u32>>| -> BTreeMap<u32, String> {
            let ids = of.iter().filter_map(|(path, it)| match &it.what {
                ReadOutcome::Document(id, _) => Some((*id, path.clone())),
                ReadOutcome::Nothing => None,
            });
            ids.collect()
        };
        let (ids_before, ids_after) = (ids(&known), ids(&done));
        prop_assert_eq!(ids_after.len(), after.len(), "an id is of one file");
        for (id, path) in &ids_before {
            if after.contains_key(path) {
                prop_assert_eq!(ids_after.get(id), Some(path));
            }
        }
        // Every content that was both lost and found is a moved document, never a new one.
        let mut gone: BTreeMap<[u8; 32], usize> = BTreeMap::new();
        for (path, file) in before.iter().filter(|(path, _)| !after.contains_key(*path)) {
            prop_assert!(!done.contains_key(path));
            *gone.entry(of_disk(*file).1.0).or_default() += 1;
        }
        let mut came: BTreeMap<[u8; 32], usize> = BTreeMap::new();
        for (_, file) in after.iter().filter(|(path, _)| !before.contains_key(*path)) {
            *came.entry(of_disk(*file).1.0).or_default() += 1;
        }
        let both = gone.iter().map(|(hash, count)| *count.min(came.get(hash).unwrap_or(&0)));
        let kept = ids_before.iter().filter(|(id, path)| {
            ids_after.get(id).is_some_and(|now| now != *path)
        });
        prop_assert_eq!(kept.count(), both.sum::<usize>());
    }
}
