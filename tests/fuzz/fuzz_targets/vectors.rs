//! Vectors on disk: a segment that is truncated or changed anywhere opens or is refused, and all results are
//! vectors that were added.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lored_retrieval::vectors::{Generation, VectorStore};

const DIMENSION: usize = 4;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("lored-fuzz-vectors-{}", std::process::id());
    std::env::temp_dir().join(name)
});

fuzz_target!(|bytes: &[u8]| {
    let Some(([rows, gone, harm, at, byte], tail)) = bytes.split_first_chunk() else {
        return;
    };
    let generation = Generation {
        model: "fuzz".to_owned(),
        dimension: DIMENSION,
        number: 1,
    };
    let _ = std::fs::remove_dir_all(&*FOLDER);
    let open = || VectorStore::open(&FOLDER, generation.clone());
    let mut store = open().expect("an empty folder opens").store;
    for key in 0..u64::from(*rows % 16) {
        let vector = [1.0, key as f32, 0.5, -1.0];
        store
            .append(&[(key, &vector)], key)
            .expect("rows are written");
    }
    store
        .delete(&[u64::from(*gone)], 99)
        .expect("a row is taken away");
    drop(store);
    let path = FOLDER.join("0000000001.vectors");
    let mut file = std::fs::read(&path).expect("there is a segment");
    let at = (usize::from(*at) * 7).min(file.len());
    match harm % 4 {
        0 => file.truncate(at),
        1 => file.extend_from_slice(tail),
        2 => file = [&file[..at], tail].concat(),
        _ => {
            if let Some(place) = file.get_mut(at) {
                *place = *byte;
            }
        }
    }
    std::fs::write(&path, file).expect("the segment is changed");
    let Ok(opened) = open() else { return };
    assert!(opened.store.position() <= 99 && opened.store.len() <= 16);
    if let Ok(hits) = opened.store.search(&[1.0, 0.0, 0.0, 0.0], 9, |_| true) {
        assert!(hits.len() <= opened.store.len());
        assert!(hits.iter().all(|hit| hit.key < 16 && hit.score.is_finite()));
    }
});
